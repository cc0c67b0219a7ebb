"""What can be set for agents, in ``ragloom.yaml`` and ``agents.yaml``, and what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from ragloom import ConfigError, UntrustedError
from ragloom.config import unknown, user_path

Strategy: TypeAlias = Literal["preload", "rag"]


def _not_empty(name: str, value: str) -> None:
    if not value.strip():
        raise ValueError(f"{name} must not be empty")


def _at_least(name: str, value: int, lowest: int) -> None:
    if value < lowest:
        raise ValueError(f"{name} must be a whole number from {lowest}, not {value}")


def _path(name: str, value: str) -> None:
    try:
        user_path(value)
    except ValueError as error:
        raise ValueError(f"{name} must be {error}, not {value!r}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RagSettings:
    """Where indexes are kept and how documents are split; the key ``rag``, for all agents or for one.

    Attributes:
        store: The name of a store, such as ``memory``, ``file``, ``sqlite`` or ``milvus``.
        path: Where it keeps the chunks of all agents, relative to the workspace; empty for a place in
            the workspace's state.
        chunk_size: Maximum number of characters of a chunk.
        chunk_overlap: Maximum number of characters that two neighbours share.
    """

    store: str = field(default="memory", metadata={"names": "nothing"})
    path: str = field(
        default="", metadata={"variable": "RAGLOOM_RAG_STORE_PATH", "names": "output"}
    )
    chunk_size: int = 2000
    chunk_overlap: int = 200

    def __post_init__(self) -> None:
        """Refuse what is out of range; an overlap is compared with the size once layers are merged."""
        _not_empty("store", self.store)
        _path("path", self.path)
        _at_least("chunk_size", self.chunk_size, 1)
        _at_least("chunk_overlap", self.chunk_overlap, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsSettings:
    """What an agent may know, and how it comes to know it; the key ``docs``.

    Attributes:
        strategy: ``preload`` puts whole documents into the system prompt, ``rag`` offers a tool that
            searches them.
        budget: Maximum number of tokens of preloaded documents, with the lines around them.
        top_k: Maximum number of results of a search.
        sources: Files, folders or globs, relative to ``base_dir``.
        base_dir: The folder that sources are relative to, itself relative to the workspace.
        counter: Whose tokens the budget counts, as in :func:`ragloom.text.tokens.counter`.
    """

    strategy: Strategy = "preload"
    budget: int = 12_000
    top_k: int = 5
    sources: tuple[str, ...] = field(default=(), metadata={"names": "nothing"})  # see permissions
    base_dir: str = field(default=".", metadata={"names": "files"})
    counter: Literal["auto", "cl100k_base", "o200k_base", "approximate"] = "auto"

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        _at_least("budget", self.budget, 1)
        _at_least("top_k", self.top_k, 1)
        for source in self.sources:
            _not_empty("sources", source)
        _not_empty("base_dir", self.base_dir)
        _path("base_dir", self.base_dir)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsSettings:
    """Which tools an agent has beyond those of its strategy; the key ``tools``.

    Attributes:
        rag: Whether ``rag_search`` is on although the strategy is not ``rag``.
    """

    rag: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefaults:
    """What holds for agents that do not say otherwise; the key ``defaults``.

    Attributes:
        docs: Their documents.
        tools: Their tools.
    """

    docs: DocsSettings = DocsSettings()
    tools: ToolsSettings = ToolsSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """One agent.

    Attributes:
        id: Its name in files, commands and calls.
        description: A line for people.
        system_prompt: What the model is told, without any documents.
        docs: Its documents.
        rag: How its index is made.
        tools: Its tools.
    """

    id: str = field(metadata={"names": "nothing"})
    description: str = field(default="", metadata={"names": "nothing"})
    system_prompt: str = field(default="", metadata={"names": "nothing"})
    docs: DocsSettings = DocsSettings()
    rag: RagSettings = RagSettings()
    tools: ToolsSettings = ToolsSettings()

    def __post_init__(self) -> None:
        """Refuse an empty id."""
        _not_empty("id", self.id)

    @property
    def searches(self) -> bool:
        """Whether this agent has the tool ``rag_search``; one without documents has not."""
        return bool(self.docs.sources) and (self.tools.rag or self.docs.strategy == "rag")


SECTIONS: Mapping[str, type] = {
    "rag": RagSettings,
    "defaults": AgentDefaults,
    "agents": tuple[AgentSettings, ...],
}
"""The keys of ``agents.yaml``, and the plugin's sections of ``ragloom.yaml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsSettings:
    """Every agent of a workspace.

    Attributes:
        rag: What holds for the indexes of agents that do not say otherwise.
        agents: By id, sorted.
        origins: ``default``, a file and line, or a variable, by dotted key: ``rag.store``,
            ``agents.<id>.docs.top_k``.
        files: Those that were read, the most general first.
        refused: Why an agent may not be used, by id: its user has not granted what it asks for.
    """

    rag: RagSettings = RagSettings()
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def usable(self, agent_id: str) -> AgentSettings:
        """As :meth:`agent`, one that may be used.

        Raises:
            UntrustedError: It asks for what its user has not granted.
        """
        if agent_id in self.refused:
            raise UntrustedError(self.refused[agent_id])
        return self.agent(agent_id)

    def agent(self, agent_id: str) -> AgentSettings:
        """An agent by its id.

        Raises:
            ConfigError: There is none; the message names the nearest, or all.
        """
        if agent_id in self.agents:
            return self.agents[agent_id]
        if not self.agents:
            message = f"unknown agent {agent_id!r}: no agents.yaml or ragloom.yaml names any"
            raise ConfigError(message)
        raise ConfigError(unknown("agent", agent_id, self.agents))

    def origin(self, key: str) -> str:
        """Where a value came from."""
        return self.origins.get(key, "default")
