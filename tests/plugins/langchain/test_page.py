"""What docs/frameworks.md shows works as it stands there."""

import re

import pytest


@pytest.fixture
def blocks(root, folder, space, monkeypatch):
    monkeypatch.chdir(folder)
    page = (root / "docs" / "frameworks.md").read_text("utf-8")
    found = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert 3 == len(found)
    return found


def run(block):
    names = {}
    exec(block, names)  # noqa: S102 - our own page
    return names


def test_the_tool_of_the_page_answers(blocks, capsys):
    run(blocks[0])
    assert "docs/standards/error-handling.md" in capsys.readouterr().out


def test_the_retriever_of_the_page_answers(blocks):
    names = run(blocks[1])
    assert 5 == len(names["documents"])
    assert [] == names["decision"]  # of these pages none lies under docs/adr


def test_the_coroutines_of_the_page_run(blocks):
    run(blocks[2])
