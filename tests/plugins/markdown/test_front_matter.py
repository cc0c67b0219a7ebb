"""Front matter: what is metadata, what is text, and what nobody may do with it."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("yaml")

from ragloom import Document, Source
from ragloom.text import FrontMatterError, split_front_matter
from ragloom_markdown.loader import MarkdownLoader

FOLDER = Path(__file__).parents[2] / "data/cases"
CASES = [
    json.loads(line)
    for name in ("front_matter.jsonl", "more_front_matter.jsonl")
    for line in (FOLDER / name).open(encoding="utf-8")
]
SOURCE = Source(uri="a.md", path=Path("a.md"), modified=1.5)


def load(content: str | bytes) -> Document:
    return MarkdownLoader().load(SOURCE, content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, object]) -> None:
    content = base64.b64decode(str(case["base64"]))
    document = load(content)
    assert case["body"] == document.text
    assert case["warning"] == bool(document.warnings)
    if "metadata" in case:
        assert case["metadata"] == document.metadata
    assert json.loads(json.dumps(document.metadata, allow_nan=False)) == document.metadata
    whole = (document.prefix + document.text).encode(document.encoding)
    assert content == content[: document.bom] + whole


@pytest.mark.parametrize(
    ("block", "metadata"),
    [
        ("a: yes\nb: no\nc: on", {"a": "yes", "b": "no", "c": "on"}),
        ("a: true\nb: False\nc: ~\nd:", {"a": True, "b": False, "c": None, "d": None}),
        ("a: 010\nb: 0x1F\nc: 0o17\nd: 1_000", {"a": 10, "b": 31, "c": 15, "d": "1_000"}),
        (
            "a: 1.5\nb: 1e3\nc: .5\nd: .nan\ne: -.inf",
            {"a": 1.5, "b": 1e3, "c": 0.5, "d": ".nan", "e": "-.inf"},
        ),
        ("a: 1e999", {"a": "1e999"}),
        ("a: 2026-7-3\nb: 2024-02-30", {"a": "2026-07-03", "b": "2024-02-30"}),
        ("a: 2026-07-03 04:05:06Z", {"a": "2026-07-03T04:05:06+00:00"}),
        ("a: 2026-07-03t04:05:06.5 -7", {"a": "2026-07-03T04:05:06.5-07:00"}),
        ("1: a\ntrue: b\n2026-07-03: c", {"1": "a", "true": "b", "2026-07-03": "c"}),
        ("a: &x {p: 1}\nb: {<<: *x, q: 2}", {"a": {"p": 1}, "b": {"p": 1, "q": 2}}),
        ("a: !!str 1\nb: '1'\nc: !!set {x, y}", {"a": "1", "b": "1", "c": {"x": None, "y": None}}),
        ("a: =\nb: '<<'", {"a": "=", "b": "<<"}),
        ("Tags: a, , b\nkeywords: [1, ~, x]", {"Tags": ["a", "b"], "keywords": [1, "x"]}),
        ("tags: 5", {"tags": [5]}),
    ],
)
def test_values_are_typed_as_in_yaml_1_2(block: str, metadata: object) -> None:
    document = load(f"---\n{block}\n---\nbody\n")
    assert (metadata, "body\n", ()) == (document.metadata, document.text, document.warnings)


@pytest.mark.parametrize(
    "content",
    [
        "---\n- a\n- b\n---\nbody\n",
        "---\njust text\n---\nbody\n",
        "---\n\nNote: text between rules\n\n---\nbody\n",
        "---\n\nNote: text between rules\n---\nbody\n",
        "---\n \t\ntags: [a]\n---\nbody\n",
        "---\n\n# First part\n---\n\n# Second part\n",
        "---\n\n---\nbody\n",
        "----\na: b\n----\nbody\n",
        " ---\na: b\n---\nbody\n",
        "\n---\na: b\n---\nbody\n",
        "---\na: b\n --- \nbody\n",
        "--- a: b\n---\nbody\n",
        "---",
        "",
    ],
)
def test_what_is_no_front_matter_is_text(content: str) -> None:
    document = load(content)
    assert (content, {}, ()) == (document.text, document.metadata, document.warnings)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("close", ["---", "...", "---  \t"])
def test_ends_of_lines_and_of_the_block(ends: str, close: str) -> None:
    document = load(ends.join(["--- ", "a: b", "", close, "body", ""]))
    assert ({"a": "b"}, f"body{ends}") == (document.metadata, document.text)


@pytest.mark.parametrize(
    "block",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
        + "".join(
            f"k{n}: &k{n} [*{p}, *{p}, *{p}]\n"
            for n, p in enumerate(["c", *(f"k{i}" for i in range(9))])
        ),
        "a: " + "[" * 60 + "]" * 60,
        "a: &x [*x]",
        "a: b: c",
        "a: 'open",
        "a: *nothing",
        "a: \t- x\n\tb",
        "a: b\n? [c, d]\n: e",
    ],
)
def test_what_yaml_cannot_or_may_not_read_is_named_and_the_text_kept(block: str) -> None:
    document = load(f"---\n{block}\n---\nbody\n")
    assert "body\n" == document.text
    assert 1 == len(document.warnings)
    json.dumps(document.metadata, allow_nan=False)


def test_nothing_is_executed() -> None:
    document = load("---\nx: !!python/object/apply:os.system [exit]\ny: 1\nz: !foo {a: 1}\n---\n")
    assert {"y": 1} == document.metadata
    assert 2 == len(document.warnings)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("lines", "metadata", "named"),
    [
        (
            ["title: Foo: a bar", "count: 3", "tags: a, b", "x: [1"],
            {"title": "Foo: a bar", "count": 3, "tags": ["a", "b"]},
            ["line 2", "read as text", "line 5", "skipped"],
        ),
        (
            ["title: Knots: a guide", "tags:", "- rope", "- deck", "owner:", "  team: core"],
            {"title": "Knots: a guide", "tags": ["rope", "deck"], "owner": {"team": "core"}},
            ["line 2"],
        ),
        (
            ["title: {{title}}", "date: {{ date:YYYY }}", "tags: [daily]"],
            {"title": "{{title}}", "date": "{{ date:YYYY }}", "tags": ["daily"]},
            ["line 2", "line 3"],
        ),
        (
            ["tags: [a, b]", "{% if draft %}", "status: draft", "note: 'open", "when: 2025-03-01"],
            {"tags": ["a", "b"], "status": "draft", "note": "'open", "when": "2025-03-01"},
            ["line 3", "line 5"],
        ),
        (
            ["aliases: [Big ship, Boat]", "@bad: 1", "text: |", "  a: b: c", "tags: x"],
            {"aliases": ["Big ship", "Boat"], "text": "a: b: c\n", "tags": ["x"]},
            ["line 3"],
        ),
        (
            ["tags: [a]", "owner:", "  team: a: b", "  lead: c", "end: yes"],
            {"tags": ["a"], "end": "yes"},
            ["line 4", "skipped"],
        ),
    ],
)
def test_a_bad_line_loses_itself_and_is_named(
    lines: list[str], metadata: object, named: list[str], ends: str
) -> None:
    document = load(ends.join(["---", *lines, "---", "body", ""]))
    (warning,) = document.warnings
    assert metadata == document.metadata
    assert f"body{ends}" == document.text
    assert [] == [one for one in named if one not in warning]


@given(st.text("ab:-#[]{}&*!|>'\"%@,.~\n\r\t ?=<0123_"))
def test_any_block_gives_json_and_loses_no_text(block: str) -> None:
    content = f"---\n{block}\n---\nbody\n"
    document = load(content)
    assert content == document.prefix + document.text
    assert document.text.endswith("body\n")
    assert json.loads(json.dumps(document.metadata, allow_nan=False)) == document.metadata


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \n", "# a\n"])
def test_blank_lines_before_what_is_no_yaml_take_no_time(blank: str) -> None:
    # A pattern that takes twice as long for each line would not end.
    document = load(f"---\n{blank * 200}(a:(\nb: c: [\n---\nhello\n")
    assert document.text.rstrip().endswith("hello")


BOMBS = {
    "long": "".join(f"k{number}: value\n" for number in range(100_000)),
    "values": "".join(f"k{number}: [a, b, c, d, e, f]\n" for number in range(15_000)),
    "merged": "a: &a {x: 1}\n" + "".join(f"k{number}: {{<<: *a}}\n" for number in range(20_000)),
    "aliases": "a: &a [x, x]\n"
    + "".join(f"k{number}: &k{number} [{', '.join(['*a'] * 400)}]\n" for number in range(100)),
    "deep": "a: " + "[" * 150_000 + "\n",
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_a_warning_and_the_text_is_kept(kind: str) -> None:
    started = time.perf_counter()
    found = split_front_matter(f"---\n{BOMBS[kind]}---\nText.\n")
    assert time.perf_counter() - started < 20
    assert found is not None
    (warning,) = found.warnings
    assert warning.startswith("front matter: ")
    with pytest.raises(FrontMatterError):
        split_front_matter(f"---\n{BOMBS[kind]}---\nText.\n", strict=True)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_toml_between_plus_signs(ends: str) -> None:
    lines = [
        'title = "A"',
        "date = 2026-01-01",
        "tags = ['a']",
        "draft = true",
        "[owner]",
        "n = inf",
    ]
    document = load(ends.join(["+++", *lines, "+++", "body", ""]))
    expected = {"title": "A", "date": "2026-01-01", "tags": ["a"], "draft": True}
    assert {**expected, "owner": {"n": "inf"}} == document.metadata
    assert (f"body{ends}", ()) == (document.text, document.warnings)


def test_a_bad_line_of_toml_loses_itself_and_is_named() -> None:
    document = load("+++\ntitle = Knots\ntags = ['a']\n+++\nbody\n")
    assert {"tags": ["a"]} == document.metadata
    (warning,) = document.warnings
    assert warning.endswith("lines that are not read: 2")


@pytest.mark.parametrize("content", ["+++\ntitle = 1\n", "+++ a\n+++\n", "++++\na = 1\n++++\n"])
def test_plus_signs_that_are_no_toml_are_text(content: str) -> None:
    assert (content, {}) == (load(content).text, load(content).metadata)


@pytest.mark.parametrize(
    ("content", "metadata", "body"),
    [
        (';;;\n{"title": "T", "tags": "a, b"}\n;;;\nbody\n', {"title": "T", "tags": ["a", "b"]}, "body\n"),
        (';;;\r\n"title": "T",\r\n"draft": true\r\n;;; \r\nbody', {"title": "T", "draft": True}, "body"),
        (';;;\n"title": "T",\n;;;\n', {"title": "T"}, ""),
        (";;;\n;;;\nbody\n", {}, "body\n"),
        ('{\n  "title": "T",\n  "n": NaN\n}\n\n# H\n', {"title": "T", "n": "nan"}, "\n# H\n"),
    ],
)  # fmt: skip
def test_front_matter_in_json(content: str, metadata: object, body: str) -> None:
    document = load(content)
    assert (metadata, body, ()) == (document.metadata, document.text, document.warnings)
    assert content == document.prefix + document.text


@pytest.mark.parametrize(
    "content",
    [
        ';;;\n"title": "T"\nbody\n', '{"title": "T"}\n', '{"title": "T"} body\n', "{title}\nbody\n",
        '{"title": \nbody\n', '["a"]\nbody\n', "{}\nbody\n", " ;;;\n;;;\n", ";;; lisp\n(car x)\n",
    ],
)  # fmt: skip
def test_what_is_no_front_matter_in_json_is_text(content: str) -> None:
    document = load(content)
    assert (content, {}, ()) == (document.text, document.metadata, document.warnings)


def test_front_matter_that_is_no_json_is_named() -> None:
    document = load(';;;\n"title": T\n;;;\nbody\n')
    assert ("body\n", {}) == (document.text, document.metadata)
    assert "not JSON" in document.warnings[0]
