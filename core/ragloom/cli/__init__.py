"""The command ``ragloom``, and what its commands are made of, those of plugins included.

Each command is a module that is imported only when it is run. A plugin's looks like one of ragloom's own::

    @click.command("hello", cls=Command, short_help="Greet.")
    @json_option
    @click.pass_obj
    def hello(session: Session, *, as_json: bool) -> None:
        print_json({"folder": session.folder}) if as_json else print_text("Hello")

:class:`Command` and :class:`Group` bring the options that every command has, and what goes wrong is one
line on stderr and an exit code. Results go to stdout, by :func:`print_json`, :func:`print_table` and
:func:`print_text`; all else to stderr, by :meth:`Session.note`, :meth:`Session.warn` and :func:`progress`.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from ragloom import __version__
from ragloom.cli._edge import open_closed_streams
from ragloom.cli._group import Command, Group, LazyGroup
from ragloom.cli._options import SHARE, json_option
from ragloom.cli._output import print_json, print_table, print_text, search_json
from ragloom.cli._progress import progress
from ragloom.cli._refresh import failures, report_json
from ragloom.cli._session import Session, on_one_line
from ragloom.hookspecs import CommandSpec

__all__ = [
    "SHARE",
    "Command",
    "Group",
    "Session",
    "cli",
    "failures",
    "json_option",
    "main",
    "on_one_line",
    "print_json",
    "print_table",
    "print_text",
    "progress",
    "report_json",
    "search_json",
]

COMMANDS = {
    "search": "Find the passages that answer a question.",
    "context": "Pack what answers a question into a budget of tokens.",
    "index": "Bring the index up to date with the files.",
    "watch": "Keep the index up to date while files change.",
    "status": "Show what is indexed, and whether files have changed since.",
    "config": "Show every setting and where its value came from.",
    "plugins": "List the plugins, what they provide and what is missing.",
    "explain": "Show why a passage is found, or why it is not.",
    "verify": "Prove every chunk against its file.",
    "chunks": "Show how files are cut.",
    "eval": "Measure retrieval on a judged collection.",
    "calibrate": "Fit relevance to your documents.",
    "audit": "Read the log of retrievals and index runs.",
    "repair": "Make the store again from the snapshot, or the snapshot from the store.",
    "drop": "Forget indexes; the files stay.",
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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  ragloom search "How do I log errors?" docs/
  ragloom index docs/ adr/
  ragloom COMMAND --help""",
)
@click.version_option(__version__, "--version", message="ragloom %(version)s")
def cli() -> None:
    """Search a project's own documents by meaning and by word, with exact file and line."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    open_closed_streams()
    cli.main(prog_name="ragloom")
