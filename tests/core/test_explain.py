"""Why a passage is found, and why it is not; and what verify says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import Query, Space

MakeSpace = Callable[..., Space]


@pytest.fixture
def space(files: Path, make_space: MakeSpace) -> Space:
    """Three pages, and others that are kept out."""
    (files / "logging.md").write_text("# Logging\n\nLog every error once.\n", "utf-8")
    (files / "other.md").write_text("# Harvest\n\nThe weather was mild.\n", "utf-8")
    (files / "empty.md").write_text("\n\n", "utf-8")
    (files / "ignored.md").write_text("errors", "utf-8")
    (files / ".ragloomignore").write_text("ignored.md\n", "utf-8")
    (files / "picture.png").write_bytes(b"\x89PNG")
    made = make_space()
    made.index()
    return made


def test_each_hit_says_what_speaks_for_it(space: Space) -> None:
    told = space.explain(Query("log errors", min_relevance=0.0, top_k=1))

    best, second = told.hits
    assert (best.hit.chunk.uri, best.rank, best.lexical_rank, best.verdict) == (
        "logging.md",
        1,
        1,
        "shown",
    )
    assert best.evidence == (1.0, 2)
    assert second.lexical_rank is None
    assert second.verdict == "over the maximum of 1 hit"
    assert list(told.words) == ["log", "errors"]


def test_a_gate_is_named_with_both_numbers(space: Space) -> None:
    told = space.explain(Query("log errors", min_relevance=1.0))

    assert told.hits[0].verdict.startswith("below the minimum: relevance 0.")
    assert told.hits[0].verdict.endswith(", minimum 1.00")


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ("empty.md", "empty.md is indexed, and holds no text"),
        ("gone.md", "gone.md does not exist below"),
        ("picture.png", "picture.png is not indexed: no loader reads .png"),
        ("ignored.md", "ignored.md is not indexed: it is outside the sources (.), hidden, ignored"),
    ],
)
def test_an_expected_file_that_is_not_there(space: Space, expected: str, reason: str) -> None:
    told = space.explain(Query("log errors"), expect=expected)

    assert (told.expected, reason in told.reason) == ([], True)


def test_an_expected_file_that_is_there(space: Space) -> None:
    told = space.explain(Query("log errors", min_relevance=0.0, top_k=1), expect="other.md")

    assert [item.hit.chunk.uri for item in told.expected] == ["other.md"]
    assert told.reason == ""


def test_verify_proves_each_chunk(files: Path, space: Space) -> None:
    report = space.verify()
    assert (report.chunks, report.exact, report.stale) == (2, 2, ())

    (files / "logging.md").write_text("# New\n\n# Logging\n\nLog every error once.\n", "utf-8")
    (files / "other.md").unlink()
    report = space.verify()

    assert (report.chunks, report.exact) == (2, 0)
    assert {stale.path: stale.why for stale in report.stale} == {
        "logging.md": "the file has changed: the text is in line 3 now",
        "other.md": "the file is gone",
    }


def test_what_is_shown_is_what_a_search_finds_however_far_behind(
    files: Path, make_space: MakeSpace
) -> None:
    for number in range(60):
        word = ("alpha", "beta")[number % 2]
        (files / f"{number:02}.md").write_text(f"{word} " * 8, "utf-8")
    (files / "both.md").write_text("alpha beta " + "other words " * 100, "utf-8")
    space = make_space(mode="lexical")
    space.index()
    asked = "what is alpha and what is beta"  # of words alone more candidates are examined

    for top_k, far in ((5, ()), (20, ("both.md",))):
        told = space.explain(Query(asked, top_k=top_k, min_relevance=0.1), expect="both.md")
        shown = [item.hit.chunk.uri for item in told.expected if item.verdict == "shown"]
        found = space.search(asked, top_k=top_k, min_relevance=0.1)

        assert list(far) == shown == [hit.chunk.uri for hit in found.hits]
    (late,) = space.explain(Query(asked, min_relevance=0.1), expect="both.md").expected
    assert (late.rank, late.verdict) == (
        61,
        "not examined: only the best 50 candidates are",
    )


@pytest.mark.parametrize(
    "query", ["log errors", "error", "Log every error once. Was the weather mild?"]
)
def test_a_sweep_has_for_every_gate_what_a_search_with_it_shows(
    files: Path, space: Space, query: str
) -> None:
    for number in range(12):
        text = (
            "# Errors\n\nLog every error once.\n"
            if number < 3
            else f"# Error {number}\n\nLog it {number} times.\n"
        )
        (files / f"more{number}.md").write_text(text, "utf-8")
    space.index()
    for choices in ({}, {"top_k": 2}, {"top_k": 3, "per_file": 1}, {"mode": "lexical"}):
        swept = space.sweep(Query(query, **choices))
        gates = [gate.min_relevance for gate in swept.gates]
        assert gates == sorted(gates)
        assert {one.hit.relevance for one in swept.candidates} == set(gates)
        for gate in (0.0, 0.2, 0.5, 0.75, 0.9, *gates[:3], *gates[-3:]):
            expected = space.search(Query(query, min_relevance=gate, **choices)).hits
            found = next((one.hits for one in swept.gates if one.min_relevance >= gate), ())
            assert expected == found


def test_a_sweep_does_not_show_what_a_file_no_longer_says(files: Path, space: Space) -> None:
    (files / "logging.md").write_text("# Weather\n\nIt rains.\n", "utf-8")
    shown = {hit.chunk.uri for gate in space.sweep("log errors").gates for hit in gate.hits}
    assert "logging.md" not in shown
