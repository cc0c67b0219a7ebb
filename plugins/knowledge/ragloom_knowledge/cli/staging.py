"""Commands that stage lessons and bring them into the index."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import Session, json_option, progress
from ragloom.config import counted
from ragloom.text import parse_json
from ragloom_knowledge.cli._group import emit, id_argument, knowledge, labels, opened_base
from ragloom_knowledge.types import CHECKPOINTS, KINDS, LessonError

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.types import CheckpointKind, Kind, Lesson


@knowledge.command(
    short_help="Stage a lesson, or many from stdin.",
    epilog="""\b
Examples:
  ragloom knowledge capture --kind gate_approval --project shop --agent-type architect \\
      --gate-type design --approved-approach "One adapter for each bank"
  ragloom knowledge capture --json < lessons.jsonl""",
)
@click.option("--kind", type=click.Choice(KINDS), help="What taught it.")
@click.option("--project", metavar="NAME", help="Where it was learnt.")
@labels
@click.option("--failure-description", metavar="TEXT", help="What failed.")
@click.option("--error-message", metavar="TEXT", help="What was reported.")
@click.option("--solution-steps", metavar="TEXT", help="What resolved it.")
@click.option("--success-verified", is_flag=True, help="The solution was seen to work.")
@click.option("--gate-type", metavar="NAME", help="Which gate a human judged at.")
@click.option("--human-feedback", metavar="TEXT", help="Why it was rejected.")
@click.option("--revision-approach", metavar="TEXT", help="What was approved instead.")
@click.option("--approved-approach", metavar="TEXT", help="What was approved at once.")
@click.option("--applies-to", metavar="TEXT", help="The tasks that it concerns.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; without --kind, read it from stdin, too."
)
@click.pass_obj
def capture(
    session: Session,
    /,
    *,
    kind: Kind | None,
    success_verified: bool,
    as_json: bool,
    **texts: str | None,
) -> None:
    """Stage a lesson; one that is known is counted instead.

    With --json and without --kind, lessons are read from stdin, a JSON object a line. Either all of them
    are staged or counted, or none is.
    """
    from ragloom_knowledge.capturing import lesson_from_json

    if kind is None and not as_json:
        raise click.UsageError("give --kind and its fields, or --json and lessons on stdin")
    if kind is None:
        read = (_from_line(*line) for line in enumerate(sys.stdin.buffer, 1))
        lessons = [lesson for lesson in read if lesson is not None]
    else:
        given: dict[str, Json] = {key: text for key, text in texts.items() if text is not None}
        given["kind"] = kind
        if kind == "failure_solution":
            given["success_verified"] = success_verified
        lessons = [lesson_from_json(given)]
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        staged = opened.capture_all(lessons, progress=meter)
    for captured in staged:
        line = f"{captured.id}\t{'counted' if captured.merged else 'staged'}"
        redacted, similar = list(captured.redacted), list(captured.similar)
        answer: dict[str, Json] = {
            "id": captured.id,
            "merged": captured.merged,
            "redacted": cast("Json", redacted),
            "similar": cast("Json", similar),
        }
        emit(answer, line, as_json=as_json)
        if redacted:
            session.warn(f"{captured.id}: secrets were removed from {', '.join(redacted)}")
        if similar:
            session.note(
                f"{captured.id}: similar to {', '.join(similar)}; "
                "'ragloom knowledge supersede' replaces one by another"
            )


def _from_line(number: int, line: bytes) -> Lesson | None:
    from ragloom_knowledge.capturing import lesson_from_json

    try:
        text = line.decode("utf-8-sig").strip()  # PowerShell begins with a byte order mark
        return lesson_from_json(parse_json(text)) if text else None
    except LessonError as error:
        raise LessonError(f"line {number}: {error}") from error
    except UnicodeDecodeError as error:
        raise LessonError(f"line {number}: not UTF-8") from error
    except json.JSONDecodeError as error:
        raise LessonError(f"line {number}: not JSON: {error.msg}") from error
    except ValueError as error:
        message = f"line {number}: a number is too long, or brackets are too deep, to be read"
        raise LessonError(message) from error


@knowledge.command(
    short_help="Bring what was staged into the index.",
    epilog="""\b
Examples:
  ragloom knowledge checkpoint --project shop --kind phase_completion""",
)
@click.option("--project", metavar="NAME", required=True, help="Whose lessons.")
@click.option("--kind", type=click.Choice(CHECKPOINTS), default="manual", show_default=True)
@json_option
@click.pass_obj
def checkpoint(session: Session, /, *, project: str, kind: CheckpointKind, as_json: bool) -> int:
    """Bring what a project has learnt since its last checkpoint into the index; expired lessons go."""
    with opened_base(session) as opened, progress(session, project) as meter:
        done = opened.process_checkpoint(project, kind, progress=meter)
    line = (
        f"{counted(done.processed, 'lesson')} processed, "
        f"{counted(done.embedded, 'chunk')} embedded, {counted(done.pruned, 'lesson')} expired"
    )
    emit({**asdict(done), "failed": list(done.failed)}, line, as_json=as_json)
    if done.failed:
        session.warn(f"not indexed, tried again at the next checkpoint: {', '.join(done.failed)}")
    return 1 if done.failed else 0


@knowledge.command(
    epilog="""\b
Examples:
  ragloom knowledge verify ID""",
)
@id_argument
@json_option
@click.pass_obj
def verify(session: Session, /, *, lesson_id: str, as_json: bool) -> None:
    """Note that the solution of a lesson was seen to work; the next checkpoint indexes it."""
    with opened_base(session) as opened:
        lesson = opened.verify(lesson_id)
    emit({"id": lesson.id, "success_verified": True}, f"{lesson.id}\tverified", as_json=as_json)
