from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom.errors import ConfigError
from ragloom.snapshot.columns import Columns
from ragloom.stores.filters import (
    as_folder,
    as_number,
    check_condition,
    matches,
    parse_condition,
)
from ragloom.testing.conditions import CONDITIONS, FILES, REFUSED
from ragloom.types import Condition

METADATA = {
    "status": "accepted",
    "priority": 2,
    "weight": 2.5,
    "year": "2024",
    "date": "2024-05-01",
    "draft": False,
    "reviewed": True,
    "nothing": None,
    "tags": ["logging", "ops", 3, True],
    "owner": {"team": "core", "people": {"lead": "Ada"}},
    "a.b": "dotted",
    "a": {"b": "nested"},
    "empty": "",
}


@pytest.mark.parametrize(
    ("text", "field", "operator", "value"),
    [
        ("status=accepted", "status", "=", "accepted"),
        ("status==accepted", "status", "=", "accepted"),
        ("status != accepted", "status", "!=", "accepted"),
        ("tags:logging", "tags", ":", "logging"),
        ("date>=2024-01-01", "date", ">=", "2024-01-01"),
        ("priority<3", "priority", "<", "3"),
        ("priority <= 3", "priority", "<=", "3"),
        ("priority>3", "priority", ">", "3"),
        ("title=a=b:c>d", "title", "=", "a=b:c>d"),
        ("url:https://x/y?z=1", "url", ":", "https://x/y?z=1"),
        ("owner.team=core", "owner.team", "=", "core"),
        ('empty=""', "empty", "=", ""),
        ('"due date">=2025', "due date", ">=", "2025"),
        ("'and'=x", "and", "=", "x"),
        ("not=1", "not", "=", "1"),
        ("exists=yes", "exists", "=", "yes"),
        ("title=not x", "title", "=", "not x"),
        ("title=(a or b)", "title", "=", "(a or b)"),
        ('title="a or b"', "title", "=", "a or b"),
        ('title="say "hi" (go)"', "title", "=", 'say "hi" (go)'),
        ('title=" a "', "title", "=", " a "),
        ("title='a'", "title", "=", "a"),
        ('title="\'"', "title", "=", "'"),
        ("path under docs/adr", "path", "under", "docs/adr"),
        ("  path   under  my docs ", "path", "under", "my docs"),
        ("path:docs/adr", "path", "under", "docs/adr"),
        ("path=docs/a.md", "path", "=", "docs/a.md"),
        (
            "\u0441\u0442\u0430\u0442\u0443\u0441=\u0434\u0430",
            "\u0441\u0442\u0430\u0442\u0443\u0441",
            "=",
            "\u0434\u0430",
        ),
        ("title=line\nbreak", "title", "=", "line\nbreak"),
    ],
)
def test_conditions_are_read_as_written(text, field, operator, value):
    assert Condition(field=field, operator=operator, value=value) == parse_condition(text)


@pytest.mark.parametrize(
    "text", ["", "status", "=x", "a b=c", "path under", "path under ", "!x", ":"]
)
def test_what_is_no_condition_is_refused_with_the_legal_forms(text):
    with pytest.raises(ConfigError, match=r"field=value, field!=value.*path under folder") as error:
        parse_condition(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "status=accepted",
        "status!=rejected",
        "priority=2",
        "priority=2.0",
        "priority!=3",
        "weight=2.5",
        "weight>2",
        "priority<10",
        "year>=2023",
        "year<10000",
        "date>=2024-01-01",
        "date<2025",
        "draft=false",
        "draft=False",
        "reviewed=true",
        "nothing=null",
        "nothing!=x",
        "tags:logging",
        "tags:3",
        "tags:true",
        "tags=logging",
        "tags!=log",
        "status:accept",
        "owner.team=core",
        "owner.people.lead=Ada",
        "a.b=dotted",
        'empty=""',
        "missing!=x",
        "owner.missing!=x",
        "status.deeper!=x",
        "path=docs/adr/1.md",
        "path:docs",
        "path under docs/adr/",
        "path under ./docs",
        "path under .",
        "path under docs/adr/1.md",
        "path!=docs",
    ],
)
def test_passed(text):
    assert matches("docs/adr/1.md", METADATA, [parse_condition(text)])


@pytest.mark.parametrize(
    "text",
    [
        "status=Accepted",
        "status=accept",
        "status!=accepted",
        "priority=3",
        "priority=02x",
        "priority!=2",
        "priority>2",
        "priority<x",
        "weight=2",
        "year=2024.0",
        "year>2024",
        "date>=2025-01-01",
        "draft=true",
        "draft=0",
        "reviewed=1",
        'nothing=""',
        "nothing<1",
        "tags!=logging",
        "tags:log",
        "tags:1",
        "owner=core",
        "owner:team",
        "missing=x",
        "missing=null",
        "missing<1",
        "missing:x",
        "status.deeper=x",
        "path=docs",
        "path under doc",
        "path under docs/ad",
        "path under docs/adr/1.md/x",
        "path under adr",
    ],
)
def test_not_passed(text):
    assert not matches("docs/adr/1.md", METADATA, [parse_condition(text)])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, True), (3.0, True), ("3", True), (True, False), (None, False), ("3.00", True)],
)
def test_typed_values_are_strict_and_strings_lenient(value, expected):
    assert expected == matches("x", {"n": 3}, [Condition(field="n", operator="=", value=value)])


def test_a_truth_value_is_no_number():
    assert not matches("x", {"n": True}, [Condition(field="n", operator="=", value=1)])
    assert not matches("x", {"n": 1}, [Condition(field="n", operator="=", value=True)])
    assert not matches("x", {"n": True}, [Condition(field="n", operator=">", value=0)])


def test_a_string_that_looks_like_a_number_does_not_equal_that_number():
    assert not matches("x", {"n": "3"}, [Condition(field="n", operator="=", value=3)])
    assert matches("x", {"n": "3"}, [Condition(field="n", operator=">", value=2)])


def test_every_condition_has_to_pass():
    both = [parse_condition("status=accepted"), parse_condition("priority=3")]
    assert not matches("x", METADATA, both)
    assert matches("x", METADATA, both[:1])
    assert matches("x", METADATA, [])


def test_an_unknown_operator_is_an_error():
    with pytest.raises(ConfigError, match="unknown operator '~'"):
        matches("x", {}, [Condition(field="a", operator="~", value="b")])  # type: ignore[arg-type]


def test_the_key_path_is_hidden_by_the_chunks_own_path():
    assert matches("docs/a.md", {"path": "elsewhere"}, [parse_condition("path=docs/a.md")])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", 3),
        ("-3", -3),
        ("+3.5", 3.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", None),
        ("nan", None),
        ("inf", None),
        ("1_000", None),
        (" 3", None),
        ("\u0663", None),
        ("9" * 400, None),
        ("", None),
        (True, None),
        (float("inf"), None),
        (None, None),
        ([], None),
    ],
)
def test_numbers(value, expected):
    assert expected == as_number(value)
    assert type(expected) is type(as_number(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("docs/", "docs"), ("./docs", "docs"), (".", ""), ("./", ""), ("", ""), ("././/a//", "a")],
)
def test_folders(value, expected):
    assert expected == as_folder(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
FIELDS = st.sampled_from(["a", "a.b", "path", "missing", ""])


@given(
    uri=st.text(max_size=8), metadata=st.fixed_dictionaries({"a": JSON}), field=FIELDS, value=VALUES
)
def test_equal_and_not_equal_are_opposites_and_nothing_raises(uri, metadata, field, value):
    def passes(operator: str) -> bool:
        one = Condition(field=field, operator=operator, value=value)  # type: ignore[arg-type]
        return matches(uri, metadata, [one])

    assert passes("=") is not passes("!=")
    for operator in ("<", "<=", ">", ">=", ":", "under"):
        assert passes(operator) in (True, False)
    if not isinstance(metadata["a"], list):
        assert not (passes("<") and passes(">="))


OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", ":", "exists", "under"])
TESTS = st.builds(Condition, field=FIELDS, operator=OPERATORS, value=VALUES)
JOINED = st.recursive(
    TESTS,
    lambda inner: st.builds(
        Condition,
        field=st.just(""),
        operator=st.sampled_from(["and", "or", "not"]),
        value=st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=5,
)
ALIKE = st.sampled_from(
    [None, False, True, 0, 1, 1.0, "1", "true", "null", [], [1], [True], {"b": 1}]
)


@given(
    files=st.lists(
        st.tuples(st.text(max_size=3), st.just({}) | st.fixed_dictionaries({"a": ALIKE | JSON}))
    ),
    filters=st.lists(st.lists(JOINED, max_size=3), max_size=3),
)
def test_many_files_are_asked_as_each_of_them(files, filters):
    columns = Columns(files)
    for where in filters:
        expected = [matches(uri, metadata, where) for uri, metadata in files]
        assert expected == columns.passing(where).tolist()


def test_fields_that_no_file_has_are_not_remembered():
    columns = Columns([("a.md", {"status": "draft"})])
    for number in range(3):
        assert not columns.passing([parse_condition(f"missing-{number}=x")]).any()
        assert columns.passing([parse_condition("status=draft")]).all()
    assert ["status"] == list(columns._columns)


@given(st.text())
def test_reading_a_condition_gives_one_or_a_config_error(text):
    with contextlib.suppress(ConfigError):
        parse_condition(text)


@pytest.mark.parametrize(("text", "names"), CONDITIONS.items())
def test_the_table(text, names):
    where = [parse_condition(text)]
    passed = [name for name in FILES if matches(f"notes/{name}.md", FILES[name], where)]
    assert names.split() == passed


@pytest.mark.parametrize(("text", "column"), REFUSED.items())
def test_what_is_refused_says_where(text, column):
    with pytest.raises(ConfigError, match=rf"column {column}:"):
        parse_condition(text)


def test_conditions_bind_as_in_other_languages():
    expected = parse_condition("(not a=1) or ((not (b=2)) and c=3)")
    assert expected == parse_condition("not a=1 OR not b=2 AND c=3")


def test_conditions_that_are_too_deep_or_too_long_are_refused():
    with pytest.raises(ConfigError, match="more than 50 parentheses"):
        parse_condition("(" * 60 + "a=1" + ")" * 60)
    with pytest.raises(ConfigError, match="characters: 20,000 at most"):
        parse_condition("a=" + "x" * 20_000)


@pytest.mark.parametrize("part", [" ", " and", "(", ")", '"', " x", ",", "not ", "a=b or "])
def test_reading_a_condition_takes_time_in_proportion(part):
    with contextlib.suppress(ConfigError):
        parse_condition("a=b" + part * (19_000 // len(part)) + "c")


def test_what_joins_no_conditions_is_refused():
    with pytest.raises(ConfigError, match="'or' takes a tuple of conditions, not 'x'"):
        matches("x", {}, [Condition(field="", operator="or", value="x")])
    inner = Condition(field="a", operator="~", value="b")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown operator '~'"):
        check_condition(Condition(field="", operator="not", value=(inner,)))
