"""``ragloom context``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_text
from ragloom.cli._options import (
    SHOW_ALL,
    Spaces,
    complete_components,
    completes,
    query_options,
    refresh_option,
    space_options,
)

if TYPE_CHECKING:
    from ragloom.context.packing import Strategy
    from ragloom.retrieval.query import Query
    from ragloom.types import Context, Json


@click.command(
    "context",
    cls=Command,
    epilog="""\b
Examples:
  ragloom context "How do I log errors?" docs/
  ragloom context "retry policy" --max-tokens 800 --format markdown
  ragloom context "who may deploy?" --json | jq -r '.citations[].path'
  ragloom context "who may deploy?" --format openai --model gpt-4.1 > request.json""",
)
@query_options
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    default=4000,
    show_default=True,
    help="Maximum number of tokens of the text, with delimiters and sources.",
)
@click.option(
    "--strategy",
    type=click.Choice(["relevance", "recency", "diversity"]),
    default="relevance",
    show_default=True,
    help="Pack the most relevant, the latest or the most diverse hits first.",
)
@click.option(
    "-f",
    "--format",
    "format_name",
    metavar="NAME",
    shell_complete=complete_components("formatter"),
    help="The formatter: text, markdown, json, xml, a provider's (see --model), or a plugin's.",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Print a request to this model, with QUERY as the message; for the formats anthropic, "
    "gemini, ollama and openai.",
)
@click.option(
    "--counter",
    metavar="NAME",
    default="auto",
    show_default=True,
    shell_complete=completes(lambda _: ("auto", "cl100k_base", "o200k_base", "approximate")),
    help="The tokenizer that counts: auto, cl100k_base, o200k_base or approximate.",
)
@refresh_option
@space_options("reranker", paths=True)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: Query,
    max_tokens: int,
    strategy: Strategy,
    format_name: str | None,
    model: str | None,
    counter: str,
    refresh: bool,
    spaces: Spaces,
    as_json: bool,
) -> None:
    """Pack passages that answer QUERY into a token budget, each with its file and lines.

    The text never has more tokens than --max-tokens. With --model it is the JSON body of a request to
    that model: the passages in the system prompt, as quoted data, and the query. PATHs inside a space limit
    it to these files and folders. Without a hit, the exit code is 0 and stderr gives the reason.
    """
    from ragloom.cli._refresh import bring_up_to_date, note_pending, note_unchecked
    from ragloom.config.component import located
    from ragloom.context.prompt import RequestFormatter, build_augmented_prompt
    from ragloom.retrieval.nothing import why_empty
    from ragloom.space_group import SpaceGroup
    from ragloom.text.tokens import counter as counter_named

    with SpaceGroup(spaces()) as group:
        first = group.spaces[0]
        counting = counter_named(counter)
        with located({"": "--format"} if format_name else {}):
            formatter = session.host().formatter(format_name) if format_name else first.formatter
        name = format_name or first.settings.formatter.name
        requests = formatter if isinstance(formatter, RequestFormatter) else None
        if model is not None and requests is None:
            message = f"the format {name!r} writes no requests; see 'ragloom plugins'"
            raise click.UsageError(message, click.get_current_context())
        if refresh:
            bring_up_to_date(session, group.spaces)
        context = group.context(
            query,
            max_tokens=max_tokens,
            strategy=strategy,
            formatter=formatter,
            counter=counting,
            provider=name if requests else None,
        )
    if as_json:
        print_json(_as_json(context))
    elif model is not None and requests is not None:
        print_json(requests.request_body(build_augmented_prompt(query.text, context), model))
    else:
        print_text(context.text or formatter.render(context), nl=False)
    if context.searched_for:
        session.note(f"searched for: {context.searched_for}")
    note_pending(session, context.pending)
    note_unchecked(session, checked=context.checked)
    if context.reason:
        session.note(f"no passages: {why_empty(context, SHOW_ALL)}")
    if session.verbosity > 0:
        omitted = f", {len(context.omitted)} omitted" if context.omitted else ""
        session.note(f"{context.tokens} of {max_tokens} tokens ({counting.name}){omitted}")


def _as_json(context: Context) -> Json:
    from ragloom.context.citations import closest_json, hit_json

    return {
        "searched_for": context.searched_for,
        "pending": context.pending,
        "checked": context.checked,
        "text": context.text,
        "tokens": context.tokens,
        "max_tokens": context.max_tokens,
        "reason": context.reason,
        "closest": closest_json(context),
        "citations": [
            {
                "path": citation.path,
                "start_line": citation.lines.start,
                "end_line": citation.lines.end,
                "relevance": round(citation.relevance, 6),
                "headings": list(citation.headings),
                "text": citation.text,
                "content_hash": citation.content_hash,
                "truncated": citation.truncated,
            }
            for citation in context.citations
        ],
        "omitted": [
            hit_json(hit, "path", "start_line", "end_line", "relevance") for hit in context.omitted
        ],
    }
