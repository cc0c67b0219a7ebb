"""The read side: an immutable generation that any number of processes read without a lock.

A space's folder holds::

    CURRENT            the name of the generation that answers, replaced in one step; where it is
                       lost or names none, the newest generation that is whole answers
    gen-000007/
        meta.json      format, counts, the fingerprints of its components, its segments, the size and
                       the CRC-32 of every other file
        files.json     the manifest: every file, its fingerprint, hash and metadata
        NAME.*         a segment; see ragloom.snapshot.segment
        lexical/       a tantivy index of the chunks
        lexical-files/ a tantivy index of the files
        seen.json      once a run found files that were what they are: their times since; no part of
                       the generation, and rebuilt where it is lost

Segments and the files of tantivy never change, and are linked from one generation to the next. Rows are in
the order of their serial numbers, which a chunk keeps from one generation to the next, so the lexical index
names rows that need not be renumbered. Rows may have no vector yet.
"""

from ragloom.snapshot.meta import (
    all_generations,
    contents,
    current,
    current_generation,
    generations,
    last_meta,
    point_at,
)
from ragloom.snapshot.reader import Snapshot
from ragloom.snapshot.writer import GenerationWriter

__all__ = [
    "GenerationWriter",
    "Snapshot",
    "all_generations",
    "contents",
    "current",
    "current_generation",
    "generations",
    "last_meta",
    "point_at",
]
