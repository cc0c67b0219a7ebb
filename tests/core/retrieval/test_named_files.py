"""A file that a query names is found by its name, whatever is asked of it."""

from __future__ import annotations

import pytest

NOTES = {
    "docs/setup.md": "# Setup\n\nRun the installer.\n\n## Limits\n\nTen connections at most.\n",
    "docs/errors.md": "# Errors\n\nThe disk is full.\n",
    "src/app.py": "def main():\n    return 0\n",
    "config/app.yaml": "server:\n  port: 8080\n",
    "docs/ports.md": "# Ports\n\nThe port is 8080.\n",
    **{f"part{number}/README.md": f"# Part {number}\n\nAbout it.\n" for number in range(5)},
}


@pytest.fixture
def found(make_space, files):
    for name, text in NOTES.items():
        (files / name).parent.mkdir(exist_ok=True)
        (files / name).write_text(text, "utf-8")
    space = make_space()
    space.index()
    return lambda query: [hit.chunk for hit in space.search(query, mode="lexical").hits]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("what does docs/setup.md say?", "docs/setup.md"),
        ("what does setup.md say?", "docs/setup.md"),
        ("summarise ./docs/setup.md please", "docs/setup.md"),
        ("explain SETUP.md", "docs/setup.md"),
        ("see (docs/errors.md)", "docs/errors.md"),
        ("what is src/app.py for", "src/app.py"),
        ("the port of config/app.yaml:2", "config/app.yaml"),
        ("part3/README.md, what is it?", "part3/README.md"),
    ],
)
def test_a_named_file_is_found(found, query, path):
    chunks = found(query)
    assert path == chunks[0].uri


@pytest.mark.parametrize(("line", "heading"), [(3, "Setup"), (5, "Limits"), (7, "Limits")])
def test_a_line_names_the_chunk_that_has_it(found, line, heading):
    assert [heading] == [chunk.headings[-1] for chunk in found(f"look at docs/setup.md:{line}")]


def test_a_line_behind_the_end_names_the_file(found):
    assert {"docs/setup.md"} == {chunk.uri for chunk in found("look at docs/setup.md:900")}


def test_a_line_number_is_no_identifier(found, files):
    assert {"docs/setup.md"} == {chunk.uri for chunk in found("setup.md:8080")}


@pytest.mark.parametrize(
    "query",
    [
        "what does docs/missing.md say?",
        "what does etup.md say?",
        "mail me@setup.md today",
        "see otherdocs/setup.md there",
        "what does README.md say?",  # there are five
    ],
)
def test_another_name_names_no_file(found, query):
    assert [] == found(query)
