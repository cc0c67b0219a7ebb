"""The candidates of a query from a store that answers alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import cast

from ragloom.protocols import Embedder, Embeddings
from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.retrieval.ranking import query_vector
from ragloom.snapshot import Snapshot
from ragloom.snapshot.remote import RemoteIndex
from ragloom.snapshot.statistics import encoded
from ragloom.types import Condition, Mode, StoredChunk

REMOTE_CANDIDATES = 200
"""Chunks by vector, and as many by words, that a store gives with their texts: those that can be shown."""


class InTurn:
    """What the search for candidates uses of an embedder, one thread at a time.

    Args:
        embedder: The model.
        turn: Held while it is used.
    """

    def __init__(self, embedder: Embedder, turn: AbstractContextManager[object]) -> None:
        self._embedder = embedder
        self._turn = turn
        self.fingerprint: str = embedder.fingerprint

    def embed_query(self, text: str) -> Embeddings:
        """As of :class:`ragloom.Embedder`."""
        with self._turn:
            return self._embedder.embed_query(text)


def candidates_of(
    index: RemoteIndex,
    queries: Sequence[ParsedQuery],
    embedder: Embedder | None,
    mode: Mode,
    where: Sequence[Condition],
) -> Snapshot:
    """The index with the candidates of a query and of its sentences; raises as ``find_candidates``.

    Raises:
        StoreError: The store failed.
    """
    found: list[tuple[StoredChunk, Embeddings]] = []
    for query in queries:
        snapshot = cast("Snapshot", index)
        vector = None if mode == "lexical" else query_vector(query.text, snapshot, embedder)
        terms = [] if mode == "dense" else [*query.terms, *query.punctuated_terms()]
        words = " ".join(map(encoded, terms))
        if words or vector is not None:
            found += index.store.find(words, vector, limit=REMOTE_CANDIDATES, where=where)
    return cast("Snapshot", index.with_candidates(found))
