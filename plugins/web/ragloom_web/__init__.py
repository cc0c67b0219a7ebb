"""A page for an index, on this machine alone: the command ``ragloom ui``."""

from __future__ import annotations

from collections.abc import Mapping

from ragloom import CommandSpec, hookimpl

__all__ = ["ragloom_commands"]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom ui``."""
    return {
        "ui": CommandSpec(target="ragloom_web.cli:ui", summary="Look at the indexes in a browser.")
    }
