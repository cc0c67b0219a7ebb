"""BM25 over chunks: a tantivy index of three fields, keyed by each chunk's serial number.

tantivy scores with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, "The Probabilistic Relevance
Framework: BM25 and Beyond", 2009). Text arrives analysed (:mod:`ragloom.snapshot.analyzer`); here
it is only stemmed.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import tantivy

from ragloom.snapshot.analyzer import STOP_WORDS, analyze

_ANALYZER = "ragloom_stem"
_WRITER_BYTES = 15_000_000  # tantivy's minimum for one thread, which is ample for documentation
_LONGEST_TERM = 200  # characters; longer "words" are encoded data, and tantivy refuses 64 KiB

FIELD_WEIGHTS: Mapping[str, float] = {"body": 1.0, "heading": 0.15, "path": 0.15}
"""How much a term counts by where it stands; see ``benchmarks/README.md`` for the measurement."""
_LONGEST_QUERY = 1024  # terms; a query may be a whole page, and need not be a whole book


class LexicalDocument(NamedTuple):
    """What is indexed of a chunk."""

    serial: int
    uri: str
    body: str
    heading: str


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("serial", stored=False, indexed=True, fast=True)
    for name in FIELD_WEIGHTS:
        builder.add_text_field(name, stored=False, tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()


def _stemmer() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def _terms_text(text: str) -> str:
    return " ".join(term for term in analyze(text) if len(term) <= _LONGEST_TERM)


@contextmanager
def _disk_errors() -> Iterator[None]:
    """A full disk as what it is: tantivy has one exception for everything."""
    try:
        yield
    except ValueError as error:
        if "IO error" in str(error):
            raise OSError(f"the lexical index cannot be written: {error}") from error
        raise


@_disk_errors()
def update_lexical(
    directory: Path,
    *,
    previous: Path | None,
    removed: Iterable[int],
    added: Iterable[LexicalDocument],
) -> None:
    """Make the index in ``directory`` from the one in ``previous``, which stays as it is.

    tantivy writes each segment file once, so the old files are linked, not copied; the few that it
    rewrites (``meta.json``, ``.managed.json``) are replaced by renaming.

    Raises:
        OSError: It cannot be written; the disk may be full.
    """
    directory.mkdir(parents=True)
    if previous is None:
        index = tantivy.Index(_schema(), path=str(directory))
    else:
        for entry in sorted(previous.iterdir()):
            if entry.suffix == ".lock":
                continue
            target = directory / entry.name
            if entry.suffix == ".json":
                shutil.copyfile(entry, target)
            else:
                _link_or_copy(entry, target)
        index = tantivy.Index.open(str(directory))
    index.register_tokenizer(_ANALYZER, _stemmer())
    writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)
    for serial in removed:
        writer.delete_documents_by_query(tantivy.Query.term_query(index.schema, "serial", serial))
    for document in added:
        row = tantivy.Document()
        row.add_unsigned("serial", document.serial)
        row.add_text("body", _terms_text(document.body))
        row.add_text("heading", _terms_text(document.heading))
        row.add_text("path", _terms_text(document.uri))
        writer.add_document(row)
    writer.commit()
    writer.wait_merging_threads()
    for lock in directory.glob(".tantivy-*.lock"):
        lock.unlink()


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)


@contextmanager
def _lockable(directory: Path) -> Iterator[Path]:
    """Where tantivy may open an index: it locks even what it only reads, by a file beside it."""
    if os.access(directory, os.W_OK):
        yield directory
        return
    # tantivy may write a lock file while the folder is removed: that damages nothing.
    with TemporaryDirectory(prefix="ragloom-", ignore_cleanup_errors=True) as folder:
        for entry in directory.iterdir():
            (Path(folder) / entry.name).symlink_to(entry.resolve())
        yield Path(folder)


class LexicalIndex:
    """The read side: opened once, searched many times."""

    def __init__(self, directory: Path) -> None:
        self._stemmer = _stemmer()
        with _lockable(directory) as place:
            self._index = tantivy.Index.open(str(place))
            self._index.register_tokenizer(_ANALYZER, self._stemmer)
            self._searcher = self._index.searcher()
        self._schema = self._index.schema

    def stems(self, text: str) -> list[str]:
        """The terms of ``text`` as they stand in the index."""
        return self._stemmer.analyze(_terms_text(text))

    def query_terms(self, query: str) -> Mapping[str, float]:
        """The stems that a query asks for and how often; stop words only if nothing else."""
        terms = analyze(query)
        content = [term for term in terms if term not in STOP_WORDS] or terms
        counts = Counter(self._stemmer.analyze(" ".join(content[:_LONGEST_QUERY])))
        return {term: float(count) for term, count in counts.items()}

    def inverse_document_frequency(self, term: str) -> float:
        """``ln(1 + (N - n + 0.5) / (n + 0.5))``, as BM25 weighs a term; n counts bodies."""
        total = self._searcher.num_docs
        count = min(self._searcher.doc_freq("body", term), total)
        return log(1 + (total - count + 0.5) / (count + 0.5))

    def search(
        self, terms: Mapping[str, float], *, limit: int, among: npt.NDArray[np.uint64] | None = None
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """Serial numbers and BM25 scores of the best ``limit`` chunks for weighted stems, best first.

        With ``among``, only of the chunks with these serial numbers.
        """
        empty = np.empty(0, np.uint64), np.empty(0, np.float32)
        if not terms or limit < 1 or self._searcher.num_docs == 0:
            return empty
        clauses = [
            (
                tantivy.Occur.Should,
                _boosted(tantivy.Query.term_query(self._schema, field, term, "freq"), weight * at),
            )
            for term, weight in terms.items()
            for field, at in FIELD_WEIGHTS.items()
            if at > 0
        ]
        query = tantivy.Query.boolean_query(clauses)
        if among is not None:
            if not len(among):
                return empty
            allowed = tantivy.Query.term_set_query(self._schema, "serial", among.tolist())
            query = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, query),
                    (tantivy.Occur.Must, tantivy.Query.const_score_query(allowed, 0.0)),
                ]
            )
        found = self._searcher.search(query, limit, count=False).hits
        if not found:
            return empty
        serials = self._searcher.fast_field_values("serial", [address for _, address in found])
        return (
            np.asarray(serials, np.uint64).reshape(-1),
            np.asarray([score for score, _ in found], np.float32),
        )


def _boosted(query: tantivy.Query, weight: float) -> tantivy.Query:
    return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)
