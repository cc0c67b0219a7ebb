"""Writing the next generation and swapping the pointer."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

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
    generations,
    last_number,
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


class _Item(NamedTuple):
    """A row to write: a row of the previous generation, or what is written instead of it or as new."""

    serial: int
    at: int
    row: NewRow | None


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
    generation = last_number(space_directory) + 1
    target = space_directory / f"gen-{generation:06d}"
    building = space_directory / f"gen-{generation:06d}.tmp"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)

    order = _order(previous, kept, rows)
    next_serial = 0 if previous is None else previous.meta.next_serial
    file_numbers = {uri: number for number, uri in enumerate(files)}
    ids = np.empty(len(order), "S32")
    keys = np.empty(len(order), "S32")
    file_of_row = np.empty(len(order), np.int32)
    offsets = np.zeros(len(order) + 1, np.uint64)
    with (building / "chunks.jsonl").open("wb") as lines:
        for number, item in enumerate(order):
            line, ids[number], keys[number], uri = _entry(previous, item)
            file_of_row[number] = file_numbers[uri]
            offsets[number + 1] = lines.tell() + len(line)
            lines.write(line)
    np.save(building / "chunks.npy", offsets)
    np.savez(
        building / "columns.npz",
        serials=np.asarray([item.serial for item in order], np.uint64),
        ids=ids,
        keys=keys,
        files=file_of_row,
    )
    _write_vectors(building / "vectors.npy", previous, order, dimension)
    write_files(building / "files.json", files.values())
    _write_lexical(building / "lexical", previous, kept, order)
    meta = Meta(
        format=FORMAT,
        generation=generation,
        rows=len(order),
        dimension=dimension,
        next_serial=max([next_serial, *(item.serial + 1 for item in order[-1:])]),
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


def _order(
    previous: Snapshot | None, kept: npt.NDArray[np.bool_], rows: Sequence[NewRow]
) -> list[_Item]:
    """The rows to write, in the order of their serial numbers."""
    fresh = {row.chunk.id: row for row in rows}
    order: list[_Item] = []
    next_serial = 0
    if previous is not None:
        next_serial = previous.meta.next_serial
        for at, (name, serial) in enumerate(zip(previous.ids, previous.serials, strict=True)):
            row = fresh.pop(name.decode("ascii"), None)
            if row is not None or kept[at]:
                order.append(_Item(int(serial), at, row))
    order.extend(_Item(serial, -1, row) for serial, row in enumerate(fresh.values(), next_serial))
    return order


def _entry(previous: Snapshot | None, item: _Item) -> tuple[bytes, bytes, bytes, str]:
    """The line, id, key and uri of a row to write."""
    if item.row is not None:
        chunk = item.row.chunk
        return chunk_line(chunk), chunk.id.encode(), item.row.key.encode(), chunk.uri
    if previous is None:
        raise ValueError("a row can only be kept from a previous generation")
    uri, at = previous.uris[previous.file_of_row[item.at]], item.at
    return previous.line(at), bytes(previous.ids[at]), bytes(previous.keys[at]), uri


def _write_vectors(
    path: Path, previous: Snapshot | None, order: Sequence[_Item], dimension: int
) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (len(order), dimension)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, len(order), _COPY_ROWS):
            part = order[start : start + _COPY_ROWS]
            block = np.empty((len(part), dimension), np.float32)
            old = [number for number, item in enumerate(part) if item.row is None]
            if old and previous is not None:
                block[old] = previous.vectors[[part[number].at for number in old]]
            for number, item in enumerate(part):
                if item.row is not None:
                    block[number] = item.row.vector
            stream.write(block.tobytes())


def _write_lexical(
    directory: Path,
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    order: Sequence[_Item],
) -> None:
    def added() -> Iterator[LexicalDocument]:
        for item in order:
            if item.row is not None:
                chunk = item.row.chunk
                yield LexicalDocument(item.serial, chunk.uri, chunk.text, heading_text(chunk))

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
