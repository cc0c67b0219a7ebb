"""All agents of a project: their settings, prompts, indexes and tools."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from ragloom import (
    IndexReport,
    MissingDependencyError,
    PluginError,
    PluginHost,
    RagloomError,
    TokenCounter,
    Workspace,
)
from ragloom.text import counter
from ragloom_agents.index import AgentIndex
from ragloom_agents.layers import agents_of
from ragloom_agents.prompt import SystemPrompt, preloaded, with_hint
from ragloom_agents.settings import AgentsSettings, Strategy
from ragloom_agents.tool import RagSearch

_LOG = logging.getLogger("ragloom")


class Agents:
    """The agents of a project.

    >>> agents = Agents.open("examples")
    >>> list(agents.settings.agents)
    []

    Every method that takes an agent's id raises a ConfigError for an unknown one, and those that use its
    documents an UntrustedError for one that asks for what its user has not granted.
    """

    def __init__(self, settings: AgentsSettings, workspace: Workspace) -> None:
        self.settings = settings
        self.workspace = workspace
        self.index = AgentIndex(settings, workspace)
        self._tools: dict[str, RagSearch] = {}

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Agents:
        """Read the agents of the project at ``path``; nothing is indexed yet.

        Args as for :meth:`ragloom.Workspace.open`; ``environment`` is the process's own by default.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        workspace = Workspace.open(path, config=config, host=host)
        return cls(agents_of(workspace, environment), workspace)

    def start(self) -> Mapping[str, IndexReport]:
        """Bring the index of every agent that searches up to date, as a program does when it starts.

        An agent whose index cannot be brought up to date is a warning in the log ``ragloom`` and not in
        what is returned; its last index, if there is one, keeps answering.
        """
        reports: dict[str, IndexReport] = {}
        for agent_id in self.settings.agents:
            if self.has_tool(agent_id):
                try:
                    reports[agent_id] = self.index.ensure(agent_id)
                except RagloomError as error:
                    _LOG.warning("the index of agent %r is not up to date: %s", agent_id, error)
        return reports

    def strategy(self, agent_id: str) -> Strategy:
        """``preload`` or ``rag``: what the settings say, or ``preload`` where no embedder can be had."""
        chosen = self.settings.agent(agent_id).docs.strategy
        return "preload" if chosen == "rag" and self._without_embedder else chosen

    def has_tool(self, agent_id: str) -> bool:
        """Whether the agent's model is offered ``rag_search``."""
        return self.settings.agent(agent_id).searches and not self._without_embedder

    def prompt(self, agent_id: str) -> SystemPrompt:
        """The system prompt to send, made of the files as they are now.

        Raises:
            ConfigError: The agent's base folder does not exist.
        """
        agent = self.settings.usable(agent_id)
        hinted = with_hint if self.has_tool(agent_id) else str
        if self.strategy(agent_id) == "rag":
            return SystemPrompt(text=hinted(agent.system_prompt), strategy="rag")
        if not agent.docs.sources:
            return SystemPrompt(text=agent.system_prompt, strategy="preload")
        space = self.index.spaces.space(agent_id)
        prompt = preloaded(agent, space, self._counter(agent.docs.counter))
        return replace(prompt, text=hinted(prompt.text))

    def tool(self, agent_id: str) -> RagSearch | None:
        """``rag_search`` over the agent's documents, or None where the agent does not have it."""
        if not self.has_tool(agent_id):
            return None
        if agent_id not in self._tools:
            self._tools[agent_id] = RagSearch(self.index, agent_id)
        return self._tools[agent_id]

    @cached_property
    def _without_embedder(self) -> bool:
        """Whether no embedder can be made; logged once, and only when an agent needs one."""
        if self._missing:
            _LOG.warning(
                "agents with strategy 'rag' preload their documents instead: %s", self._missing
            )
        return bool(self._missing)

    @cached_property
    def _missing(self) -> str:
        """Why no embedder can be made; empty where one can."""
        try:
            self.index.spaces.embedder  # noqa: B018 - makes it
        except (MissingDependencyError, PluginError) as error:
            return str(error)
        return ""

    def _counter(self, name: str) -> TokenCounter:
        """The counter of that name; for ``auto`` an exact one, if need be the embedding model's own."""
        found = counter(name)
        if name == "auto" and found.name == "approximate" and not self._missing:
            return self.index.spaces.embedder.counter
        return found
