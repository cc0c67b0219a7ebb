"""Commands that show lessons, keep, remove and hand them over."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import (
    Command,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_text,
    progress,
)
from ragloom.config import counted
from ragloom_knowledge.cli._common import opened_base
from ragloom_knowledge.types import FIELDS_OF_KIND

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.types import Lesson

__all__ = ["export", "import_lessons", "list_lessons", "pin", "prune", "remove", "show"]


@click.command(
    "list",
    cls=Command,
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


@click.command(
    "show",
    cls=Command,
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
    with opened_base(session) as opened:
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


@click.command(
    "pin",
    cls=Command,
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
    with opened_base(session) as opened:
        lesson = opened.pin(lesson_id, pinned=not off)
    if as_json:
        print_json({"id": lesson.id, "pinned": lesson.pinned})
    else:
        click.echo(f"{lesson.id}\t{'pinned' if lesson.pinned else 'not pinned'}")


@click.command(
    "remove",
    cls=Command,
    short_help="Remove one lesson.",
    epilog="""\b
Examples:
  ragloom knowledge remove ID""",
)
@click.argument("lesson_id", metavar="ID")
@json_option
@click.pass_obj
def remove(session: Session, /, *, lesson_id: str, as_json: bool) -> None:
    """Remove a lesson that should never have been one, pinned or not."""
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        lesson = opened.remove(lesson_id, progress=meter)
    print_json({"id": lesson.id}) if as_json else click.echo(f"{lesson.id}\tremoved")


@click.command(
    "prune",
    cls=Command,
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
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        pruned = opened.prune(age, dry_run=dry_run, progress=meter)
    if as_json:
        print_json({"ids": list(pruned.ids), "count": len(pruned.ids), "dry_run": dry_run})
    else:
        click.echo(f"{counted(len(pruned.ids), 'lesson')} {'would be ' if dry_run else ''}removed")


@click.command(
    "export",
    cls=Command,
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
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        count = opened.export_lessons(folder, progress=meter)
    print_json({"exported": count}) if as_json else click.echo(
        f"{counted(count, 'lesson')} exported"
    )


@click.command(
    "import",
    cls=Command,
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
    with opened_base(session) as opened, progress(session, "lessons") as meter:
        count = opened.import_lessons(folder, progress=meter)
    print_json({"imported": count}) if as_json else click.echo(
        f"{counted(count, 'lesson')} imported"
    )
