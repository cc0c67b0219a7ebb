"""A team's server: MCP and a small HTTP API over read-only spaces, the command ``ragloom serve``."""

from __future__ import annotations

from collections.abc import Mapping

from ragloom import CommandSpec, hookimpl

__all__ = ["ragloom_commands"]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom serve``."""
    return {
        "serve": CommandSpec(
            target="ragloom_serve.cli:serve", summary="Serve the indexes to a team over HTTP."
        )
    }
