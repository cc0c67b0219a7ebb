"""What a search needs to know of an index as a whole, as records of a store that answers without one.

A shard's ``statistics`` say how many chunks and files it has, in which languages, how long they are, and
with which model they were embedded. Its words are in pages, ``words.COUNT.PAGE``, by their hash: of each
term how many chunks and how many files hold it in each field, so that BM25 and the gate weigh it as a
snapshot does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby

import numpy as np
import numpy.typing as npt

from ragloom.snapshot.languages import language_of
from ragloom.snapshot.lexical import FIELD_WEIGHTS, VOCABULARY, stemmed
from ragloom.snapshot.reader import Snapshot
from ragloom.snapshot.spellings import punctuated_terms, spellings
from ragloom.snapshot.writer import names_of
from ragloom.stores.formats import format_stamp
from ragloom.types import Chunk, StoredChunk

STATISTICS = "statistics"
FORMAT = 1
FIELDS = (*FIELD_WEIGHTS, VOCABULARY)
LEVELS = ("chunk", "file")
_PAGE_BYTES = 50_000
_A_PAGE = 500  # terms, about
_SAMPLE = 2000  # chunks by whose lengths the average is told
_LONGEST = 48  # characters of a term that is stored as it is
_SAMPLED_CHUNKS = 8  # of a file, by which its language is told


def encoded(term: str) -> str:
    """A term as a word of ASCII letters and digits, which every tokenizer of a server takes as one."""
    if term.isascii() and term.isalnum() and term == term.lower() and len(term) <= _LONGEST:
        return term
    return "q" + blake2b(term.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def page_name(term: str, count: int) -> str:
    """The record of a shard with ``count`` pages that holds a term."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"words.{count}.{int.from_bytes(digest, 'big') % count}"


def stored_chunks(snapshot: Snapshot, rows: npt.NDArray[np.intp]) -> Iterator[StoredChunk]:
    """The chunks in some rows, with their words and the hash of their file."""
    files = snapshot.file_of_row
    for number, of_file in groupby(rows.tolist(), key=lambda row: int(files[row])):
        entry = snapshot.files[snapshot.uris[number]]
        chunks = [snapshot.chunk(row) for row in of_file]
        language = _language(chunks)
        for chunk in chunks:
            terms = [term for field in texts_of(chunk) for term in _all(field, language)]
            terms += sorted(spelt([chunk], 0))
            yield StoredChunk(
                chunk=chunk,
                words=" ".join(map(encoded, terms)),
                content_hash=entry.content_hash,
            )


def texts_of(chunk: Chunk) -> tuple[str, str, str]:
    """The body, the headings and the path of a chunk, as they are indexed."""
    return chunk.text, " ".join([*chunk.headings, *names_of(chunk.metadata)]), chunk.uri


def statistics(snapshot: Snapshot) -> Mapping[str, str]:
    """The records of an index: ``statistics`` and the pages of its words."""
    table: dict[str, list[int]] = {}
    for level, index in enumerate((snapshot.lexical, snapshot.file_lexical)):
        for place, field in enumerate(FIELDS):
            for term, count in index.document_frequencies(field):
                counts = table.setdefault(term, [])
                at = len(FIELDS) * level + place
                counts += [0] * (at + 1 - len(counts))
                counts[at] = count
    pages = _paged(table)
    said = format_stamp(FORMAT) | {
        "chunks": len(snapshot),
        "files": len(snapshot.files),
        "embedder": snapshot.meta.embedder,
        "dimension": snapshot.meta.dimension,
        "created": snapshot.meta.created,
        "languages": list(snapshot.lexical.languages),
        "lengths": _lengths(snapshot),
        "pages": len(pages),
    }
    return {STATISTICS: json.dumps(said)} | pages


def stale_pages(old: str, new: Mapping[str, str]) -> Sequence[str]:
    """The names of the pages that an earlier record of statistics had, and that are not there any more."""
    try:
        count = int(json.loads(old)["pages"]) if old else 0
    except (ValueError, TypeError, LookupError):
        return []
    names = (f"words.{count}.{page}" for page in range(count))
    return [name for name in names if name not in new]


def _paged(table: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """The pages of a table, so many that none is too long."""
    count = 1
    while count * _A_PAGE < len(table):
        count *= 2
    while True:
        pages: dict[str, dict[str, Sequence[int]]] = {
            f"words.{count}.{page}": {} for page in range(count)
        }
        for term in sorted(table):
            pages[page_name(term, count)][term] = table[term]
        written = {
            name: json.dumps(page, ensure_ascii=False, separators=(",", ":"))
            for name, page in pages.items()
        }
        if max(len(text.encode()) for text in written.values()) <= _PAGE_BYTES:
            return written
        count *= 2


def _lengths(snapshot: Snapshot) -> Mapping[str, Sequence[float]]:
    """The average terms of each field, by chunk and by file, of a sample of files."""
    sums = np.zeros((len(LEVELS), len(FIELDS)))
    if not len(snapshot):
        return {level: [0.0] * len(FIELDS) for level in LEVELS}
    order = np.argsort(snapshot.file_of_row, kind="stable")
    starts = np.flatnonzero(np.diff(snapshot.file_of_row[order], prepend=-1))
    step = max(1, len(snapshot) // _SAMPLE)
    chunks = files = 0
    for at in range(0, len(starts), step):
        end = starts[at + 1] if at + 1 < len(starts) else len(order)
        of_file = [snapshot.chunk(int(row)) for row in order[starts[at] : end]]
        language = _language(of_file)
        each = np.array([lengths_of([chunk], language, 0) for chunk in of_file])
        sums[0] += each.sum(axis=0)
        sums[1] += lengths_of(of_file, language, 1)
        chunks += len(of_file)
        files += 1
    return {"chunk": (sums[0] / chunks).tolist(), "file": (sums[1] / files).tolist()}


def lengths_of(chunks: Sequence[Chunk], language: str, level: int) -> Sequence[int]:
    """How many terms each of :data:`FIELDS` has of a document that consists of some chunks of a file."""
    body = [stemmed(chunk.text, language) for chunk in chunks]
    heading = stemmed(" ".join(dict.fromkeys(texts_of(chunk)[1] for chunk in chunks)), language)
    path = stemmed(chunks[0].uri, language)
    counts = (sum(len(terms) for terms, _ in body), len(heading[0]), len(path[0]))
    variants = sum(len(others) for _, others in (*body, heading, path))
    return [*counts, variants, len(spelt(chunks, level))]


def spelt(chunks: Iterable[Chunk], level: int) -> set[str]:
    """The words of some chunks of a file as they are spelt; of level 0 those with punctuation."""
    words: Callable[[str], Iterable[str]] = spellings if level else punctuated_terms
    return {word for chunk in chunks for text in texts_of(chunk) for word in words(text)}


def _language(chunks: Sequence[Chunk]) -> str:
    texts = [chunk.text for chunk in chunks]
    return language_of(texts[:: -(-len(texts) // _SAMPLED_CHUNKS)])


def _all(text: str, language: str) -> Iterable[str]:
    terms, variants = stemmed(text, language)
    return [*terms, *variants]
