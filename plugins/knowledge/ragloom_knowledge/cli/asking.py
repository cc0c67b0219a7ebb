"""Commands that ask what has worked, and say what came of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import Command, Session, json_option, print_json, print_text
from ragloom_knowledge.cli._common import labels, opened_base
from ragloom_knowledge.types import Task

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.types import Patterns

__all__ = ["context", "failure", "outcome", "query"]


@click.command(
    "query",
    cls=Command,
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
    with opened_base(session) as opened:
        found = opened.query_for_task(task, agent_type, task_type, technology, max_results)
    _say_patterns(session, found, as_json=as_json)


@click.command(
    "failure",
    cls=Command,
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
    with opened_base(session) as opened:
        found = opened.query_for_failure(description, error, agent_type, task_type, technology)
    _say_patterns(session, found, as_json=as_json)


def _say_patterns(session: Session, found: Patterns, *, as_json: bool) -> None:
    if as_json:
        rows = [{**asdict(one), "relevance": round(one.relevance, 6)} for one in found]
        print_json(cast("Json", rows))
    else:
        for one in found:
            click.echo(f"{one.id}\t{one.successes}/{one.uses}\t{one.relevance:.2f}")
            for text in (one.problem, one.solution, one.when_to_try):
                print_text(f"  {text}")
    if not found:
        session.note(found.reason)


@click.command(
    "context",
    cls=Command,
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
    with opened_base(session) as opened:
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


@click.command(
    "outcome",
    cls=Command,
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
    with opened_base(session) as opened:
        lesson = opened.report_outcome(lesson_id, success)
    if as_json:
        print_json({"id": lesson.id, "successes": lesson.successes, "uses": lesson.uses})
    else:
        click.echo(f"{lesson.id}\t{lesson.successes} successes of {lesson.uses} uses")
