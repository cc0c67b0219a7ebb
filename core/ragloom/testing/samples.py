"""Chunks and vectors for tests: small, and full of what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from ragloom.protocols import Embeddings
from ragloom.types import Chunk, Json, Lines, Metadata, Span

__all__ = ["DIMENSION", "METADATA", "chunk", "unit"]

DIMENSION: Final = 4
"""Numbers in a vector of :func:`unit`."""

METADATA: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "nested": {"deep": [1, 2.0, "three", None, True, {"x": []}], "": "empty key"},
        "unicode \U0001f9f5": "na\u00efve \u65e5\u672c\u8a9e \u0000 \u2028",
        "none": None,
        "int": 1,
        "float": 1.0,
        "tiny": 5e-324,
        "long": 2**70,
        "minus zero": -0.0,
        "true": True,
        "quotes": '"it\'s" \\ `x` ${y}',
        "empty": [],
    }
)
"""Every kind of JSON value, some of which are easily lost on the way to a database and back."""


def chunk(
    name: str,
    *,
    uri: str = "docs/a.md",
    text: str = "some text",
    metadata: Metadata | None = None,
) -> Chunk:
    """A chunk with the id ``name``, in which no field has its default."""
    return Chunk(
        id=name,
        uri=uri,
        text=text,
        span=Span(10, 10 + len(text)),
        lines=Lines(2, 3),
        bytes=Span(11, 11 + len(text.encode("utf-8", "surrogatepass"))),
        headings=("Guide", 'Quotes " \\ and \u00fcnicode \U0001f9f5'),
        ordinal=3,
        tokens=7,
        context="| a | b |",
        metadata={} if metadata is None else metadata,
        key="0123456789abcdef" * 2,
    )


def unit(*rows: tuple[float, ...]) -> Embeddings:
    """``(len(rows), 4)`` float32 of unit length; zeros at the end of a row may be omitted."""
    vectors = np.array([(*row, 0, 0, 0, 0)[:DIMENSION] for row in rows], dtype=np.float32)
    vectors = vectors.reshape(len(rows), DIMENSION)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
