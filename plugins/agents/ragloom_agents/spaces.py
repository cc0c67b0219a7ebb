"""An agent's index is a space of its own, in a folder of the state that belongs to agents.

The agents' spaces lie in ``.ragloom/agents/spaces/agent-<id>``, apart from those of ``ragloom index``,
which would split them as the workspace's settings say and not as the agent's do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from pathlib import Path

from ragloom import ConfigError, Embedder, Space, Workspace
from ragloom.config import Component, SpaceSettings, user_path
from ragloom_agents.settings import AgentSettings, AgentsSettings

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9_-])?")


def space_name(agent_id: str) -> str:
    """``agent-<id>``; an id that cannot name a folder everywhere gets a hash in place of the difference.

    Two ids never share a name, not even where the file system ignores letter case: a ``~`` and a hash
    follow every id that is not all of small letters, digits, ``.``, ``_`` and ``-``.
    """
    if _PLAIN.fullmatch(agent_id):
        return f"agent-{agent_id}"
    readable = re.sub(r"[^a-z0-9]+", "-", agent_id.lower()).strip("-")[:40]
    digest = blake2b(agent_id.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"agent-{readable}~{digest}"


def store_place(path: Path, store: str, *, shared: bool = False) -> Path:
    """Where ``store`` keeps its chunks: ``path``, or a place beside it if that is another store's.

    So ``store: sqlite`` becomes ``store: file`` without touching ``path``: a database is a file, the store
    ``file`` keeps folders, and Milvus Lite a folder that ends in ``.db``.

    Args:
        path: Where the settings say.
        store: A store by its name.
        shared: The settings say it for another store.
    """
    if store == "milvus" and path.suffix != ".db":
        path = path.with_name(f"{path.name}.db")
    of_file_store = path.is_dir() and any(path.glob("*/chunks-*.jsonl"))
    taken = {
        "sqlite": path.is_dir(),
        "file": path.is_file() or (path.is_dir() and any(path.iterdir()) and not of_file_store),
        "milvus": path.is_file() or of_file_store,
    }
    beside = path.with_name(f"{path.stem}-{store}{path.suffix}")
    return beside if shared or taken.get(store) else path


class AgentSpaces:
    """The spaces of agents, from their settings and those of the workspace, each opened once."""

    def __init__(self, settings: AgentsSettings, workspace: Workspace) -> None:
        self.settings = settings
        self.workspace = workspace
        self._opened: dict[str, Space] = {}
        self._model = workspace.space(settings=workspace.settings.defaults)

    @property
    def embedder(self) -> Embedder:
        """The model that all agents share: it is in memory once."""
        return self._model.embedder

    def space(self, agent_id: str) -> Space:
        """The space of an agent; a ConfigError for one unknown, untrusted, or without its base folder."""
        if agent_id not in self._opened:
            agent = self.settings.usable(agent_id)
            name = space_name(agent_id)
            self._opened[agent_id] = self.workspace.private_space(
                name,
                self._settings_of(agent),
                directory=f"agents/spaces/{name}",
                root=self._base_dir(agent),
                hint=f"agent {agent_id!r} has no index yet: run 'ragloom agents index {agent_id}'",
            )
            self._opened[agent_id].use_embedder_of(self._model)
        return self._opened[agent_id]

    def drop(self, agent_id: str) -> None:
        """Delete an agent's index, and open its space again on next use."""
        self.space(agent_id).drop()
        del self._opened[agent_id]

    def close(self) -> None:
        """Free the model's memory; the next search loads it again."""
        self._model.close()

    def _base_dir(self, agent: AgentSettings) -> Path:
        base = Path(os.path.realpath(self._path(agent.docs.base_dir, agent, "docs.base_dir")))
        if not base.is_dir():
            origin = self._origin(agent, "docs.base_dir")
            raise ConfigError(f"{origin}: docs.base_dir: there is no folder {base}")
        return base

    def _path(self, given: str, agent: AgentSettings, key: str) -> Path:
        try:
            return (self.workspace.root / user_path(given)).absolute()
        except ValueError as error:
            origin = self._origin(agent, key)
            raise ConfigError(f"{origin}: {key}: expected {error}, found {given!r}") from error

    def _origin(self, agent: AgentSettings, key: str) -> str:
        return self.settings.origin(f"agents.{agent.id}.{key}")

    def _settings_of(self, agent: AgentSettings) -> SpaceSettings:
        rag, usual = agent.rag, self.workspace.settings.defaults
        options = {"size": rag.chunk_size, "overlap": rag.chunk_overlap}
        keys = {"size": "rag.chunk_size", "overlap": "rag.chunk_overlap"}
        return replace(
            usual,
            sources=agent.docs.sources,
            places=dict.fromkeys(agent.docs.sources, self._origin(agent, "docs.sources")),
            chunker=Component(name="sentence", options=options, places=self._places(agent, keys)),
            store=self._store(agent, usual.store),
            top_k=agent.docs.top_k,
        )

    def _places(self, agent: AgentSettings, keys: Mapping[str, str]) -> Mapping[str, str]:
        """Where the agent's keys were set, by the names that a component has for them."""
        origins = self.settings.origins
        found = {name: origins.get(f"agents.{agent.id}.{key}") for name, key in keys.items()}
        return {name: f"{place}: {keys[name]}" for name, place in found.items() if place}

    def _store(self, agent: AgentSettings, usual: Component) -> Component:
        """The store by its name, with those options of the workspace's own that are for the same store."""
        rag = agent.rag
        same = usual if usual.name == rag.store else Component(name=rag.store)
        places = {**same.places, **self._places(agent, {"": "rag.store"})}
        provider = self.workspace.host.providers("stores").get(rag.store)
        names = {option.name for option in fields(provider.options)} if provider else set()
        option = next((name for name in ("path", "uri") if name in names), None)
        if option is None or not rag.path:  # such as memory: it keeps no files
            return replace(same, places=places)
        place = rag.path
        if "://" not in place:
            general = self.settings.rag
            shared = rag.path == general.path and rag.store != general.store
            path = self._path(place, agent, "rag.path")
            place = str(store_place(path, rag.store, shared=shared))
        elif option == "path":
            raise ConfigError(
                f"{self._origin(agent, 'rag.path')}: rag.path: expected a path, found a URL: the store "
                f"{rag.store!r} keeps its chunks in files"
            )
        return Component(
            name=rag.store,
            options={**same.options, option: place},
            places={**places, **self._places(agent, {option: "rag.path"})},
        )


def named_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """The agents' spaces by agent id, each opened on first use: one that is wrong hides no other."""
    from ragloom_agents.layers import agents_of

    return _NamedSpaces(AgentSpaces(agents_of(workspace), workspace))


class _NamedSpaces(Mapping[str, Space]):
    """The spaces of the agents that have documents."""

    def __init__(self, spaces: AgentSpaces) -> None:
        agents = spaces.settings.agents.values()
        self._ids = {agent.id: agent.id for agent in agents if agent.docs.sources}
        self._spaces = spaces

    def __getitem__(self, agent_id: str) -> Space:
        return self._spaces.space(self._ids[agent_id])

    def __contains__(self, agent_id: object) -> bool:
        return agent_id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
