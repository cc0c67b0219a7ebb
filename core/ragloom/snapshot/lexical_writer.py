"""Write a lexical index: a tantivy index, made from the one before it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tantivy

from ragloom.snapshot.analyzer import spellings
from ragloom.snapshot.languages import ENGLISH
from ragloom.snapshot.lexical import FIELD_WEIGHTS, VOCABULARY, stemmed
from ragloom.snapshot.tantivy_index import READ_LOCK, WRITE_LOCK, tantivy_errors

_ANALYZER = "whitespace"  # tantivy's own: the terms arrive stemmed
_WRITER_BYTES = 15_000_000  # tantivy's minimum for one thread, which is ample for documentation
_SPELT = range(2, 80)  # characters of a word whose spelling is kept
_TEXTS = ("body", "heading", "path")


class LexicalDocument(NamedTuple):
    """What is indexed of a chunk or a file."""

    serial: int
    uri: str
    body: str
    heading: str
    language: str = ENGLISH


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


def _spelt_words(document: LexicalDocument) -> str:
    """The words of a document, each once, as ``LexicalIndex.vocabulary`` gives them."""
    text = f"{document.body} {document.heading} {document.uri}"
    return " ".join(sorted({word for word in spellings(text) if len(word) in _SPELT}))


def update_lexical(
    directory: Path,
    *,
    previous: Path | None,
    removed: Iterable[int],
    added: Iterable[LexicalDocument],
    vocabulary: bool = False,
) -> None:
    """Make the index in ``directory`` from the one in ``previous``, which stays as it is.

    With ``vocabulary``, it keeps how the words are spelt, too.

    tantivy writes each segment file once, so the old files are linked, not copied; the few that it
    rewrites (``meta.json``, ``.managed.json``) are replaced by renaming.

    Raises:
        OSError: It cannot be written; the disk may be full.
        StoreError: tantivy failed otherwise.
    """
    directory.mkdir(parents=True)
    if previous is not None:
        for entry in sorted(previous.iterdir()):
            if entry.suffix == ".lock":
                continue
            target = directory / entry.name
            if entry.suffix == ".json":
                shutil.copyfile(entry, target)
            else:
                _link_or_copy(entry, target)
    writing = partial(tantivy_errors, directory, "written")
    with writing():
        path = str(directory)
        index = tantivy.Index.open(path) if previous else tantivy.Index(_schema(), path=path)
        writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)
        for serial in removed:
            gone = tantivy.Query.term_query(index.schema, "serial", serial)
            writer.delete_documents_by_query(gone)
    for document in added:
        row = tantivy.Document()
        row.add_unsigned("serial", document.serial)
        variants: list[str] = []
        for name, text in zip(_TEXTS, (document.body, document.heading, document.uri), strict=True):
            terms, others = stemmed(text, document.language)
            row.add_text(name, " ".join(terms))
            variants += others
        row.add_text("variants", " ".join(variants))
        row.add_text("language", document.language)
        if vocabulary:
            row.add_text(VOCABULARY, _spelt_words(document))
        with writing():
            writer.add_document(row)
    with writing():
        writer.commit()
        writer.wait_merging_threads()
    # tantivy locks what it reads, too: with the file there, a reader needs no inode for it.
    (directory / READ_LOCK).touch()
    (directory / WRITE_LOCK).unlink(missing_ok=True)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
