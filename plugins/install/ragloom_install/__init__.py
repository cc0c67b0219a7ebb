"""Attach ragloom to the coding agents of a project, and take it away again: ``ragloom install``."""

from __future__ import annotations

from collections.abc import Mapping

from ragloom import CommandSpec, hookimpl

__all__ = ["ragloom_commands"]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``install`` and ``uninstall``."""
    return {
        "install": CommandSpec(
            target="ragloom_install.cli:install",
            summary="Attach ragloom to the coding agents of a project.",
        ),
        "uninstall": CommandSpec(
            target="ragloom_install.cli:uninstall",
            summary="Take back what 'ragloom install' wrote.",
        ),
    }
