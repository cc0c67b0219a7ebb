"""The second step of an index run: files to Parts.

A Part is what a batch of files becomes: a segment of their chunks, and what is known of each file. It
is named by what goes into it and never changes: the next run uses what an interrupted one left.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.components import Components
from ragloom.errors import SourceError
from ragloom.indexing.embedding import embed_in_steps, embedding_key
from ragloom.indexing.plan import PlannedFile
from ragloom.protocols import Embedder
from ragloom.reports import FailedFile
from ragloom.snapshot.manifest import FileEntry, Manifest
from ragloom.snapshot.segment import Segment, SegmentWriter, VectorWriter, files_of, pack
from ragloom.sources.loading import (
    SecretFileError,
    chunker_for,
    content_hash,
    load_document,
    loader_for,
    split_document,
)
from ragloom.stores.faults import named_faults
from ragloom.text.decoding import read_regular
from ragloom.types import Chunk, Document

ENTRIES = "files.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a batch of files became.

    Attributes:
        stem: The path of the segment's files without their endings.
        chunks: How many are in it.
        files: What is known of each file that was read.
        failed: Those that could not be, and why.
        embedded: How many texts have been embedded for it now.
        truncated: Of how many of them the model read only the beginning.
    """

    stem: Path
    chunks: int
    files: Sequence[FileEntry]
    failed: Sequence[FailedFile] = ()
    embedded: int = 0
    truncated: int = 0


def process(
    files: Sequence[PlannedFile],
    components: Components,
    folder: Path,
    progress: Callable[[PlannedFile], None] = lambda _file: None,
    *,
    read: Callable[[PlannedFile], bytes] | None = None,
    known: npt.NDArray[np.bytes_] | None = None,
    always: bool = False,
) -> Part:
    """Load and split files, one after the other; or find the Part that they became before.

    Args:
        files: A batch of a plan.
        components: What the index is made with.
        folder: Where Parts are kept.
        progress: Called with every file that is done.
        read: Gives the content of a file, or raises a SourceError; read from the disk by default.
        known: Embed the chunks, too, but for those with these keys; None to embed none.
        always: Keep the Part for another run though a file fails, or may have changed while it was read.

    Raises:
        StoreError: The Part cannot be written.
        ModelError: The model does not answer.
    """
    folder = folder / name_of(files)
    if (part := kept(folder)) is not None:
        for file in files:
            progress(file)
        return part
    with named_faults(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        writer = SegmentWriter(folder / "new")
        entries: list[FileEntry] = []
        failed: list[FailedFile] = []
        try:
            for file in files:
                try:
                    document, digest, chunks = _read(file, components, read or content_of)
                except SourceError as error:
                    failed.append(FailedFile(path=file.uri, error=str(error)))
                    continue
                finally:
                    progress(file)
                for chunk in chunks:
                    key = embedding_key(chunk, components.embedder.fingerprint)
                    writer.add(file.uri, pack(chunk), chunk.id.encode(), key.encode())
                entries.append(
                    FileEntry(
                        uri=file.uri,
                        fingerprint=file.fingerprint,
                        content_hash=digest,
                        parts=file.parts,
                        chunks=len(chunks),
                        metadata=document.metadata,
                        warnings=document.warnings,
                    )
                )
        finally:
            stem = folder / writer.close()
        for path in files_of(folder / "new"):
            path.rename(stem.with_suffix(path.suffix))
        truncated = components.embedder.truncated
        embedded = 0
        if known is not None and len(writer):
            embedded = _embed(stem, components.embedder, known)
        if always or not (failed or any(not file.fingerprint.changed_ns for file in files)):
            written = json.dumps([asdict(entry) for entry in entries], ensure_ascii=False)
            (folder / ENTRIES).write_text(written, encoding="utf-8")
    return Part(
        stem=stem,
        chunks=len(writer),
        files=entries,
        failed=failed,
        embedded=embedded,
        truncated=components.embedder.truncated - truncated,
    )


def _embed(stem: Path, embedder: Embedder, known: npt.NDArray[np.bytes_]) -> int:
    """Write the vectors of a segment, but for those whose keys are known; how many are new."""
    segment = Segment(stem)
    keys, first, place = np.unique(segment.keys, return_index=True, return_inverse=True)
    new = np.flatnonzero(~np.isin(keys, known))
    if not len(new):
        return 0
    vectors = VectorWriter(len(segment), embedder.dimension)
    texts = [segment.embedded_text(int(row)) for row in first[new]]
    for step, made in embed_in_steps(embedder, texts):
        for at, vector in zip(step, made, strict=True):
            rows = np.flatnonzero(place == new[at])
            vectors.put(rows, np.repeat(vector[None], len(rows), axis=0))
    vectors.write(stem)
    return len(new)


def name_of(files: Sequence[PlannedFile]) -> str:
    """Names a batch by what goes into its Part."""
    named = [(file.uri, *asdict(file.fingerprint).values(), file.parts) for file in files]
    content = json.dumps(named).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=10).hexdigest()


def kept(folder: Path) -> Part | None:
    """A Part that is there and whole."""
    with suppress(OSError, ValueError, TypeError, LookupError):
        entries = Manifest((folder / ENTRIES).read_bytes(), place=folder)
        files = [entries[uri] for uri in entries]
        (columns,) = folder.glob("*.columns")
        stem = columns.with_suffix("")
        Segment(stem)
        return Part(stem=stem, chunks=sum(entry.chunks for entry in files), files=files)
    return None


def content_of(file: PlannedFile) -> bytes:
    """The bytes of a file; raises SourceError where it cannot be read."""
    try:
        return read_regular(file.source.path)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error


def _read(
    file: PlannedFile, components: Components, read: Callable[[PlannedFile], bytes]
) -> tuple[Document, str, Sequence[Chunk]]:
    """A file's document, its hash and its chunks.

    Raises:
        SourceError: It cannot be read or understood.
    """
    content = read(file)
    digest = content_hash(content)
    try:
        document = load_document(file.source, content, loader_for(file.uri, components.loaders))
        chunker = chunker_for(file.uri, components.chunkers)
        return document, digest, split_document(document, chunker, components.embedder)
    except SecretFileError as error:  # known from now on, without text
        return Document(uri=file.uri, text="", warnings=(f"skipped, it {error}",)), digest, ()
