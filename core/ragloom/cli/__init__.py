"""The command ``ragloom``, and the kit for commands, those of plugins included.

Each command is a module that is imported when it runs. A command of a plugin looks like ragloom's own::

    @click.command("hello", cls=Command, short_help="Greet.")
    @json_option
    @click.pass_obj
    def hello(session: Session, *, as_json: bool) -> None:
        print_json({"folder": session.folder}) if as_json else print_text("Hello")

:class:`Command` and :class:`Group` add the common options, and turn an error into one line on stderr and an
exit code. Results go to stdout: :func:`print_json`, :func:`print_table`, :func:`print_text`; all else to
stderr: :meth:`Session.note`, :meth:`Session.warn`, :func:`progress`.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from ragloom import __version__
from ragloom.cli._edge import open_closed_streams, stdout_for_protocol, stdout_for_results
from ragloom.cli._group import Command, Group, LazyGroup
from ragloom.cli._options import SHARE, OutputPath, complete_spaces, completes, json_option
from ragloom.cli._output import print_json, print_table, print_text, search_json
from ragloom.cli._places import editor_command
from ragloom.cli._progress import progress
from ragloom.cli._refresh import failures, report_json
from ragloom.cli._session import Session, on_one_line
from ragloom.hookspecs import CommandSpec

__all__ = [
    "SHARE",
    "Command",
    "Group",
    "OutputPath",
    "Session",
    "cli",
    "complete_spaces",
    "completes",
    "editor_command",
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
    "stdout_for_protocol",
]

COMMANDS = {
    "search": "Search the files for passages that answer a query.",
    "context": "Pack passages that answer a query into a token budget.",
    "index": "Index files that are new or changed.",
    "commit": "Publish what 'ragloom index --shard' made.",
    "watch": "Watch the files and index changes.",
    "status": "Show each index: files, chunks, size, age, changed files.",
    "config": "Show every setting and its origin.",
    "plugins": "List plugins, their components and missing packages.",
    "explain": "Explain why a passage is found or not.",
    "verify": "Compare every chunk with its file.",
    "chunks": "Show a file's chunks.",
    "eval": "Evaluate retrieval on judged or on your own queries.",
    "tune": "Propose settings by what your own documents say.",
    "calibrate": "Calibrate relevance on your documents.",
    "trust": "Trust what a project's settings ask for.",
    "audit": "Show the audit log of searches and index runs.",
    "savings": "Compare the tokens given with those of whole files.",
    "doctor": "Check the installation and the indexes, and say what to do.",
    "repair": "Rebuild the store from the snapshot, or the snapshot from the store.",
    "drop": "Delete indexes; the files stay.",
    "completion": "Print the completion script for a shell.",
}
"""Names and summaries, which ``ragloom --help`` shows without importing a command."""


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
    """Search a project's own documents by meaning and by words, with exact file and line."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    open_closed_streams()
    with stdout_for_results():
        cli.main(prog_name="ragloom")
