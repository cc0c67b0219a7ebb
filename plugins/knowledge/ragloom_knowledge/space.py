"""The index of lessons: a space apart, which no server or tool lists unless a setting says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ragloom import ConfigError, NotIndexedError, Workspace
from ragloom.config import Component, SpaceSettings
from ragloom.snapshot import Snapshot
from ragloom.workspace import Space
from ragloom_knowledge.settings import KnowledgeSettings

__all__ = ["KnowledgeWorkspace", "LessonSpace", "knowledge_space", "named_spaces"]

NAME: Final = "knowledge"
_IGNORE: Final = "# Made by ragloom.\n*\n"


class KnowledgeWorkspace(Workspace):
    """The folder of lessons, whose index lies beside it.

    Args:
        project: Whose settings, plugins and audit log it shares.
    """

    def __init__(self, project: Workspace) -> None:
        root = project.state / NAME / "lessons"
        super().__init__(root, settings=project.settings, host=project.host)
        self._project = project

    @property
    def state(self) -> Path:
        """The folder of table, lessons and index."""
        return self._project.state / NAME

    @property
    def project(self) -> Workspace:
        """The workspace that plugins are told of."""
        return self._project

    def prepare(self) -> None:
        """Make the folder of lessons, and keep it out of version control."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in (self._project.state, self.state):
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text(_IGNORE, "utf-8")


class LessonSpace(Space):
    """The space of all lessons, which names the command that indexes it."""

    def snapshot(self) -> Snapshot:
        """As any space's.

        Raises:
            NotIndexedError: There was no checkpoint yet.
        """
        try:
            return super().snapshot()
        except NotIndexedError as error:
            raise NotIndexedError(
                "no lessons are indexed yet: run 'ragloom knowledge checkpoint'"
            ) from error


def knowledge_space(workspace: KnowledgeWorkspace) -> LessonSpace:
    """The space of all lessons, embedded and stored as the project's settings say."""
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(".",),
        loaders={".md": Component(name="markdown")},
        chunker=Component(name="heading"),
        embedder=defaults.embedder,
        store=defaults.store,
        min_relevance=0.0,
    )
    return LessonSpace(workspace, NAME, settings)


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
            f"{origin}: knowledge.serve: two spaces are called {NAME!r}, that of the lessons and one of "
            "the workspace: give that one another name"
        )
    lessons, asked = KnowledgeWorkspace(workspace), workspace.settings.defaults
    settings = replace(
        knowledge_space(lessons).settings, top_k=asked.top_k, min_relevance=asked.min_relevance
    )
    return {NAME: LessonSpace(lessons, NAME, settings)}
