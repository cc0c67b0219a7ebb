"""The store ``file``: files that people and their tools can read.

A space's folder holds one generation, and for a moment two::

    CURRENT                  {"format": 1, "generation": 7, "dimension": 384, "chunks": 702, …}
    chunks-000007.jsonl      one chunk a line, in the order of the ids
    vectors-000007.npy       (702, 384) float32, row by row the same chunks

Closing writes the next generation, syncs it, and replaces ``CURRENT`` in one step: whatever kills
the process, one whole generation is there. Everything is read on opening and written on closing,
which is right for some thousand chunks; for more, use ``sqlite``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from ragloom import StoreDamagedError, StoreError
from ragloom.stores import check_format, chunk_from_record, chunk_to_record, dump_json, format_stamp
from ragloom.text import parse_json
from ragloom_local._table import Table, TableStore

CURRENT: Final = "CURRENT"
_FORMAT: Final = 1


class FileStore(TableStore):
    """Keeps each space in a folder of readable files, written when the store is closed.

    Args:
        path: Where each space gets its folder; empty for the ``directory`` given to :meth:`open`.
    """

    def __init__(self, *, path: str = "") -> None:
        super().__init__("file")
        self.fingerprint = f"file:{path}"
        self._path = path
        self._folder = Path()
        self._generation = 0

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """As in :class:`ragloom.Store`: read the space's files, if there are any."""
        self.close()
        base = Path(self._path).expanduser() if self._path else directory
        self._folder = (base / folder_name(space)).absolute()
        table, self._generation = Table(dimension), 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if (self._folder / CURRENT).exists():
                self._generation = self._load(table)
            elif any(self._folder.glob("chunks-*.jsonl")) and not self._only_first_generation():
                raise self._damaged(f"{CURRENT} is missing")
        except OSError as error:
            raise StoreError(f"the store {self._folder} cannot be read: {error}") from error
        self._table, self._changed = table, False

    def close(self) -> None:
        """Write what changed, and close; twice does nothing."""
        table, self._table = self._table, None
        if table is None or not self._changed:
            return
        try:
            self._save(table)
        except OSError as error:
            raise StoreError(f"the store {self._folder} cannot be written: {error}") from error

    def _load(self, table: Table) -> int:
        try:
            current = _object((self._folder / CURRENT).read_bytes())
            known = current.get("format", 1), _FORMAT
            check_format(*known, place=self._folder, release=current.get("release"))
            generation, count = int(current["generation"]), int(current["chunks"])
            dimension = int(current["dimension"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._damaged(f"{CURRENT} cannot be understood ({error})") from error
        if dimension != table.dimension and count:
            raise StoreError(
                f"the store {self._folder} holds vectors of {dimension} numbers, and the embedder "
                f"gives {table.dimension}: index into a new space, or drop this one and index again"
            )
        if not count:
            return generation
        chunks_file, vectors_file = self._files(generation)
        try:
            with chunks_file.open(encoding="utf-8", newline="\n") as lines:
                chunks = [chunk_from_record(_object(line)) for line in lines]
            vectors = np.load(vectors_file, allow_pickle=False)
        except FileNotFoundError as error:
            raise self._damaged(f"{Path(str(error.filename)).name} is missing") from error
        except (KeyError, TypeError, ValueError, EOFError) as error:
            raise self._damaged(f"its files cannot be read ({error})") from error
        if len(chunks) != count or vectors.shape != (count, dimension):
            raise self._damaged(
                f"{count} chunks were written, {len(chunks)} and {len(vectors)} vectors are there"
            )
        try:
            table.upsert(chunks, vectors)
        except StoreError as error:
            raise self._damaged(str(error)) from error
        return generation

    def _save(self, table: Table) -> None:
        generation = self._generation + 1
        chunks_file, vectors_file = self._files(generation)

        def write_chunks(file: IO[bytes]) -> None:
            for chunks, _ in table.scan(1000):
                for chunk in chunks:
                    file.write(dump_json(chunk_to_record(chunk)).encode() + b"\n")

        def write_vectors(file: IO[bytes]) -> None:
            batches = [vectors for _, vectors in table.scan(1000)]
            empty = np.zeros((0, table.dimension), dtype=np.float32)
            np.save(file, np.concatenate([empty, *batches]), allow_pickle=False)

        _write(chunks_file, write_chunks)
        _write(vectors_file, write_vectors)
        current = {
            **format_stamp(_FORMAT),
            "generation": generation,
            "dimension": table.dimension,
            "chunks": len(table),
        }
        line = json.dumps(current).encode() + b"\n"
        _write(self._folder / CURRENT, lambda file: file.write(line))
        _sync_folder(self._folder)
        self._generation = generation
        for pattern in ("chunks-*.jsonl", "vectors-*.npy"):
            for old in self._folder.glob(pattern):
                if old not in (chunks_file, vectors_file):
                    with contextlib.suppress(OSError):
                        old.unlink()

    def _files(self, generation: int) -> tuple[Path, Path]:
        return (
            self._folder / f"chunks-{generation:06d}.jsonl",
            self._folder / f"vectors-{generation:06d}.npy",
        )

    def _only_first_generation(self) -> bool:
        """Killed while writing the very first generation, before ``CURRENT``."""
        found = {path.name for path in self._folder.glob("chunks-*.jsonl")}
        return found == {"chunks-000001.jsonl"}

    def _damaged(self, what: str) -> StoreDamagedError:
        return StoreDamagedError(f"the store {self._folder} is damaged: {what}")


def folder_name(space: str) -> str:
    """A name for a folder, readable, and different for every two different spaces."""
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "_", space)[:64].strip("._-")
    digest = hashlib.sha256(space.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable}-{digest}" if readable else digest


def _object(content: bytes | str) -> dict[str, Any]:
    return cast("dict[str, Any]", parse_json(content))


def _write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Fill a file beside ``path``, sync it, and put it in its place in one step."""
    beside = path.with_name(f"{path.name}.tmp")
    beside.unlink(missing_ok=True)  # it may be a link
    with beside.open("xb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _sync_folder(folder: Path) -> None:
    # Not every platform can open a folder.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
