"""``make_tool``: a plain function over a space."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragloom import ConfigError, SpaceGroup, make_tool

PAGES = {
    "docs/logs.md": "# Logs\n\nErrors are logged with their stack.\n",
    "docs/trace.md": "# Traces\n\nA trace has spans of errors.\n",
    "notes/review.md": "# Reviews\n\nA reviewer reads how errors are logged.\n",
}


@pytest.fixture
def space(make_space, files):
    for path, text in PAGES.items():
        (files / path).parent.mkdir(exist_ok=True)
        (files / path).write_text(text)
    made = make_space(min_relevance=0.0)
    made.index()
    return made


def test_it_is_a_plain_function_with_a_name_types_and_arguments(space):
    tool = make_tool(space, name="search_docs", description="Search the\n docs.")
    assert inspect.isfunction(tool)
    assert ("search_docs", "search_docs") == (tool.__name__, tool.__qualname__)
    assert "(query: str, top_k: int = 5) -> str" == str(inspect.signature(tool))
    lines = inspect.getdoc(tool).splitlines()
    assert "Search the docs." == lines[0]
    assert [name for name in ("query", "top_k") if f"    {name}: " in "\n".join(lines)] == [
        "query",
        "top_k",
    ]


def test_it_returns_the_text_of_a_context(space):
    expected = space.context("errors logged", top_k=2).text
    assert expected == make_tool(space)("errors logged", top_k=2)
    assert expected == make_tool(SpaceGroup([space]))("errors logged", 2)


def test_the_model_cannot_lift_conditions(space):
    tool = make_tool(space, where=["path under docs"])
    text = tool("how does a reviewer read?", top_k=9)
    assert "docs/logs.md" in text
    assert "notes/review.md" not in text


def test_what_has_no_room_is_counted(space):
    tool = make_tool(space, max_tokens=40)
    text = tool("errors logged", top_k=9)
    assert "passages omitted: ask a narrower question" in text.splitlines()[-1]


def test_nothing_found_says_why(space):
    text = make_tool(space, min_relevance=1.0)("errors")
    assert text.startswith("No passage: no relevant match (best 0.")
    assert "or read " in text


def test_what_goes_wrong_in_a_search_is_told_to_the_model(space, make_space):
    assert "search_documents failed: top_k: " in make_tool(space)("errors", top_k=-1)
    assert "search_documents failed: query: " in make_tool(space)(None)
    nothing = make_tool(make_space(name="other"), name="find")("errors")
    assert nothing.startswith("find failed: ")
    assert "nothing is indexed in 'other'" in nothing


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "search docs"}, "tool name 'search docs'"),
        ({"name": "süche"}, "tool name 'süche'"),
        ({"description": " "}, "expected a description"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"mode": "semantic"}, "unknown mode 'semantic'"),
        ({"where": ["nonsense"]}, "nonsense"),
    ],
)
def test_wrong_values_are_refused_when_it_is_made(space, options, said):
    with pytest.raises(ConfigError, match=said):
        make_tool(space, **options)


def test_threads_may_call_it(space):
    tool = make_tool(space)
    expected = tool("errors logged")
    with ThreadPoolExecutor(8) as pool:
        assert {expected} == set(pool.map(tool, ["errors logged"] * 32))
