from __future__ import annotations

import pytest

from ragloom.stores.filters import parse_condition
from ragloom.types import Condition
from ragloom_milvus._expressions import narrowing
from ragloom_milvus._rows import collection_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s=a", '(metadata["s"] == "a" or json_contains(metadata["s"], "a"))'),
        (
            "n=3",
            (
                '(metadata["n"] == "3" or metadata["n"] == 3 or json_contains(metadata["n"], "3")'
                ' or json_contains(metadata["n"], 3))'
            ),
        ),
        ("tags:x", '(json_contains(metadata["tags"], "x") or metadata["tags"] >= "")'),
        (
            "a.b=x",
            (
                '(metadata["a.b"] == "x" or json_contains(metadata["a.b"], "x")'
                ' or metadata["a"]["b"] == "x" or json_contains(metadata["a"]["b"], "x"))'
            ),
        ),
        ("path=a or path=b", '((uri == "a") or (uri == "b"))'),
        ("(path=a or path=b) and n>2", '(((uri == "a") or (uri == "b")))'),
        ("path under notes/", '(uri == "notes" or (uri >= "notes/" and uri < "notes0"))'),
        ("path=a_%.md", '(uri == "a_%.md")'),
    ],
)
def test_what_is_narrowed(text, expected):
    assert expected == narrowing([parse_condition(text)])


@pytest.mark.parametrize(
    "text",
    [
        "status!=accepted",
        "not path=a",
        "path=a or n>2",
        "exists n",
        "n>2",
        "date<2025-01-01",
        "status=café",
        "status=K",
        'title="say "hi""',
        "title=back\\slash",
        "title=line\nbreak",
        "n=null",
        f"n={2**60}",
        "path under .",
        'path="x"y"',
        'we"ird=x',
        "ключ=x",
    ],
)
def test_what_is_left_to_ragloom(text):
    assert narrowing([parse_condition(text)]) == ""


def test_conditions_are_joined():
    where = [parse_condition("path=x"), parse_condition("b!=y"), parse_condition("path=z")]
    expected = '(uri == "x") and (uri == "z")'
    assert expected == narrowing(where)
    assert f"({expected})" == narrowing([parse_condition("path=x and b!=y and path=z")])
    assert narrowing([]) == ""
    assert narrowing([Condition(field="a", operator="=", value=None)]) == ""


def test_collection_names_are_legal_and_never_the_same_for_two_spaces():
    spaces = [
        "docs",
        "Docs",
        "docs ",
        "docs-a",
        "docs_a",
        "docs/a",
        "日本",
        "本日",
        "",
        "x" * 500,
        "x" * 501,
    ]
    names = [collection_name("ragloom", space) for space in spaces]
    assert len(set(names)) == len(spaces)
    for name in [*names, collection_name("9 lives", "a"), collection_name("", "a")]:
        assert name.isascii()
        assert name.replace("_", "a").isalnum()
        assert not name[0].isdigit()
        assert len(name) <= 255
    assert names[0].startswith("ragloom_docs_")
