"""Search of the current folder's workspace, for ``llm``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from ragloom import ConfigError, Query, Space, SpaceGroup, Workspace
from ragloom.config import unknown
from ragloom.context import as_context

if TYPE_CHECKING:
    from llm import Fragment

_MOST = 50
_DEFAULT = 5
_SHOWN = 60  # characters of a wrong argument


def fragment(argument: str) -> Fragment:
    """Passages that answer a query, as text with their sources: ``-f ragloom:SPACE:QUERY``.

    SPACE is an index of the workspace in the current folder, as ``ragloom status`` names it; without
    one (``-f 'ragloom::how do I log errors?'``) all of them are searched as one.
    """
    from llm import Fragment

    space, colon, query = argument.partition(":")
    if not colon or not query.strip():
        raise ConfigError(
            f"ragloom:{argument}: expected ragloom:SPACE:QUERY, such as 'ragloom:docs:how do I log errors?'"
        )
    make = cast("Callable[[str, str], Fragment]", Fragment)  # its constructor has no annotations
    sought = Query(query.strip(), per_file=0)  # a context, which wants all of a file
    return make(_answer(sought, space.strip()), f"ragloom:{argument}")


def rag_search(query: str, space: str = "", top_k: int = _DEFAULT) -> str:
    """Search the documents of the current folder by meaning and by words.

    Returns the passages that answer the query, best first, each with its score (0 to 1) and its source
    file. Without the name of a space all of them are searched.
    """
    # A model's arguments are of any type, and null for those that it omits.
    given: tuple[object, object] = (query, space)
    if not isinstance(given[0], str) or not query.strip():
        raise ConfigError(f"query must be a string that is not empty, not {_short(query)}")
    if not isinstance(given[1], str | None):
        raise ConfigError(f"space must be the name of a space, not {_short(space)}")
    return _answer(Query(query, top_k=_whole(top_k)), (space or "").strip())


def _whole(top_k: object) -> int:
    """``top_k`` as a number; models write it as a string, too."""
    if top_k is None:
        return _DEFAULT
    text = str(top_k).strip() if isinstance(top_k, str | int | float) else ""
    digits = text.removesuffix(".0")
    if digits.isdecimal() and len(digits) <= len(str(_MOST)) and 1 <= int(digits) <= _MOST:
        return int(digits)
    raise ConfigError(f"top_k must be a whole number from 1 to {_MOST}, not {_short(top_k)}")


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _answer(sought: Query, name: str) -> str:
    workspace = Workspace.open()
    with SpaceGroup(_spaces(workspace, name)) as group:
        result = group.search(sought)
        context = as_context(result, group.citations(result))
        # The same text as the agents' own rag_search: its formatter is found by name, as any other.
        return workspace.host.formatter("results").render(context)


def _spaces(workspace: Workspace, name: str) -> list[Space]:
    """The space of that name, or without one all of them; lessons only where a setting says so."""
    kept = workspace.host.spaces_of("knowledge", workspace)
    lessons = cast("Mapping[str, Space]", kept or {})
    names = sorted({*workspace.spaces(), *lessons})
    if not names:
        raise ConfigError(f"nothing is indexed in {workspace.root}: run 'ragloom index'")
    if name and name not in names:
        raise ConfigError(unknown("space", name, names))
    wanted = [name] if name else names
    return [lessons[one] if one in lessons else workspace.space(one) for one in wanted]
