"""Which generations a space has, and what each says of itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, cast
from zipfile import BadZipFile
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreDamagedError, StoreError, StoreOutdatedError
from ragloom.stores.atomic import create
from ragloom.stores.faults import entries_of, fault_error, fault_of, is_folder, named_faults
from ragloom.stores.formats import check_format
from ragloom.text.parsing import parse_json

FORMAT = 7  # 6: versions and flags as they are spelt; 7: numbers in groups joined, words with marks
_GENERATION = re.compile(r"gen-([0-9]+)")
_READ_AT_ONCE = 1 << 20  # bytes
_HEADER = (SyntaxError, TokenError)  # of numpy's, which are read as Python
_REBUILD = (
    ": index again with 'ragloom index', or the command of the plugin whose space it is, "
    "to rebuild it"
)
UNREADABLE = (
    *(OSError, MemoryError),  # a missing file, or a fault of the machine
    *(EOFError, BadZipFile, ValueError, TypeError, LookupError, *_HEADER),
)
"""What reading something damaged raises."""


class SegmentEntry(NamedTuple):
    """What a generation says of one of its segments: its name, and the serial number of its first chunk."""

    name: str
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What a generation says of itself.

    Attributes:
        format: Of the files.
        generation: Its number.
        rows: Chunks.
        pending: Those of them that have no vector yet.
        dimension: Numbers in a vector.
        next_serial: The first serial number that no chunk has had.
        embedder: The model's fingerprint.
        store: The store's, as of the last run that wrote to it.
        stored: What the store held then: how many chunks, or where it answers searches the name of the set
            of them; see :func:`ragloom.snapshot.contents`.
        created: When it was written, in seconds since 1970.
        release: Of the ragloom that wrote it.
        segments: In the order of their serial numbers.
        sizes: The bytes of every other file.
        checksums: Their CRC-32.
    """

    format: int
    generation: int
    rows: int
    pending: int
    dimension: int
    next_serial: int
    embedder: str
    store: str
    stored: str
    created: float
    release: str
    segments: Sequence[SegmentEntry]
    sizes: Mapping[str, int] = field(default_factory=dict)
    checksums: Mapping[str, int] = field(default_factory=dict)


def current_generation(space_directory: Path) -> int:
    """The number of the generation that answers; 0 when there is none."""
    found = generations(space_directory)
    return int(found[0].name.removeprefix("gen-")) if found else 0


def current(space_directory: Path) -> Path | None:
    """The generation that ``CURRENT`` names, there or not; None where it is lost or names none.

    Raises:
        StoreError: The machine keeps it from being read.
    """
    pointer = space_directory / "CURRENT"
    try:
        name = pointer.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        if fault := fault_of(error):
            raise fault_error(pointer, fault) from error
        return None
    return space_directory / name if _GENERATION.fullmatch(name) else None


def generations(space_directory: Path) -> Sequence[Path]:
    """The generations to be opened, best first: the one that ``CURRENT`` names, and that alone.

    Where it names none that is there, these are all of them: a pointer alone hides nothing.
    """
    named = current(space_directory)
    return [named] if named and is_folder(named) else all_generations(space_directory)


def all_generations(space_directory: Path) -> Sequence[Path]:
    """All that are there, the newest first, whichever ``CURRENT`` names."""
    named = _numbered(space_directory)
    return [one for one in named if _GENERATION.fullmatch(one.name) and is_folder(one)]


def last_meta(space_directory: Path) -> Meta | None:
    """What the newest generation says of itself, damaged or not; None where that cannot be read."""
    found = _numbered(space_directory)
    try:
        return read_meta(found[0]) if found else None
    except StoreOutdatedError:
        return None
    except UNREADABLE as error:
        if fault := fault_of(error):
            raise fault_error(found[0], fault) from error
        return None


def last_number(space_directory: Path) -> int:
    """The highest number so far: that of a lost one is not used again, or readers would not see it."""
    named = current(space_directory)
    found = [*_numbered(space_directory)[:1], *([named] if named else [])]
    return max((_number(entry) for entry in found), default=0)


def read_meta(directory: Path) -> Meta:
    """What a generation says of itself.

    Raises:
        StoreOutdatedError: An older ragloom wrote it.
        StoreError: A newer ragloom wrote it.
        OSError, ValueError, TypeError, LookupError: It cannot be read, or is damaged.
    """
    read = cast("dict[str, Any]", parse_json((directory / "meta.json").read_bytes()))
    found = read["format"]
    check_format(found, FORMAT, place=directory, release=read.get("release"))
    if found < FORMAT:
        message = (
            f"{directory}: an older ragloom wrote it (format {found}, this one reads {FORMAT})"
        )
        raise StoreOutdatedError(message + _REBUILD)
    segments = [SegmentEntry(str(name), int(first)) for name, first in read["segments"]]
    return Meta(**read | {"segments": segments})


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
        sync_directory(pointer.parent)


def sync_directory(directory: Path) -> None:
    """Have the names in a directory on the disk."""
    if os.name == "nt":  # directories cannot be opened there, nor need they be
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checksum(path: Path) -> int:
    """The CRC-32 of a file."""
    value = 0
    with path.open("rb") as stream:
        while block := stream.read(_READ_AT_ONCE):
            value = crc32(block, value)
    return value


def unreadable(path: Path, error: Exception) -> StoreError:
    """What keeps a generation from being read: a fault of the machine, or else damage."""
    fault = fault_of(error)
    return fault_error(path, fault) if fault else damaged(path, error)


def damaged(path: Path, why: object) -> StoreDamagedError:
    """That a file or a generation is damaged, and what to do."""
    return StoreDamagedError(f"{path} is damaged ({' '.join(str(why).split())}){_REBUILD}")


def _numbered(space_directory: Path) -> Sequence[Path]:
    """What is or was a generation, the newest first."""
    entries = entries_of(space_directory)
    written = [one for one in entries if _GENERATION.match(one.name) and one.suffix != ".tmp"]
    return sorted(written, key=lambda entry: (_number(entry), entry), reverse=True)


def _number(entry: Path) -> int:
    match = _GENERATION.match(entry.name)
    return int(match[1]) if match else 0


def contents(ids: npt.NDArray[np.bytes_], keys: npt.NDArray[np.bytes_]) -> str:
    """32 hex digits naming a set of chunks and their embeddings, in whatever order."""
    order = np.argsort(ids)
    return blake2b(ids[order].tobytes() + keys[order].tobytes(), digest_size=16).hexdigest()
