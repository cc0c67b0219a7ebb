"""Index runs in shards: each makes the Parts of its own files, and one run commits them all.

For schedulers that start the same command many times, such as Slurm, Kubernetes jobs and CI matrices. The
folder ``shards`` of a space holds a folder for each shard, which can be made on another machine and copied
here: Parts are matched with files by their content.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ragloom.errors import ConfigError, NotIndexedError, SourceError
from ragloom.indexing.plan import PlannedFile
from ragloom.indexing.process import Part, content_of, kept
from ragloom.snapshot.lexical_writer import link_or_copy
from ragloom.snapshot.manifest import FileEntry
from ragloom.snapshot.segment import Segment, files_of, write_removed
from ragloom.sources.loading import content_hash
from ragloom.stores.atomic import replace_file
from ragloom.stores.faults import entries_of, named_faults
from ragloom.stores.formats import check_format, format_stamp
from ragloom.text.parsing import parse_json

SHARDS = "shards"
_DONE = "done.json"
_FORMAT = 1
_FOLDER = re.compile(r"([0-9]{1,6})-of-([0-9]{1,6})")
_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of several shares of the files.

    Attributes:
        number: From 1.
        count: How many there are.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``2/4`` is the second of four; raises ConfigError for what is none."""
        match = _TEXT.fullmatch(text.strip())
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ConfigError(
                f"{text!r} is no shard: write I/N, such as 2/4 for the second of four (I from 1 to N)"
            )
        return cls(number=int(match[1]), count=int(match[2]))

    def __str__(self) -> str:
        """``2/4``."""
        return f"{self.number}/{self.count}"

    def holds(self, uri: str) -> bool:
        """Whether a file is of this shard; the same on every machine."""
        digest = blake2b(uri.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1

    def folder(self, directory: Path) -> Path:
        """Where its Parts are, below the folder of a space."""
        return directory / SHARDS / f"{self.number}-of-{self.count}"


def begin(folder: Path) -> None:
    """Note that the Parts in a shard's folder are not all of it.

    Raises:
        StoreError: It cannot be written.
    """
    with named_faults(folder):
        (folder / _DONE).unlink(missing_ok=True)


def finish(folder: Path, parts: Sequence[Part]) -> None:
    """Note which Parts a shard has, and remove what an earlier run left; raises as :func:`begin`."""
    names = sorted(part.stem.parent.name for part in parts)
    with named_faults(folder):
        for entry in entries_of(folder):
            if entry.is_dir() and entry.name not in names:
                shutil.rmtree(entry)
        replace_file(folder / _DONE, json.dumps(format_stamp(_FORMAT) | {"parts": names}))


def finished(directory: Path, name: str) -> list[Part]:
    """The Parts of all shards of a space, in the order of shards and names.

    Raises:
        NotIndexedError: There is no shard.
        ConfigError: One is missing or was not finished, or they are shares of different counts.
        StoreError: They cannot be read, or a newer ragloom made them.
    """
    found: dict[Shard, Path] = {}
    for entry in entries_of(directory / SHARDS):
        if match := _FOLDER.fullmatch(entry.name):
            found[Shard(number=int(match[1]), count=int(match[2]))] = entry
    if not found:
        raise NotIndexedError(
            f"no shard of {name!r} is there: run 'ragloom index --shard 1/N' to N/N first"
        )
    counts = sorted({shard.count for shard in found})
    if len(counts) > 1:
        raise ConfigError(
            f"{directory / SHARDS}: there are shards of {' and of '.join(map(str, counts))}: delete "
            "the folders of one kind"
        )
    parts: list[Part] = []
    for number in range(1, counts[0] + 1):
        shard = Shard(number=number, count=counts[0])
        folder = shard.folder(directory)
        names = _names(folder)
        made = [kept(folder / one) for one in names or ()]
        if names is None or None in made:
            raise ConfigError(f"shard {shard} is not done: run 'ragloom index --shard {shard}'")
        parts += [part for part in made if part is not None]
    return parts


def _names(folder: Path) -> Sequence[str] | None:
    """The Parts that a finished shard has; None where it is not finished."""
    path = folder / _DONE
    try:
        written = parse_json(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(written, Mapping):
        return None
    check_format(written.get("format", 1), _FORMAT, place=path, release=written.get("release"))
    names = written.get("parts")
    # A folder may have been brought by others: a name leads nowhere else.
    safe = isinstance(names, list) and all(
        isinstance(one, str) and re.fullmatch("[0-9a-f]+", one) for one in names
    )
    return [str(one) for one in names] if isinstance(names, list) and safe else None


def matching(
    parts: Sequence[Part], planned: Sequence[PlannedFile], folder: Path
) -> Iterator[tuple[Part, Sequence[PlannedFile]]]:
    """Those Parts that hold files of a plan as they are now, and these files; each file once.

    Args:
        parts: Of all shards.
        planned: The files to be read.
        folder: Where what is left of a Part is put, some of whose files have changed since.
    """
    wanted = {file.uri: file for file in planned}
    for part in parts:
        files: list[PlannedFile] = []
        entries: list[FileEntry] = []
        for entry in part.files:
            file = wanted.get(entry.uri)
            if file is not None and _is_of(entry, file):
                files.append(wanted.pop(entry.uri))
                entries.append(replace(entry, fingerprint=file.fingerprint))
        if not files:
            continue
        if len(files) < len(part.files):
            part = replace(part, stem=_left(part, {file.uri for file in files}, folder))  # noqa: PLW2901
        chunks = sum(entry.chunks for entry in entries)
        yield replace(part, files=entries, chunks=chunks), files


def _is_of(entry: FileEntry, file: PlannedFile) -> bool:
    """Whether a Part holds what a file is now."""
    if entry.parts != file.parts:
        return False
    if entry.fingerprint.changed_ns and entry.fingerprint == file.fingerprint:
        return True
    try:
        return entry.content_hash == content_hash(content_of(file))
    except SourceError:
        return False


def _left(part: Part, uris: set[str], folder: Path) -> Path:
    """The segment of a Part without the chunks of other files than some."""
    if not part.chunks:
        return part.stem
    stem = folder / part.stem.name
    with named_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path in files_of(part.stem):
            target = stem.with_suffix(path.suffix)
            target.unlink(missing_ok=True)
            link_or_copy(path, target)
        segment = Segment(part.stem)
        gone = [number for number, uri in enumerate(segment.uris) if uri not in uris]
        write_removed(stem, np.flatnonzero(np.isin(segment.files, gone)))
    return stem
