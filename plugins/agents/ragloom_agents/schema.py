"""The legal keys of ``agents.yaml``, and how each value is read, from YAML or from a variable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TypeAlias, cast

from ragloom import Json
from ragloom.config import user_path
from ragloom.text import COUNTERS

__all__ = ["AGENT", "DOCS", "RAG", "TOP", "VARIABLES", "Reader", "store_reader"]

Reader: TypeAlias = Callable[[Json], Json]
"""Gives the value back, or raises ValueError with what was expected."""

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def _text(value: Json) -> Json:
    if isinstance(value, str):
        return value
    raise ValueError("a string")


def _name(value: Json) -> Json:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("a string that is not empty")


def _path(value: Json) -> Json:
    user_path(cast("str", _text(value)))
    return value


def _folder(value: Json) -> Json:
    return _path(_name(value))


def _number(lowest: int) -> Reader:
    def read(value: Json) -> Json:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, int) and whole and lowest <= value <= sys.maxsize:
            return value
        raise ValueError(f"a whole number from {lowest}")

    return read


def _flag(value: Json) -> Json:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _one_of(legal: Collection[str]) -> Reader:
    def read(value: Json) -> Json:
        if isinstance(value, str) and value in legal:
            return value
        raise ValueError(f"one of {', '.join(legal)}")

    return read


def _globs(value: Json) -> Json:
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return value
    raise ValueError('a list of paths or globs, such as ["docs/*.md"]')


def store_reader(stores: Collection[str]) -> Reader:
    """Reads the name of a store: one of ``stores``, or any name when there is none to choose from."""
    return _one_of(sorted(stores)) if stores else _name


RAG: Mapping[str, Reader] = {
    "store": _name,
    "path": _path,
    "chunk_size": _number(1),
    "chunk_overlap": _number(0),
}
DOCS: Mapping[str, Reader] = {
    "strategy": _one_of(("preload", "rag")),
    "budget": _number(1),
    "top_k": _number(1),
    "sources": _globs,
    "base_dir": _folder,
    "counter": _one_of(COUNTERS),
}
TOOLS: Mapping[str, Reader] = {"rag": _flag}
AGENT: Mapping[str, Reader | Mapping[str, Reader]] = {
    "id": _name,
    "description": _text,
    "system_prompt": _text,
    "docs": DOCS,
    "rag": RAG,
    "tools": TOOLS,
}
DEFAULTS: Mapping[str, Mapping[str, Reader]] = {"docs": DOCS, "tools": TOOLS}
TOP: Mapping[str, Mapping[str, object]] = {"rag": RAG, "defaults": DEFAULTS, "agents": AGENT}
"""What may stand in the file; ``agents`` is a list of mappings with the keys of ``AGENT``."""


def _from_text(read: Reader) -> Reader:
    """Reads what a variable holds: digits become a number, before ``read`` judges it."""

    def read_text(value: Json) -> Json:
        text = cast("str", value).strip()
        if text.removeprefix("-").isdecimal():
            with suppress(ValueError):  # out of range, or of more digits than Python reads
                return read(int(text))
        return read(text)

    return read_text


def _switch(value: Json) -> Json:
    text = cast("str", value).strip().lower()
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    raise ValueError(f"one of {', '.join((*_TRUE, *_FALSE))}")


VARIABLES: Mapping[str, tuple[str, Reader]] = {
    "RAGLOOM_RAG_STORE": ("rag.store", _name),
    "RAGLOOM_RAG_STORE_PATH": ("rag.path", _path),
    "RAGLOOM_RAG_CHUNK_SIZE": ("rag.chunk_size", _from_text(RAG["chunk_size"])),
    "RAGLOOM_RAG_CHUNK_OVERLAP": ("rag.chunk_overlap", _from_text(RAG["chunk_overlap"])),
    "RAGLOOM_TOOLS_RAG": ("tools.rag", _switch),
    "RAGLOOM_DOCS_BASE_DIR": ("docs.base_dir", _folder),
}
"""The environment: each variable, the key above which it stands, and how it is read."""
