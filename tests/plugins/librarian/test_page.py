"""What docs/librarian.md shows works as it stands there."""

import re

import pytest

pytest.importorskip("langgraph", reason="needs the extra [librarian]")


@pytest.fixture
def blocks(root):
    return re.findall(
        r"```python\n(.*?)```", (root / "docs" / "librarian.md").read_text("utf-8"), re.DOTALL
    )


def test_the_graph_of_the_page_runs(blocks, project, monkeypatch):
    monkeypatch.chdir(project)
    # As a module of its own, where LangGraph looks for the state's annotations.
    names = {"__name__": "page"}
    exec(blocks[0], names)  # noqa: S102 - our own page

    final = names["graph"].compile().invoke({})

    assert "docs/standards/error-handling.md" in final["design"]
    assert final["retrieved_context"]


def test_the_graph_of_the_page_runs_without_a_knowledge_base(blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    exec(blocks[0], names)  # noqa: S102 - our own page

    final = names["graph"].compile().invoke({})

    assert "rebuild" in final["degraded_reason"]
    assert final["design"]


def test_the_functions_of_the_page_are_called_as_it_says(blocks, project, monkeypatch):
    (project / "docs" / "brief.md").write_text("# Brief\n\nLog all errors.\n")
    monkeypatch.chdir(project)
    names = {}
    exec(blocks[1], names)  # noqa: S102 - our own page

    assert (True, "") == (names["available"], names["message"])
    assert 3 == len(names["documents"])
    assert names["text"].index("Log all errors.") < names["text"].index("relevance=")


def test_the_settings_of_the_page_are_the_defaults(root, project):
    from ragloom import Workspace
    from ragloom_librarian import LibrarianSettings

    text = (root / "docs" / "librarian.md").read_text("utf-8")
    (yaml,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (project / "ragloom.yaml").write_text(yaml)

    assert LibrarianSettings() == Workspace.open(project).section("librarian", LibrarianSettings)
