"""What can be set for agents, and what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from ragloom import ConfigError
from ragloom.config import did_you_mean

__all__ = ["AgentSettings", "AgentsSettings", "DocsSettings", "RagSettings", "Strategy"]

Strategy: TypeAlias = Literal["preload", "rag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RagSettings:
    """Where indexes are kept and how documents are cut; the key ``rag``, for all agents or for one.

    Attributes:
        store: The name of a store, such as ``memory``, ``file``, ``sqlite`` or ``milvus``.
        path: Where it keeps the chunks of all agents, relative to the workspace; empty for a place in
            the workspace's state.
        chunk_size: The most characters of a chunk.
        chunk_overlap: The most characters that two neighbours share.
    """

    store: str = "memory"
    path: str = ""
    chunk_size: int = 2000
    chunk_overlap: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsSettings:
    """What an agent may know, and how it comes to know it; the key ``docs``.

    Attributes:
        strategy: ``preload`` puts whole documents into the system prompt, ``rag`` offers a tool that
            searches them.
        budget: The most tokens of preloaded documents, with the lines around them.
        top_k: Results of a search, at the most.
        sources: Files, folders or globs, relative to ``base_dir``.
        base_dir: The folder that sources are relative to, itself relative to the workspace.
        counter: Whose tokens the budget counts, as in :func:`ragloom.text.tokens.counter`.
    """

    strategy: Strategy = "preload"
    budget: int = 12_000
    top_k: int = 5
    sources: tuple[str, ...] = ()
    base_dir: str = "."
    counter: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """One agent.

    Attributes:
        id: Its name in files, commands and calls.
        description: A line for people.
        system_prompt: What the model is told, without any documents.
        docs: Its documents.
        rag: How its index is made.
        tool: Whether ``rag_search`` is on although the strategy is not ``rag``.
    """

    id: str
    description: str = ""
    system_prompt: str = ""
    docs: DocsSettings = DocsSettings()
    rag: RagSettings = RagSettings()
    tool: bool = False

    @property
    def searches(self) -> bool:
        """Whether this agent has the tool ``rag_search``; one without documents has not."""
        return bool(self.docs.sources) and (self.tool or self.docs.strategy == "rag")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsSettings:
    """Every agent of a workspace.

    Attributes:
        rag: What holds for the indexes of agents that do not say otherwise.
        agents: By id, sorted.
        origins: ``default``, a file and line, or a variable, by dotted key: ``rag.store``,
            ``agents.<id>.docs.top_k``.
        files: Those that were read, the most general first.
    """

    rag: RagSettings = RagSettings()
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    def agent(self, agent_id: str) -> AgentSettings:
        """An agent by its id.

        Raises:
            ConfigError: There is none; the message names the nearest, or all.
        """
        if agent_id in self.agents:
            return self.agents[agent_id]
        if not self.agents:
            message = f"no agent is called {agent_id!r}: no agents.yaml or ragloom.yaml names any"
            raise ConfigError(message)
        hint = did_you_mean(agent_id, self.agents) or f"; there are: {', '.join(self.agents)}"
        raise ConfigError(f"no agent is called {agent_id!r}{hint}")

    def origin(self, key: str) -> str:
        """Where a value came from."""
        return self.origins.get(key, "default")
