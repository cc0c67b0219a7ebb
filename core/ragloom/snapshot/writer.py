"""Writing the next generation and swapping the pointer."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from errno import ENOENT, ENOTEMPTY
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreError
from ragloom.release import __version__
from ragloom.snapshot.languages import language_of
from ragloom.snapshot.lexical import LexicalIndex, stemmed
from ragloom.snapshot.lexical_writer import LexicalDocument, LexicalWriter, link_or_copy
from ragloom.snapshot.manifest import FileEntry, write_files
from ragloom.snapshot.merging import Size, merged, merges
from ragloom.snapshot.meta import (
    FORMAT,
    Meta,
    SegmentEntry,
    checksum,
    contents,
    last_number,
    point_at,
    sync_directory,
)
from ragloom.snapshot.reader import FILE_LEXICAL, LEXICAL, Snapshot
from ragloom.snapshot.segment import (
    REMOVED,
    VECTORS,
    Segment,
    VectorWriter,
    files_of,
    write_removed,
)
from ragloom.stores.faults import entries_of, named_faults
from ragloom.types import Metadata

_MOST_REMOVED = 0.05  # of the documents of a lexical index, before it is written whole
_SAMPLED_CHUNKS = 8  # of a file, by which its language is told
_WRITES_LAST = 5.0  # seconds, at most, that tantivy still writes when its writer is gone
_WRITTEN_WHOLE = 500  # chunks whose lexical indexes take some tenths of a second
_KEPT_GENERATIONS = 2  # the one that answers and the one before it, which readers may still open


class GenerationWriter:
    """Writes a generation next to the one that answers.

    It takes over the segments of the generation before; rows are removed from them, and segments are
    added. Killed at any moment before :meth:`publish` is done, it leaves the old generation answering. A
    context manager that removes what was not published. Every method raises StoreError where it cannot be
    written, such as to a full disk.

    Args:
        space_directory: The space's folder; the caller holds its lock.
        previous: The generation to start from.
        files: The manifest: of those files whose segments are added, and in the end the whole.
        dimension: Numbers in a vector; where it is not that of ``previous``, no row stays.
        dropped: ``(r,)``: rows of ``previous`` that are removed, ascending: of a file all or none.
    """

    def __init__(
        self,
        space_directory: Path,
        *,
        previous: Snapshot | None,
        files: Mapping[str, FileEntry],
        dimension: int,
        dropped: npt.NDArray[np.intp],
    ) -> None:
        self.generation: int = last_number(space_directory) + 1
        self.directory: Path = space_directory / f"gen-{self.generation:06d}.tmp"
        self._previous = previous
        self._files = files
        self._dimension = dimension
        self._dropped = dropped
        self._next_serial = 0 if previous is None else previous.meta.next_serial
        self._segments: list[Segment] = []
        self._taken: set[str] = set()  # files of the generation before, whose checksums are known
        self._lexical: tuple[LexicalWriter, LexicalWriter] | None = None

    def __enter__(self) -> Self:
        """Take over the segments of the generation before."""
        try:
            with named_faults(self.directory):
                _remove_left(self.directory)
                self.directory.mkdir(parents=True)
                if self._previous is not None:
                    self._take_over(self._previous)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what was not published: a full disk needs the room."""
        self._lexical = None  # ends tantivy's threads, which may be writing
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def segments(self) -> Sequence[Segment]:
        """Those that it has so far."""
        return tuple(self._segments)

    def adopt(self, stem: Path) -> Segment:
        """Add the chunks of a segment, whose files are linked, and index their words.

        The chunks of a file stand together, in their order, and in one segment.
        """
        with named_faults(self.directory):
            name = stem.name
            while (self.directory / name).with_suffix(".columns").exists():  # of the same chunks
                name += "x"
            for path in files_of(stem):
                link_or_copy(path, self.directory / f"{name}{path.suffix}")
            segment = Segment(self.directory / name, self._next_serial)
            rows = np.delete(np.arange(len(segment)), segment.removed)
            self._index_words(segment, rows.tolist())
            segment.release()
            self._segments.append(segment)
            self._next_serial += len(segment)
            return segment

    def put_vectors(self, segment: Segment, vectors: VectorWriter) -> None:
        """Write the vectors of a segment, instead of those that it has."""
        with named_faults(self.directory):
            self._replace(segment.name + VECTORS)
            vectors.write(self.directory / segment.name)
            self._segments = [
                Segment(self.directory / one.name, one.first) if one.name == segment.name else one
                for one in self._segments
            ]

    def build(self, *, embedder: str, store: str, searchable: bool) -> Snapshot:
        """Write what is left, and open the generation, which does not answer yet.

        What it says of the store is for once that holds its chunks, as it should where all have vectors.

        Args:
            embedder: Its fingerprint.
            store: Its fingerprint.
            searchable: Whether the store answers searches, and so says what it holds.
        """
        with named_faults(self.directory):
            self._merge()
            self._finish_words()
            files = write_files(self.directory / "files.json", self._files)
            sizes, checksums = self._compared()
            live = [np.delete(np.arange(len(one)), one.removed) for one in self._segments]
            pairs = list(zip(self._segments, live, strict=True))
            pending = sum(int(one.missing[rows].sum()) for one, rows in pairs)
            stored = str(sum(map(len, live)))
            if pending:
                last = self._previous and self._previous.meta
                store, stored = (last.store, last.stored) if last else ("", "")
            elif searchable:
                ids = np.concatenate([np.empty(0, "S32"), *(one.ids[rows] for one, rows in pairs)])
                keys = np.concatenate(
                    [np.empty(0, "S32"), *(one.keys[rows] for one, rows in pairs)]
                )
                stored = contents(ids, keys)
            meta = Meta(
                format=FORMAT,
                generation=self.generation,
                rows=sum(map(len, live)),
                pending=pending,
                dimension=self._dimension,
                next_serial=self._next_serial,
                embedder=embedder,
                store=store,
                stored=stored,
                created=time.time(),
                release=__version__,
                segments=[SegmentEntry(one.name, one.first) for one in self._segments],
                sizes=sizes,
                checksums=checksums,
            )
            (self.directory / "meta.json").write_text(json.dumps(asdict(meta)), encoding="utf-8")
            self._sync()
            return Snapshot(self.directory, files)

    def publish(self) -> Path:
        """Have the generation that was built answer; its folder."""
        target = self.directory.with_suffix("")
        with named_faults(self.directory):
            self.directory.rename(target)
        point_at(target)
        with suppress(StoreError):
            _remove_old(target.parent, self.generation)
        return target

    def _take_over(self, previous: Snapshot) -> None:
        if previous.meta.dimension != self._dimension:
            self._dropped = np.arange(len(previous))
        dropped = dict(previous.by_segment(self._dropped))
        for segment in previous.segments:
            removed = np.union1d(segment.removed, dropped.get(segment.name, ())).astype(np.intp)
            if len(removed) == len(segment):
                continue
            for path in files_of(previous.directory / segment.name):
                link_or_copy(path, self.directory / path.name)
                self._taken.add(path.name)
            if len(removed) > len(segment.removed):
                self._replace(segment.name + REMOVED)
                write_removed(self.directory / segment.name, removed)
            self._segments.append(Segment(self.directory / segment.name, segment.first))

    def _replace(self, name: str) -> None:
        """Make room for a file, if there is one."""
        (self.directory / name).unlink(missing_ok=True)
        self._taken.discard(name)

    def _merge(self) -> None:
        """Write small segments as one; see :mod:`ragloom.snapshot.merging`."""
        sizes = []
        for one in self._segments:
            missing = np.delete(one.missing, one.removed)
            sizes.append(Size(len(one), len(missing), not missing.any()))
        for number, (start, end) in enumerate(reversed(merges(sizes))):
            stem = self.directory / f"merged-{self.generation:06d}-{number}"
            new = merged(stem, self._segments[start:end], self._dimension)
            for segment in self._segments[start:end]:
                for path in files_of(self.directory / segment.name):
                    self._replace(path.name)
            self._segments[start:end] = [new]

    def _writers(self) -> tuple[LexicalWriter, LexicalWriter]:
        """Of the chunks and of the files; what is dropped is removed from them.

        tantivy counts what is removed in how rare a word is and how long a text is, until it is merged
        away: from some share on, an index is better written whole.
        """
        if self._lexical is None:
            previous = self._previous
            removed = removed_files = np.empty(0, np.uint64)
            whole = previous is None
            if previous is not None:
                removed = previous.serials[self._dropped]
                _, first = np.unique(previous.file_of_row[self._dropped], return_index=True)
                removed_files = removed[first]
                whole = _worn(previous.lexical, len(removed), small=_WRITTEN_WHOLE) or _worn(
                    previous.file_lexical, len(removed_files)
                )
            old = None if whole or previous is None else previous.directory
            self._lexical = (
                LexicalWriter(self.directory / LEXICAL, previous=old and old / LEXICAL),
                LexicalWriter(
                    self.directory / FILE_LEXICAL,
                    previous=old and old / FILE_LEXICAL,
                    vocabulary=True,
                ),
            )
            if old is None:
                for segment in self._segments:
                    rows = np.delete(np.arange(len(segment)), segment.removed)
                    self._index_words(segment, rows.tolist())
            else:
                self._lexical[0].remove(removed.tolist())
                self._lexical[1].remove(removed_files.tolist())
        return self._lexical

    def _index_words(self, segment: Segment, rows: Iterable[int]) -> None:
        """Index the chunks in some rows of a segment, and as one document each of their files."""
        chunks, files = self._writers()
        serials = segment.serials
        for number, of_file in groupby(rows, key=lambda row: int(segment.files[row])):
            uri = segment.uris[number]
            titles = names_of(self._files[uri].metadata)
            own = [(int(serials[row]), *segment.text(row)) for row in of_file]
            texts = [text for _, text, _ in own]
            language = language_of(texts[:: -(-len(texts) // _SAMPLED_CHUNKS)])
            headings = [" ".join([*above, *titles]) for _, _, above in own]
            stems = [stemmed(text, language) for text in texts]
            for (serial, text, _), heading, terms in zip(own, headings, stems, strict=True):
                chunks.add(LexicalDocument(serial, uri, text, heading, language, terms))
            whole = "\n".join(texts), " ".join(dict.fromkeys(headings)), language
            every = tuple([one for of_chunk in stems for one in of_chunk[at]] for at in (0, 1))
            files.add(LexicalDocument(own[0][0], uri, *whole, (every[0], every[1])))

    def _finish_words(self) -> None:
        """Close the lexical indexes, or take them over where no word has changed."""
        if self._lexical is None and self._previous is not None and not len(self._dropped):
            for name in (LEXICAL, FILE_LEXICAL):
                (self.directory / name).mkdir()
                for path in sorted((self._previous.directory / name).iterdir()):
                    link_or_copy(path, self.directory / name / path.name)
                    self._taken.add(f"{name}/{path.name}")
            return
        for writer in self._writers():
            writer.close()

    def _compared(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The size and the CRC-32 of every file but locks, which hold nothing."""
        known = {} if self._previous is None else self._previous.meta.checksums
        sizes, checksums = {}, {}
        for path in sorted(self.directory.rglob("*")):
            if path.is_file() and path.suffix != ".lock":
                name = path.relative_to(self.directory).as_posix()
                sizes[name] = path.stat().st_size
                checksums[name] = known[name] if name in self._taken else checksum(path)
        return sizes, checksums

    def _sync(self) -> None:
        """Have everything on the disk that was not there before, before the pointer names it."""
        for folder, _, names in os.walk(self.directory):
            for path in map(Path(folder).joinpath, names):
                if path.relative_to(self.directory).as_posix() not in self._taken:
                    with path.open("rb") as stream:
                        os.fsync(stream.fileno())
            sync_directory(Path(folder))


def _worn(index: LexicalIndex, removed: int, *, small: int = 0) -> bool:
    """Whether an index is better written whole than without some of its documents."""
    gone = index.removed + removed
    written = len(index) + index.removed
    return gone > 0 and (written <= small or gone > _MOST_REMOVED * written)


def _remove_left(folder: Path) -> None:
    """Remove what a run left that was killed, or that ended while tantivy's threads still wrote."""
    until = time.monotonic() + _WRITES_LAST
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in (ENOENT, ENOTEMPTY) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _remove_old(space_directory: Path, generation: int) -> None:
    for entry in entries_of(space_directory):
        number = entry.name.removeprefix("gen-").removesuffix(".tmp")
        if number.isdigit() and int(number) <= generation - _KEPT_GENERATIONS:
            shutil.rmtree(entry, ignore_errors=True)


def names_of(metadata: Metadata) -> list[str]:
    """The title and the other names that a file gives itself, which are searched as headings are."""
    given = [metadata.get(key) for key in ("title", "aliases", "alias")]
    flat = [one for value in given for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, str)]
