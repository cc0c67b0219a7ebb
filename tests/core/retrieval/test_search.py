"""Order, gate, modes and filters, over real parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragloom import ConfigError, NotIndexedError, Space
from ragloom.snapshot.analyzer import analyze
from ragloom.stores.filters import parse_condition

MakeSpace = Callable[..., Space]

WORDS = ["harvest", "weather", "pump", "ledger", "violin", "copper", "meadow", "signal"]


@pytest.fixture
def notes(files: Path, make_space: MakeSpace) -> Space:
    """Forty notes, each with a status, about two of eight words."""
    for number in range(40):
        first, second = WORDS[number % 8], WORDS[(number * 3 + 1) % 8]
        folder = files / ("notes" if number % 2 else "notes-old")
        folder.mkdir(exist_ok=True)
        (folder / f"{number:02}.md").write_text(
            f"---\nstatus: {'accepted' if number % 4 == 1 else 'draft'}\n---\n"
            f"# Note {number}\n\nThe {first} and the {second}, {number} times.\n",
            "utf-8",
        )
    space = make_space()
    space.index()
    return space


@pytest.mark.parametrize("mode", ["hybrid", "rrf", "dense", "lexical"])
def test_hits_come_best_first_and_ties_by_id(notes: Space, mode: str) -> None:
    hits = notes.search("violin meadow", mode=mode, min_relevance=0.0, top_k=40).hits

    assert len(hits) > 10
    assert [(-hit.score, hit.chunk.id) for hit in hits] == sorted(
        (-hit.score, hit.chunk.id) for hit in hits
    )
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert [hit.cosine is None for hit in hits] == [mode == "lexical"] * len(hits)
    assert notes.search("violin meadow", mode=mode, min_relevance=0.0, top_k=40).hits == hits


def test_the_dense_part_is_exact(notes: Space) -> None:
    snapshot = notes.snapshot()
    query = notes.embedder.embed_query("the copper signal")
    exact = snapshot.vectors(np.arange(len(snapshot))) @ query

    ranking = notes.rank("the copper signal", mode="dense")

    assert np.allclose(ranking.cosine, np.sort(exact)[::-1])


@pytest.mark.parametrize("mode", ["hybrid", "rrf", "dense", "lexical"])
def test_nonsense_finds_nothing_and_says_why(notes: Space, mode: str) -> None:
    found = notes.search("zzzqqq xyzzy plugh", mode=mode)

    assert found.hits == ()
    nothing_shared = "no chunk shares a word with the query"
    assert found.reason == nothing_shared or "no relevant match" in found.reason


@pytest.mark.parametrize(
    ("query", "reason"),
    [("", "the query is empty"), (" \n", "the query is empty")],
)
def test_an_empty_query_is_answered_by_its_reason(notes: Space, query: str, reason: str) -> None:
    assert notes.search(query).reason == reason


def test_filters_apply_inside_the_search(notes: Space) -> None:
    def uris(*conditions: str) -> list[str]:
        where = [parse_condition(text) for text in conditions]
        found = notes.search("harvest", where=where, min_relevance=0.0, top_k=40)
        return sorted(hit.chunk.uri for hit in found.hits)

    accepted = uris("status=accepted")
    assert len(accepted) == 10
    assert all(int(uri[-5:-3]) % 4 == 1 for uri in accepted)
    assert {uri.split("/")[0] for uri in uris("path under notes")} == {"notes"}
    assert len(uris("path under notes")) == 20
    assert notes.search("harvest", where=[parse_condition("status=gone")]).reason == (
        "no file passes the filter"
    )


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_filters_still_hold_after_files_have_changed(notes: Space, files: Path, mode: str) -> None:
    """Rows, files and serial numbers are then counted differently."""
    for path in sorted(files.rglob("*.md"))[::3]:
        path.unlink()
    for path in sorted(files.rglob("*.md"))[::2]:
        path.write_text(path.read_text("utf-8").replace("accepted", "draft") + "More.\n", "utf-8")
    (files / "new.md").write_text("---\nstatus: accepted\n---\nA new harvest\n", "utf-8")
    notes.index()
    expected = sorted(
        path.relative_to(files).as_posix()
        for path in files.rglob("*.md")
        if "status: accepted" in path.read_text("utf-8")
    )
    assert "new.md" in expected
    where = [parse_condition("status=accepted")]
    query = "harvest weather pump ledger violin copper meadow signal"
    found = notes.search(query, where=where, mode=mode, min_relevance=0.0, top_k=40)
    assert expected == sorted(hit.chunk.uri for hit in found.hits)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("rustc reports E0502 here", "E0502"),
        ("call getVectorStore() first", "getVectorStore"),
        ("call getVectorStore() first", "vector store"),
        ("raise max_connections to 80", "max_connections"),
        ("中文合約轉換體驗課問題", "中文合約"),
        ("東京タワーへ行く", "東京"),
        ("der Straßenname fehlt", "STRASSENNAME"),
        ("see nginx.conf for it", "nginx.conf"),
    ],
)
def test_exact_words_are_found(files: Path, make_space: MakeSpace, text: str, query: str) -> None:
    for number in range(20):
        (files / f"{number}.md").write_text(f"Other words, {number} of them.\n", "utf-8")
    (files / "here.md").write_text(f"{text}\n", "utf-8")
    space = make_space()
    space.index()

    found = space.search(query, mode="lexical", min_relevance=0.0)

    assert found.hits[0].chunk.uri == "here.md"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getVectorStore", ["getvectorstore", "get", "vector", "store"]),
        ("max_connections", ["max_connections", "max", "connections"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("Café NAÏVE", ["café", "naïve"]),
        ("中文合約", ["中文", "文合", "合約"]),
        ("ﬁne", ["fine"]),
        ("__init__", ["init"]),
        ("...", []),
    ],
)
def test_analysis(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_an_open_snapshot_answers_after_a_newer_one_is_published(
    files: Path, make_space: MakeSpace, notes: Space
) -> None:
    before = notes.snapshot()
    for round_number in range(4):
        (files / "new.md").write_text(f"# New\n\nround {round_number}\n", "utf-8")
        make_space().index()

    assert len(before.chunk(0).text) > 0
    assert before.lexical.search({"violin": 1.0}, limit=3)[0].size == 3
    assert notes.search("round", mode="lexical", min_relevance=0.0).hits[0].chunk.uri == "new.md"
    assert len(list(notes.directory.glob("gen-*"))) == 2


def test_a_space_that_there_is_not_names_those_that_there_are(notes: Space) -> None:
    workspace = notes.workspace
    for name, told in {"note": "; did you mean 'notes'?", "default": " (available: notes)"}.items():
        with pytest.raises(NotIndexedError, match=re.escape(f"indexed in {name!r}{told}")):
            workspace.space(name).search("violin")


@pytest.mark.parametrize("least", [float("nan"), -0.1, 1.1, float("inf")])
def test_what_is_no_relevance_gates_nothing(
    files: Path, make_space: MakeSpace, least: float
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    space = make_space()
    space.index()
    with pytest.raises(ConfigError, match="min_relevance: expected a number from 0 to 1, found"):
        space.search("alpha", min_relevance=least)
