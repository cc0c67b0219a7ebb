"""Commands that query what has worked, and report what came of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack, cast

import click

from ragloom import ConfigError, RagloomError
from ragloom.cli import Session, json_option, print_json, print_text
from ragloom_knowledge.cli._group import (
    Labels,
    emit,
    id_argument,
    knowledge,
    labels,
    opened_base,
)
from ragloom_knowledge.types import Task, TaskContext

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.types import Patterns


@knowledge.command(
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
    session: Session, /, *, task: str, max_results: int, as_json: bool, **chosen: Unpack[Labels]
) -> None:
    """Query what has worked for a task, the best proven first."""
    with opened_base(session) as opened:
        found = opened.query_for_task(task, max_results=max_results, **chosen)
    _emit_patterns(session, found, as_json=as_json)


@knowledge.command(
    short_help="Query what has resolved a failure.",
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
    session: Session, /, *, error: str, description: str, as_json: bool, **chosen: Unpack[Labels]
) -> None:
    """Query verified fixes of an ERROR like this one, at most three."""
    with opened_base(session) as opened:
        found = opened.query_for_failure(description, error, **chosen)
    _emit_patterns(session, found, as_json=as_json)


def _emit_patterns(session: Session, found: Patterns, *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                **asdict(one),
                "relevance": round(one.relevance, 6),
                "wordings": list(one.wordings),
                "conflicts": list(one.conflicts),
            }
            for one in found
        ]
        print_json(cast("Json", rows))
    else:
        for one in found:
            counts = f"{one.successes} of {one.uses}"
            human = "\tdecided by a human" if one.human else ""
            click.echo(f"{one.id}\t{counts}\t{one.relevance:.2f}{human}")
            for text in (one.problem, one.solution, one.when_to_try):
                print_text(f"  {text}")
    for one in found.avoid:
        session.note(f"avoid {one.id}: worked {one.successes} of {one.uses} times: {one.solution}")
    if found.reason:
        session.note(found.reason)


@knowledge.command(
    short_help="Print a task with what is known about it.",
    epilog="""\b
Examples:
  ragloom knowledge context "Write the migration" --max-tokens 500""",
)
@click.argument("task")
@labels
@click.option(
    "--max-tokens", type=click.IntRange(min=1), help="Maximum tokens of the block of patterns."
)
@json_option
@click.pass_obj
def context(
    session: Session,
    /,
    *,
    task: str,
    max_tokens: int | None,
    as_json: bool,
    **chosen: Unpack[Labels],
) -> None:
    """Print a task's description and the block of what is known, as its agent gets it."""
    try:
        with opened_base(session) as opened:
            made = opened.context_for_task(Task(description=task, **chosen), max_tokens=max_tokens)
    except ConfigError:
        raise
    except RagloomError as error:  # without lessons, the agent still gets its task
        made = TaskContext(text=task, reason=str(error))
    if as_json:
        ids: list[Json] = [one.id for one in made.patterns]
        avoid: list[Json] = [one.id for one in made.avoid]
        print_json(
            {
                "text": made.text,
                "patterns": ids,
                "avoid": avoid,
                "tokens": made.tokens,
                "reason": made.reason,
            }
        )
    else:
        print_text(made.text.rstrip("\n"))
        if made.reason:
            session.note(made.reason)


@knowledge.command(
    epilog="""\b
Examples:
  ragloom knowledge outcome ID --success""",
)
@id_argument
@click.option("--success/--failure", "success", default=None, help="Whether it worked.")
@json_option
@click.pass_obj
def outcome(session: Session, /, *, lesson_id: str, success: bool | None, as_json: bool) -> None:
    """Count the outcome of a pattern that was handed out."""
    if success is None:
        raise click.UsageError("give --success or --failure")
    with opened_base(session) as opened:
        lesson = opened.report_outcome(lesson_id, success)
    counts: Json = {"id": lesson.id, "successes": lesson.successes, "uses": lesson.uses}
    emit(
        counts, f"{lesson.id}\t{lesson.successes} successes of {lesson.uses} uses", as_json=as_json
    )
