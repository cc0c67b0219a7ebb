"""Write a lexical index: a tantivy index, made from the one before it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import tantivy

from ragloom.snapshot.languages import ENGLISH
from ragloom.snapshot.letters import clean
from ragloom.snapshot.lexical import FIELD_WEIGHTS, VOCABULARY, Stemmed, stemmed
from ragloom.snapshot.spellings import kept, punctuated_terms, spellings
from ragloom.snapshot.tantivy_index import READ_LOCK, WRITE_LOCK, tantivy_errors

_ANALYZER = "whitespace"  # tantivy's own: the terms arrive stemmed
_WRITER_BYTES = 50_000_000  # of what is kept before it is written: a search looks into each segment
_TEXTS = ("body", "heading", "path")


class LexicalDocument(NamedTuple):
    """What is indexed of a chunk or a file; ``terms`` are those of its body, where they are known."""

    serial: int
    uri: str
    body: str
    heading: str
    language: str = ENGLISH
    terms: Stemmed | None = None


class LexicalWriter:
    """Makes the index in ``directory`` from the one in ``previous``, which stays as it is.

    tantivy writes each segment file once, so the old files are linked, not copied; the few that it
    rewrites (``meta.json``, ``.managed.json``) are replaced by renaming. Every method raises OSError where
    it cannot be written, as to a full disk, and StoreError where tantivy failed otherwise.

    Args:
        directory: A new folder.
        previous: Of the index before; None to begin with an empty one.
        vocabulary: Keep how every word is spelt, not only those with punctuation.
    """

    def __init__(
        self, directory: Path, *, previous: Path | None = None, vocabulary: bool = False
    ) -> None:
        self._directory = directory
        self._vocabulary = vocabulary
        directory.mkdir(parents=True)
        if previous is not None:
            for entry in sorted(previous.iterdir()):
                if entry.suffix == ".json":
                    shutil.copyfile(entry, directory / entry.name)
                elif entry.suffix != ".lock":
                    link_or_copy(entry, directory / entry.name)
        with tantivy_errors(directory, "written"):
            path = str(directory)
            index = tantivy.Index.open(path) if previous else tantivy.Index(_schema(), path=path)
            self._schema = index.schema
            self._writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)

    def remove(self, serials: Iterable[int]) -> None:
        """Remove documents."""
        with tantivy_errors(self._directory, "written"):
            for serial in serials:
                gone = tantivy.Query.term_query(self._schema, "serial", serial)
                self._writer.delete_documents_by_query(gone)

    def add(self, document: LexicalDocument) -> None:
        """Add a document."""
        row = tantivy.Document()
        row.add_unsigned("serial", document.serial)
        language = document.language
        texts = (
            document.terms or stemmed(document.body, language),
            _stemmed(document.heading, language),
            _stemmed(document.uri, language),
        )
        variants: list[str] = []
        for name, (terms, others) in zip(_TEXTS, texts, strict=True):
            row.add_text(name, " ".join(terms))
            variants += others
        row.add_text("variants", " ".join(variants))
        row.add_text("language", language)
        row.add_text(VOCABULARY, self._spelt(document))
        with tantivy_errors(self._directory, "written"):
            self._writer.add_document(row)

    def _spelt(self, document: LexicalDocument) -> str:
        if not self._vocabulary:
            around = _punctuated_terms(document.heading), _punctuated_terms(document.uri)
            return kept(chain(punctuated_terms(document.body), *around))
        text = clean(f"{document.body} {document.heading} {document.uri}")
        return kept(spellings(" ".join(set(text.split()))))  # no word has a space in it

    def close(self) -> None:
        """Write what is left."""
        with tantivy_errors(self._directory, "written"):
            self._writer.commit()
            self._writer.wait_merging_threads()
        # tantivy locks what it reads, too: with the file there, a reader needs no inode for it.
        (self._directory / READ_LOCK).touch()
        (self._directory / WRITE_LOCK).unlink(missing_ok=True)


# Of headings and paths, which chunks have in common.
_stemmed = lru_cache(maxsize=1 << 10)(stemmed)
_punctuated_terms = lru_cache(maxsize=1 << 10)(punctuated_terms)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("serial", stored=False, indexed=True, fast=True)
    for name in FIELD_WEIGHTS:
        builder.add_text_field(name, stored=False, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_text_field(
        VOCABULARY, stored=False, tokenizer_name="whitespace", index_option="basic"
    )
    builder.add_text_field("language", stored=False, tokenizer_name="raw", index_option="basic")
    return builder.build()


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file that is never changed another name."""
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
