"""What is not worth reading, told by name, by size, and by how it begins; see ``ragloom.secrets``, too."""

from __future__ import annotations

import codecs
import os
import re

LARGEST_DATA = 100_000
"""Bytes of a data file up to which people write it for people; longer ones are mostly programs' own."""

_GENERATED = re.compile(
    r"""(?ix)^(
    ragloom\.ya?ml | npm-shrinkwrap\.json | .*\.min\.(js|mjs|cjs|css|json)
    | (package|pnpm|composer|packages|npm|.*\.package)[-.]lock\.(json|ya?ml)
    )$"""
)
"""Names of what is written for tools: lock files, minified scripts and styles, our own settings."""

DATA_ENDINGS = frozenset(
    {"", ".cfg", ".conf", ".csv", ".ini", ".json", ".jsonc", ".properties", ".toml", ".tsv"}
    | {".yaml", ".yml"}
)
"""Of files that hold settings or data, written by people or by programs."""

_NO_STEM = f"./{os.sep}"  # before the last dot of a name that is hidden, or has two of them
_HEAD = 4096  # bytes that tell whether a file is text

_API = re.compile(rb"""["']?\b(?:openapi|swagger)["']?\s*:\s*["']?[0-9]""")
_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")


def ending_of(name: str | os.PathLike[str]) -> str:
    """The ending of a file's name in lower case, with the dot: what loaders go by; empty for none."""
    # A walk asks it of every file: splitext takes twice as long, a Path several times.
    stem, _, ending = os.fspath(name).rpartition(".")
    if stem[-1:] in _NO_STEM or "/" in ending or os.sep in ending:
        return os.path.splitext(name)[1].lower()  # noqa: PTH122
    return f".{ending.lower()}"


def is_generated(name: str) -> bool:
    """Whether a file of this name is written for tools, and says nothing to people."""
    return bool(_GENERATED.match(name))


def describes_api(head: bytes) -> bool:
    """Whether a data file that begins so describes an API (OpenAPI): people read it, however long it is."""
    return bool(_API.search(head))


def is_text(head: bytes) -> bool:
    """Whether a file that begins so is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def head_of(path: str | os.PathLike[str]) -> bytes:
    """How a regular file begins; nothing where it cannot be read, which the run will say."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return file.read(_HEAD)
    except OSError:
        return b""


def holds_a_key(head: bytes) -> bool:
    """Whether a file that begins so is a private key."""
    return bool(_KEY.search(head))
