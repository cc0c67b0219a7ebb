"""A row of results: each text once, of one file at most so many hits, and what is named instead."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ragloom import ConfigError, Lines, Location, Query, SpaceGroup
from ragloom.retrieval.nothing import below, why_empty
from ragloom.retrieval.rows import row_of
from ragloom.testing.samples import chunk
from ragloom.types import Hit

DUPLICATES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/cases/duplicates.jsonl").open(encoding="utf-8")
]
BACKUPS = "# Backups\n\nBackups run nightly at two and are restored by the storage team.\n"


def write(files, texts):
    for path, text in texts.items():
        (files / path).parent.mkdir(parents=True, exist_ok=True)
        (files / path).write_text(text, "utf-8")


def section(number):
    return f"## Part {number}\n\nOf alpha, part number {number}: {'word ' * 20}\n\n"


@pytest.fixture
def parts(files, make_space):
    """A file with seven sections on alpha, and two others."""
    write(files, {"long.md": "".join(map(section, range(7)))})
    write(files, {f"{n}.md": f"# Other {n}\n\nAlpha is named once in {n}.\n" for n in "ab"})
    space = make_space(min_relevance=0.0, mode="lexical")
    space.index()
    return space


def places(hits):
    return [(hit.chunk.uri, hit.chunk.lines) for hit in hits]


@pytest.mark.parametrize("end", ["\r\n", "\r", "  \n", "\n"])
def test_a_text_with_other_ends_of_lines_is_the_same(files, make_space, end):
    text = f"{BACKUPS}Tapes are kept\nfor a year.\n"
    (files / "one.md").write_bytes(text.encode())
    (files / "two.md").write_bytes(f"\ufeff{text.replace(chr(10), end)}".encode())
    space = make_space()
    space.index()
    (hit,) = space.search("storage team").hits
    assert {"one.md", "two.md"} == {hit.chunk.uri, *(copy.uri for copy in hit.copies)}


def verdicts(space, query):
    return Counter(item.verdict.partition(":")[0] for item in space.explain(query).hits)


@pytest.mark.parametrize("case", DUPLICATES, ids=[case["name"] for case in DUPLICATES])
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_a_text_is_shown_once_and_others_are_still_found(files, make_space, case, mode):
    write(files, case["files"])
    space = make_space(min_relevance=0.0, mode=mode)
    space.index()
    hits = space.search(case["query"], top_k=case["top_k"]).hits
    assert set(case["must_hold"]) <= {hit.chunk.uri for hit in hits}
    shown = Counter(hit.chunk.text for hit in hits)
    assert max(shown.values()) <= case.get("same_text_at_most", 1)
    assert sorted(case["files"]) == sorted(
        [hit.chunk.uri for hit in hits] + [copy.uri for hit in hits for copy in hit.copies]
    )


@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_a_copy_never_takes_a_place(files, make_space, top_k):
    write(files, {f"v{number}/backups.md": BACKUPS for number in range(70)})
    write(files, {f"note{n}.md": f"# Note {n}\n\nA backup, {n}.\n" for n in range(6)})
    space = make_space(min_relevance=0.0, mode="lexical")
    space.index()
    query = Query("nightly backups restored by the storage team", top_k=top_k)
    best, *others = space.search(query).hits
    # Behind the last hit, copies are named of the candidates that are examined anyway.
    assert (49 if top_k == 1 else 69, top_k - 1) == (len(best.copies), len(others))
    assert {Lines(1, 3)} == {copy.lines for copy in best.copies}
    told = space.explain(query).hits
    copies = [item for item in told if item.verdict == f"copy of {best.chunk.uri}:1"]
    assert (1 if top_k == 1 else 69) == len(copies)
    assert [best, *others] == [item.hit for item in told if item.verdict == "shown"]


def test_whitespace_at_the_ends_makes_no_other_text_and_a_word_does():
    texts = ["some text", "  some text\n\n", "some  text", "some text."]
    hits = [
        Hit(chunk=chunk(f"{n}", uri=f"{n}.md", text=text), score=1 - n / 10, relevance=0.5)
        for n, text in enumerate(texts)
    ]
    row = row_of(hits, top_k=9, per_file=3)
    assert ["0.md", "2.md", "3.md"] == [hit.chunk.uri for hit in row]
    assert (Location("1.md", Lines(2, 3)),) == row[0].copies


def test_a_copy_in_the_same_file_is_named_and_not_folded(files, make_space):
    note = "## Note\n\nAlpha is restored nightly.\n\n"
    write(files, {"a.md": note + "## Other\n\nNothing of the kind.\n\n" + note})
    space = make_space(min_relevance=0.0, mode="lexical")
    space.index()
    (hit,) = space.search("alpha restored", per_file=1).hits
    (copy,) = hit.copies
    assert {("a.md", Lines(1, 3)), ("a.md", Lines(9, 11))} == {copy, *places([hit])}
    assert () == hit.more_in_file


def test_a_copy_whose_file_is_gone_is_not_named(files, make_space):
    write(files, {f"{name}.md": BACKUPS for name in "abc"})
    space = make_space(min_relevance=0.0, mode="lexical")
    space.index()
    (best,) = space.search("nightly backups").hits
    gone, left = (copy.uri for copy in best.copies)
    (files / gone).unlink()
    (hit,) = space.search("nightly backups").hits
    assert (best.chunk, [left]) == (hit.chunk, [copy.uri for copy in hit.copies])


def test_of_one_file_three_hits_stand_and_the_last_names_the_others(parts):
    query = Query("alpha part", top_k=10)
    hits = parts.search(query).hits
    of_file = [hit for hit in hits if hit.chunk.uri == "long.md"]
    assert (3, {"a.md", "b.md", "long.md"}) == (len(of_file), {hit.chunk.uri for hit in hits})
    assert [0, 0, 4] == [len(hit.more_in_file) for hit in of_file]
    whole = parts.search("alpha part", top_k=10, per_file=0)
    ranked = [hit.chunk.lines for hit in whole.hits if hit.chunk.uri == "long.md"]
    assert ranked == [hit.chunk.lines for hit in of_file] + list(of_file[-1].more_in_file)
    assert {"shown": 5, "folded": 4} == verdicts(parts, query)


@pytest.mark.parametrize("per_file", [1, 2, 5])
def test_how_many_is_a_matter_of_the_query_or_the_settings(parts, make_space, per_file):
    chosen = make_space(min_relevance=0.0, mode="lexical", per_file=per_file)
    hits = chosen.search("alpha part", top_k=10).hits
    assert hits == parts.search("alpha part", top_k=10, per_file=per_file).hits
    assert per_file == sum(hit.chunk.uri == "long.md" for hit in hits)
    assert (
        parts.search("alpha part", top_k=10).hits
        == chosen.search(Query("alpha part", top_k=10, per_file=3)).hits
    )


def test_what_the_maximum_of_hits_keeps_out_is_named_too(parts):
    (hit,) = parts.search("alpha part", top_k=1).hits
    assert ("long.md", 6) == (hit.chunk.uri, len(hit.more_in_file))
    (hit,) = parts.search("alpha part", top_k=1, per_file=0).hits
    assert () == hit.more_in_file


def test_what_is_irrelevant_is_not_named(parts):
    every = parts.search("alpha 3", top_k=9, per_file=0).hits
    of_file = [hit for hit in every if hit.chunk.uri == every[0].chunk.uri]
    relevant = {hit.chunk.lines for hit in of_file if hit.relevance >= every[0].relevance}
    assert len(relevant) < len(of_file)
    (hit,) = parts.search("alpha 3", top_k=1, min_relevance=every[0].relevance).hits
    assert relevant == {hit.chunk.lines, *hit.more_in_file}


def test_a_file_that_changed_names_no_lines_that_may_be_wrong(parts, files):
    text = (files / "long.md").read_text("utf-8")
    (files / "long.md").write_text(f"# New\n\n{text}", "utf-8")
    (hit,) = parts.search("alpha part", top_k=1).hits
    assert ("long.md", ()) == (hit.chunk.uri, hit.more_in_file)
    assert hit.chunk.text in "\n".join(
        (files / "long.md").read_text("utf-8").splitlines()[hit.chunk.lines.start - 1 :]
    )


def test_only_what_is_shown_or_a_copy_is_looked_up_on_the_disk(parts, monkeypatch):
    looked: list[str] = []
    follow = parts.follow
    monkeypatch.setattr(parts, "follow", lambda hit: looked.append(hit.chunk.id) or follow(hit))
    hits = parts.search("alpha part", top_k=2).hits
    assert [hit.chunk.id for hit in hits] == looked


def test_a_context_has_all_of_a_file_unless_a_query_says_otherwise(parts):
    packed = parts.context("alpha part", top_k=10)
    assert 7 == sum(hit.chunk.uri == "long.md" for hit in packed.hits)
    packed = parts.context(Query("alpha part", top_k=10, per_file=2))
    assert 2 == sum(hit.chunk.uri == "long.md" for hit in packed.hits)
    told = parts.explain(Query("alpha part", top_k=10), max_tokens=4000)
    assert {"shown"} == {item.verdict for item in told.hits}


def test_several_spaces_make_one_row(parts, files, make_space):
    write(files, {"copies/a.md": (files / "a.md").read_text("utf-8")})
    copies = make_space(name="copies", sources=("copies",), min_relevance=0.0, mode="lexical")
    whole = make_space(name="whole", sources=(".",), min_relevance=0.0, mode="lexical")
    copies.index()
    whole.index()
    for spaces in ([whole, copies], [copies, whole]):
        hits = SpaceGroup(spaces).search("alpha part", top_k=10).hits
        (once,) = (hit for hit in hits if hit.chunk.text.startswith("# Other a"))
        (other,) = once.copies
        assert {"a.md", "copies/a.md"} == {once.chunk.uri, other.uri}
        (named,) = (hit for hit in hits if hit.more_in_file)
        assert ("long.md", 4) == (named.chunk.uri, len(named.more_in_file))
    assert 7 == sum(
        hit.chunk.uri == "long.md"
        for hit in SpaceGroup([whole, copies]).search("alpha part", top_k=20, per_file=0).hits
    )


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3"])
def test_what_is_no_number_of_hits_is_an_error(parts, wrong):
    with pytest.raises(ConfigError, match="per_file: expected a whole number from 0, found"):
        parts.search("alpha", per_file=wrong)


@pytest.mark.parametrize(
    ("relevance", "least", "told"),
    [
        (0.2951, 0.3, ("0.29", "0.30")),
        (0.2999999, 0.3, ("0.29", "0.30")),
        (0.29, 0.3, ("0.29", "0.30")),
        (0.3049, 0.305, ("0.30", "0.305")),
        (0.3049999, 0.305, ("0.30", "0.305")),
        (0.999999, 1.0, ("0.99", "1.00")),
        (0.0, 0.3, ("0.00", "0.30")),
        (0.3, 0.3, ("0.30", "0.30")),
        (0.296, 0.2, ("0.30", "0.20")),
    ],
)
def test_what_is_below_the_minimum_looks_so(relevance, least, told):
    assert told == below(relevance, least)


def test_why_a_result_is_empty_says_how_to_see_the_closest(parts):
    found = parts.search("alpha", min_relevance=1.0)
    assert found.closest is not None
    path = found.closest.chunk.uri
    assert f"{found.reason}; rephrase the query, or read {path}" == why_empty(found)
    assert f"{found.reason}; show it" == why_empty(found, "show it")
    packed = parts.context("alpha", min_relevance=1.0)
    assert (found.closest, why_empty(found)) == (packed.closest, why_empty(packed))
    assert "no chunk shares a word with the query" == why_empty(parts.search("zebra"))
