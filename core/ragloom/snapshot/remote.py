"""An index that is elsewhere: what is known of it as a whole, and the candidates of one query.

:class:`RemoteIndex` has the statistics of every shard, and :class:`RemoteSnapshot` the chunks that a store
gave for a query, with what the rest of the program reads of a :class:`~ragloom.snapshot.Snapshot`: order,
evidence and gate are the same code. BM25 is computed here, as tantivy does it, over the candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.errors import ConfigError
from ragloom.protocols import Embeddings
from ragloom.snapshot.file_names import FileNames
from ragloom.snapshot.languages import language_of
from ragloom.snapshot.manifest import FileEntry
from ragloom.snapshot.remote_statistics import RemoteMeta, ShardStatistics
from ragloom.snapshot.remote_words import Document, RemoteWords
from ragloom.types import Chunk, StoredChunk


class RemoteIndex(ShardStatistics):
    """All shards of a space, as far as a store tells of them."""

    @cached_property
    def lexical(self) -> RemoteWords:
        """The words of chunks."""
        return RemoteWords(self, 0, [])

    @cached_property
    def file_lexical(self) -> RemoteWords:
        """The words of files."""
        return RemoteWords(self, 1, [])

    @property
    def pending(self) -> npt.NDArray[np.intp]:
        """None: what has no vector is in no store."""
        return np.empty(0, np.intp)

    def with_candidates(self, found: Iterable[tuple[StoredChunk, Embeddings]]) -> RemoteSnapshot:
        """The index with the candidates of a query, which the members below speak of from now on."""
        once = {(row.shard, row.chunk.id): (row, vector) for row, vector in found}
        self._latest = RemoteSnapshot(self, [once[key] for key in sorted(once)])
        return self._latest

    _latest: RemoteSnapshot | None = None

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """What is known of the files of the last candidates, by uri."""
        return {} if self._latest is None else self._latest.files

    @property
    def uris(self) -> Sequence[str]:
        """Those of the files of the last candidates."""
        return list(self.files)

    def rows_of(self, ids: Iterable[str]) -> npt.NDArray[np.intp]:
        """The rows of the last candidates by their ids; those that are not among them are omitted."""
        if self._latest is None:
            return np.empty(0, np.intp)
        known = {name.decode("ascii"): row for row, name in enumerate(self._latest.ids)}
        return np.array([known[name] for name in ids if name in known], np.intp)

    def vectors(self, rows: npt.NDArray[np.intp]) -> Embeddings:
        """``(len(rows), d)`` float32: those of the last candidates."""
        if self._latest is None:
            return np.empty((0, self.meta.dimension), np.float32)
        return self._latest.vectors(rows)

    def check(self) -> None:
        """Raise a ConfigError: it is the store's to be whole."""
        raise ConfigError(f"read: remote: there is no index of {self.space!r} here to verify")


class RemoteSnapshot:
    """The candidates of one query, as rows; see :class:`ragloom.snapshot.Snapshot` for its members.

    Args:
        index: What they are of.
        found: Chunks and their vectors, in the order of shards and ids.
    """

    def __init__(self, index: RemoteIndex, found: Sequence[tuple[StoredChunk, Embeddings]]) -> None:
        self._index = index
        self.meta: RemoteMeta = index.meta
        self.directory: Path = index.directory
        self._rows = [row for row, _ in found]
        self._vectors: Embeddings = np.array([vector for _, vector in found], np.float32).reshape(
            len(found), self.meta.dimension
        )
        names = [(row.shard, row.chunk.uri) for row in self._rows]
        self._files = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self.file_of_row: npt.NDArray[np.int32] = np.array(
            [self._files[name] for name in names], np.int32
        )
        self.serials: npt.NDArray[np.uint64] = np.arange(len(found), dtype=np.uint64)
        self.ids: npt.NDArray[np.bytes_] = np.array(
            [row.chunk.id.encode() for row in self._rows], "S32"
        )

    def __len__(self) -> int:
        """Chunks of the whole index, of which these are candidates."""
        return len(self._index)

    @property
    def uris(self) -> Sequence[str]:
        """The files' uris; shards may have files of the same name."""
        return [uri for _, uri in self._files]

    @cached_property
    def file_names(self) -> FileNames:
        """The files by their names."""
        return FileNames(self.uris)

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """What is known of the files, by uri."""
        return {
            row.chunk.uri: FileEntry(
                uri=row.chunk.uri,
                content_hash=row.content_hash,
                chunks=0,
                metadata=row.chunk.metadata,
            )
            for row in self._rows
        }

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """``(f,)``: the first row of each file."""
        _, first = np.unique(self.file_of_row, return_index=True)
        return first

    @property
    def pending(self) -> npt.NDArray[np.intp]:
        """None."""
        return np.empty(0, np.intp)

    @cached_property
    def _languages(self) -> Sequence[str]:
        """Of each row."""
        every = self._index.languages
        if len(every) == 1:
            return [every[0]] * len(self._rows)
        by_file: dict[int, list[str]] = {}
        for number, row in zip(self.file_of_row.tolist(), self._rows, strict=True):
            by_file.setdefault(number, []).append(row.chunk.text)
        known = {number: language_of(texts[:8]) for number, texts in by_file.items()}
        return [known[number] for number in self.file_of_row.tolist()]

    @cached_property
    def lexical(self) -> RemoteWords:
        """The words of the candidates."""
        documents = [
            (serial, Document([row.chunk], language, 0))
            for serial, (row, language) in enumerate(zip(self._rows, self._languages, strict=True))
        ]
        return RemoteWords(self._index, 0, documents)

    @cached_property
    def file_lexical(self) -> RemoteWords:
        """The words of their files, as far as they are in candidates."""
        chunks: dict[int, list[Chunk]] = {}
        for number, row in zip(self.file_of_row.tolist(), self._rows, strict=True):
            chunks.setdefault(number, []).append(row.chunk)
        documents = [
            (int(first), Document(chunks[number], self._languages[first], 1))
            for number, first in enumerate(self.first_rows)
        ]
        return RemoteWords(self._index, 1, documents)

    def chunk(self, row: int) -> Chunk:
        """The chunk in a row."""
        return self._rows[row].chunk

    def hash_of(self, row: int) -> str:
        """SHA-256 of the file of the chunk in a row."""
        return self._rows[row].content_hash

    def vectors(self, rows: npt.NDArray[np.intp]) -> Embeddings:
        """``(len(rows), d)`` float32."""
        found: Embeddings = self._vectors[rows]
        return found

    def approximate(self, query: Embeddings) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: the cosine of every candidate, which is exact here."""
        return self.cosines(query, np.arange(len(self._rows)))

    def cosines(
        self, query: Embeddings, rows: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: the cosine of every candidate, or of some, with a query of unit length."""
        vectors = self._vectors if rows is None else self._vectors[rows]
        found: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, query)
        return found
