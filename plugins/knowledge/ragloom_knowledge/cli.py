"""``ragloom knowledge``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click

from ragloom.cli import (
    Group,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_text,
    progress,
)
from ragloom.spelling import counted
from ragloom_knowledge.types import CHECKPOINTS, FIELDS_OF_KIND, KINDS, LessonError, Task

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.knowledge import KnowledgeBase
    from ragloom_knowledge.types import Captured, CheckpointKind, Kind, Lesson, Pattern

__all__ = ["knowledge"]

Function = TypeVar("Function", bound=Callable[..., None])


def labels(command: Function) -> Function:
    """The options that narrow a query, or label a lesson."""
    for name in ("technology", "task-type", "agent-type"):
        command = click.option(f"--{name}", metavar="NAME", help=f"The lesson's {name}.")(command)
    return command


@click.group(
    "knowledge",
    cls=Group,
    short_help="Capture lessons and ask what has worked.",
    epilog="""\b
Examples:
  ragloom knowledge capture --kind failure_solution --project shop --agent-type backend \\
    --failure-description "Migration times out" --solution-steps "Lock less" --success-verified
  ragloom knowledge checkpoint --project shop --kind phase_completion
  ragloom knowledge context "Write the migration" --agent-type backend
  ragloom knowledge outcome ID --success""",
)
def knowledge() -> None:
    """Keep what failed and was fixed, what was rejected, what was approved; ask what has worked."""


@contextmanager
def _opened(session: Session) -> Iterator[KnowledgeBase]:
    from ragloom_knowledge.knowledge import KnowledgeBase

    with KnowledgeBase.of(session.workspace()) as opened:
        yield opened


@knowledge.command(
    "capture",
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
    can be understood, or none is staged.
    """
    from ragloom_knowledge.capturing import lesson_from_json

    if kind is None and not as_json:
        raise click.UsageError("give --kind and its fields, or --json and lessons on stdin")
    if kind is None:
        lines = enumerate(sys.stdin.buffer, 1)
        read = (_from_line(number, line) for number, line in lines)
        lessons = [lesson for lesson in read if lesson is not None]
    else:
        given: dict[str, Json] = {key: text for key, text in texts.items() if text is not None}
        given["kind"] = kind
        if kind == "failure_solution":
            given["success_verified"] = success_verified
        lessons = [lesson_from_json(given)]
    with _opened(session) as opened:
        for lesson in lessons:
            _say_captured(opened.capture(lesson), as_json=as_json)


def _from_line(number: int, line: bytes) -> Lesson | None:
    from ragloom_knowledge.capturing import lesson_from_json

    try:
        text = line.decode("utf-8-sig").strip()  # PowerShell begins with a byte order mark
        return lesson_from_json(cast("Json", json.loads(text))) if text else None
    except LessonError as error:
        raise LessonError(f"line {number}: {error}") from error
    except UnicodeDecodeError as error:
        raise LessonError(f"line {number}: not UTF-8") from error
    except json.JSONDecodeError as error:
        raise LessonError(f"line {number}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        message = f"line {number}: a number is too long, or brackets are too deep, to be read"
        raise LessonError(message) from error


def _say_captured(captured: Captured, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": captured.id, "merged": captured.merged})
    else:
        click.echo(f"{captured.id}\t{'counted' if captured.merged else 'staged'}")


@knowledge.command(
    "checkpoint",
    short_help="Bring what was staged into the index.",
    epilog="""\b
Examples:
  ragloom knowledge checkpoint --project shop --kind phase_completion""",
)
@click.option("--project", metavar="NAME", required=True, help="Whose lessons.")
@click.option("--kind", type=click.Choice(CHECKPOINTS), default="manual", show_default=True)
@json_option
@click.pass_obj
def checkpoint(session: Session, /, *, project: str, kind: CheckpointKind, as_json: bool) -> None:
    """Bring what a project has learnt since its last checkpoint into the index; expired lessons go."""
    with _opened(session) as opened, progress(session, project) as meter:
        done = opened.process_checkpoint(project, kind, progress=meter)
    if as_json:
        print_json({**asdict(done), "failed": list(done.failed)})
    else:
        click.echo(
            f"{counted(done.processed, 'lesson')} processed, "
            f"{counted(done.embedded, 'chunk')} embedded, {counted(done.pruned, 'lesson')} expired"
        )
    if done.failed:
        session.warn(f"not indexed, tried again at the next checkpoint: {', '.join(done.failed)}")
        click.get_current_context().exit(1)


@knowledge.command(
    "query",
    short_help="Ask what has worked for a task.",
    epilog="""\b
Examples:
  ragloom knowledge query "Write the migration" --agent-type backend --json""",
)
@click.argument("task")
@labels
@click.option("-n", "--max-results", type=click.IntRange(min=1), default=5, show_default=True)
@json_option
@click.pass_obj
def query(
    session: Session,
    /,
    *,
    task: str,
    agent_type: str | None,
    task_type: str | None,
    technology: str | None,
    max_results: int,
    as_json: bool,
) -> None:
    """Ask what has worked for a task, the best proven first."""
    with _opened(session) as opened:
        found = opened.query_for_task(task, agent_type, task_type, technology, max_results)
    _say_patterns(session, found, as_json=as_json)


@knowledge.command(
    "failure",
    short_help="Ask what has resolved a failure.",
    epilog="""\b
Examples:
  ragloom knowledge failure "canceling statement due to statement timeout\"""",
)
@click.argument("error")
@click.option("--description", metavar="TEXT", default="", help="What failed.")
@labels
@json_option
@click.pass_obj
def failure(
    session: Session,
    /,
    *,
    error: str,
    description: str,
    agent_type: str | None,
    task_type: str | None,
    technology: str | None,
    as_json: bool,
) -> None:
    """Ask for verified fixes of an ERROR like this one, three at the most."""
    with _opened(session) as opened:
        found = opened.query_for_failure(description, error, agent_type, task_type, technology)
    _say_patterns(session, found, as_json=as_json)


def _say_patterns(session: Session, found: Sequence[Pattern], *, as_json: bool) -> None:
    if as_json:
        rows = [{**asdict(one), "relevance": round(one.relevance, 6)} for one in found]
        print_json(cast("Json", rows))
    else:
        for one in found:
            click.echo(f"{one.id}\t{one.successes}/{one.uses}\t{one.relevance:.2f}")
            for text in (one.problem, one.solution, one.when_to_try):
                print_text(f"  {text}")
    if not found:
        session.note("no lesson is relevant enough")


@knowledge.command(
    "context",
    short_help="Print a task with what is known about it.",
    epilog="""\b
Examples:
  ragloom knowledge context "Write the migration" --max-tokens 500""",
)
@click.argument("task")
@labels
@click.option("--max-tokens", type=click.IntRange(min=1), help="Of the block of patterns.")
@json_option
@click.pass_obj
def context(
    session: Session,
    /,
    *,
    task: str,
    agent_type: str | None,
    task_type: str | None,
    technology: str | None,
    max_tokens: int | None,
    as_json: bool,
) -> None:
    """Print a task's description and the block of what is known, as its agent gets it."""
    asked = Task(
        description=task, agent_type=agent_type, task_type=task_type, technology=technology
    )
    with _opened(session) as opened:
        made = opened.context_for_task(asked, max_tokens=max_tokens)
    if as_json:
        ids: list[Json] = [one.id for one in made.patterns]
        print_json(
            {"text": made.text, "patterns": ids, "tokens": made.tokens, "reason": made.reason}
        )
    else:
        print_text(made.text.rstrip("\n"))
        if made.reason:
            session.note(made.reason)


@knowledge.command(
    "outcome",
    short_help="Say whether a pattern worked.",
    epilog="""\b
Examples:
  ragloom knowledge outcome ID --success""",
)
@click.argument("lesson_id", metavar="ID")
@click.option("--success/--failure", "success", default=None, help="Whether it worked.")
@json_option
@click.pass_obj
def outcome(session: Session, /, *, lesson_id: str, success: bool | None, as_json: bool) -> None:
    """Count what came of a pattern that was handed out."""
    if success is None:
        raise click.UsageError("give --success or --failure")
    with _opened(session) as opened:
        lesson = opened.report_outcome(lesson_id, success)
    if as_json:
        print_json({"id": lesson.id, "successes": lesson.successes, "uses": lesson.uses})
    else:
        click.echo(f"{lesson.id}\t{lesson.successes} successes of {lesson.uses} uses")


@knowledge.command(
    "list",
    short_help="List the lessons.",
    epilog="""\b
Examples:
  ragloom knowledge list --project shop""",
)
@click.option("--project", metavar="NAME", help="Only what was learnt there.")
@json_option
@click.pass_obj
def list_lessons(session: Session, /, *, project: str | None, as_json: bool) -> None:
    """List the lessons, one a line: id, kind, state, successes and uses, problem."""
    with _opened(session) as opened:
        lessons = opened.lessons(project=project)
    if as_json:
        print_json([_lesson_json(lesson) for lesson in lessons])
        return
    for lesson in lessons:
        problem = " ".join(lesson.problem.split())
        counts = f"{lesson.successes}/{lesson.uses}"
        line = (lesson.id, lesson.kind, _state(lesson), counts, problem)
        click.echo("\t".join(map(on_one_line, line)))


@knowledge.command(
    "show",
    short_help="Show one lesson.",
    epilog="""\b
Examples:
  ragloom knowledge show ID --json""",
)
@click.argument("lesson_id", metavar="ID")
@json_option
@click.pass_obj
def show(session: Session, /, *, lesson_id: str, as_json: bool) -> None:
    """Show everything about one lesson."""
    with _opened(session) as opened:
        lesson = opened.lesson(lesson_id)
    if as_json:
        print_json(_lesson_json(lesson))
        return
    for name, value in _lesson_json(lesson).items():
        if value not in (None, []):
            print_text(
                f"{name}\t{', '.join(map(str, value)) if isinstance(value, list) else value}"
            )


def _state(lesson: Lesson) -> str:
    kept = "indexed" if lesson.embedded else "staged" if lesson.success_verified else "unverified"
    return f"{kept}, pinned" if lesson.pinned else kept


def _lesson_json(lesson: Lesson) -> dict[str, Json]:
    shown: dict[str, Json] = {}
    for known in fields(lesson):
        if known.name in ("signature", "variant"):
            continue
        value = getattr(lesson, known.name)
        if isinstance(value, tuple):
            value = list(value)
        absent = value is None and any(known.name in names for names in FIELDS_OF_KIND.values())
        if not absent:
            shown[known.name] = f"{value.isoformat()}Z" if isinstance(value, datetime) else value
    return shown


@knowledge.command(
    "pin",
    short_help="Keep a lesson whatever its age.",
    epilog="""\b
Examples:
  ragloom knowledge pin ID
  ragloom knowledge pin ID --off""",
)
@click.argument("lesson_id", metavar="ID")
@click.option("--off", is_flag=True, help="Let it expire again.")
@json_option
@click.pass_obj
def pin(session: Session, /, *, lesson_id: str, off: bool, as_json: bool) -> None:
    """Keep a lesson whatever its age."""
    with _opened(session) as opened:
        lesson = opened.pin(lesson_id, pinned=not off)
    if as_json:
        print_json({"id": lesson.id, "pinned": lesson.pinned})
    else:
        click.echo(f"{lesson.id}\t{'pinned' if lesson.pinned else 'not pinned'}")


@knowledge.command(
    "prune",
    short_help="Remove what has expired.",
    epilog="""\b
Examples:
  ragloom knowledge prune --older-than 180 --dry-run""",
)
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.IntRange(0, timedelta.max.days),
    help="Instead of the settings' age.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@json_option
@click.pass_obj
def prune(session: Session, /, *, older_than: int | None, dry_run: bool, as_json: bool) -> None:
    """Remove every lesson that is older than that, except those that are pinned."""
    age = None if older_than is None else timedelta(days=older_than)
    with _opened(session) as opened, progress(session, "lessons") as meter:
        pruned = opened.prune(age, dry_run=dry_run, progress=meter)
    if as_json:
        print_json({"ids": list(pruned.ids), "count": len(pruned.ids), "dry_run": dry_run})
    else:
        click.echo(f"{counted(len(pruned.ids), 'lesson')} {'would be ' if dry_run else ''}removed")


@knowledge.command(
    "export",
    short_help="Write every lesson as a file.",
    epilog="""\b
Examples:
  ragloom knowledge export lessons/""",
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
@click.pass_obj
def export(session: Session, /, *, folder: Path, as_json: bool) -> None:
    """Write every lesson, counts and all, into FOLDER: Markdown with front matter, a file each."""
    with _opened(session) as opened:
        count = opened.export_lessons(folder)
    print_json({"exported": count}) if as_json else click.echo(
        f"{counted(count, 'lesson')} exported"
    )


@knowledge.command(
    "import",
    short_help="Take over exported lessons.",
    epilog="""\b
Examples:
  ragloom knowledge import lessons/""",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@click.pass_obj
def import_lessons(session: Session, /, *, folder: Path, as_json: bool) -> None:
    """Take over the lessons in FOLDER as they were exported; those with a known id are replaced."""
    with _opened(session) as opened, progress(session, "lessons") as meter:
        count = opened.import_lessons(folder, progress=meter)
    print_json({"imported": count}) if as_json else click.echo(
        f"{counted(count, 'lesson')} imported"
    )
