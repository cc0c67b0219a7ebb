"""Indexes served over the Model Context Protocol: the command ``ragloom mcp``."""

from __future__ import annotations

from collections.abc import Mapping

from ragloom import CommandSpec, hookimpl

__all__ = ["ragloom_commands"]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom mcp``."""
    return {
        "mcp": CommandSpec(
            target="ragloom_mcp.cli:serve", summary="Serve the indexes to MCP clients."
        )
    }
