"""The index of lessons: a space apart, which no server or tool lists unless a setting says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ragloom import ConfigError, Space, Workspace
from ragloom.config import Component, SpaceSettings
from ragloom_knowledge.settings import KnowledgeSettings

NAME: Final = "knowledge"


def knowledge_space(workspace: Workspace) -> Space:
    """The space of all lessons, embedded and stored as the project's settings say.

    Its root is the folder of lessons in the project's state.
    """
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(".",),
        loaders={".md": Component(name="markdown")},
        chunker=Component(name="heading"),
        embedder=defaults.embedder,
        store=defaults.store,
        min_relevance=0.0,
    )
    return workspace.private_space(
        NAME,
        settings,
        directory=f"{NAME}/spaces/{NAME}",
        root=workspace.state / NAME / "lessons",
        hint="no lessons are indexed yet: run 'ragloom knowledge checkpoint'",
    )


def named_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """The lessons where ``knowledge.serve`` is true, or nothing.

    Raises:
        ConfigError: A setting is wrong, or another space has that name.
    """
    if not workspace.section(NAME, KnowledgeSettings).serve:
        return {}
    if NAME in workspace.spaces():
        origin = workspace.settings.origin("knowledge.serve")
        raise ConfigError(
            f"{origin}: knowledge.serve: two spaces have the name {NAME!r}, that of the lessons and one "
            "of the workspace: give that one another name"
        )
    lessons, usual = knowledge_space(workspace), workspace.settings.defaults
    settings = replace(lessons.settings, top_k=usual.top_k, min_relevance=usual.min_relevance)
    return {NAME: lessons.with_settings(settings)}
