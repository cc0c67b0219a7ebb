"""``ragloom plugins``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli._group import Command
from ragloom.cli._options import common_options, json_option
from ragloom.cli._session import Session

if TYPE_CHECKING:
    from ragloom._host import PluginInfo
    from ragloom.types import Json

__all__ = ["command"]

_STANDARD = "pip install 'ragloom[standard]'"


@click.command(
    "plugins",
    cls=Command,
    short_help="List the plugins, what they provide and what is missing.",
    epilog="""\b
Examples:
  ragloom plugins
  ragloom plugins --json | jq '.[] | select(.status == "failed")'
  RAGLOOM_DISABLED_PLUGINS=milvus ragloom plugins""",
)
@json_option
@common_options
@click.pass_obj
def command(session: Session, *, as_json: bool) -> None:
    """List the plugins: name, distribution, version, status, and the parts that they provide.

    For a part that needs a package which is not installed, the pip command is shown; for a plugin
    that failed, why. A plugin is any installed package with an entry point in the group 'ragloom'.
    """
    from ragloom.cli._output import print_json, print_table

    found = session.host().plugins()
    if as_json:
        print_json([_as_json(plugin) for plugin in found])
        return
    print_table(
        ("name", "distribution", "version", "status", "provides", "missing or failed"),
        [
            (
                plugin.name,
                plugin.distribution,
                plugin.version,
                plugin.status,
                "; ".join(f"{kind}: {', '.join(names)}" for kind, names in plugin.provides.items()),
                plugin.error or "; ".join(_pip(extra) for extra in _extras(plugin)),
            )
            for plugin in found
        ],
    )
    if not any(plugin.status == "loaded" and plugin.provides for plugin in found):
        session.note(f"no plugin is there to read, embed or keep anything: {_STANDARD}")


def _extras(plugin: PluginInfo) -> list[str]:
    return list(dict.fromkeys(missing.extra for missing in plugin.missing))


def _pip(extra: str) -> str:
    return f"pip install '{extra}'"


def _as_json(plugin: PluginInfo) -> Json:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "status": plugin.status,
        "provides": {kind: list(names) for kind, names in plugin.provides.items()},
        "error": plugin.error or None,
        "extra": " ".join(_extras(plugin)) or None,
        "missing": [
            {"part": missing.part, "modules": list(missing.modules), "extra": missing.extra}
            for missing in plugin.missing
        ],
    }
