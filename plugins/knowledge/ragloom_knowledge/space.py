"""The index of lessons: a space apart, which no other space, server or tool lists."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Final

from ragloom import Workspace
from ragloom.audit import AuditLog
from ragloom.config import Part, SpaceSettings
from ragloom.workspace import Space

__all__ = ["KnowledgeWorkspace", "knowledge_space"]

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

    @cached_property
    def audit(self) -> AuditLog:
        """The project's own."""
        return self._project.audit

    def prepare(self) -> None:
        """Make the folder of lessons, and keep it out of version control."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in (self._project.state, self.state):
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text(_IGNORE, "utf-8")


def knowledge_space(workspace: KnowledgeWorkspace) -> Space:
    """The space of all lessons, embedded and stored as the project's settings say."""
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(".",),
        loaders={".md": "markdown"},
        chunker=Part(name="heading"),
        embedder=defaults.embedder,
        store=defaults.store,
        min_relevance=0.0,
    )
    return Space(workspace, NAME, settings)
