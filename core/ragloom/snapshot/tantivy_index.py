"""A tantivy index, open for reading, and what tantivy raises as what it is.

It has one exception for everything, panics, and locks even what it only reads.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import cast

import tantivy

from ragloom.errors import StoreError, StoreOutdatedError
from ragloom.stores.faults import fault_of

READ_LOCK, WRITE_LOCK = ".tantivy-meta.lock", ".tantivy-writer.lock"
_MOST_FREQUENCIES = 1 << 16  # of terms, kept while the index is open
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
_UNWRITABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOENT}
)


@contextmanager
def tantivy_errors(directory: Path, what: str = "read") -> Iterator[None]:
    """Name the index in what tantivy raises for a fault of the machine or of its own.

    Raises:
        OSError: A fault of the machine, by its number.
        StoreError: It panicked, or failed to write.
        StoreOutdatedError: A release of tantivy wrote the index that this one does not read.
        ValueError: Another error of reading: the content is damaged.
    """
    try:
        yield
    except BaseException as error:
        panicked = type(error).__name__ == "PanicException"  # pyo3's, which is no Exception
        if not panicked and not isinstance(error, ValueError | MemoryError):
            raise
        if fault := fault_of(error):
            raise OSError(fault.errno, fault.strerror, str(directory)) from error
        said = " ".join(str(error).split())
        if "incompatible" in said.lower():
            message = f"{directory}: another release of tantivy wrote it ({said}): index again"
            raise StoreOutdatedError(message) from error
        if panicked or what != "read":
            raise StoreError(f"{directory}: cannot be {what}: tantivy failed: {said}") from error
        raise


class Searcher:
    """tantivy's, and the schema of its index; every method raises as :func:`tantivy_errors` does."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = _open(directory)
        with tantivy_errors(directory):
            self._searcher = self._index.searcher()
            self.schema: tantivy.Schema = self._index.schema
        self._frequencies: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        """Documents in the index."""
        return int(self._searcher.num_docs)

    def doc_freq(self, field: str, term: str) -> int:
        """How many documents have a term in a field, removed ones included."""
        known = self._frequencies.get((field, term))
        if known is None:
            if len(self._frequencies) >= _MOST_FREQUENCIES:
                self._frequencies.clear()
            with tantivy_errors(self._directory):
                known = self._frequencies[field, term] = self._searcher.doc_freq(field, term)
        return known

    def count(self, query: tantivy.Query) -> int:
        """How many documents match."""
        with tantivy_errors(self._directory):
            return int(self._searcher.search(query, 1, count=True).count or 0)  # type: ignore[attr-defined]

    def best(self, query: tantivy.Query, limit: int) -> tuple[Sequence[int], Sequence[float]]:
        """Serial numbers and scores of the best ``limit`` documents, best first."""
        with tantivy_errors(self._directory):
            found = self._searcher.search(query, limit, count=False).hits if limit else []
            if not found:
                return (), ()
            # Twice as fast as zip(), which makes an iterator of each.
            scores = [score for score, _ in found]
            serials = self._searcher.fast_field_values("serial", [place for _, place in found])
        return cast("Sequence[int]", serials), scores

    def terms_with_prefix(self, field: str, prefix: str) -> Sequence[tuple[str, int]]:
        """The terms of a field that begin with ``prefix``, and how many documents have each."""
        with tantivy_errors(self._directory):
            return self._searcher.terms_with_prefix(field, prefix)


def _open(directory: Path) -> tantivy.Index:
    """Open an index where it lies, or through links from where tantivy may lock it."""
    try:
        with tantivy_errors(directory):
            return tantivy.Index.open(str(directory))
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        unwritable = error
    for folder in (gettempdir, lambda: _SHARED_MEMORY):
        try:
            return _open_linked(directory, folder())
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
    raise unwritable


def _open_linked(directory: Path, folder: str) -> tantivy.Index:
    # tantivy may write a lock file while the folder is removed: that damages nothing.
    with TemporaryDirectory(prefix="ragloom-", dir=folder, ignore_cleanup_errors=True) as linked:
        for entry in directory.iterdir():
            if entry.suffix != ".lock":
                Path(linked, entry.name).symlink_to(entry.resolve())
        with tantivy_errors(directory):
            return tantivy.Index.open(linked)
