"""Writing the next generation and swapping the pointer."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreError
from ragloom.protocols import Embeddings
from ragloom.release import __version__
from ragloom.snapshot.languages import language_of
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.lexical_writer import LexicalDocument, update_lexical
from ragloom.snapshot.manifest import FileEntry, write_files
from ragloom.snapshot.reader import (
    FILE_LEXICAL,
    FORMAT,
    LEXICAL,
    Meta,
    Snapshot,
    checksum,
    chunk_line,
    generations,
    last_number,
)
from ragloom.stores.atomic import create
from ragloom.stores.faults import entries_of, named_faults
from ragloom.types import Chunk

_COPY_ROWS = 4096
_MOST_REMOVED = 0.05  # of the documents of a lexical index, before it is written whole
_SAMPLED_CHUNKS = 8  # of a file, by which its language is told
_WRITTEN_WHOLE = 500  # chunks whose lexical indexes take some tenths of a second
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
    """Write a generation next to the current one, make it the current one, and return its number.

    A row whose chunk id was in ``previous`` takes the place it had there; the others follow at the end.
    Killed at any moment, this leaves the old generation answering.

    Args:
        space_directory: The space's folder; the caller holds its lock.
        previous: The generation to start from.
        kept: ``(n,)``: rows of ``previous`` that stay as they are.
        rows: What is new or changed.
        files: The whole manifest.
        dimension: Numbers in a vector.
        embedder: Its fingerprint.
        store: Its fingerprint.

    Raises:
        StoreError: It cannot be written, such as to a full disk: the old generation answers.
    """
    generation = last_number(space_directory) + 1
    target = space_directory / f"gen-{generation:06d}"
    building = space_directory / f"gen-{generation:06d}.tmp"
    try:
        with named_faults(building):
            with suppress(FileNotFoundError):
                shutil.rmtree(building)  # what a killed run left
            building.mkdir(parents=True)
            order = _order(previous, kept, rows)
            uris = _write_chunks(building, previous, order, list(files))
            _write_vectors(building / "vectors.npy", previous, order, dimension)
            write_files(building / "files.json", files.values())
            _write_lexical(building, previous, kept, order, uris)
            next_serial = 0 if previous is None else previous.meta.next_serial
            meta = Meta(
                format=FORMAT,
                generation=generation,
                rows=len(order),
                dimension=dimension,
                next_serial=max([next_serial, *(item.serial + 1 for item in order[-1:])]),
                embedder=embedder,
                store=store,
                created=time.time(),
                release=__version__,
                checksums=_checksums(building),
            )
            (building / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
            _sync_tree(building)
            building.rename(target)
            point_at(target)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)  # a full disk needs the room
        raise
    with suppress(StoreError):
        _remove_old(space_directory, generation)
    return generation


def _write_chunks(
    building: Path, previous: Snapshot | None, order: Sequence[_Item], files: Sequence[str]
) -> Sequence[str]:
    """Write the chunks and the columns beside them; the uri of each chunk."""
    file_numbers = {uri: number for number, uri in enumerate(files)}
    ids = np.empty(len(order), "S32")
    keys = np.empty(len(order), "S32")
    file_of_row = np.empty(len(order), np.int32)
    offsets = np.zeros(len(order) + 1, np.uint64)
    uris: list[str] = []
    with (building / "chunks.jsonl").open("wb") as lines:
        for number, item in enumerate(order):
            line, ids[number], keys[number], uri = _entry(previous, item)
            file_of_row[number] = file_numbers[uri]
            uris.append(uri)
            offsets[number + 1] = lines.tell() + len(line)
            lines.write(line)
    in_memory = BytesIO()  # numpy writes to a file in C, and a full disk has no number then
    np.save(in_memory, offsets)
    (building / "chunks.npy").write_bytes(in_memory.getbuffer())
    np.savez(
        building / "columns.npz",
        serials=np.asarray([item.serial for item in order], np.uint64),
        ids=ids,
        keys=keys,
        files=file_of_row,
    )
    return uris


def _checksums(building: Path) -> Mapping[str, int]:
    """The CRC-32 of every file but locks, which hold nothing."""
    return {
        path.relative_to(building).as_posix(): checksum(path)
        for path in sorted(building.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def point_at(generation: Path) -> None:
    """Have ``CURRENT`` name a generation, in one step; the caller holds the space's lock."""
    pointer = generation.parent / "CURRENT"
    temporary = pointer.with_name("CURRENT.tmp")
    with named_faults(pointer):
        with create(temporary) as stream:
            stream.write(f"{generation.name}\n".encode("ascii"))
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
    building: Path,
    previous: Snapshot | None,
    kept: npt.NDArray[np.bool_],
    order: Sequence[_Item],
    uris: Sequence[str],
) -> None:
    """Index the chunks that changed, and as one document each file that any of them is of.

    A file is indexed by the lowest serial number of its chunks.

    Args:
        building: The generation's folder.
        previous: The generation before it.
        kept: ``(n,)``: rows of ``previous`` that stay as they are.
        order: The rows to write.
        uris: The file of each.
    """
    touched = {uri for item, uri in zip(order, uris, strict=True) if item.row is not None}
    removed, removed_files = [], []
    if previous is not None:
        removed = previous.serials[~kept].tolist()
        touched |= {previous.uris[number] for number in np.unique(previous.file_of_row[~kept])}
        first = zip(*np.unique(previous.file_of_row, return_index=True), strict=True)
        removed_files = [
            int(previous.serials[row]) for number, row in first if previous.uris[number] in touched
        ]
    rebuilt = previous is None or (
        _worn(previous.lexical, len(removed), small=_WRITTEN_WHOLE)
        or _worn(previous.file_lexical, len(removed_files))
    )
    items: dict[str, list[_Item]] = {}
    for item, uri in zip(order, uris, strict=True):
        if rebuilt or uri in touched:
            items.setdefault(uri, []).append(item)

    def chunks_of(uri: str) -> Sequence[Chunk]:
        return sorted((_chunk(previous, item) for item in items[uri]), key=_ordinal)

    @cache
    def language(uri: str) -> str:
        chunks = chunks_of(uri)
        return language_of([chunk.text for chunk in chunks[:: -(-len(chunks) // _SAMPLED_CHUNKS)]])

    def chunks() -> Iterator[LexicalDocument]:
        for item in order:
            if rebuilt or item.row is not None:
                chunk = _chunk(previous, item)
                heading = heading_text(chunk)
                yield LexicalDocument(
                    item.serial, chunk.uri, chunk.text, heading, language(chunk.uri)
                )

    def files() -> Iterator[LexicalDocument]:
        for uri, of_file in items.items():
            own = chunks_of(uri)
            headings = " ".join(dict.fromkeys(map(heading_text, own)))
            body = "\n".join(chunk.text for chunk in own)
            yield LexicalDocument(of_file[0].serial, uri, body, headings, language(uri))

    old = None if rebuilt or previous is None else previous.directory
    update_lexical(
        building / LEXICAL,
        previous=old and old / LEXICAL,
        removed=removed if old else (),
        added=chunks(),
    )
    update_lexical(
        building / FILE_LEXICAL,
        previous=old and old / FILE_LEXICAL,
        removed=removed_files if old else (),
        added=files(),
        vocabulary=True,
    )


def _worn(index: LexicalIndex, removed: int, *, small: int = 0) -> bool:
    """Whether an index is better written whole than without some of its documents.

    tantivy counts what is removed in how rare a word is and how long a text is, until it is merged away.
    """
    gone = index.removed + removed
    written = len(index) + index.removed
    return gone > 0 and (written <= small or gone > _MOST_REMOVED * written)


def _ordinal(chunk: Chunk) -> int:
    return chunk.ordinal


def _chunk(previous: Snapshot | None, item: _Item) -> Chunk:
    if item.row is not None:
        return item.row.chunk
    if previous is None:
        raise ValueError("a row can only be kept from a previous generation")
    return previous.chunk(item.at)


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
    for entry in entries_of(space_directory):
        number = entry.name.removeprefix("gen-").removesuffix(".tmp")
        if number.isdigit() and int(number) <= generation - _KEPT_GENERATIONS:
            shutil.rmtree(entry, ignore_errors=True)
