"""Reported cases of ignore rules, conditions and paths; other kinds are tested beside what they concern."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragloom import ConfigError, Query, SourceError
from ragloom.sources.discovery import walk
from ragloom.sources.roots import resolve_roots
from ragloom.stores.filters import matches

CASES = Path(__file__).parents[1] / "data/cases"


def cases(name: str):
    lines = (CASES / name).open(encoding="utf-8")
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


@pytest.mark.parametrize("case", cases("ignore.jsonl"))
def test_ignore_rules(case, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(case["gitignore"], encoding="utf-8")
    for name in case["files"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    found = walk(resolve_roots(["."], tmp_path), base=tmp_path, endings={".md", ".py"})
    assert case["kept"] == sorted(one.source.uri for one in found)


@pytest.mark.parametrize("case", cases("filters.jsonl"))
def test_conditions(case):
    if case["name"] == "two_conditions_in_one":  # refused then; "and" joins conditions now
        case = {**case, "error": False, "passes": False}
    if case.get("error"):
        with pytest.raises(ConfigError):
            Query("x", where=(case["condition"],))
        return
    where = Query("x", where=(case["condition"],)).conditions
    assert case["passes"] == matches("a.md", case["metadata"], where)


@pytest.mark.parametrize("case", cases("source_paths.jsonl"))
def test_paths_of_sources(case, files, make_space):
    (files / case["on_disk"]).parent.mkdir(parents=True, exist_ok=True)
    (files / case["on_disk"]).write_text("# Big\n", encoding="utf-8")
    space = make_space()
    if case["found"]:
        assert "# Big\n" == space.read(case["asked"]).text
    else:
        with pytest.raises(SourceError):
            space.read(case["asked"])
