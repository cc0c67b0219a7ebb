"""What an interrupted index run leaves behind, so that the next one neither embeds nor guesses again.

Two files in the space's folder: ``embeddings.journal`` holds the vectors made so far, in records of
fixed size that carry a checksum; ``touched.journal`` holds the ids that the run was about to write to
the store or to delete from it, and the dimension of its vectors. The vectors are gone once a generation
has them, the ids once the store is right.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from ragloom.protocols import Embeddings
from ragloom.stores.atomic import no_link
from ragloom.stores.faults import named_faults

TOUCHED = "touched.journal"
"""There from before a run writes to the store until it has, and after it was interrupted then."""
EMBEDDINGS = "embeddings.journal"

_KEY_BYTES = 32
_DIMENSION = "#"  # begins no id


class Journal:
    """The journal of one space; the caller holds the space's lock."""

    def __init__(self, directory: Path, dimension: int) -> None:
        self._embeddings = directory / EMBEDDINGS
        self._touched = directory / TOUCHED
        self._dimension = dimension
        self._sound: int | None = None  # bytes up to the first torn or foreign record, once known
        self._record = np.dtype(
            [("crc", "<u4"), ("key", f"S{_KEY_BYTES}"), ("vector", "<f4", (dimension,))]
        )

    def recall(self) -> Mapping[str, Embeddings]:
        """The vectors of the interrupted run by their key; a torn or foreign record ends the reading."""
        content = _content(self._embeddings)
        whole = len(content) // self._record.itemsize
        records = np.frombuffer(content, self._record, count=whole)
        known: dict[str, Embeddings] = {}
        sound = 0
        for record in records:
            key = bytes(record["key"])
            vector = np.ascontiguousarray(record["vector"], np.float32)
            if zlib.crc32(key + vector.tobytes()) != record["crc"]:
                break
            known[key.decode("ascii")] = vector
            sound += self._record.itemsize
        self._sound = sound
        return known

    def state(self) -> tuple[int, int]:
        """Changes with the vectors: the size of their file, and when it was changed, in ns."""
        try:
            status = self._embeddings.stat()
        except OSError:
            return 0, 0
        return status.st_size, status.st_mtime_ns

    def remember(self, keys: Sequence[str], vectors: Embeddings) -> None:
        """Append vectors, in the order of their keys, to the last record that can be recalled."""
        if self._sound is None:
            self.recall()
        records = np.empty(len(keys), self._record)
        for number, (key, vector) in enumerate(zip(keys, vectors, strict=True)):
            encoded = key.encode("ascii")
            records[number] = (zlib.crc32(encoded + vector.tobytes()), encoded, vector)
        with (
            named_faults(self._embeddings),
            open(self._embeddings, "ab", opener=no_link) as stream,
        ):
            stream.seek(stream.truncate(self._sound))
            stream.write(records.tobytes())
            self._sound = stream.tell()

    def touched(self) -> set[str]:
        """The ids that the interrupted run may have written or deleted."""
        return {name for name in self._noted() if not name.startswith(_DIMENSION)}

    def dimensions(self) -> set[int]:
        """The dimensions of the vectors that the store may hold since the interrupted runs."""
        numbers = (name.removeprefix(_DIMENSION) for name in self._noted() if name[0] == _DIMENSION)
        return {int(number) for number in numbers if number.isdecimal()}

    def touch(self, ids: Collection[str]) -> None:
        """Write down, durably, which ids are about to be written or deleted."""
        with (
            named_faults(self._touched),
            open(self._touched, "a", encoding="ascii", opener=no_link) as stream,
        ):
            noted = ("", f"{_DIMENSION}{self._dimension}", *sorted(ids), "")
            stream.writelines(f"\n{name}" for name in noted)
            stream.flush()
            os.fsync(stream.fileno())

    def _noted(self) -> Sequence[str]:
        return _content(self._touched).decode("ascii", "replace").split()

    def settle(self) -> None:
        """Delete the ids: the store is known to be right."""
        with named_faults(self._touched, "removed"):
            self._touched.unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete the vectors: a generation has them."""
        with named_faults(self._embeddings, "removed"):
            self._embeddings.unlink(missing_ok=True)
        self._sound = None


def _content(path: Path) -> bytes:
    with named_faults(path, "read"):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return b""
