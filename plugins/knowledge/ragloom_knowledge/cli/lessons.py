"""Commands that show, pin, remove, export and import lessons."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import (
    OutputPath,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_text,
    progress,
)
from ragloom.config import counted
from ragloom_knowledge.cli._group import emit, id_argument, knowledge, opened_base
from ragloom_knowledge.types import FIELDS_OF_KIND

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.types import Lesson


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
    with opened_base(session) as opened:
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
    epilog="""\b
Examples:
  ragloom knowledge show ID --json""",
)
@id_argument
@json_option
@click.pass_obj
def show(session: Session, /, *, lesson_id: str, as_json: bool) -> None:
    """Show everything about one lesson."""
    with opened_base(session) as opened:
        lesson = opened.lesson(lesson_id)
    if as_json:
        print_json(_lesson_json(lesson))
        return
    for name, value in _lesson_json(lesson).items():
        if value not in (None, []):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            print_text(f"{name}\t{shown}")


def _state(lesson: Lesson) -> str:
    kept = "indexed" if lesson.embedded else "staged" if lesson.success_verified else "unverified"
    if lesson.superseded_by:
        kept = "superseded"
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
    epilog="""\b
Examples:
  ragloom knowledge pin ID
  ragloom knowledge pin ID --off""",
)
@id_argument
@click.option("--off", is_flag=True, help="Let it expire again.")
@json_option
@click.pass_obj
def pin(session: Session, /, *, lesson_id: str, off: bool, as_json: bool) -> None:
    """Keep a lesson whatever its age."""
    with opened_base(session) as opened:
        lesson = opened.pin(lesson_id, pinned=not off)
    line = f"{lesson.id}\t{'pinned' if lesson.pinned else 'not pinned'}"
    emit({"id": lesson.id, "pinned": lesson.pinned}, line, as_json=as_json)


@knowledge.command(
    epilog="""\b
Examples:
  ragloom knowledge supersede ID BY
  ragloom knowledge supersede ID --off""",
)
@id_argument
@click.argument("by", required=False)
@click.option("--off", is_flag=True, help="Give it again.")
@json_option
@click.pass_obj
def supersede(
    session: Session, /, *, lesson_id: str, by: str | None, off: bool, as_json: bool
) -> None:
    """Give the lesson BY instead of the lesson ID from now on."""
    if (by is None) != off:
        raise click.UsageError("give the ID of the lesson that supersedes it, or --off")
    with opened_base(session) as opened:
        lesson = opened.supersede(lesson_id, by)
    state = f"superseded by {by}" if by else "not superseded"
    line = f"{lesson.id}\t{state}"
    emit({"id": lesson.id, "superseded_by": lesson.superseded_by}, line, as_json=as_json)


@knowledge.command(
    epilog="""\b
Examples:
  ragloom knowledge remove ID""",
)
@id_argument
@json_option
@click.pass_obj
def remove(session: Session, /, *, lesson_id: str, as_json: bool) -> None:
    """Remove a lesson, pinned or not."""
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        lesson = opened.remove(lesson_id, progress=meter)
    emit({"id": lesson.id}, f"{lesson.id}\tremoved", as_json=as_json)


@knowledge.command(
    epilog="""\b
Examples:
  ragloom knowledge prune --older-than 180 --dry-run""",
)
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.IntRange(0, timedelta.max.days),
    help="Age, instead of the settings' own.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@json_option
@click.pass_obj
def prune(session: Session, /, *, older_than: int | None, dry_run: bool, as_json: bool) -> None:
    """Remove every expired lesson, except those that are pinned."""
    age = None if older_than is None else timedelta(days=older_than)
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        pruned = opened.prune(age, dry_run=dry_run, progress=meter)
    count = len(pruned.ids)
    line = f"{counted(count, 'lesson')} {'would be ' if dry_run else ''}removed"
    emit({"ids": list(pruned.ids), "count": count, "dry_run": dry_run}, line, as_json=as_json)


@knowledge.command(
    short_help="Write every lesson as a file.",
    epilog="""\b
Examples:
  ragloom knowledge export lessons/""",
)
@click.argument("folder", type=OutputPath(folder=True, parents=True))
@json_option
@click.pass_obj
def export(session: Session, /, *, folder: Path, as_json: bool) -> None:
    """Write every lesson, counts and all, into FOLDER: Markdown with front matter, a file each."""
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        count = opened.export_lessons(folder, progress=meter)
    emit({"exported": count}, f"{counted(count, 'lesson')} exported", as_json=as_json)


@knowledge.command(
    "import",
    short_help="Import exported lessons.",
    epilog="""\b
Examples:
  ragloom knowledge import lessons/""",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@click.pass_obj
def import_lessons(session: Session, /, *, folder: Path, as_json: bool) -> None:
    """Import the lessons in FOLDER as they were exported; those with a known id are replaced."""
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        count = opened.import_lessons(folder, progress=meter)
    emit({"imported": count}, f"{counted(count, 'lesson')} imported", as_json=as_json)
