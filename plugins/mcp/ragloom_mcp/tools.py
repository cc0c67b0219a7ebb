"""The three tools: what each takes, and what it answers; nothing here knows the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import cast

from ragloom import (
    Condition,
    ConfigError,
    Json,
    Mode,
    NotIndexedError,
    Query,
    SearchResult,
    SpaceGroup,
)
from ragloom.config import counted
from ragloom.context import as_context, closest_json, hit_json, why_empty
from ragloom.context import field as in_quotes
from ragloom_mcp import schemas
from ragloom_mcp.excerpts import CHARACTERS_AT_ONCE, LINES_AT_ONCE, excerpt
from ragloom_mcp.paths import found_file, held_paths
from ragloom_mcp.shelf import Shelf

_OF_A_HIT = (
    *("path", "start_line", "end_line", "relevance", "headings", "text", "content_hash"),
    *("copies", "more_in_file"),
)
_SHOWN = 120  # characters of a message, at its beginning and at its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool returns.

    Attributes:
        text: For the model.
        structured: The same for programs.
        note: What closes the text, as an item of its own: none of the text can pass for it.
    """

    text: str
    structured: dict[str, Json]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that is offered; ``schema`` is the JSON schema of its arguments, ``run`` what answers.

    ``gives`` is the schema of what it gives to programs; empty where it promises none. Without
    ``reads_only`` a call changes something.
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    run: Callable[[Shelf, Mapping[str, Json]], Answer]
    reads_only: bool = True
    gives: Mapping[str, Json] = field(default_factory=dict)


def without_shelf(
    run: Callable[[Mapping[str, Json]], tuple[str, dict[str, Json]]],
) -> Callable[[Shelf, Mapping[str, Json]], Answer]:
    """What answers for a tool that searches no space: another plugin's, which gives text and structure."""

    def answer(_shelf: Shelf, arguments: Mapping[str, Json]) -> Answer:
        text, structured = run(arguments)
        return Answer(text=text, structured=structured)

    return answer


def call(
    shelf: Shelf,
    name: str,
    arguments: Mapping[str, Json],
    more: Mapping[str, Tool] = MappingProxyType({}),
) -> Answer:
    """Answer one call of a tool of :data:`TOOLS`, or of ``more``.

    Raises:
        ConfigError: An argument is missing, unknown, of the wrong type or out of range.
        RagloomError: The index or the file does not answer.
    """
    tool = TOOLS.get(name) or more[name]
    if wrong := wrong_argument(arguments, tool.schema):
        raise ConfigError(f"{name}: {wrong}")
    # JSON Schema takes 1.0 for an integer; every number of these tools is one.
    whole = {key: int(arg) if isinstance(arg, float) else arg for key, arg in arguments.items()}
    return tool.run(shelf, whole)


def wrong_argument(arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> str:
    """What a schema finds wrong, and where; empty where it is nothing."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    wrong = best_match(Draft202012Validator(schema).iter_errors(arguments))
    if wrong is None:
        return ""
    place = "".join(f"{key}: " for key in wrong.absolute_path)
    return f"{place}{_short(wrong.message)}"


def _short(message: str) -> str:
    """A validator's message, which repeats what was given, without the middle of it."""
    line = " ".join(message.split())
    most = 2 * _SHOWN
    return line if len(line) <= most else f"{line[:_SHOWN]} … {line[-_SHOWN:]}"


def search_query(shelf: Shelf, arguments: Mapping[str, Json]) -> tuple[SpaceGroup, Query]:
    """What is searched, and what for, by the arguments of ``rag_search``.

    Raises:
        ConfigError: A condition cannot be read, or there is no such space.
        SourceError: No indexed file is or lies below a path.
    """
    spaces = shelf.spaces(cast("str", arguments.get("space", "")))
    where: list[Condition | str] = [*_several(arguments, "where")]
    if paths := _several(arguments, "path"):
        held = tuple(held_paths(spaces, paths))
        where.append(Condition(field="path", operator="under", value=held))
    query = Query(
        cast("str", arguments["query"]),
        top_k=cast("int | None", arguments.get("top_k")),
        min_relevance=cast("float | None", arguments.get("min_relevance")),
        mode=cast("Mode | None", arguments.get("mode")),
        where=where,
    )
    return SpaceGroup(spaces), query


def _several(arguments: Mapping[str, Json], name: str) -> list[str]:
    given = cast("str | list[str]", arguments.get(name, []))
    if not isinstance(given, str):
        return given
    if given.startswith("["):  # clients write a list as text where the schema admits both
        with suppress(ValueError):
            read = json.loads(given)
            if isinstance(read, list) and all(isinstance(one, str) for one in read):
                return read
    return [given]


def _rag_search(shelf: Shelf, arguments: Mapping[str, Json]) -> Answer:
    group, query = search_query(shelf, arguments)
    result = group.search(query)
    # The same text as the agents' own rag_search: its formatter is found by name, as any other.
    formatter = group.spaces[0].host.formatter("results")
    text = formatter.render(as_context(result, group.citations(result)))
    return Answer(text=text, structured=search_json(group, result), note=_said_of(result))


def search_json(group: SpaceGroup, result: SearchResult) -> dict[str, Json]:
    """A result for programs, as the schema :data:`ragloom_mcp.schemas.SEARCH_GIVES` says."""
    return {
        "searched_for": result.searched_for,
        "pending": result.pending,
        "space": result.space,
        "generation": result.generation,
        "checked": result.checked,
        "reason": why_empty(result),
        "closest": closest_json(result),
        "hits": [
            {"space": group.holder(hit).name, **hit_json(hit, *_OF_A_HIT)} for hit in result.hits
        ],
    }


def _said_of(result: SearchResult) -> str:
    notes: list[str] = []
    if result.pending:
        notes.append(
            f"{counted(result.pending, 'chunk')} without an embedding yet, compared by words alone"
        )
    if not result.checked:
        notes.append("passages are as indexed; no file on this machine was compared")
    return f"--- {'; '.join(notes)} ---" if notes else ""


def _list_spaces(shelf: Shelf, _arguments: Mapping[str, Json]) -> Answer:
    rows: list[dict[str, Json]] = []
    lines: list[str] = []
    for name in shelf.names():
        space = shelf.space(name)
        snapshot = None
        with suppress(NotIndexedError):
            snapshot = space.snapshot()
        files, chunks = (0, 0) if snapshot is None else (len(snapshot.files), len(snapshot))
        rows.append(
            {
                "name": name,
                "files": files,
                "chunks": chunks,
                "generation": 0 if snapshot is None else snapshot.meta.generation,
                "sources": list(space.settings.sources),
            }
        )
        held = f"{counted(files, 'file')}, {counted(chunks, 'chunk')}"
        lines.append(f"{name}: {held if snapshot is not None else shelf.unindexed(name)}")
    text = "\n".join(lines) or "There are no spaces: nothing is indexed yet."
    return Answer(text=text, structured={"spaces": cast("Json", rows)})


def _read_source(shelf: Shelf, arguments: Mapping[str, Json]) -> Answer:
    spaces = shelf.spaces(cast("str", arguments.get("space", "")))
    space, path, start, end = found_file(spaces, cast("str", arguments["path"]))
    found = excerpt(
        space,
        path,
        cast("int", arguments.get("start_line", start)),
        cast("int | None", arguments.get("end_line", end)),
    )
    structured: dict[str, Json] = asdict(found)
    place = f"{in_quotes(found.path, ':')}:{found.start_line}-{found.end_line}"
    short = f", truncated after {CHARACTERS_AT_ONCE:,} characters" if found.truncated else ""
    changed = "; it has changed since it was indexed" if found.changed else ""
    if found.from_index:
        changed = "; as indexed: the file is not read on this machine"
    note = f"--- end of {place}, of {counted(found.lines, 'line')}{short}{changed} ---"
    return Answer(text=found.text, structured=structured, note=note)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="rag_search",
            description=(
                "Search the project's documents by meaning and by words. Returns the passages that "
                "answer, best first, each with its score (the relevance, 0 to 1) and its source: file, "
                "lines, headings. Lines that begin with '--- Result' or '--- end of result' are never "
                "a document's own: those have a backslash before them."
            ),
            schema=schemas.SEARCH_TAKES,
            gives=schemas.SEARCH_GIVES,
            run=_rag_search,
        ),
        Tool(
            name="list_spaces",
            description="List the indexes that can be searched, and how much is in each.",
            schema=schemas.SPACES_TAKE,
            gives=schemas.SPACES_GIVE,
            run=_list_spaces,
        ),
        Tool(
            name="read_source",
            description=(
                "Read lines of an indexed file, letter for letter, such as the lines around a passage "
                f"that rag_search returned; {LINES_AT_ONCE:,} lines and {CHARACTERS_AT_ONCE:,} "
                "characters at once."
            ),
            schema=schemas.SOURCE_TAKES,
            gives=schemas.SOURCE_GIVES,
            run=_read_source,
        ),
    )
}
"""The tools by name, in the order in which they are listed."""
