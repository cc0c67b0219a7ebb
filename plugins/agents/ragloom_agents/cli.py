"""``ragloom agents``."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, cast

import click

from ragloom import RagloomError
from ragloom.cli import (
    Group,
    Session,
    completes,
    failures,
    json_option,
    on_one_line,
    print_json,
    print_text,
    report_json,
    search_json,
)
from ragloom.config import counted

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_agents.agents import Agents
    from ragloom_agents.settings import AgentsSettings

_LOG = logging.getLogger("ragloom")
_NONE = "no agents: neither agents.yaml nor ragloom.yaml names any"
_NO_TOOL = "no agent has the tool rag_search: name those that are to be indexed"
_NAMED = 20  # documents that are named on stderr when they are not in the prompt


@click.group(
    "agents",
    cls=Group,
    short_help="Agents with documents of their own.",
    epilog="""\b
Examples:
  ragloom agents list
  ragloom agents prompt awscli > system.txt
  ragloom agents index
  ragloom agents search awscli "how do I copy a bucket?\"""",
)
def agents() -> None:
    """Show, index and search the agents that agents.yaml names."""


def _opened(session: Session, *, quiet: bool = False) -> Agents:
    from ragloom_agents.agents import Agents

    if not quiet:
        session.name_workspace()
    return Agents.open(session.folder, config=session.config, host=session.host())


_complete = completes(lambda session: _opened(session, quiet=True).settings.agents)


@agents.command(
    "list",
    short_help="List the agents.",
    epilog="""\b
Examples:
  ragloom agents list
  ragloom agents list --json | jq '.[] | select(.tool)'""",
)
@json_option
@click.pass_obj
def list_agents(session: Session, *, as_json: bool) -> None:
    """List the agents: id, strategy, tool, chunks indexed or what is wrong, and sources."""
    opened = _opened(session)
    rows = [_row(opened, agent_id) for agent_id in opened.settings.agents]
    if as_json:
        print_json(rows)
        return
    if not rows:
        session.note(_NONE)
    for row in rows:
        chunks = cast("int | None", row["chunks"])
        indexed = "not indexed" if chunks is None else counted(chunks, "chunk")
        tool = "rag_search" if row["tool"] else "-"
        sources = ", ".join(cast("list[str]", row["sources"]))
        line = (str(row["id"]), str(row["strategy"]), tool, str(row["error"] or indexed), sources)
        click.echo("\t".join(map(on_one_line, line)))


def _row(opened: Agents, agent_id: str) -> dict[str, Json]:
    agent = opened.settings.agent(agent_id)
    chunks: int | None = None
    problem: str | None = None
    try:
        if opened.index.has_index(agent_id):
            chunks = len(opened.index.spaces.space(agent_id).snapshot())
    except RagloomError as error:
        problem = str(error)
    return {
        "id": agent_id,
        "description": agent.description,
        "strategy": agent.docs.strategy,
        "tool": agent.searches,
        "sources": list(agent.docs.sources),
        "chunks": chunks,
        "error": problem,
    }


@agents.command(
    short_help="Show settings and where each came from.",
    epilog="""\b
Examples:
  ragloom agents show awscli""",
)
@click.argument("agent_id", metavar="ID", shell_complete=_complete)
@json_option
@click.pass_obj
def show(session: Session, *, agent_id: str, as_json: bool) -> None:
    """Show an agent's effective settings and where each came from."""
    opened = _opened(session)
    space = opened.index.spaces.space(agent_id)
    options = space.settings.store.options
    place = str(options.get("path") or options.get("uri") or space.directory)
    values = [*_values(opened.settings, agent_id), ("rag.place", place, "worked out")]
    if as_json:
        print_json([dict(zip(("key", "value", "origin"), one, strict=True)) for one in values])
        return
    for key, value, origin in values:
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        line = (key, " ".join(shown.split()), origin)
        click.echo("\t".join(map(on_one_line, line)))


def _values(settings: AgentsSettings, agent_id: str) -> Iterator[tuple[str, Json, str]]:
    agent = settings.agent(agent_id)
    prefix = f"agents.{agent_id}."
    for name in ("id", "description", "system_prompt"):
        yield name, getattr(agent, name), settings.origin(prefix + name)
    for known in fields(agent.docs):
        key, value = f"docs.{known.name}", getattr(agent.docs, known.name)
        yield key, list(value) if isinstance(value, tuple) else value, settings.origin(prefix + key)
    yield "tools.rag", agent.tools.rag, settings.origin(f"{prefix}tools.rag")
    for known in fields(agent.rag):
        key = f"rag.{known.name}"
        yield key, getattr(agent.rag, known.name), settings.origin(prefix + key)


@agents.command(
    short_help="Print the system prompt that would be sent.",
    epilog="""\b
Examples:
  ragloom agents prompt awscli > system.txt
  ragloom agents prompt awscli --json | jq .tokens""",
)
@click.argument("agent_id", metavar="ID", shell_complete=_complete)
@json_option
@click.pass_obj
def prompt(session: Session, *, agent_id: str, as_json: bool) -> None:
    """Print the system prompt that would be sent; stderr names the documents that it omits."""
    made = _opened(session).prompt(agent_id)
    if as_json:
        print_json(cast("Json", asdict(made)))
        return
    print_text(made.text)
    for item in made.left_out[:_NAMED]:
        session.warn(f"{item.path}: not in the prompt: {item.reason}")
    if len(made.left_out) > _NAMED:
        session.warn(f"and {len(made.left_out) - _NAMED} more: --json names all of them")


@agents.command(
    short_help="Bring indexes up to date.",
    epilog="""\b
Examples:
  ragloom agents index
  ragloom agents index awscli --json""",
)
@click.argument("agent_ids", metavar="[ID]...", nargs=-1, shell_complete=_complete)
@json_option
@click.pass_obj
def index(session: Session, *, agent_ids: tuple[str, ...], as_json: bool) -> None:
    """Bring the index of each agent up to date; without an ID, of all that have rag_search.

    One that fails is named and does not stop the others.
    """
    opened = _opened(session)
    for agent_id in agent_ids:
        opened.settings.agent(agent_id)  # raises where there is none, before any is indexed
    failed = False
    wanted = agent_ids or [one for one in opened.settings.agents if opened.has_tool(one)]
    if not wanted:
        session.note(_NO_TOOL if opened.settings.agents else _NONE)
    for agent_id in wanted:
        try:
            report = opened.index.ensure(agent_id)
        except (RagloomError, OSError) as error:
            _LOG.error("%s: not indexed: %s", agent_id, error)
            failed = True
            continue
        failed = failed or bool(report.failed)
        if as_json:
            print_json({"agent": agent_id, **report_json(report)})
        else:
            click.echo(
                f"{on_one_line(agent_id)}: {len(report.added)} added, {len(report.updated)} updated, "
                f"{len(report.removed)} removed, {report.unchanged} unchanged; "
                f"{counted(report.chunks, 'chunk')}, {report.embedded} embedded, {report.seconds:.1f} s"
            )
        failures(session, report)
    if failed:
        click.get_current_context().exit(1)


@agents.command(
    short_help="Search an agent's documents.",
    epilog="""\b
Examples:
  ragloom agents search awscli "how do I copy a bucket?"
  ragloom agents search awscli bucket -k 3 --json | jq '.hits[].path'""",
)
@click.argument("agent_id", metavar="ID", shell_complete=_complete)
@click.argument("query")
@click.option(
    "-k", "--top-k", metavar="N", type=click.IntRange(min=1), help="Maximum number of hits."
)
@click.option(
    "--refresh/--no-refresh",
    default=True,
    help="Bring the index up to date first (the default), or search it without.",
)
@json_option
@click.pass_obj
def search(
    session: Session, *, agent_id: str, query: str, top_k: int | None, refresh: bool, as_json: bool
) -> None:
    """Search an agent's documents, as its model would by rag_search; the score is the relevance."""
    from ragloom.context import why_empty
    from ragloom_agents.results import rendered

    opened = _opened(session)
    if refresh:
        opened.index.ensure(agent_id)
    result = opened.index.search(agent_id, query, top_k)
    if as_json:
        print_json(search_json(result))
    else:
        root = opened.index.spaces.space(agent_id).workspace.root
        print_text(rendered(result, root))
    told = not as_json and not result.hits and result.closest  # in the text that the model gets
    if result.reason and not told:
        session.note(why_empty(result))
