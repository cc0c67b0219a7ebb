"""``ragloom agents``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol, cast

import click

if TYPE_CHECKING:
    from ragloom import Hit, Json, PluginHost
    from ragloom.types import IndexReport, SearchResult
    from ragloom_agents.agents import Agents
    from ragloom_agents.settings import AgentsSettings

__all__ = ["agents"]

_NAMED = 20  # documents that are named on stderr when they are not in the prompt


class _Session(Protocol):
    """What ``ragloom`` hands to its commands."""

    folder: str
    config: str | None

    def start(self, context: click.Context) -> None: ...

    def host(self) -> PluginHost: ...

    def note(self, message: str) -> None: ...

    def warn(self, message: str) -> None: ...


class _Command(click.Command):
    """A command that also takes, after its name, the options that every command of ragloom takes."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then those that the program shares with its commands."""
        root = ctx.find_root().command
        own = super().get_params(ctx)
        if root is self:
            return own
        return own + [one for one in root.params if not one.expose_value and not one.is_eager]

    def invoke(self, ctx: click.Context) -> object:
        """Set up logging and colours as the options say, then run."""
        cast("_Session", ctx.obj).start(ctx)
        return super().invoke(ctx)


class _Group(click.Group):
    """A group of such commands."""

    command_class = _Command


json_option = click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")


@click.group(
    "agents",
    cls=_Group,
    short_help="Agents with documents of their own.",
    epilog="""\b
Examples:
  ragloom agents list
  ragloom agents prompt awscli > system.txt
  ragloom agents index
  ragloom agents search awscli "how do I copy a bucket?\"""",
)
def agents() -> None:
    """Show, index and ask the agents that agents.yaml names."""


def _opened(session: _Session) -> Agents:
    from ragloom_agents.agents import Agents

    return Agents.open(session.folder, config=session.config, host=session.host())


def _print_json(value: Json) -> None:
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode, allow_nan=False))


@agents.command("list", short_help="List the agents.")
@json_option
@click.pass_obj
def list_agents(session: _Session, *, as_json: bool) -> None:
    """List the agents, one a line: id, strategy, tool, chunks indexed, sources."""
    opened = _opened(session)
    rows = [_row(opened, agent_id) for agent_id in opened.settings.agents]
    if as_json:
        _print_json(rows)
        return
    if not rows:
        session.note("no agents: neither agents.yaml nor ragloom.yaml names any")
    for row in rows:
        indexed = "not indexed" if row["chunks"] is None else f"{row['chunks']} chunks"
        tool = "rag_search" if row["tool"] else "-"
        sources = ", ".join(cast("list[str]", row["sources"]))
        click.echo("\t".join([str(row["id"]), str(row["strategy"]), tool, indexed, sources]))


def _row(opened: Agents, agent_id: str) -> dict[str, Json]:
    agent = opened.settings.agent(agent_id)
    chunks: int | None = None
    if opened.index.has_index(agent_id):
        chunks = len(opened.index.spaces.space(agent_id).snapshot())
    return {
        "id": agent_id,
        "description": agent.description,
        "strategy": agent.docs.strategy,
        "tool": agent.searches,
        "sources": list(agent.docs.sources),
        "chunks": chunks,
    }


@agents.command("show", short_help="Show settings and where each came from.")
@click.argument("agent_id", metavar="ID")
@json_option
@click.pass_obj
def show(session: _Session, *, agent_id: str, as_json: bool) -> None:
    """Show an agent's effective settings and where each came from."""
    opened = _opened(session)
    values = list(_values(opened.settings, agent_id))
    values.append(("rag.place", _place(opened, agent_id), "worked out"))
    if as_json:
        _print_json(
            [{"key": key, "value": value, "origin": origin} for key, value, origin in values]
        )
        return
    for key, value, origin in values:
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        click.echo(f"{key}\t{' '.join(shown.split())}\t{origin}")


def _values(settings: AgentsSettings, agent_id: str) -> Iterator[tuple[str, Json, str]]:
    agent = settings.agent(agent_id)
    prefix = f"agents.{agent_id}."
    for name in ("id", "description", "system_prompt"):
        yield name, getattr(agent, name), settings.origin(prefix + name)
    for known in fields(agent.docs):
        key, value = f"docs.{known.name}", getattr(agent.docs, known.name)
        yield key, list(value) if isinstance(value, tuple) else value, settings.origin(prefix + key)
    yield "tools.rag", agent.tool, settings.origin(f"{prefix}tools.rag")
    for known in fields(agent.rag):
        key = f"rag.{known.name}"
        yield key, getattr(agent.rag, known.name), settings.origin(prefix + key)


def _place(opened: Agents, agent_id: str) -> str:
    """Where the store really keeps the chunks."""
    space = opened.index.spaces.space(agent_id)
    options = space.settings.store.options
    return str(options.get("path") or options.get("uri") or space.directory)


@agents.command("prompt", short_help="Print the system prompt that would be sent.")
@click.argument("agent_id", metavar="ID")
@json_option
@click.pass_obj
def prompt(session: _Session, *, agent_id: str, as_json: bool) -> None:
    """Print the system prompt that would be sent; stderr names what it leaves out."""
    made = _opened(session).prompt(agent_id)
    if as_json:
        left_out = [{"path": item.path, "reason": item.reason} for item in made.left_out]
        _print_json(
            {
                "text": made.text,
                "strategy": made.strategy,
                "included": list(made.included),
                "left_out": cast("Json", left_out),
                "tokens": made.tokens,
                "budget": made.budget,
                "counter": made.counter,
            }
        )
        return
    click.echo(made.text)
    for item in made.left_out[:_NAMED]:
        session.warn(f"{item.path}: not in the prompt: {item.reason}")
    if len(made.left_out) > _NAMED:
        session.warn(f"and {len(made.left_out) - _NAMED} more: --json names all of them")


@agents.command("index", short_help="Bring indexes up to date.")
@click.argument("agent_ids", metavar="[ID]...", nargs=-1)
@json_option
@click.pass_obj
def index(session: _Session, *, agent_ids: tuple[str, ...], as_json: bool) -> None:
    """Bring the index of each agent up to date; without an ID, of all that have rag_search."""
    opened = _opened(session)
    failed = False
    for agent_id in agent_ids or [one for one in opened.settings.agents if opened.has_tool(one)]:
        report = opened.index.ensure(agent_id)
        failed = failed or bool(report.failed)
        if as_json:
            _print_json({"agent": agent_id, **_report(report)})
        else:
            click.echo(
                f"{agent_id}: {len(report.added)} added, {len(report.updated)} updated, "
                f"{len(report.removed)} removed, {report.unchanged} unchanged; {report.chunks} "
                f"chunks, {report.embedded} embedded, {report.seconds:.1f} s"
            )
        for file in report.failed:
            session.warn(f"{file.path}: not indexed: {file.error}")
        for warning in report.warnings:
            session.warn(warning)
    if failed:
        click.get_current_context().exit(1)


def _report(report: IndexReport) -> dict[str, Json]:
    return {
        "files": {
            "added": len(report.added),
            "updated": len(report.updated),
            "unchanged": report.unchanged,
            "removed": len(report.removed),
            "failed": [{"path": file.path, "error": file.error} for file in report.failed],
        },
        "chunks": {
            "total": report.chunks,
            "embedded": report.embedded,
            "reused": report.reused,
            "removed": report.removed_chunks,
        },
        "seconds": round(report.seconds, 3),
        "generation": report.generation,
    }


@agents.command("search", short_help="Ask an agent's documents.")
@click.argument("agent_id", metavar="ID")
@click.argument("query")
@click.option("-k", "--top-k", metavar="N", type=click.IntRange(min=1), help="Hits at the most.")
@click.option(
    "--refresh/--no-refresh",
    default=True,
    help="Bring the index up to date first (the default), or ask it as it is.",
)
@json_option
@click.pass_obj
def search(
    session: _Session,
    *,
    agent_id: str,
    query: str,
    top_k: int | None,
    refresh: bool,
    as_json: bool,
) -> None:
    """Ask an agent's documents, as its model would by rag_search; the score is the relevance."""
    from ragloom_agents.results import ResultsFormatter, context_of

    opened = _opened(session)
    if refresh:
        opened.index.ensure(agent_id)
    result = opened.index.search(agent_id, query, top_k)
    if as_json:
        _print_json(_result(result))
    else:
        root = opened.index.spaces.space(agent_id).workspace.root
        click.echo(ResultsFormatter().render(context_of(result.hits, root)))
    if result.reason:
        session.note(result.reason)


def _result(result: SearchResult) -> dict[str, Json]:
    return {
        "query": result.query,
        "space": result.space,
        "reason": result.reason,
        "hits": [_hit(rank, hit) for rank, hit in enumerate(result.hits, 1)],
    }


def _hit(rank: int, hit: Hit) -> dict[str, Json]:
    chunk = hit.chunk
    return {
        "rank": rank,
        "score": round(hit.score, 6),
        "relevance": round(hit.relevance, 6),
        "cosine": None if hit.cosine is None else round(hit.cosine, 6),
        "lexical": None if hit.lexical is None else round(hit.lexical, 6),
        "path": chunk.uri,
        "start_line": chunk.lines.start,
        "end_line": chunk.lines.end,
        "start_byte": chunk.bytes.start,
        "end_byte": chunk.bytes.end,
        "span": list(chunk.span),
        "headings": list(chunk.headings),
        "text": chunk.text,
        "metadata": chunk.metadata,
        "stale": hit.stale,
    }
