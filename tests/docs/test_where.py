"""CONTRIBUTING says where a change is made: the place exists, and holds what is to be changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PLACES = {
    "a store": "class SqliteStore",
    "a hook": "@hookspec",
    "the gate: which candidates are shown": "min_relevance",
    "front matter": "def ",
    "copies, and the maximum of hits of a file": "class Row",
    "a hit as JSON": "def hit_json",
    "a fusion mode": "def fuse",
    "what needs trust": "class Permissions",
    "what is a secret": "is_secret",
    "a prompt format": "class OpenAI",
    "crash recovery": "class Recovery",
    "a metric": "METRICS",
}


def table(root: Path) -> dict[str, list[str]]:
    page = (root / "CONTRIBUTING.md").read_text("utf-8")
    rows = page.partition("### Where do I change")[2].partition("### ")[0]
    found = re.findall(r"^\| (.*?) \| (.*) \|$", rows, re.MULTILINE)[2:]
    return {change: re.findall(r"`([\w/]+\.py)`", place) for change, place in found}


def test_the_table_has_these_changes(root: Path) -> None:
    assert set(PLACES) == set(table(root))


@pytest.mark.parametrize(("change", "holds"), PLACES.items())
def test_each_place_exists_and_holds_it(root: Path, change: str, holds: str) -> None:
    paths = table(root)[change]
    assert all((root / path).is_file() for path in paths)
    assert holds in (root / paths[0]).read_text("utf-8")
