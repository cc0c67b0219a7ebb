"""The field's terms, in what people read: docstrings, messages, help and docs; see the glossary."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

BANNED = {
    r"at the most": "at most, or maximum number of",
    r"\banew\b|\bmade again\b|\bmake again\b|\bmakes? (it|them) again\b": "rebuild, re-embed",
    r"\b(is|are|was|were|be) left out\b|\bleav(e|es|ing) out\b|: left out\b": "omitted, skipped",
    r"\bno \w+ is called\b|\bis called so\b|; there (are|is): ": "unknown x 'y' (available: ...)",
    r"\bkept aside\b|\bkeeps? aside\b|\bset aside\b": "quarantined",
    r"\bwhat is asked\b|\bis asked for\b|\bwere asked for\b|\basked as it is\b": "query, requested",
    r"\bgo(es)? on answering\b": "keeps answering",
    r"\bgoes on from\b|\bgo on from\b": "resume, recover",
    r"\b(is|are|be|was|were|been) cut\b|\bcuts? (the|a|its) (file|document|text)s?\b": "split",
    r"\bhow files are cut\b|\bcut up\b": "chunks, split",
    r"\bforgets?\b(?! )|\bForget\b": "delete",
    r"\bthe parts? that\b|\ba part of each kind\b|\bevery part\b|\bnamed part\b": "component",
    r"\bis no setting\b": "unknown setting",
    r"\bholding what was found\b": "check hits",
    r"\bpassed by\b|\bcome across\b": "skipped, found",
    r"\bGive the memory back\b|\bgives? the model's memory back\b": "free the memory",
}
AREAS = ("core/ragloom", "plugins", "examples", "docs", "README.md", "CONTRIBUTING.md")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of what people read in a file; of code the comments, docstrings and strings."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line
    for number, line in enumerate(text.splitlines(), 1):
        _, mark, comment = line.partition("# ")
        if mark:
            yield number, comment


def files(root: Path, area: str) -> Iterator[Path]:
    """What people read below an area; data, licences and third parties' pages aside."""
    place = root / area
    for path in [place] if place.is_file() else sorted(place.rglob("*")):
        kept = path.suffix in {".py", ".md", ".txt", ".toml"} and path.is_file()
        if kept and not {"docs", "model", "fallback", "skills"} & set(
            path.relative_to(root).parts[1:]
        ):
            yield path


@pytest.mark.parametrize("area", AREAS)
def test_no_banned_phrase(root: Path, area: str) -> None:
    found = sorted(
        {
            f"{path.relative_to(root)}:{number}: {match[0]!r} (say: {better})"
            for path in files(root, area)
            if path.name not in {"common_words.txt", "everyday_questions.txt"}
            for number, line in texts(path)
            for pattern, better in BANNED.items()
            if (match := re.search(pattern, line))
        }
    )
    assert [] == found
