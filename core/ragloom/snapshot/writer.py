"""Writing the next generation and swapping the pointer."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.protocols import Embeddings
from ragloom.snapshot.lexical import LexicalDocument, update_lexical
from ragloom.snapshot.manifest import FileEntry, write_files
from ragloom.snapshot.reader import (
    FORMAT,
    Meta,
    Snapshot,
    checksum,
    chunk_line,
    current,
    generations,
)
from ragloom.types import Chunk

_COPY_ROWS = 4096
_KEPT_GENERATIONS = 2  # the one that answers and the one before it, which readers may still open


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A chunk whose text, place or embedding differs from the previous generation.

    Attributes:
        chunk: What is written.
        key: 32 hex digits naming the model and the embedded text.
        vector: ``(d,)`` float32 of unit length.
    """

    chunk: Chunk
    key: str
    vector: Embeddings


def current_generation(space_directory: Path) -> int:
    """The number of the generation that answers; 0 when there is none."""
    found = generations(space_directory)
    return int(found[0].name.removeprefix("gen-")) if found else 0


def publish(
    space_directory: Path,
    *,
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    rows: Sequence[NewRow],
    files: Mapping[str, FileEntry],
    dimension: int,
    embedder: str,
    store: str,
) -> int:
    """Write a generation next to the current one and make it the current one.

    A row whose chunk id was in ``previous`` takes the place it had there; the others follow at the end.
    Killed at any moment, this leaves the old generation answering.

    Args:
        space_directory: The space's folder; the caller holds its lock.
        previous: The generation to start from.
        kept: ``(n,)``: rows of ``previous`` that stay as they are.
        rows: What is new or changed.
        files: The whole manifest.
        dimension: Numbers in a vector.
        embedder: Fingerprint of the embedder.
        store: Fingerprint of the store.

    Returns:
        The generation's number.
    """
    generation = _last_generation(space_directory) + 1
    target = space_directory / f"gen-{generation:06d}"
    building = space_directory / f"gen-{generation:06d}.tmp"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)

    changed = {} if previous is None else _places(previous, rows)
    serials, next_serial = _serials(previous, kept, rows, changed)
    order = _order(previous, kept, rows, changed)

    file_numbers = {uri: number for number, uri in enumerate(files)}
    ids = np.empty(len(order), "S32")
    keys = np.empty(len(order), "S32")
    file_of_row = np.empty(len(order), np.int32)
    offsets = np.zeros(len(order) + 1, np.uint64)
    with (building / "chunks.jsonl").open("wb") as lines:
        for number, item in enumerate(order):
            line, ids[number], keys[number], uri = _entry(previous, *item)
            file_of_row[number] = file_numbers[uri]
            offsets[number + 1] = lines.tell() + len(line)
            lines.write(line)
    np.save(building / "chunks.npy", offsets)
    np.savez(
        building / "columns.npz",
        serials=np.asarray(serials, np.uint64),
        ids=ids,
        keys=keys,
        files=file_of_row,
    )
    _write_vectors(building / "vectors.npy", previous, order, dimension)
    write_files(building / "files.json", files.values())
    _write_lexical(building / "lexical", previous, kept, order, serials)
    meta = Meta(
        format=FORMAT,
        generation=generation,
        rows=len(order),
        dimension=dimension,
        next_serial=next_serial,
        embedder=embedder,
        store=store,
        created=time.time(),
        checksums={
            path.relative_to(building).as_posix(): checksum(path)
            for path in sorted(building.rglob("*"))
            if path.is_file()
        },
    )
    (building / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
    _sync_tree(building)
    building.rename(target)
    point_at(target)
    _remove_old(space_directory, generation)
    return generation


def point_at(generation: Path) -> None:
    """Have ``CURRENT`` name a generation, in one step; the caller holds the space's lock."""
    pointer = generation.parent / "CURRENT"
    temporary = pointer.with_name("CURRENT.tmp")
    with temporary.open("w", encoding="ascii") as stream:
        stream.write(f"{generation.name}\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(pointer)
    _sync_directory(pointer.parent)


def _last_generation(space_directory: Path) -> int:
    """The highest number so far: that of a lost one is not used again, or readers would not see it."""
    named = current(space_directory)
    entries = [*space_directory.glob("gen-*"), *([named] if named else [])]
    found = (re.match(r"gen-(\d+)(?!.*\.tmp)", entry.name) for entry in entries)
    return max((int(match[1]) for match in found if match), default=0)


def _entry(
    previous: Snapshot | None, at: int, row: NewRow | None
) -> tuple[bytes, bytes, bytes, str]:
    """The line, id, key and uri of a row to write."""
    if row is not None:
        chunk = row.chunk
        return chunk_line(chunk), chunk.id.encode(), row.key.encode(), chunk.uri
    if previous is None:
        raise ValueError("a row can only be kept from a previous generation")
    uri = previous.uris[previous.file_of_row[at]]
    return previous.line(at), bytes(previous.ids[at]), bytes(previous.keys[at]), uri


def _places(previous: Snapshot, rows: Sequence[NewRow]) -> Mapping[str, int]:
    """The old row of every new row whose chunk was there before."""
    known = previous.row_of_id
    return {row.chunk.id: known[row.chunk.id] for row in rows if row.chunk.id in known}


def _order(
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    rows: Sequence[NewRow],
    changed: Mapping[str, int],
) -> list[tuple[int, NewRow | None]]:
    """Rows to write: the old row number and, where it differs, what to write instead."""
    replaced = {changed[row.chunk.id]: row for row in rows if row.chunk.id in changed}
    order: list[tuple[int, NewRow | None]] = []
    if previous is not None:
        for at in range(len(previous)):
            if at in replaced:
                order.append((at, replaced[at]))
            elif kept[at]:
                order.append((at, None))
    order.extend((-1, row) for row in rows if row.chunk.id not in changed)
    return order


def _serials(
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    rows: Sequence[NewRow],
    changed: Mapping[str, int],
) -> tuple[list[int], int]:
    """Serial numbers in the order of the rows, and the next one that is free."""
    next_serial = 0 if previous is None else previous.meta.next_serial
    serials: list[int] = []
    if previous is not None:
        stay = kept.copy()
        stay[list(changed.values())] = True
        serials.extend(int(value) for value in previous.serials[stay])
    fresh = sum(row.chunk.id not in changed for row in rows)
    serials.extend(range(next_serial, next_serial + fresh))
    return serials, next_serial + fresh


def _write_vectors(
    path: Path,
    previous: Snapshot | None,
    order: Sequence[tuple[int, NewRow | None]],
    dimension: int,
) -> None:
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(
            stream,
            {"descr": "<f4", "fortran_order": False, "shape": (len(order), dimension)},
        )
        for start in range(0, len(order), _COPY_ROWS):
            part = order[start : start + _COPY_ROWS]
            block = np.empty((len(part), dimension), np.float32)
            old = [at for at, row in part if row is None]
            if old and previous is not None:
                block[[n for n, (_, row) in enumerate(part) if row is None]] = previous.vectors[old]
            for number, (_, row) in enumerate(part):
                if row is not None:
                    block[number] = row.vector
            stream.write(block.tobytes())


def _write_lexical(
    directory: Path,
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    order: Sequence[tuple[int, NewRow | None]],
    serials: Sequence[int],
) -> None:
    def added() -> Iterator[LexicalDocument]:
        for serial, (_, row) in zip(serials, order, strict=True):
            if row is not None:
                chunk = row.chunk
                yield LexicalDocument(serial, chunk.uri, chunk.text, heading_text(chunk))

    update_lexical(
        directory,
        previous=None if previous is None else previous.directory / "lexical",
        removed=[] if previous is None else [int(value) for value in previous.serials[~kept]],
        added=added(),
    )


def heading_text(chunk: Chunk) -> str:
    """The titles that a chunk stands under, and its document's title."""
    title = chunk.metadata.get("title")
    titles = [*chunk.headings, title] if isinstance(title, str) else chunk.headings
    return " ".join(titles)


def _sync_tree(directory: Path) -> None:
    """Have everything below on the disk before the pointer names it."""
    for folder, _, names in os.walk(directory):
        for name in names:
            with Path(folder, name).open("rb") as stream:
                os.fsync(stream.fileno())
        _sync_directory(Path(folder))


def _sync_directory(directory: Path) -> None:
    if os.name == "nt":  # directories cannot be opened there, nor need they be
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_old(space_directory: Path, generation: int) -> None:
    for entry in space_directory.glob("gen-*"):
        number = entry.name.removeprefix("gen-").removesuffix(".tmp")
        if number.isdigit() and int(number) <= generation - _KEPT_GENERATIONS:
            shutil.rmtree(entry, ignore_errors=True)
