"""``ragloom context``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_text
from ragloom.cli._options import query_options, refresh_option, reranker_option, space_option

if TYPE_CHECKING:
    from ragloom.context.packing import Strategy
    from ragloom.protocols import Formatter
    from ragloom.space import Space
    from ragloom.types import Condition, Context, Json, Mode

__all__ = ["command"]


@click.command(
    "context",
    cls=Command,
    short_help="Pack what answers a question into a budget of tokens.",
    epilog="""\b
Examples:
  ragloom context "How do I log errors?" docs/
  ragloom context "retry policy" --max-tokens 800 --format markdown
  ragloom context "who may deploy?" --json | jq -r '.citations[].path'
  ragloom context "who may deploy?" --format openai --model gpt-4.1 > request.json""",
)
@click.argument("query")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@space_option
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    default=4000,
    show_default=True,
    help="Tokens of the text at the most, delimiters and sources included.",
)
@click.option(
    "--strategy",
    type=click.Choice(["relevance", "recency", "diversity"]),
    default="relevance",
    show_default=True,
    help="What is taken first.",
)
@query_options
@click.option(
    "-f",
    "--format",
    "format_name",
    metavar="NAME",
    help="The formatter, such as text, markdown, json, xml, or a provider's: see --model.",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Print the request to this model, with the query as the message; for the formats "
    "anthropic, gemini, ollama and openai.",
)
@click.option(
    "--counter",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="Whose tokens: auto, cl100k_base, o200k_base or approximate.",
)
@refresh_option
@reranker_option
@json_option
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter an option
    session: Session,
    *,
    query: str,
    paths: tuple[str, ...],
    space_name: str | None,
    max_tokens: int,
    strategy: Strategy,
    top_k: int | None,
    min_relevance: float | None,
    mode: Mode | None,
    where: tuple[Condition, ...],
    format_name: str | None,
    model: str | None,
    counter: str,
    refresh: bool,
    reranker: str | None,
    as_json: bool,
) -> None:
    """Pack what answers a question into a budget of tokens, each passage with its file and lines.

    The text never has more tokens than --max-tokens. With --model it is the JSON body of a request to
    that model: the passages in the system prompt, as quoted data, and the question. Nothing found is
    no error: stderr says why.
    """
    from ragloom.cli._spaces import choose_spaces, with_parts
    from ragloom.cli.search import bring_up_to_date
    from ragloom.config.component import located
    from ragloom.retrieval.query import Query
    from ragloom.space_group import SpaceGroup
    from ragloom.text.tokens import counter as counter_named

    chosen = choose_spaces(session.workspace(), space_name, paths)
    asked = Query(query, top_k=top_k, min_relevance=min_relevance, mode=mode, where=where)
    with SpaceGroup(with_parts(space, reranker=reranker) for space in chosen) as group:
        spaces = group.spaces
        counting = counter_named(counter)
        with located({"": "--format"} if format_name else {}):
            formatter = (
                session.host().formatter(format_name) if format_name else spaces[0].formatter
            )
        provider = _provider(spaces[0], formatter, format_name, model)
        if refresh:
            bring_up_to_date(session, spaces)
        context = group.context(
            asked,
            max_tokens=max_tokens,
            strategy=strategy,
            formatter=formatter,
            counter=counting,
            provider=provider,
        )
    if as_json:
        print_json(_as_json(context))
    elif model is not None:
        print_json(_request(formatter, query, context, model))
    else:
        text = context.text or formatter.render(context)
        print_text(text, nl=False)
    if context.reason:
        session.note(f"nothing to show: {context.reason}")
    if session.verbosity > 0:
        omitted = f", {len(context.omitted)} did not fit" if context.omitted else ""
        session.note(f"{context.tokens} of {max_tokens} tokens ({counting.name}){omitted}")


def _provider(
    space: Space, formatter: Formatter, format_name: str | None, model: str | None
) -> str | None:
    """The name of the provider whose request is to be written; None if none is.

    Raises:
        UsageError: The format writes no requests.
    """
    from ragloom.context.prompt import RequestFormatter

    name = format_name or space.settings.formatter.name
    if isinstance(formatter, RequestFormatter):
        return name
    if model is not None:
        raise click.UsageError(
            f"the format {name!r} writes no requests; 'ragloom plugins' lists formats that do",
            click.get_current_context(),
        )
    return None


def _request(formatter: Formatter, query: str, context: Context, model: str) -> Json:
    from ragloom.context.prompt import RequestFormatter, build_augmented_prompt

    if not isinstance(formatter, RequestFormatter):
        raise TypeError(formatter)  # _provider has refused it
    return formatter.request_body(build_augmented_prompt(query, context), model)


def _as_json(context: Context) -> Json:
    from ragloom.context.citations import hit_json

    return {
        "text": context.text,
        "tokens": context.tokens,
        "max_tokens": context.max_tokens,
        "reason": context.reason,
        "citations": [
            {
                "path": citation.path,
                "start_line": citation.lines.start,
                "end_line": citation.lines.end,
                "relevance": round(citation.relevance, 6),
                "headings": list(citation.headings),
                "text": citation.text,
            }
            for citation in context.citations
        ],
        "omitted": [
            hit_json(hit, "path", "start_line", "end_line", "relevance") for hit in context.omitted
        ],
    }
