"""Commands for coding agents: their hooks, and lessons as instructions."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Final

import click

from ragloom.cli import Session, json_option, print_json, print_text
from ragloom.config import counted
from ragloom_knowledge.cli._group import knowledge, opened_base

_SECONDS: Final = 2.5  # in which a hook answers
_EVENTS: Final = {
    "prompt-submitted": "UserPromptSubmit",
    "tool-failed": "PostToolUseFailure",
    "subagent-stopped": "SubagentStop",
}
_KNOWN: Final = (*_EVENTS, *_EVENTS.values(), "PostToolUse")


@knowledge.command(
    short_help="Answer a hook of a coding agent.",
    epilog="""\b
Examples:
  echo '{"prompt": "Write the migration"}' | ragloom knowledge hook prompt-submitted
  ragloom knowledge hook tool-failed --json < event.json""",
    # A usage error would exit with 2, by which a coding agent discards the prompt.
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("event", default="")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the JSON by which Claude Code adds a text to the conversation.",
)
@click.pass_context
def hook(context: click.Context, /, *, event: str, as_json: bool) -> None:
    """Read an event of a coding agent from stdin, and print the block of what is known, or nothing.

    EVENT is prompt-submitted, tool-failed or subagent-stopped. On stdin is its JSON, as Claude Code
    passes it. It answers within three seconds, and its exit code is always 0: an agent goes on without
    lessons.
    """
    session: Session = context.obj
    if context.args:
        session.warn(f"ignored: {' '.join(context.args)}")
    if event not in _KNOWN:
        session.warn(f"unknown event {event!r} (available: {', '.join(_EVENTS)})")
        return
    name = _EVENTS.get(event, event)
    found: list[str] = []
    running = Thread(target=_answer, args=(session, name, found), daemon=True)
    running.start()
    running.join(_SECONDS)
    if found and as_json:
        print_json({"hookSpecificOutput": {"hookEventName": name, "additionalContext": found[0]}})
    elif found:
        print_text(found[0].rstrip("\n"))
    if running.is_alive():  # it may wait in a driver, which no exit of Python interrupts
        sys.stdout.flush()
        os._exit(0)


def _answer(session: Session, event: str, found: list[str]) -> None:
    from ragloom_knowledge.hooks import block_for_event

    # Whatever is wrong is wrong with the lessons, and an agent goes on without them.
    with suppress(Exception), opened_base(session) as opened:
        if block := block_for_event(opened, event, sys.stdin.buffer.read()):
            found.append(block)


@knowledge.command(
    short_help="Write proven lessons into instructions.",
    epilog="""\b
Examples:
  ragloom knowledge promote --to AGENTS.md
  ragloom knowledge promote --to AGENTS.md --write
  ragloom knowledge promote ID --skill .claude/skills/lessons --write""",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--to",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A Markdown file, such as AGENTS.md; only a section of it is ragloom's.",
)
@click.option(
    "--skill",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of a skill, whose SKILL.md is ragloom's.",
)
@click.option("--write", is_flag=True, help="Write it, after the diff was shown.")
@json_option
@click.pass_obj
def promote(
    session: Session,
    /,
    *,
    ids: tuple[str, ...],
    page: Path | None,
    skill: Path | None,
    write: bool,
    as_json: bool,
) -> None:
    """Show how proven lessons would change a page of instructions, or with --write change it.

    Without an ID, all are taken that are proven, or that a human decided; one that has failed more often
    than it worked never is.
    """
    from ragloom_knowledge.promotion import promoted

    if (page is None) == (skill is None):
        raise click.UsageError("give --to or --skill")
    with opened_base(session) as opened:
        change = promoted(opened, ids, page=page, skill=skill)
    if as_json:
        print_json(
            {
                "path": str(change.path),
                "lessons": list(change.lessons),
                "diff": change.diff,
                "written": write,
            }
        )
    else:
        print_text(change.diff.rstrip("\n"))
    if write:
        change.write()
    count = counted(len(change.lessons), "lesson")
    done = "written" if write else "not written: add --write"
    session.note(f"{change.path}: {count}, {done if change.diff else 'nothing changes'}")
