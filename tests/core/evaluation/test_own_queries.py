"""Queries that documents make of themselves, and the copy that withholds them."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from ragloom import Document
from ragloom.evaluation.askable import content_words
from ragloom.evaluation.own import copied_uri, write_copy
from ragloom.evaluation.own_queries import own_queries
from ragloom.evaluation.withheld import MOST_SHARED, SHARED, common, merged, moved, stems, without
from ragloom.types import Span

BODY = (
    "The collector reads every stream and sends what it has read to the nearest backend within ten "
    "seconds, or keeps it on the disk until one of the backends answers again."
)


def document(uri, text, media_type="text/markdown", **more):
    return Document(uri=uri, text=text, media_type=media_type, **more)


def made(*documents):
    return {query.kind: query for query in own_queries(documents, limit=50)}


def answer(query, text):
    return text[query.span.start : query.span.end]


def test_a_heading_asks_for_its_section_and_loses_half_of_its_words():
    text = f"# Shipping\n\n## Rotate signing certificates weekly\n\n{BODY}\n\n## Other\n\nShort.\n"
    query = made(document("a.md", text))["heading"]

    assert "Rotate signing certificates weekly" == query.text
    assert ("a.md", "a.md:3") == (query.uri, query.found_at)
    assert answer(query, text).startswith("Rotate")
    assert BODY in answer(query, text)
    assert "Other" not in answer(query, text)
    copy = without(text, query.withheld["a.md"])
    left = content_words(copy.splitlines()[2])
    assert 2 == len(left & content_words(query.text))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BODY, id="none of its words"),
        pytest.param(f"Rotate signing certificates weekly. {BODY}", id="letter for letter"),
        pytest.param(
            f"Weekly, a certificate for signing is rotated; rotating certificates. {BODY}",
            id="all of its words",
        ),
    ],
)
def test_an_answer_keeps_as_many_words_of_its_query_as_of_a_question(body):
    text = f"## Rotate signing certificates weekly\n\n{body}\n"
    query = made(document("a.md", text))["heading"]
    left = set(stems(without(text, query.withheld["a.md"])))
    asked = set(stems(query.text))

    assert 4 == len(asked)
    assert SHARED * 4 == len(asked & left)
    assert set(stems(BODY)) <= left


@pytest.mark.parametrize("words", [8, 10, 12])
def test_an_answer_keeps_few_words_of_a_long_query(words):
    names = [f"{first}{last}" for first in "bcdfg" for last in ("anode", "ovule", "ulcer", "edict")]
    heading = " ".join(names[:words])
    text = f"## {heading}\n\nHere {heading} again. {BODY}\n"
    query = made(document("a.md", text))["heading"]
    left = set(stems(without(text, query.withheld["a.md"])))
    asked = set(stems(query.text))

    assert words == len(asked)
    assert MOST_SHARED == len(asked & left)


def test_words_that_are_withheld_run_into_no_others():
    text = f"{BODY} Operators rotate every credential through vault agents, each morning."
    query = made(document("a.md", text))["sentence"]
    left = without(text, query.withheld["a.md"]).split()
    assert set(left) <= set(re.findall(r"[\w-]+|\S+", text)) | set(text.split()) | {",", "."}


def test_the_sentence_that_shares_most_nearly_as_many_words_is_asked():
    rest = "Vault agents rotate every credential of the collector before any lease of it expires."
    near = "Collector agents hesitate quickly whenever a nearby vault restarts."
    much = "Whatever credential expires, rotate every lease of its vault first."
    far = "Purple elephants danced across several frozen Norwegian meadows yesterday."
    text = f"{rest} {much} {near} {far}\n"
    assert near == made(document("a.md", text))["sentence"].text


def test_text_in_lower_case_has_sentences_between_full_stops_or_words_in_a_row():
    stopped = (
        "the wing stalls at low speed near the ground . a slender wing delays vortex breakdown at "
        "high incidence . it was tested in several tunnels of the institute , with and without flaps ."
    )
    assert made(document("a.md", stopped))["sentence"].text in [
        one.strip() for one in re.split(r"(?<= \.)\s", stopped)
    ]
    plain = stopped.replace(" .", "").replace(" ,", "")
    text = made(document("a.md", plain))["sentence"].text
    assert (True, len(plain.split()) // 3) == (text in plain, len(text.split()))


def test_headings_in_code_and_those_that_stand_twice_ask_nothing():
    twice = f"## Known broken limits\n\n{BODY}\n"
    fenced = f"```sh\n# install every package\n{BODY}\n```\n"
    queries = own_queries(
        [document("a.md", twice), document("b.md", twice), document("c.md", fenced)], limit=50
    )
    assert [] == [query for query in queries if query.kind == "heading"]


def test_a_link_asks_for_its_target_and_is_missing_from_the_copy(tmp_path):
    source = "Read [retention of trace samples](../b/storage.md#keep) first.\n"
    documents = [document("a/x.md", source), document("b/storage.md", f"Trace storage. {BODY}\n")]
    query = made(*documents)["link"]

    assert ("retention of trace samples", "b/storage.md") == (query.text, query.uri)
    (copied,) = write_copy(documents, [query], tmp_path / "copy", tmp_path)
    assert "Read  first.\n" == (tmp_path / "copy" / "a" / "x.md").read_text("utf-8")
    assert "b/storage.md" == copied.uri


def test_links_out_of_the_documents_or_to_what_says_nothing_of_it_ask_nothing():
    source = "[two useful words](https://x.org/a.md) [purple elephants dance](b.md) [here](b.md)\n"
    assert "link" not in made(document("a.md", source), document("b.md", BODY))


@pytest.mark.parametrize(
    "line",
    [
        "- **Spike**: Determine how data of the spike is obtained from every sensor nearby.",
        "**Spike:** Determine how data of the spike is obtained from every sensor nearby.",
        "* **Spike** - Determine how data of the spike is obtained from every sensor nearby.",
    ],
)
def test_a_definition_is_asked_whole_with_the_words_of_its_term(line):
    query = made(document("a.md", f"{line}\n\n{BODY}\n"))["term"]
    assert "Determine how data of the spike is obtained from every sensor nearby." == query.text


def test_a_query_says_what_stands_in_code():
    said = "Every `<type>` of a message stands in a list of types that `{team}` members define."
    query = made(document("a.md", f"{BODY}\n\n- **Type**: {said}\n"))["term"]
    assert said.replace("`", "") == query.text


def test_a_sentence_that_begins_in_bold_is_no_definition():
    text = f"**Editions** are the mechanism that squares this circle for the language.\n\n{BODY}\n"
    assert "term" not in made(document("a.md", text))


def test_bold_questions_terms_and_sentences():
    text = (
        f"**How long are spans kept?**\n\n{BODY}\n\n"
        "- **Baggage**: key value pairs that travel along with every remote call of one trace. "
        f"{BODY}\n\n"
        f"{BODY} Operators rotate credentials through the vault agent every morning. {BODY}\n"
    )
    found = made(document("a.md", text))
    assert "How long are spans kept?" == found["faq"].text
    assert BODY in answer(found["faq"], text)
    assert "Baggage" not in found["term"].text
    assert found["term"].text.startswith("key value pairs")
    assert found["sentence"].text in " ".join(text.split())
    spans = found["sentence"].withheld["a.md"]
    assert found["sentence"].text not in without(text, spans)
    assert BODY in without(text, found["term"].withheld["a.md"])


def test_a_sentence_that_points_back_asks_nothing():
    text = f"This also rotates several credentials of the vault. {'These ' + BODY[4:]}\n\n" * 3
    assert "sentence" not in made(document("a.md", text))


def test_docstrings_of_python_and_comments_of_other_code():
    python = (
        "def rotate(keys):\n"
        '    """Replace expired signing keys everywhere.\n\n    More.\n    """\n'
        "    return keys\n"
    )
    go = "// Rotate replaces expired signing keys everywhere.\nfunc Rotate(keys []Key) {\n}\n"
    query = made(document("a.py", python, "text/x-python"))["docstring"]
    assert "Replace expired signing keys everywhere." == query.text
    assert "def rotate(keys):\n    return keys\n" == without(python, query.withheld["a.py"])
    assert answer(query, python).startswith("def rotate")

    query = made(document("a.go", go, "text/x-go"))["docstring"]
    assert "Rotate replaces expired signing keys everywhere." == query.text
    assert "func Rotate(keys []Key) {\n}\n" == without(go, query.withheld["a.go"])


def test_the_same_documents_and_seed_give_the_same_queries():
    documents = [
        document(f"{n}.md", f"## Topic {chr(97 + n)}{chr(97 + n)}lpha beta{n}x gamma\n\n{BODY}\n")
        for n in range(20)
    ]
    first = own_queries(documents, limit=8, seed=3)
    assert first == own_queries(documents[::-1], limit=8, seed=3)
    assert first != own_queries(documents, limit=8, seed=4)
    assert 8 == len(first)


def test_no_two_queries_withhold_much_of_the_same_characters(tmp_path):
    text = f"## Is the vault rotated?\n\n**Vault** - {BODY}\n\n{BODY} {BODY}\n"
    queries = own_queries([document("a.md", text)], limit=50)
    for one, other in combinations(queries, 2):
        spans = one.withheld["a.md"]
        both = sum(common(a, b) for a in spans for b in other.withheld["a.md"])
        assert both <= 0.2 * max(
            sum(end - start for start, end in query.withheld["a.md"]) for query in (one, other)
        )
    write_copy([document("a.md", text)], queries, tmp_path / "copy", tmp_path)
    every = [span for query in queries for span in query.withheld["a.md"]]
    assert without(text, merged(every)) == (tmp_path / "copy" / "a.md").read_text("utf-8")


def test_spans_that_overlap_are_merged():
    spans = [Span(5, 8), Span(1, 3), Span(2, 4), Span(5, 6), Span(8, 9)]
    assert [Span(1, 4), Span(5, 8), Span(8, 9)] == merged(spans)


def test_spans_move_by_what_is_missing_before_and_in_them():
    text = "0123456789"
    withheld = [Span(1, 3), Span(5, 6)]
    assert "0346789" == without(text, withheld)
    assert Span(1, 5) == moved(Span(3, 8), withheld)
    assert Span(1, 1) == moved(Span(1, 3), withheld)


def test_front_matter_is_copied_and_counts(tmp_path):
    front = "---\ntags: [a]\n---\n"
    text = f"## Rotate signing certificates weekly\n\n{BODY}\n"
    one = document("a.md", text, prefix=front)
    query = made(one)["heading"]
    assert "a.md:4" == query.found_at
    (copied,) = write_copy([one], [query], tmp_path / "copy", tmp_path)
    copy = (tmp_path / "copy" / "a.md").read_text("utf-8")
    assert copy.startswith(front)
    assert copy[copied.span.start : copied.span.end].endswith(f"{BODY}\n")


def test_what_is_gone_leaves_the_copy(tmp_path):
    write_copy([document("a.md", "x"), document("b.md", "y")], [], tmp_path / "c", tmp_path)
    write_copy([document("b.md", "y")], [], tmp_path / "c", tmp_path)
    assert ["b.md"] == [path.name for path in (tmp_path / "c").iterdir()]


@pytest.mark.parametrize(
    ("uri", "copied"),
    [
        ("docs/a.md", "docs/a.md"),
        ("../other/a.md", "_../other/a.md"),
        (".github/a.md", "_.github/a.md"),
    ],
)
def test_names_of_the_copy_lead_nowhere_else(uri, copied):
    assert copied == copied_uri(uri)


def test_a_sentence_of_markup_alone_asks_nothing():
    text = f"{BODY} <https://example.org> ![](picture.png). **Never.** <br/>. {BODY}\n"
    for query in own_queries([document("a.md", text)], limit=50):
        assert query.text.startswith("The collector")
