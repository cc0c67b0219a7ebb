"""Agents with documents of their own: preloaded, or searched by the tool ``rag_search``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from ragloom import CommandSpec, Formatter, NoOptions, Permission, Provider, hookimpl

if TYPE_CHECKING:
    from ragloom import Space, Workspace
    from ragloom_agents.agents import Agents
    from ragloom_agents.index import AgentIndex
    from ragloom_agents.prompt import SystemPrompt
    from ragloom_agents.settings import AgentSettings, AgentsSettings
    from ragloom_agents.tool import RagSearch, ToolError, ToolResult

__all__ = [
    "AgentIndex",
    "AgentSettings",
    "Agents",
    "AgentsSettings",
    "RagSearch",
    "SystemPrompt",
    "ToolError",
    "ToolResult",
    "ragloom_commands",
    "ragloom_formatters",
    "ragloom_permissions",
    "ragloom_settings",
    "ragloom_spaces",
]

_ON_FIRST_USE = {
    "AgentIndex": "index",
    "AgentSettings": "settings",
    "Agents": "agents",
    "AgentsSettings": "settings",
    "RagSearch": "tool",
    "SystemPrompt": "prompt",
    "ToolError": "tool",
    "ToolResult": "tool",
}


def _results(_options: NoOptions) -> Formatter:
    from ragloom_agents.results import ResultsFormatter

    return ResultsFormatter()


@hookimpl
def ragloom_formatters() -> Iterable[Provider[Formatter]]:
    """Offer the formatter ``results``: what ``rag_search`` answers."""
    return [
        Provider(
            name="results",
            summary="numbered results with score, source and end, as rag_search answers",
            create=_results,
        )
    ]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom agents``."""
    return {
        "agents": CommandSpec(
            target="ragloom_agents.cli:agents", summary="Show, index and search agents."
        )
    }


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the sections ``rag``, ``defaults`` and ``agents``."""
    from ragloom_agents.settings import SECTIONS

    return SECTIONS


@hookimpl
def ragloom_permissions(workspace: Workspace) -> Iterable[Permission]:
    """Say what ``agents.yaml`` asks for beyond the workspace."""
    from ragloom_agents.layers import load_agents, permissions_of

    settings = load_agents(workspace.root, workspace.settings)
    return [one for name in settings.agents for one in permissions_of(name, settings, workspace)]


@hookimpl
def ragloom_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """Offer the spaces of agents that have documents, by agent id."""
    from ragloom_agents.spaces import named_spaces

    return named_spaces(workspace)


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ON_FIRST_USE[name]}"), name)
