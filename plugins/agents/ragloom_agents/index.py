"""The agents' indexes: brought up to date, asked and deleted, one agent apart from the other."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import RLock

from ragloom import IndexReport, NotIndexedError, SearchResult, SourceError, Workspace
from ragloom_agents.settings import AgentsSettings
from ragloom_agents.spaces import AgentSpaces

__all__ = ["AgentIndex"]

_LOG = logging.getLogger("ragloom")


class AgentIndex:
    """An index for each agent. Safe to use from several threads: one runs at a time.

    Whatever the store, what was embedded is kept across restarts in the snapshot that answers; the store
    ``memory`` is filled from it again, and nothing is embedded twice.

    Args:
        settings: Of every agent.
        workspace: The project.
    """

    def __init__(self, settings: AgentsSettings, workspace: Workspace) -> None:
        self.settings = settings
        self.spaces = AgentSpaces(settings, workspace)
        self._lock = RLock()

    def ensure(
        self, agent_id: str, *, progress: Callable[[str, int, int], None] | None = None
    ) -> IndexReport:
        """Bring an agent's index up to date with its files; the last one answers until it is done.

        Only what changed is read, and only what is new is embedded. A run that fails leaves the last
        index as it was.

        Args:
            agent_id: The agent.
            progress: As for :meth:`ragloom.Space.index`.

        Raises:
            ConfigError: No agent is called so, or its base folder does not exist.
            SourceError: A source does not exist.
            StoreError: The store failed, or another process did not finish.
            ModelError: The model failed.
        """
        with self._lock:
            space = self.spaces.space(agent_id)
            self.spaces.workspace.make_state()
            try:
                report = space.index(progress=progress)
            except SourceError as error:
                raise SourceError(f"agent {agent_id!r}: {error}") from error
        if not (report.added or report.updated or report.unchanged or report.failed):
            _LOG.warning(
                "agent %r: no file matches %s in %s; those that .gitignore names do not count",
                agent_id,
                ", ".join(space.settings.sources) or "its sources (there are none)",
                space.root,
            )
        return report

    def search(self, agent_id: str, query: str, top_k: int | None = None) -> SearchResult:
        """Ask an agent's index as it is.

        Args:
            agent_id: The agent.
            query: In words.
            top_k: Hits at the most; what the agent's settings say by default.

        Raises:
            ConfigError: No agent is called so.
            NotIndexedError: Nothing is indexed yet, or another model did it.
        """
        with self._lock:
            space = self.spaces.space(agent_id)
            try:
                return space.search(query, top_k=top_k)
            except NotIndexedError as error:
                raise NotIndexedError(
                    f"agent {agent_id!r} has no index that can answer: run "
                    f"'ragloom agents index {agent_id}'"
                ) from error

    def has_index(self, agent_id: str) -> bool:
        """Whether an agent has an index, an empty one included."""
        with self._lock:
            return self.spaces.space(agent_id).generation > 0

    def delete(self, agent_id: str) -> bool:
        """Remove an agent's chunks from the store, and its index. Its documents stay.

        Returns:
            Whether there was an index.

        Raises:
            ConfigError: No agent is called so.
            StoreError: The store failed; the index is still there.
        """
        with self._lock:
            space = self.spaces.space(agent_id)
            try:
                space.drop()
            except NotIndexedError:
                return False
            self.spaces.forget(agent_id)
            return True

    def close(self) -> None:
        """Give the model's memory back; the next search loads it again."""
        with self._lock:
            self.spaces.close()
