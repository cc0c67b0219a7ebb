"""Asking an index of the current folder's workspace, for ``llm``."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ragloom import Citation, ConfigError, Context, Space, Workspace

if TYPE_CHECKING:
    from llm import Fragment

__all__ = ["fragment", "rag_search"]

_MOST = 50
_LESSONS = "knowledge"


def fragment(argument: str) -> Fragment:
    """Passages that answer a query, as text with their sources: ``-f ragloom:SPACE:QUERY``.

    SPACE is an index of the workspace in the current folder, as ``ragloom status`` names it; it may be
    left empty where there is only one (``-f 'ragloom::how do I log errors?'``).
    """
    from llm import Fragment

    space, colon, query = argument.partition(":")
    if not colon or not query.strip():
        raise ConfigError(
            f"ragloom:{argument}: expected ragloom:SPACE:QUERY, such as 'ragloom:docs:how do I log errors?'"
        )
    make = cast("Callable[[str, str], Fragment]", Fragment)  # its constructor has no annotations
    return make(_answer(query.strip(), space.strip(), None), f"ragloom:{argument}")


def rag_search(query: str, space: str = "", top_k: int = 5) -> str:
    """Search the documents of the current folder by meaning and by words.

    Returns the passages that answer the query, best first, each with its score (0 to 1) and its source
    file. Give the name of a space only where there are several.
    """
    if not query.strip():
        raise ConfigError("query must not be empty")
    if not 1 <= top_k <= _MOST:
        raise ConfigError(f"top_k must be from 1 to {_MOST}, not {top_k}")
    return _answer(query, space, top_k)


def _answer(query: str, name: str, top_k: int | None) -> str:
    with _space(Workspace.open(), name) as space:
        result = space.search(query, top_k=top_k)
        root = space.workspace.root
        citations = tuple(
            Citation(
                path=hit.chunk.uri,
                file=root / hit.chunk.uri,
                lines=hit.chunk.lines,
                relevance=hit.relevance,
                text=hit.chunk.text,
                headings=hit.chunk.headings,
            )
            for hit in result.hits
        )
        context = Context(citations=citations, hits=result.hits, reason=result.reason)
        # The same text as the agents' own rag_search: its formatter is found by name, as any other.
        return space.workspace.host.formatter("results").render(context)


def _space(workspace: Workspace, name: str) -> Space:
    """The space of that name, or the only one; lessons only where the settings name their space."""
    declared = workspace.settings.spaces
    names = [
        known for known in workspace.spaces() if known in declared or not known.startswith(_LESSONS)
    ]
    if not names:
        raise ConfigError(f"nothing is indexed in {workspace.root}: run 'ragloom index'")
    if not name:
        if len(names) > 1:
            raise ConfigError(f"there are several spaces, name one: {', '.join(names)}")
        name = names[0]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
        raise ConfigError(f"no space is called {name!r}; {hint}")
    return workspace.space(name)
