"""The read side: an immutable generation that any number of processes read without a lock.

A space's folder holds::

    CURRENT            the name of the generation that answers, replaced in one step; where it is
                       lost or names none, the newest generation that is whole answers
    gen-000007/
        meta.json      format, counts, the fingerprints of its components, checksums
        files.json     the manifest: every file, its fingerprint, hash and metadata
        vectors.npy    (n, d) float32, memory-mapped
        chunks.jsonl   a chunk a line; chunks.npy holds the n + 1 offsets of the lines
        columns.npz    per row: serial number, chunk id, embedding key, file
        lexical/       a tantivy index
        seen.json      once a run found files that were what they are: their times since; no part of
                       the generation, and rebuilt where it is lost

Rows are in the order of their serial numbers, which a chunk keeps from one generation to the next, so
the lexical index names rows that need not be renumbered.
"""

from ragloom.snapshot.reader import (
    Snapshot,
    all_generations,
    contents,
    current,
    generations,
    last_meta,
)
from ragloom.snapshot.writer import NewRow, current_generation, point_at, publish

__all__ = [
    "NewRow",
    "Snapshot",
    "all_generations",
    "contents",
    "current",
    "current_generation",
    "generations",
    "last_meta",
    "point_at",
    "publish",
]
