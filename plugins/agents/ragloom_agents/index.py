"""The agents' indexes: updated, searched and deleted, one agent apart from the other."""

from __future__ import annotations

import logging
from threading import RLock

from ragloom import IndexReport, NotIndexedError, Progress, SearchResult, SourceError, Workspace
from ragloom_agents.settings import AgentsSettings
from ragloom_agents.spaces import AgentSpaces

_LOG = logging.getLogger("ragloom")


class AgentIndex:
    """An index for each agent. Safe to use from several threads: one runs at a time.

    Whatever the store, what was embedded is kept across restarts in the snapshot that answers; the store
    ``memory`` is filled from it again, and nothing is embedded twice.

    Every method that takes an agent's id raises a ConfigError for an unknown one.
    """

    def __init__(self, settings: AgentsSettings, workspace: Workspace) -> None:
        self.settings = settings
        self.spaces = AgentSpaces(settings, workspace)
        self._lock = RLock()

    def ensure(self, agent_id: str, *, progress: Progress | None = None) -> IndexReport:
        """Bring an agent's index up to date with its files; the last one answers until it is done.

        Only what changed is read, and only what is new is embedded. A run that fails leaves the last
        index as it was.

        Raises:
            ConfigError: The agent's base folder does not exist.
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
        """Search an agent's index, without updating it; ``top_k`` is the agent's own by default.

        Of one file all hits are given, as a context has them.

        Raises:
            NotIndexedError: Nothing is indexed yet, or another model did it.
        """
        with self._lock:
            try:
                return self.spaces.space(agent_id).search(query, top_k=top_k, per_file=0)
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
        """Delete an agent's chunks from the store, and its index, if there is one. Its documents stay.

        Raises:
            StoreError: The store failed; the index is still there.
        """
        with self._lock:
            try:
                self.spaces.drop(agent_id)
            except NotIndexedError:
                return False
            return True

    def close(self) -> None:
        """Free the model's memory; the next search loads it again."""
        with self._lock:
            self.spaces.close()
