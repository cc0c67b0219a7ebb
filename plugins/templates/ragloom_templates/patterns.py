"""What fabric's ``pattern_descriptions.json`` says of patterns, whose own files have no front matter."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from ragloom import SourceError
from ragloom.text import decode, parse_json

_NAME = "pattern_descriptions.json"
_PLACES = (_NAME, f"scripts/pattern_descriptions/{_NAME}")
_ABOVE = 3  # folders: fabric's own are data/patterns, below the folder that holds scripts
_LARGEST = 8_000_000  # bytes
_log = logging.getLogger("ragloom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is said of a pattern.

    Attributes:
        description: One line.
        tags: In lower case.
    """

    description: str
    tags: Sequence[str] = ()


class PatternDescriptions:
    """The descriptions in some files, read again when a file changes.

    Args:
        paths: The files, of which the first that names a pattern counts. One that does not exist describes
            nothing; one that is damaged does neither, with a warning.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(map(Path, paths))
        self._read: Mapping[str, Described] = {}
        self._digest = ""
        self._seen: Sequence[tuple[int, int, int]] = ()

    @property
    def digest(self) -> str:
        """Names the content of the files; empty where there is none."""
        seen = [_status(path) for path in self._paths]
        if seen == self._seen:
            return self._digest
        contents = [_content(path) for path in self._paths]
        named = blake2b(b"\0".join(contents), digest_size=8).hexdigest()
        digest = named if any(contents) else ""
        if digest != self._digest:
            self._read = dict(
                pair
                for path, content in reversed([*zip(self._paths, contents, strict=True)])
                for pair in _described(path, content)
            )
        self._digest, self._seen = digest, seen
        return digest

    def get(self, name: str) -> Described | None:
        """What is said of the pattern in the folder ``name``."""
        return self._read.get(name) if self.digest else None


def description_files(folder: Path, root: Path) -> list[str]:
    """The files that may describe the patterns below ``folder``, and exist.

    They lie in it, in a folder of it, or in one above it: in the workspace ``root`` at most, if that
    holds the folder.
    """
    above = [folder, *folder.parents[:_ABOVE]]
    if folder.is_relative_to(root):
        above = [one for one in above if one.is_relative_to(root)]
    found = [one / place for one in above for place in _PLACES]
    found[len(_PLACES) : len(_PLACES)] = (
        path for place in _PLACES for path in sorted(folder.glob(f"*/{place}"))
    )
    return [str(path) for path in found if path.is_file() and not path.is_symlink()]


def all_description_files(sources: Sequence[Path], root: Path) -> Sequence[str]:
    """Those of each of some sources that is a folder, each once."""
    folders = [Path(os.path.normpath(source)) for source in sources if source.is_dir()]
    found = [file for folder in folders for file in description_files(folder, root)]
    return [*dict.fromkeys(found)]


def _status(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def _described(path: Path, content: bytes) -> Iterator[tuple[str, Described]]:
    if not content:
        return
    try:
        document = cast("dict[str, Any]", parse_json(decode(content).text))
        for entry in document["patterns"]:
            described = Described(
                description=" ".join(str(entry["description"]).split()),
                tags=tuple(str(tag).lower() for tag in entry.get("tags") or ()),
            )
            yield str(entry["patternName"]), described
    except (SourceError, ValueError, TypeError, KeyError, AttributeError) as error:
        expected = '{"patterns": [{"patternName": "…", "description": "…", "tags": []}]}'
        _log.warning("%s: expected %s: %s", path, expected, error)
