"""Whether git tracks something below a folder, by its index; git itself may run what its settings name.

The format: https://git-scm.com/docs/index-format.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

_LENGTH, _EXTENDED = 0x0FFF, 0x4000  # of an entry's flags
_HEADER, _STATUS = 12, 40  # bytes before the first entry, and before the hash in each
_COMPRESSED = 4  # the version whose names begin as the one before


def tracked(folder: Path) -> bool:
    """Whether git tracks ``folder`` or something below it; False where its index cannot be read."""
    top = next((up for up in folder.parents if os.path.lexists(up / ".git")), None)
    if top is None:
        return False
    name = os.fsencode(folder.relative_to(top).as_posix())
    return any(_holds(*one, name) for one in _indexes(top / ".git"))


def _indexes(git: Path) -> Iterator[tuple[str, int, int]]:
    """The index of a work tree, and what it shares with others, each with its time and size."""
    try:
        if git.is_file():  # of a linked work tree or a submodule
            _, _, place = git.read_text("utf-8", "surrogateescape").partition("gitdir: ")
            git = git.parent / place.strip()
        with os.scandir(git) as entries:
            for entry in entries:
                if entry.name == "index" or entry.name.startswith("sharedindex."):
                    status = entry.stat()
                    yield entry.path, status.st_mtime_ns, status.st_size
    except (OSError, ValueError):
        return


@lru_cache(maxsize=64)
def _holds(index: str, _time: int, _size: int, name: bytes) -> bool:
    try:
        content = Path(index).read_bytes()
    except OSError:
        return False
    version = int.from_bytes(content[4:8])
    names = _names(content, name)
    if version == _COMPRESSED:
        behind = name + b"0"  # the letter that follows a slash; the names are sorted
        names = takewhile(lambda one: one < behind, _compressed_names(content))
    return any(one == name or one.startswith(name + b"/") for one in names)


def _names(content: bytes, name: bytes) -> Iterator[bytes]:
    """The names that begin with ``name``: each follows its length, which tells it from other bytes."""
    start = content.find(name)
    while start >= 0:
        end = content.find(b"\0", start)
        length = min(end - start, _LENGTH)
        flags = int.from_bytes(content[start - 2 : start])
        before = int.from_bytes(content[start - 4 : start - 2])
        if flags & _LENGTH == length or (before & _EXTENDED and before & _LENGTH == length):
            yield content[start:end]
        start = content.find(name, end)


def _compressed_names(content: bytes) -> Iterator[bytes]:
    """All names of an index of version 4, in their order."""
    at, last = _HEADER, b""
    wide = _STATUS + (20 if _reads_as_names(content, 20) else 32)
    for _ in range(int.from_bytes(content[8:12])):
        last, at = _next_name(content, at + wide, last)
        yield last


def _reads_as_names(content: bytes, hashed: int) -> bool:
    """Whether the first name follows a hash of so many bytes: it begins with nothing of another."""
    name, end = _next_name(content, _HEADER + _STATUS + hashed, b"")
    flags = int.from_bytes(content[_HEADER + _STATUS + hashed :][:2])
    return bool(name) and end < len(content) and flags & _LENGTH == min(len(name), _LENGTH)


def _next_name(content: bytes, at: int, last: bytes) -> tuple[bytes, int]:
    """The name whose flags are at ``at``, and where its entry ends."""
    at += 4 if int.from_bytes(content[at : at + 2]) & _EXTENDED else 2
    removed = byte = content[at] if at < len(content) else 0
    removed &= 0x7F
    while byte & 0x80 and at + 1 < len(content):
        at += 1
        byte = content[at]
        removed = ((removed + 1) << 7) | (byte & 0x7F)
    end = content.find(b"\0", at + 1)
    end = len(content) if end < 0 else end
    return last[: len(last) - removed] + content[at + 1 : end], end + 1
