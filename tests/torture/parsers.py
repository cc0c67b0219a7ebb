"""What reads bytes that nobody vouches for: each takes any bytes, and raises a RagloomError or nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath

import numpy as np

from children import host
from ragloom import Json, RagloomError, Workspace
from ragloom.sources.loading import chunker_for, load_document, loader_for, split_document
from ragloom.types import Source

Parser = Callable[[bytes], object]

_CONDITIONS: Mapping[str, Json] = {
    "status": "accepted",
    "tags": ["a", "b"],
    "n": 3,
    "date": "2024-01-01",
    "none": None,
}
_DOCUMENTS = {
    "markdown": "a.md",
    "notebook": "a.ipynb",
    "rst": "a.rst",
    "asciidoc": "a.adoc",
    "org": "a.org",
    "latex": "a.tex",
    "openapi": "a.yaml",
    "docx": "a.docx",
    "epub": "a.epub",
    "html": "a.html",
    "pdf": "a.pdf",
    "text": "a.txt",
    "code": "a.py",
}
_MODEL = "embedder: {name: hashing, dimension: 16}\nmin_relevance: 0\nstore: sqlite\n"


class Broken(Exception):  # noqa: N818 - a promise is
    """A parser gave what it must not."""


def parsers(folder: Path) -> Mapping[str, Parser]:
    """Every parser by name; ``folder`` is theirs."""
    folder.mkdir()
    (folder / "ragloom.yaml").write_text(_MODEL, "utf-8")
    made: dict[str, Parser] = {name: _document(folder, file) for name, file in _DOCUMENTS.items()}
    return made | {
        "front-matter": _front_matter,
        "template": _template,
        "settings": _settings(folder / "settings"),
        "condition": _condition,
        "query": _query(folder),
        "sqlite-row": _sqlite_row(folder / "rows"),
        "lesson": _lesson,
        "lesson-json": _lesson_json,
    }


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _document(folder: Path, file: str) -> Parser:
    from ragloom.retrieval.verify import verify_chunks

    space = Workspace.open(folder, host=host()).space()
    source = Source(uri=file, path=folder / file)

    def load(content: bytes) -> None:
        document = load_document(source, content, loader_for(file, space.loaders))
        chunks = split_document(document, chunker_for(file, space.chunkers), space.embedder)
        for why in verify_chunks(chunks, document):
            if why:
                raise Broken(f"a chunk is not what the file says: {why}")

    return load


def _front_matter(content: bytes) -> None:
    from ragloom.text import split_front_matter

    text = _text(content)
    split_front_matter(text)
    found = split_front_matter(text, strict=True)
    if found is not None:
        json.dumps(found.fields, allow_nan=False)


def _template(content: bytes) -> None:
    from ragloom_templates.parsing import parse

    parse(_text(content), PurePosixPath("a.md"))


def _settings(folder: Path) -> Parser:
    folder.mkdir()
    plugins = host()

    def load(content: bytes) -> None:
        from ragloom_agents.layers import agents_of

        (folder / "agents.yaml").unlink(missing_ok=True)
        (folder / "ragloom.yaml").write_bytes(content)
        workspace = Workspace.open(folder, host=plugins)
        workspace.space()
        (folder / "ragloom.yaml").unlink()
        (folder / "agents.yaml").write_bytes(content)
        agents_of(Workspace.open(folder, host=plugins), {"HOME": str(folder)})

    return load


def _condition(content: bytes) -> None:
    from ragloom.stores.filters import matches, parse_condition

    condition = parse_condition(_text(content))
    for field in (condition.field, *_CONDITIONS):
        value = _CONDITIONS.get(field, "x")
        matches("docs/a.md", {**_CONDITIONS, field: value}, [condition])


def _query(folder: Path) -> Parser:
    from ragloom import Query

    (folder / "docs").mkdir()
    for name in ("rotate", "harvest"):
        (folder / "docs" / f"{name}.md").write_text(
            f"# How to {name}\n\nThe {name} of keys.\n", "utf-8"
        )
    space = Workspace.open(folder, host=host()).space_for([folder / "docs"])
    space.index()

    def search(content: bytes) -> None:
        text, _, where = _text(content).partition("\n\n")
        space.answer(Query(text, top_k=3, where=where.split("\n") if where else ()))

    return search


def _sqlite_row(folder: Path) -> Parser:
    from ragloom_local.sqlite import SqliteStore

    folder.mkdir()
    store = SqliteStore()
    store.open(space="kb", dimension=4, directory=folder)
    store.close()
    vector = np.eye(1, 4, dtype=np.float32).tobytes()

    def scan(content: bytes) -> None:
        with closing(sqlite3.connect(folder / "store.sqlite3")) as rows, rows:
            rows.execute("DELETE FROM chunks")
            values = ("kb", "1", "a.md", "text", _text(content), vector)
            rows.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)", values)
        store.open(space="kb", dimension=4, directory=folder)
        try:
            for _ in store.scan():
                pass
        finally:
            store.close()

    return scan


def _lesson(content: bytes) -> None:
    from ragloom_knowledge.exported import parse_exported

    parse_exported(_text(content), "a.md")


def _lesson_json(content: bytes) -> None:
    from ragloom.text import parse_json
    from ragloom_knowledge.capturing import lesson_from_json

    try:
        value = parse_json(_text(content))
    except ValueError as error:
        raise RagloomError(str(error)) from error  # as the command line does
    lesson_from_json(value)
