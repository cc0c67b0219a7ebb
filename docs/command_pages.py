"""The reference of the commands, as a page and as manual pages, from the commands themselves.

python docs/command_pages.py FOLDER     writes a manual page for each command
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ragloom import __version__
from ragloom.cli import cli


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPage:
    """What is known of a command.

    Attributes:
        words: Its name, such as ``("ragloom", "agents", "index")``.
        usage: Its arguments.
        summary: One line.
        paragraphs: What it does.
        options: Each with its help.
        examples: Lines, with the command first and what it does behind it.
        commands: Names and summaries, of a group.
    """

    words: Sequence[str]
    usage: str
    summary: str
    paragraphs: Sequence[str]
    options: Sequence[tuple[str, str]]
    examples: Sequence[str]
    commands: Sequence[tuple[str, str]] = ()

    @property
    def name(self) -> str:
        """``ragloom agents index``."""
        return " ".join(self.words)


def pages() -> Iterator[CommandPage]:
    """Every command, groups before their commands."""
    context = click.Context(cli, info_name="ragloom", **cli.context_settings)
    yield from _of(cli, context, ("ragloom",))


def _of(
    command: click.Command, context: click.Context, words: tuple[str, ...]
) -> Iterator[CommandPage]:
    inner: list[tuple[str, click.Command]] = []
    if isinstance(command, click.Group):
        found = (
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        )
        inner = [(name, one) for name, one in found if one is not None and not one.hidden]
    common = {id(one) for one in cli.get_params(context)} if len(words) > 1 else set()
    records = [
        param.get_help_record(context)
        for param in command.get_params(context)
        if isinstance(param, click.Option)
        and id(param) not in common
        and "--help" not in param.opts
    ]
    text = re.sub(r"(?m)^\\b$", "", command.help or "")
    yield CommandPage(
        words=words,
        usage=" ".join(command.collect_usage_pieces(context)),
        summary=command.get_short_help_str(120),
        paragraphs=[" ".join(one.split()) for one in text.split("\n\n") if one.strip()],
        options=[record for record in records if record is not None],
        examples=_examples(command.epilog or ""),
        commands=[(name, one.get_short_help_str(120)) for name, one in inner],
    )
    for name, one in inner:
        yield from _of(one, click.Context(one, info_name=name, parent=context), (*words, name))


def _examples(epilog: str) -> list[str]:
    joined = epilog.replace("\\\n", " ")
    return [
        re.sub(r"\s{5,}", "  ", line.strip())
        for line in joined.splitlines()
        if line.strip() and line.strip() not in ("\b", "\\b", "Examples:")
    ]


def markdown() -> str:
    """All commands on one page."""
    lines = [
        "# Commands",
        "",
        "Generated from the commands themselves; [the command line](../command-line.md) has more on each.",
        "The options of `ragloom` itself may stand behind every command, too.",
        "",
    ]
    for page in pages():
        lines += [f"## {page.name}", "", f"`{page.name} {page.usage}`", ""]
        for one in page.paragraphs:
            lines += [_plain(one), ""]
        if page.options:
            lines += ["| option | |", "| --- | --- |"]
            lines += [
                f"| `{_cell(names)}` | {_cell(_plain(told))} |" for names, told in page.options
            ]
            lines.append("")
        if page.commands:
            lines += [
                f"- [`{page.name} {name}`](#{'-'.join([*page.words, name])}): {_plain(told)}"
                for name, told in page.commands
            ]
            lines.append("")
        if page.examples:
            lines += ["```text", *page.examples, "```", ""]
    return "\n".join(lines)


def manual_page(page: CommandPage) -> str:
    """A command in roff, section 1."""
    title = "-".join(page.words)
    lines = [
        f'.TH "{title.upper()}" 1 "" "ragloom {__version__}" "ragloom"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(page.summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_roff(page.name)}",
        _roff(page.usage),
        ".SH DESCRIPTION",
    ]
    for number, one in enumerate(page.paragraphs):
        lines += [".PP"] * bool(number) + [_roff(one)]
    if page.options:
        lines.append(".SH OPTIONS")
        for names, told in page.options:
            lines += [".TP", f".B {_roff(names)}", _roff(told)]
    if page.commands:
        lines.append(".SH COMMANDS")
        for name, told in page.commands:
            lines += [".TP", f".BR {_roff('-'.join([*page.words, name]))} (1)", _roff(told)]
    if page.examples:
        lines += [".SH EXAMPLES", ".nf", *map(_roff, page.examples), ".fi"]
    if len(page.words) > 1:
        lines += [".SH SEE ALSO", f".BR {_roff('-'.join(page.words[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def manual_pages() -> dict[str, str]:
    """The manual pages by the names of their files."""
    return {f"{'-'.join(page.words)}.1": manual_page(page) for page in pages()}


def _plain(text: str) -> str:
    """Text of a help in Markdown: what would be a tag or an emphasis stands as it is."""
    return re.sub(r"([\\<>*_\[\]`])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def main() -> None:
    """Write the manual pages."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004 - the script and a folder
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in manual_pages().items():
        (folder / name).write_text(text, "utf-8")
    print(f"{len(manual_pages())} manual pages in {folder}")


if __name__ == "__main__":
    main()
