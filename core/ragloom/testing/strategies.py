"""Hypothesis strategies for what flows through ragloom: few values, and those that go wrong."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from ragloom.types import Chunk, Condition, Document, Json, Lines, Metadata, Span

__all__ = ["IDS", "URIS", "chunks", "conditions", "directions", "documents", "metadata", "texts"]

IDS: Final[st.SearchStrategy[str]] = st.sampled_from(["a", "b", "c", "d'", 'e"', "f\\", "\u65e5"])
"""Few ids, so that chunks are overwritten and deleted."""

URIS: Final[st.SearchStrategy[str]] = st.sampled_from(
    ["notes/a.md", "notes-old/b.md", "notes", "n%/_.md"]
)
"""Paths of which some are alike."""

_SCALARS: Final[st.SearchStrategy[str | int | bool | None]] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "1", "it's \\"])
)
_LISTS: Final[st.SearchStrategy[Json]] = st.lists(_SCALARS, max_size=2)


def texts(*, max_size: int = 200) -> st.SearchStrategy[str]:
    """Any text that UTF-8 can write, with many line ends, blanks and marks of markup."""
    marks = st.sampled_from(["\n", "\r\n", "\n\n", " ", "# ", "`", "|", ". ", "\u65e5", "word "])
    anything = st.text(st.characters(codec="utf-8"), max_size=8)
    return st.lists(marks | anything, max_size=max_size // 4).map(
        lambda parts: "".join(parts)[:max_size]
    )


def metadata() -> st.SearchStrategy[Metadata]:
    """Scalars and lists under few keys."""
    return st.dictionaries(st.sampled_from(["k", "tags"]), _SCALARS | _LISTS)


def directions() -> st.SearchStrategy[tuple[float, ...]]:
    """Vectors of four numbers: few, so that ties happen; of unit length, and exact in float32."""
    return st.sampled_from(
        [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5)]
    )


def conditions() -> st.SearchStrategy[Condition]:
    """Any operator on few fields, with values of any type."""
    return st.builds(
        Condition,
        field=st.sampled_from(["k", "tags", "path"]),
        operator=st.sampled_from(["=", "!=", "<", "<=", ">", ">=", ":", "exists", "under"]),
        value=_SCALARS | st.sampled_from(["notes", "n%"]),
    )


@st.composite
def chunks(draw: st.DrawFn) -> Chunk:
    """Chunks with few ids and paths, and any short text."""
    text = draw(st.text(st.characters(codec="utf-8"), max_size=5))
    return Chunk(
        id=draw(IDS),
        uri=draw(URIS),
        text=text,
        span=Span(0, len(text)),
        lines=Lines(1, 1),
        bytes=Span(0, len(text.encode())),
        metadata=draw(metadata()),
    )


def documents(*, media_type: str = "text/plain") -> st.SearchStrategy[Document]:
    """Documents of any text."""
    return st.builds(
        Document, uri=st.just("docs/any.txt"), text=texts(), media_type=st.just(media_type)
    )
