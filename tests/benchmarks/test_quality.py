"""What the quality benchmarks choose and count, without an index."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

QUALITY = Path(__file__).parents[2] / "benchmarks" / "quality"


@pytest.fixture
def script(monkeypatch):
    """Imports a script by name, as it imports its neighbours."""
    monkeypatch.syspath_prepend(QUALITY)
    return import_module


def test_words_are_what_grep_sees_between_non_word_characters(script):
    words = script("words")
    text = "A Bulkhead's wall; bulk_head, bulkhead2, naïve (PATTERN)."
    assert {"a", "bulkhead", "s", "wall", "naïve", "pattern"} == words.words_of(text)
    assert words.holds_word(text, "pattern")
    assert not words.holds_word("bulkhead2 or bulk_head", "bulkhead")


def test_urls_and_base64_are_no_words(script):
    text = "see https://example.com/zebra?q=a and data:image/png;base64,iVBORxyz= or " + "Ab1/" * 20
    assert "see and or" == " ".join(script("words").without_links(text).split())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("max_connections", "underscore"),
        ("PluginHost2", "camelCase"),
        ("o200k", "digits"),
        ("ragloom.yaml", "dotted"),
        ("re-index", "hyphenated"),
        ("plain", ""),
        ("10.20", ""),
        ("a_b", ""),
    ],
)
def test_an_identifier_has_a_kind(script, name, kind):
    assert kind == script("words").kind_of(name)


def test_identifiers_end_with_their_last_letter(script):
    text = "Set `max_connections`, see src/foo-bar.md. [x](a%20to%20b) __init_x__"
    assert {"max_connections", "foo-bar.md"} == script("words").names_of(text)


def test_words_stand_in_three_files_at_most_and_outside_of_urls(script):
    texts = {f"{n}.md": "common" for n in range(4)}
    texts |= {"a.md": "Rarely about http://x.y/hidden", "b.md": "rarely a_rarely"}
    chosen = script("words").choose_words(texts, 50, 0)
    assert {"rarely": ["a.md", "b.md"]} == chosen


def test_identifiers_count_inside_of_longer_ones(script):
    texts = {f"{n}.md": f"max_size_{n}" for n in range(4)} | {
        "a.md": "max_size",
        "b.md": "min_size",
    }
    chosen = script("words").choose_names(texts, 50, 0)
    assert "max_size" not in chosen
    assert ["b.md"] == chosen["min_size"]


def distance(first: str, second: str) -> int:
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, 1):
        before, row = row, [number]
        for place, other in enumerate(second):
            row.append(min(before[place] + (letter != other), before[place + 1] + 1, row[-1] + 1))
    return row[-1]


def test_made_up_words_are_three_edits_from_every_word(script):
    made_up = script("words").made_up
    text = "strange banana template marmalade maxRelocate devote_serial UMBRELLA tomato2 potato"
    words = (
        "strange",
        "banana",
        "template",
        "marmalade",
        "relocate",
        "serial",
        "umbrella",
        "tomato",
    )
    found = made_up(text, 30, 0)
    assert found == made_up(text, 30, 0)
    assert found != made_up(text, 30, 1)
    assert 30 == len(set(found))
    assert all(6 <= len(one) <= 10 for one in found)
    assert 3 <= min(distance(one, word) for one in found for word in words)


def test_a_reciprocal_rank_counts_files_once(script):
    rank = script("questions").reciprocal_rank
    assert 0.5 == rank(["a", "a", "b"], ["b", "c"])
    assert 0.0 == rank([*"abcdefghij", "k"], ["k"])


def test_questions_follow_their_corpus(script, tmp_path):
    pairs = script("questions").pairs
    one, other, first, second = (Path(name) for name in ("a.zip", "b", "1.jsonl", "2.jsonl"))
    assert {one: [first, second], other: [first]} == pairs([one, first, second, other, first])
    with pytest.raises(SystemExit, match="before its questions"):
        pairs([first])
    with pytest.raises(SystemExit, match="no questions given"):
        pairs([tmp_path / "unknown.zip"])


def test_a_line_that_is_no_question_is_named(script, tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "q01"}\n', "utf-8")
    with pytest.raises(SystemExit, match=r"q\.jsonl:1: not a question"):
        script("questions").read_questions(path)


def test_forms_are_counted_beside_their_plain_ones(script):
    questions = script("questions")

    def answer(name, form, *, ranked, shown, of=""):
        asked = questions.Question(id=name, form=form, kind="short", query="?", files=["a"], of=of)
        rows = {"ranked": ["a"] if ranked else [], "hits": ["a"] if shown else []}
        return questions.Answer(question=asked, **rows, relevance=0.0, reciprocal_rank=1.0)

    answers = [
        answer("q1", "plain", ranked=True, shown=True),
        answer("q2", "plain", ranked=True, shown=False),
        answer("t1", "typo", ranked=True, shown=False, of="q1"),
    ]
    found = questions.summary(answers)
    assert (2, 1, 0.5) == tuple(found["plain all"][key] for key in ("order", "shown", "ratio"))
    assert 0 == found["typo all"]["shown"]
    assert 1 == found["typo all"]["plain_ones"]["shown"]


def test_ndcg_keeps_the_order_of_a_run_file(script, tmp_path):
    ndcg = script("ndcg")
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 d2 1 0.5 x\nq1 Q0 d1 2 0.5 x\n", "utf-8")  # equal scores
    found = ndcg.ndcg_by_query({"q1": {"d2": 1}, "q2": {"d1": 1}}, ndcg.read_run(path))
    assert {"q1": 1.0, "q2": 0.0} == found


def test_runs_of_a_collection_are_compared(script, tmp_path):
    compare_runs = script("compare_runs")
    gate = {"injection_rate": 0.0, "kept_rate": 0.9}
    runs = []
    for value in (0.5, 0.75):
        by_query = {f"q{number}": value for number in range(20)}
        result = {"collection": "c", "split": "test", "gate": gate, "ndcg@10_by_query": by_query}
        path = tmp_path / f"{value}.json"
        path.write_text(json.dumps({"results": [result]}), "utf-8")
        runs.append(compare_runs.read(path)["c, test"])
    row = compare_runs.row("c, test", *runs)
    assert ["c, test", "20", "0.5000", "0.7500", "+0.2500"] == row[:5]
    assert 0.001 > float(row[5])
    assert "20 / 0" == row[6]


@pytest.mark.parametrize(("name", "split"), [("folder:train", "train"), ("folder", "test")])
def test_a_split_follows_a_colon(script, name, split):
    assert (Path("folder"), split) == script("spaces").parsed(name)


def test_the_kinds_of_identifiers_take_turns(script):
    words = script("words")
    text = " ".join(f"a_{n}x b{n}-{n}y" for n in range(9))
    chosen = list(words.choose_names({"a.md": text}, 4, 0))
    assert all(words.kind_of(one) != words.kind_of(other) for one, other in pairwise(chosen))


def test_formats_count_what_is_in_no_chunk_and_which_headings_agree(script, capsys):
    from ragloom import Document, Span

    formats = script("formats")
    document = Document(uri="a.md", text="one two\n\nthree")
    assert 0 == formats.lost(document, [Span(0, 7), Span(9, 14)])
    assert 5 == formats.lost(document, [Span(4, 7), Span(11, 14)])
    figures = dict.fromkeys(formats.FIGURES, 0)
    formats.compare(figures, [(1, "A *b*"), (2, "C")], [(1, "A b"), (3, "C"), (2, "D")], "a.md")
    assert (2, 1, 3) == (figures["headings"], figures["found"], figures["ours"])
    assert capsys.readouterr().out.startswith("a.md\n")


def test_formats_take_files_of_each_kind(script, tmp_path):
    for name in ("a.rst", "b.rst", "c.rst", "d.adoc", "e.xyz", "f.json"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text("x", "utf-8")
    (tmp_path / "in" / "x-examples.json").write_text('[{"markdown": "# A\\n"}]', "utf-8")
    taken = script("formats").gathered([tmp_path / "in"], tmp_path / "out", 2)
    assert [
        ("AsciiDoc", "d.adoc"),
        ("Markdown", "x-examples/000.md"),
        ("reStructuredText", "a.rst"),
        ("reStructuredText", "b.rst"),
        ("settings, data", "f.json"),
        ("settings, data", "x-examples.json"),
    ] == [(kind, origin) for kind, _, origin in taken]


PYTHON = (
    'class Vault:\n    """Keeps the keys of every door in the house.\n\n    More.\n    """\n\n'
    "    def turn(self):\n        return 1\n"
)
GO = (
    "package a\n\n// Turn opens a door with the oldest key. It waits.\n"
    "func Turn(k Key) {\n\topen()\n}\n"
)
RUST = "/// Opens a door with the `Key` of its room.\n#[inline]\npub fn turn(k: Key) {\n    open()\n}\n"
TYPESCRIPT = (
    "/**\n * Opens a door with the oldest key\n *\n * @param k the key\n */\n"
    "export function turn(k: Key): void {\n  open();\n}\n"
)
CODE = {
    "python": ("a.py", PYTHON, "Keeps the keys of every door in the house", "class Vault:"),
    "go": ("a.go", GO, "opens a door with the oldest key", "func Turn(k Key) {"),
    "rust": ("a.rs", RUST, "Opens a door with the Key of its room", "pub fn turn(k: Key) {"),
    "typescript": (
        "a.ts",
        TYPESCRIPT,
        "Opens a door with the oldest key",
        "export function turn(k: Key): void {",
    ),
}


@pytest.mark.parametrize("language", CODE)
def test_a_doc_comment_asks_for_its_definition_and_is_withheld(script, language):
    name, text, sentence, header = CODE[language]
    queries, indexed = script("code_queries").code_queries({name: text}, language, limit=9)
    (query,) = queries
    assert ("comment", sentence) == (query.kind, query.text)
    assert header == indexed[name].splitlines()[query.first - 1].strip()
    assert "oldest key" not in indexed[name]
    assert "the keys of every door" not in indexed[name]


def test_a_sentence_that_the_files_repeat_or_that_two_definitions_have_asks_nothing(script):
    one = "// Turn opens a door with the oldest key.\nfunc Turn() {\n}\n"
    made = script("code_queries").code_queries
    other = one.replace("Turn", "Open")
    assert [] == list(made({"a.go": one, "b.go": other}, "go", limit=9)[0])
    assert [] == list(
        made({"a.go": one, "b.go": "// It opens a door with the oldest key."}, "go", limit=9)[0]
    )


def test_the_answer_is_the_first_hit_that_shares_a_line_with_the_definition(script):
    search, queries = script("code_search"), script("code_queries")
    query = queries.CodeQuery(kind="name", text="t", uri="a.go", name="t", first=5, last=9)
    hits = [("a.go", 1, 4, 10), ("b.go", 5, 9, 20), ("a.go", 9, 30, 40)]
    found = [search.Found(*hit) for hit in hits]
    assert (3, 70, True) == search.answer_of(query, found)
    assert (0, 30, True) == search.answer_of(query, found[:2])


def test_each_half_of_the_repositories_is_in_four_languages_or_more(script):
    for half in ("tune", "held"):
        found = script("code_search").repositories(half)
        assert len({one.language for one in found}) >= 4
    assert len(script("code_search").repositories()) >= 8
