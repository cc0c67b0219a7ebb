import contextlib
import dataclasses
import json

import pytest

from ragloom import Chunk, ConfigError, Context, Hit, Lines, Span
from ragloom.context.citations import TextFormatter
from ragloom.context.packing import STRATEGIES, build_context
from ragloom.errors import MissingDependencyError, ModelError
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import line_starts
from ragloom.text.tokens import counter

PAGE = """\
# Errors

Errors are logged once. They carry a request id.

Warnings are not errors. They are counted.

## Retries

A retry waits longer each time. After five it gives up.
"""
LOGGED = "Errors are logged once. They carry a request id."
WARNINGS = "Warnings are not errors. They are counted."
RETRIES = "A retry waits longer each time. After five it gives up."


def hit(
    text, *, page=PAGE, uri="a.md", score=0.5, relevance=None, headings=("Errors",), start=None
):
    start = page.index(text) if start is None else start
    end = start + len(text)
    starts = line_starts(page)
    line = sum(one <= start for one in starts)
    return Hit(
        chunk=Chunk(
            id=f"{uri}-{start:06}-{end:06}",
            uri=uri,
            text=text,
            span=Span(start, end),
            lines=Lines(line, sum(one < end for one in starts)),
            bytes=Span(start, end),
            headings=headings,
        ),
        score=score,
        relevance=score if relevance is None else relevance,
    )


def build(*hits, **given):
    given.setdefault("counter", RegexCounter())
    return build_context(hits, **given)


def read(_uri):
    return PAGE


def test_passages_come_with_exact_sources(tmp_path):
    found = build(
        hit(RETRIES, score=0.4, headings=("Errors", "Retries")), hit(LOGGED), root=tmp_path
    )
    assert [
        ("a.md", tmp_path / "a.md", Lines(3, 3), 0.5, LOGGED, ("Errors",)),
        ("a.md", tmp_path / "a.md", Lines(9, 9), 0.4, RETRIES, ("Errors", "Retries")),
    ] == [
        (one.path, one.file, one.lines, one.relevance, one.text, one.headings)
        for one in found.citations
    ]
    assert (
        f"===== [1] a.md:3 | Errors =====\n{LOGGED}\n===== end [1] =====\n\n"
        f"===== [2] a.md:9 | Errors > Retries =====\n{RETRIES}\n===== end [2] =====\n"
    ) == found.text
    assert (RegexCounter().count(found.text), 4000) == (found.tokens, found.max_tokens)
    assert ((), "") == (found.omitted, found.reason)


def test_neighbours_become_one_passage_with_the_blanks_of_the_file():
    found = build(hit(WARNINGS, score=0.9), hit(LOGGED, score=0.2), read_text=read)
    (citation,) = found.citations
    assert f"{LOGGED}\n\n{WARNINGS}" == citation.text
    assert citation.text in PAGE
    assert (Lines(3, 5), 0.9) == (citation.lines, citation.relevance)


def test_neighbours_stay_apart_without_the_file_and_where_it_has_changed():
    for reader in (None, lambda _: None, lambda _: "", lambda _: PAGE.replace("id", "no")):
        found = build(hit(WARNINGS), hit(LOGGED), read_text=reader)
        assert 2 == len(found.citations)


def test_what_is_not_shown_does_not_come_in_between():
    found = build(hit(LOGGED), hit(RETRIES), read_text=read)
    assert 2 == len(found.citations)
    assert WARNINGS not in found.text


def test_overlap_is_shown_once():
    whole = "Errors are logged once. They carry a request id.\n\nWarnings are not errors."
    found = build(hit(whole), hit("They carry a request id.\n\nWarnings are not errors. They are"))
    assert [f"{whole} They are"] == [one.text for one in found.citations]
    assert build(hit(whole), hit("They carry")).text == build(hit(whole)).text


def test_slices_that_touch_are_joined_without_the_file():
    first, second = "Errors are logged ", "once. They"
    assert [first + second] == [one.text for one in build(hit(second), hit(first)).citations]


def test_the_same_place_in_two_files_is_two_passages():
    assert 2 == len(build(hit(LOGGED), hit(LOGGED, uri="b.md"), read_text=read).citations)


def test_a_hit_given_twice_is_taken_once():
    found = build(hit(LOGGED), hit(LOGGED))
    assert (1, 1) == (len(found.hits), len(found.citations))


def test_a_hit_that_does_not_fit_is_left_out_whole_and_smaller_ones_are_tried():
    long = "word " * 40 + "end."
    big = hit(long, page=long, uri="big.md", score=0.6)
    first, last = hit(LOGGED, score=0.9), hit(RETRIES, score=0.3)
    found = build(last, big, first, max_tokens=build(first, last).tokens)
    assert [LOGGED, RETRIES] == [one.text for one in found.citations]
    assert (big,) == found.omitted
    assert (first, big, last) == found.hits


def test_a_passage_larger_than_the_budget_is_cut_at_a_sentence():
    page = "One two three. Four five\nsix seven. Eight nine ten eleven. Twelve."
    cut = "One two three. Four five\nsix seven."
    note = RegexCounter().count(" (truncated)")
    enough = build(hit(cut, page=page)).tokens + note
    (citation,) = build(hit(page, page=page), max_tokens=enough - 1).citations
    assert "One two three." == citation.text
    found = build(hit(page, page=page), max_tokens=enough)
    (citation,) = found.citations
    assert cut == citation.text
    assert Lines(1, 2) == citation.lines
    assert ((), "") == (found.omitted, found.reason)


def test_nothing_is_cut_within_a_sentence():
    page = "one two three four five six seven eight nine ten " * 3
    only = hit(page, page=page)
    found = build(only, max_tokens=50)
    assert ("", (), 0, (only,)) == (found.text, found.citations, found.tokens, found.omitted)
    assert "none of 1 passages fits into 50 tokens: the first, a.md:1-1, takes 64" == found.reason


@pytest.mark.parametrize("budget", [0, -1])
def test_no_budget_is_an_empty_context(budget):
    found = build(hit(LOGGED), max_tokens=budget)
    assert ("", 0) == (found.text, found.tokens)
    assert found.reason


def test_no_hits_say_why():
    assert Context(max_tokens=4000, reason="too cold") == build(reason="too cold")
    assert "nothing was found" == build().reason


def test_recency_takes_the_file_changed_last_first():
    old, new = hit(LOGGED, uri="old.md", score=0.9), hit(LOGGED, uri="new.md", score=0.1)
    found = build(old, new, strategy="recency", modified={"old.md": 1.0, "new.md": 2.0})
    assert ["new.md", "old.md"] == [one.path for one in found.citations]


def test_diversity_prefers_what_is_new():
    same = hit(LOGGED, uri="copy.md", score=0.5)
    found = build(hit(LOGGED, score=0.6), same, hit(RETRIES, score=0.45), strategy="diversity")
    assert [LOGGED, RETRIES, LOGGED] == [one.text for one in found.citations]
    found = build(
        hit(LOGGED, score=0.6), same, hit(RETRIES, score=0.45), strategy="diversity", limit=2
    )
    assert [LOGGED, RETRIES] == [one.text for one in found.citations]


def test_an_unknown_strategy_is_named():
    with pytest.raises(
        ConfigError, match=r"unknown strategy 'luck' \(available: relevance, recency"
    ):
        build(strategy="luck")


def test_titles_are_shown_once():
    section = "## Retries\n\nA retry waits longer each time."
    above = hit(section, headings=("Errors", "Retries"))
    assert build(above).text.startswith("===== [1] a.md:7-9 | Errors =====\n## Retries\n")
    twice = build(hit("Errors are logged once."), hit("Warnings are not errors."))
    assert 1 == twice.text.count("| Errors")
    assert ("Errors",) == twice.citations[1].headings


def test_the_formatter_is_counted_as_it_renders():
    class Shouting:
        def render(self, context):
            return json.dumps([one.text for one in context.citations]) + "! " * 50

    found = build(hit(LOGGED), formatter=Shouting(), max_tokens=65)
    assert 65 == found.tokens
    assert build(hit(LOGGED), formatter=Shouting(), max_tokens=40).citations == ()


def test_a_delimiter_that_grows_is_counted():
    runs = "= " + "=" * 30
    found = build(
        hit(LOGGED, score=0.9), hit(runs, page=runs, uri="b.md", score=0.1), max_tokens=60
    )
    assert found.tokens <= 60


def counters():
    yield RegexCounter()
    yield counter("approximate")
    with contextlib.suppress(MissingDependencyError, ModelError):  # not on every machine
        yield counter("cl100k_base")


@pytest.mark.parametrize("counting", [*counters()], ids=lambda one: one.name)
def test_whatever_the_hits_and_the_budget(counting):
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    words = st.sampled_from(
        [
            "Errors",
            "retry.",
            "Wait!",
            "=====",
            "```",
            "<|end|>",
            "日本語。",
            "\n",
            "\n\n",
            "a",
            "é",
            "\r\n",
        ]
    )
    texts = st.lists(st.one_of(words, st.text(max_size=6)), min_size=1, max_size=40).map(" ".join)
    texts = texts.filter(bool)  # of nothing there is no slice
    pages = st.lists(texts, min_size=1, max_size=3)

    @st.composite
    def found(draw):
        hits = []
        for number, page in enumerate(draw(pages)):
            for _ in range(draw(st.integers(0, 4))):
                start = draw(st.integers(0, len(page) - 1))
                end = draw(st.integers(start + 1, len(page)))
                score, relevance = draw(st.floats(0, 1)), draw(st.floats(0, 1))
                one = hit(
                    page[start:end],
                    page=page,
                    uri=f"{number}.md",
                    start=start,
                    score=score,
                    relevance=relevance,
                )
                hits.append((one, page))
        return hits

    @hypothesis.given(found(), st.integers(-5, 200), st.sampled_from(STRATEGIES), st.booleans())
    @hypothesis.settings(max_examples=150)
    def holds(pairs, budget, strategy, readable):
        hits = [one for one, _ in pairs]
        whole = {one.chunk.uri: page for one, page in pairs}
        arguments = {
            "max_tokens": budget,
            "strategy": strategy,
            "counter": counting,
            "read_text": whole.get if readable else None,
            "modified": {uri: float(len(page)) for uri, page in whole.items()},
        }
        context = build_context(hits, **arguments)

        assert context == build_context(hits[::-1], **arguments)
        assert context.tokens == counting.count(context.text) <= max(budget, 0)
        assert bool(context.text) == (context.reason == "")
        assert context.text == (TextFormatter().render(context) if context.citations else "")
        shown = [one for one in context.hits if one not in context.omitted]
        assert bool(shown) == bool(context.citations)
        assert {one.chunk.id for one in hits} == {one.chunk.id for one in context.hits}
        places = []
        for citation in context.citations:
            page = whole[citation.path]
            length = len(citation.text)
            begins = [
                place
                for place in range(len(page))
                if page.startswith(citation.text, place)
                and sum(one <= place for one in line_starts(page)) == citation.lines.start
            ]
            assert begins
            # By where they stand: one that was cut and then joined says neither more nor less.
            within = [
                one
                for one in shown
                if one.chunk.uri == citation.path
                and any(
                    place < one.chunk.span.end and one.chunk.span.start < place + length
                    for place in begins
                )
            ]
            assert within
            assert citation.relevance in {one.relevance for one in within} | {
                max(one.relevance for one in shown if one.chunk.uri == citation.path)
            }
            places.append(min(context.hits.index(one) for one in within))
        if strategy == "relevance":
            assert sorted(context.hits, key=lambda one: -one.score) == list(context.hits)
        if shown and context.hits[0] in shown:
            assert 0 in places[:1]

    holds()


def test_overlapping_slices_cover_each_character_once():
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    page = "".join(chr(0x4E00 + number) for number in range(60))  # every character once

    @hypothesis.given(st.lists(st.tuples(st.integers(0, 59), st.integers(1, 60)), min_size=1))
    def holds(edges):
        spans = [(start, end) for start, end in edges if start < end]
        context = build(*(hit(page[start:end], page=page, start=start) for start, end in spans))
        shown = "".join(citation.text for citation in context.citations)
        assert len(set(shown)) == len(shown)
        assert set(shown) == {page[at] for start, end in spans for at in range(start, end)}

    holds()


def test_a_context_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        build(hit(LOGGED)).text = ""
