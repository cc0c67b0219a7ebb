"""``ragloom plugins``, ``ragloom plugins check`` and ``ragloom plugins new``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Group, Session, completes, json_option, print_json, print_table

if TYPE_CHECKING:
    from ragloom.plugin.info import PluginInfo
    from ragloom.types import Json

# As ragloom.testing.scaffold.KINDS, which is not imported for the help.
_KINDS = ("store", "loader", "chunker", "embedder", "formatter", "reranker", "settings")


@click.group(
    "plugins",
    cls=Group,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
    epilog="""\b
Examples:
  ragloom plugins
  ragloom plugins --json | jq '.[] | select(.status == "failed")'
  RAGLOOM_DISABLED_PLUGINS=milvus ragloom plugins
  ragloom plugins check ragloom-chroma
  ragloom plugins new rst --kind loader""",
)
@json_option
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """List the plugins: name, distribution, version, status, and the components that they provide.

    The last column shows the pip command for missing packages, or the error of a plugin that failed.
    A plugin is an installed package with an entry point in the group 'ragloom'.
    """
    if ctx.invoked_subcommand is not None:
        return

    session = ctx.ensure_object(Session)
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
                plugin.error or "; ".join(f"pip install '{extra}'" for extra in _extras(plugin)),
            )
            for plugin in found
        ],
    )
    if not any(plugin.status == "loaded" and plugin.provides for plugin in found):
        session.note("no plugin provides a component: pip install 'ragloom[standard]'")


@command.command(
    "check",
    short_help="Test an installed plugin against the contract.",
    epilog="""\b
Examples:
  ragloom plugins check ragloom-chroma
  ragloom plugins check ragloom-qdrant --option qdrant.url=http://127.0.0.1:6333
  ragloom plugins check my-loader --sample page.mine
  ragloom plugins check my-store -- -x --tb=short""",
)
@click.argument(
    "distribution",
    shell_complete=completes(
        lambda session: sorted({one.distribution for one in session.host().plugins()} - {""})
    ),
)
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- PYTEST…]")
@click.option(
    "--option",
    "options",
    metavar="COMPONENT.KEY=VALUE",
    multiple=True,
    help="An option of a component. Repeatable.",
)
@click.option(
    "--sample",
    "samples",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="A file for the loaders that read its ending. Repeatable.",
)
@click.option(
    "--deviation",
    "deviations",
    metavar="[COMPONENT:]RULE=REASON",
    multiple=True,
    help="A rule that a component breaks on purpose, and why; the rule must fail then. Repeatable.",
)
@click.pass_context
def check(
    ctx: click.Context,
    *,
    distribution: str,
    pytest_arguments: tuple[str, ...],
    options: tuple[str, ...],
    samples: tuple[str, ...],
    deviations: tuple[str, ...],
) -> None:
    """Test every component of DISTRIBUTION against the contract; no test file is needed.

    DISTRIBUTION is an installed package, such as 'ragloom-chroma'. Components are created with their
    default options and those of --option. Arguments after '--' go to pytest. Exits with 0 when every
    rule holds.
    """
    from ragloom.cli._checking import run_contracts

    ctx.exit(
        run_contracts(
            distribution,
            options=[_setting(text) for text in options],
            deviations=dict(_pair("--deviation", text) for text in deviations),
            samples=samples,
            pytest_arguments=pytest_arguments,
        )
    )


@command.command(
    "new",
    short_help="Create a plugin: a package that passes its own tests.",
    epilog="""\b
Examples:
  ragloom plugins new wiki --kind loader --kind chunker
  ragloom plugins new redis --kind store --into ~/src""",
)
@click.argument("name")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(_KINDS),
    required=True,
    multiple=True,
    help="A kind of component to offer. Repeatable.",
)
@click.option(
    "--into",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    default=".",
    show_default=True,
    help="The folder in which to create the package's folder.",
)
@click.pass_obj
def new(session: Session, *, name: str, kinds: tuple[str, ...], folder: str) -> None:
    """Create a complete package 'ragloom-NAME': entry point, working code, contract test, README, CI.

    Its folder must not exist yet; nothing is overwritten.
    """
    from pathlib import Path

    from ragloom.testing.scaffold import write_plugin

    target, *made = write_plugin(name, kinds, Path(folder))
    for path in made:
        click.echo(path.as_posix())
    session.note(f"next: pip install -e '{target.as_posix()}[test]' && pytest {target.as_posix()}")


def _pair(option: str, text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key or not value:
        raise click.UsageError(f"{option}: expected KEY=VALUE, found {text!r}")
    return key, value


def _setting(text: str) -> tuple[str, str, str]:
    key, value = _pair("--option", text)
    component, dot, name = key.rpartition(".")
    if not dot:
        raise click.UsageError(f"--option: expected COMPONENT.KEY=VALUE, found {text!r}")
    return component, name, value


def _extras(plugin: PluginInfo) -> list[str]:
    return list(dict.fromkeys(missing.extra for missing in plugin.missing))


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
