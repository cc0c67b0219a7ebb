"""The command ``ragloom``: one command a module, each imported only when it is run."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ragloom import __version__
from ragloom.cli._group import LazyGroup
from ragloom.cli._options import common_options
from ragloom.cli._session import Session
from ragloom.hookspecs import CommandSpec

__all__ = ["cli", "main"]

COMMANDS = {
    "search": "Find the passages that answer a question.",
    "context": "Pack what answers a question into a budget of tokens.",
    "index": "Bring the index up to date with the files.",
    "status": "Show what is indexed, and whether files have changed since.",
    "config": "Show every setting and where its value came from.",
    "plugins": "List the plugins, what they provide and what is missing.",
    "explain": "Show why a passage is found, or why it is not.",
    "verify": "Prove every chunk against its file.",
    "chunks": "Show how files are cut.",
    "eval": "Measure retrieval on a judged collection.",
    "calibrate": "Fit relevance to your documents.",
    "audit": "Read the log of retrievals.",
    "repair": "Make the store again from the snapshot, or the snapshot from the store.",
    "completion": "Print the script that completes commands in a shell.",
}
"""Name to the line that ``ragloom --help`` shows; no module is imported to show it."""


def _of_plugins(context: click.Context) -> Mapping[str, CommandSpec]:
    return context.ensure_object(Session).host().commands()


@click.group(
    cls=LazyGroup,
    built_in={
        name: CommandSpec(target=f"ragloom.cli.{name}:command", summary=summary)
        for name, summary in COMMANDS.items()
    },
    more=_of_plugins,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  ragloom search "How do I log errors?" docs/
  ragloom index docs/ adr/
  ragloom COMMAND --help""",
)
@click.version_option(__version__, "--version", message="ragloom %(version)s")
@common_options
@click.pass_context
def cli(context: click.Context) -> None:
    """Search a project's own documents by meaning and by word, with exact file and line."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    cli.main(prog_name="ragloom")
