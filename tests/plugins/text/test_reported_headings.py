"""Headings where other tools lost them, by the format's own parser."""

import json
from pathlib import Path

import pytest

from ragloom import Source
from ragloom_text.notebook import NotebookLoader
from ragloom_text.rst import titles

CASES = Path(__file__).parents[2] / "data/cases"


def cases(name):
    return [json.loads(line) for line in (CASES / name).open(encoding="utf-8")]


@pytest.mark.parametrize("case", cases("rst_headings.jsonl"), ids=lambda case: case["name"])
def test_restructured_text(case):
    found = [
        {
            "title": one.title,
            "level": one.level,
            "line": case["text"].count("\n", 0, one.span.start) + 1,
        }
        for one in titles(case["text"])
    ]
    assert case["sections"] == found


def notebook(*cells):
    content = json.dumps({"cells": cells, "nbformat": 4}).encode()
    return NotebookLoader().load(Source(uri="a.ipynb", path=Path("a.ipynb")), content).text


def headings(text):
    blocks = pytest.importorskip("ragloom_markdown.blocks")
    return [block.title for block in blocks.parse(text).blocks if block.kind == "heading"]


@pytest.mark.parametrize("case", cases("notebooks.jsonl"), ids=lambda case: case["name"])
def test_notebooks(case):
    assert case["titles"] == headings(notebook(*case["cells"]))


@pytest.mark.parametrize(
    "open_block",
    [
        "~~~~\nx", "   ```\nx", "```a\n~~~", "````\n```", "<!-- x", "<PRE>\nx", "<script>\nx",
        "<style>\nx", "<textarea>\nx", "<?php\nx", "<![CDATA[\nx", "<!DOCTYPE\nx",
        "```\nx\n```\n\n```", "<!-- a --> b\n\n<!-- c",
    ],
)  # fmt: skip
def test_nothing_that_a_cell_leaves_open_takes_the_next_cell(open_block):
    cells = [{"cell_type": "markdown", "source": one} for one in (open_block, "# Next")]
    assert ["Next"] == headings(notebook(*cells))


@pytest.mark.parametrize(
    "closed", ["```\nx\n```", "~~~\nx\n~~~~  ", "<pre>x</pre>", "<!-- a\n-->", "`` ` ``", "a <pre>"]
)
def test_what_is_closed_stays_as_it_is(closed):
    assert f"{closed}\n" == notebook({"cell_type": "markdown", "source": closed})
