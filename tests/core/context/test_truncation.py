"""A passage that exceeds the budget ends after a sentence or a line, and says that it goes on."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragloom import Chunk, Hit, Lines, Span
from ragloom.cli import cli
from ragloom.context.packing import build_context
from ragloom.context.passages import beginning, merge, slice_of
from ragloom.context.truncation import ends, says_more
from ragloom.testing.fakes import RegexCounter

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/cases/budget.jsonl").open(encoding="utf-8")
]


def hit(text, headings=()):
    lines = Lines(1, len(text.splitlines()))
    span = Span(0, len(text))
    chunk = Chunk(
        id="0" * 32, uri="a.md", text=text, span=span, lines=lines, bytes=span, headings=headings
    )
    return Hit(chunk=chunk, score=0.5, relevance=0.5)


def build(text, max_tokens, headings=("Steps",), **given):
    return build_context(
        [hit(text, headings)], max_tokens=max_tokens, counter=RegexCounter(), **given
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_reported_cases(case, tmp_path, monkeypatch):
    pytest.importorskip("pyromark")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text(case["text"], encoding="utf-8")
    arguments = ["context", case["query"], "--max-tokens", str(case["max_tokens"]), "--json"]
    result = CliRunner().invoke(cli, arguments)
    found = json.loads(result.stdout)
    assert case["holds"] in found["text"]
    assert case["least_tokens"] <= found["tokens"] <= case["max_tokens"]
    assert [True] == [one["truncated"] for one in found["citations"]]
    assert " (truncated) =====\n" in found["text"]


BLOCKS = {
    "list": [f"- step number {number} of the list" for number in range(40)],
    "numbered": [f"{number}. step of the list" for number in range(40)],
    "table": [f"| {number} | a cell |" for number in range(40)],
    "bare table": [f"{number} | a cell | more" for number in range(40)],
    "fence": ["```sh", *(f"run --stage {number}" for number in range(40)), "```"],
    "indented": [f"    run --stage {number}" for number in range(40)],
    "prose in lines": [f"and step {number} follows the one before" for number in range(40)],
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_block_ends_with_a_whole_line_of_its_own(kind):
    text = "# Steps\n\n" + "\n".join(BLOCKS[kind]) + "\n"
    found = build(text, 90)
    (citation,) = found.citations
    assert citation.truncated
    assert text.startswith(citation.text + "\n")
    assert len(citation.text.splitlines()) > 6
    assert 60 < found.tokens <= 90


def test_prose_still_ends_with_a_sentence():
    sentence = "The first of these sentences is\nwritten in two lines. "
    (citation,) = build("# Steps\n\n" + sentence * 20, 60).citations
    assert citation.text.endswith("two lines.")


def test_never_the_title_alone():
    found = build("# Steps\n\n" + "word " * 300, 60)
    assert () == found.citations
    assert found.reason.startswith("none of 1 passages fits into 60 tokens")
    found = build("Steps\n=====\n\n```\n" + "word " * 300 + "\n```\n", 60)
    assert () == found.citations


def test_what_is_whole_is_not_called_truncated():
    found = build("# Steps\n\n- one\n- two\n", 60)
    assert [False] == [one.truncated for one in found.citations]
    assert "truncated" not in found.text


def test_a_passage_joined_with_the_rest_of_it_is_whole():
    whole = slice_of(hit("one two three"), 0)
    first = beginning(whole, 7)
    assert (True, False) == (first.truncated, whole.truncated)
    assert [False] == [one.truncated for one in merge([first, whole])]
    assert [True] == [one.truncated for one in merge([first, beginning(whole, 3)])]


def test_places_are_ascending_and_inside():
    text = "One. Two.\n- a\n- b\n\n```\nx\n\ny\n```\n"
    for places in ends(text):
        assert list(places) == sorted(set(places))
    assert says_more("# A\n\nx", ("A",))
    assert not says_more("A\n===\n\n```python\n", ("A",))
