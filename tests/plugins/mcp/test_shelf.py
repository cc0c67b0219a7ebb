"""What is served: the spaces that were named, and lessons only where a setting says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragloom import ConfigError, NotIndexedError, SourceError, Workspace

pytest.importorskip("mcp")

from ragloom_mcp.excerpts import CHARACTERS_AT_ONCE, LINES_AT_ONCE, excerpt
from ragloom_mcp.shelf import agent_shelf, space_shelf, workspace_shelf

FAILURE = "The migration of the orders table times out"
SOLUTION = "Create the index concurrently, migrate in batches"


@pytest.fixture
def lessons(workspace):
    """A lesson that was captured and embedded, as an orchestrator does it."""
    pytest.importorskip("sqlalchemy")
    from ragloom_knowledge import KnowledgeBase

    with KnowledgeBase.of(workspace) as knowledge:
        knowledge.capture_failure_solution("shop", "backend", FAILURE, solution_steps=SOLUTION)
        assert knowledge.process_checkpoint("shop").processed == 1


def test_every_space_of_the_workspace(workspace):
    shelf = workspace_shelf(workspace)

    assert shelf.names() == ["docs", "runbooks"]
    assert [space.name for space in shelf.spaces()] == ["docs", "runbooks"]
    assert shelf.spaces("docs") == [shelf.space("docs")]
    with pytest.raises(ConfigError, match="unknown space 'doc'; did you mean 'docs'"):
        shelf.space("doc")
    assert shelf.space("docs") is shelf.space("docs")
    assert shelf.space("docs").embedder is shelf.space("runbooks").embedder


def test_one_space_and_no_other(workspace):
    shelf = space_shelf(workspace, "docs")

    assert (shelf.names(), shelf.spaces()) == (["docs"], [shelf.space("docs")])
    with pytest.raises(ConfigError, match="unknown space 'runbooks'"):
        shelf.space("runbooks")
    with pytest.raises(ConfigError, match="unknown space 'dcs'; did you mean 'docs'"):
        space_shelf(workspace, "dcs")


def test_where_nothing_is_indexed_it_says_what_to_do(tmp_path, plugins):
    shelf = workspace_shelf(Workspace.open(tmp_path, host=plugins))

    with pytest.raises(
        NotIndexedError, match="docs: nothing is indexed here yet: run 'ragloom index'"
    ):
        shelf.space("docs")
    with pytest.raises(NotIndexedError, match=r"^nothing is indexed here yet: run 'ragloom index'"):
        shelf.spaces()


def test_lessons_are_served_only_where_a_setting_names_them(workspace, lessons, project, plugins):
    shelf = workspace_shelf(workspace)
    assert shelf.names() == ["docs", "runbooks"]
    with pytest.raises(ConfigError, match="unknown space 'knowledge'"):
        shelf.space("knowledge")
    with pytest.raises(ConfigError, match="unknown space 'knowledge'"):
        space_shelf(workspace, "knowledge")

    with (project / "ragloom.yaml").open("a", encoding="utf-8") as settings:
        settings.write("knowledge: {serve: true}\n")
    named = Workspace.open(project, host=plugins)
    assert workspace_shelf(named).names() == ["docs", "knowledge", "runbooks"]
    for shelf in (workspace_shelf(named), space_shelf(named, "knowledge")):
        (hit,) = shelf.space("knowledge").search("why does a migration time out?").hits
        assert SOLUTION in hit.chunk.text
        assert SOLUTION in excerpt(shelf.space("knowledge"), hit.chunk.uri).text
        assert shelf.space("knowledge").search("a recipe for apple pie").hits == ()


@pytest.mark.parametrize("name", ["knowledge-base", "knowledge", "knowledges"])
def test_a_space_is_served_whatever_its_name(name, workspace):
    settings = replace(workspace.settings.defaults, sources=("ops",))
    workspace.space(name, settings=settings).index()

    assert workspace_shelf(workspace).names() == ["docs", name, "runbooks"]
    assert workspace_shelf(workspace).space(name).name == name
    assert len(space_shelf(workspace, name).space(name).snapshot()) == 1


def test_two_spaces_of_one_name_are_refused(project, plugins):
    with (project / "ragloom.yaml").open("a", encoding="utf-8") as settings:
        settings.write("  knowledge: {sources: [ops]}\nknowledge: {serve: true}\n")
    with pytest.raises(ConfigError, match="two spaces have the name 'knowledge'"):
        workspace_shelf(Workspace.open(project, host=plugins))


def test_an_agent_is_served_although_another_one_is_broken(workspace, project):
    with (project / "agents.yaml").open("a", encoding="utf-8") as agents:
        agents.write("  - {id: broken, docs: {base_dir: nowhere, sources: [docs]}}\n")

    assert agent_shelf(workspace, "storage").names() == ["storage"]
    with pytest.raises(ConfigError, match=r"agents\.yaml:5: docs\.base_dir: there is no folder"):
        agent_shelf(workspace, "broken")


def test_a_space_that_appears_is_served(project, plugins):
    workspace = Workspace.open(project, host=plugins)
    shelf = workspace_shelf(workspace)
    (project / "new").mkdir()
    (project / "new" / "a.md").write_text("New.", "utf-8")
    settings = replace(workspace.settings.defaults, sources=("new",))
    workspace.space("new", settings=settings).index()

    assert shelf.names() == ["docs", "new", "runbooks"]


def test_an_agents_documents_and_no_others(workspace, project):
    shelf = agent_shelf(workspace, "storage")
    (space,) = shelf.spaces()
    space.index()

    assert shelf.names() == ["storage"]
    hits = space.search("start a virtual machine or copy a bucket", min_relevance=0).hits
    assert {hit.chunk.uri for hit in hits} == {"docs/s3.md"}
    with pytest.raises(ConfigError, match="unknown agent with documents 'storge'; did you"):
        agent_shelf(workspace, "storge")
    with pytest.raises(ConfigError, match="unknown agent with documents 'silent'"):
        agent_shelf(workspace, "silent")


def test_what_is_not_indexed_says_what_to_run(workspace, project, plugins):
    with pytest.raises(NotIndexedError, match="run 'ragloom agents index storage'"):
        agent_shelf(workspace, "storage").space("storage").search("bucket")

    with (project / "ragloom.yaml").open("a", encoding="utf-8") as settings:
        settings.write("knowledge: {serve: true}\n")
    named = Workspace.open(project, host=plugins)
    with pytest.raises(NotIndexedError, match="run 'ragloom knowledge checkpoint'"):
        space_shelf(named, "knowledge").space("knowledge").search("bucket")


def test_lines_are_letter_for_letter(workspace, project):
    space = workspace.space("docs")
    text = (project / "docs" / "s3.md").read_text("utf-8")

    whole = excerpt(space, "docs/s3.md")
    assert (whole.text, whole.start_line, whole.end_line, whole.lines) == (text, 1, 5, 5)
    some = excerpt(space, "docs/s3.md", 3, 3)
    assert (some.text, some.changed) == ("Copy a bucket with aws s3 cp.\n", False)
    assert excerpt(space, "docs/s3.md", 4, 99).end_line == 5

    (project / "docs" / "s3.md").write_text("New.", "utf-8")
    changed = excerpt(space, "docs/s3.md")
    assert (changed.text, changed.changed) == ("New.", True)


def test_front_matter_and_line_ends_count_as_in_the_file(project, plugins):
    content = b"---\r\ntitle: A\r\n---\r\n# A\r\n\r\nText.\r\n"
    (project / "docs" / "a.md").write_bytes(content)
    space = Workspace.open(project, host=plugins).space("docs")
    space.index()
    lines = space.search("text", mode="lexical", min_relevance=0).hits[0].chunk.lines

    found = excerpt(space, "docs/a.md", *lines)

    assert found.text.encode() == content[content.index(b"# A") :]
    assert found.lines == 6


def test_no_more_than_so_many_lines_at_once(project, plugins):
    (project / "docs" / "long.md").write_text("Line.\n" * (LINES_AT_ONCE + 5), "utf-8")
    space = Workspace.open(project, host=plugins).space("docs")
    space.index()

    assert excerpt(space, "docs/long.md").end_line == LINES_AT_ONCE
    assert excerpt(space, "docs/long.md", 2).end_line == LINES_AT_ONCE + 1
    rest = excerpt(space, "docs/long.md", LINES_AT_ONCE + 1)
    assert (rest.start_line, rest.end_line) == (LINES_AT_ONCE + 1, LINES_AT_ONCE + 5)


def test_long_lines_are_read_a_few_at_once_and_one_that_is_too_long_is_truncated(project, plugins):
    line, long = "Words. " * 5000, "word " * 30_000
    (project / "docs" / "long.md").write_text(f"{line}\n" * 5 + f"{long}\n{line}\n", "utf-8")
    space = Workspace.open(project, host=plugins).space("docs")
    space.index()

    first = excerpt(space, "docs/long.md")
    assert (first.end_line, first.truncated, first.text) == (2, False, f"{line}\n" * 2)
    long_line = excerpt(space, "docs/long.md", 6, 7)
    assert (long_line.end_line, long_line.truncated, long_line.text) == (
        6,
        True,
        long[:CHARACTERS_AT_ONCE],
    )


@pytest.mark.parametrize(
    "path",
    ["ops/restart.md", "ragloom.yaml", "../secret.md", "/etc/passwd", "docs/../ragloom.yaml", ""],
)
def test_only_indexed_files_are_read(path, workspace):
    with pytest.raises(SourceError, match="is not an indexed file of 'docs'"):
        excerpt(workspace.space("docs"), path)


def test_a_file_that_became_a_link_to_outside_is_not_followed(workspace, project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "s3.md"
    outside.write_text("Outside.", "utf-8")
    (project / "docs" / "s3.md").unlink()
    (project / "docs" / "s3.md").symlink_to(outside)

    with pytest.raises(SourceError, match="leads outside the sources"):
        excerpt(workspace.space("docs"), "docs/s3.md")


def test_a_file_that_became_a_link_to_a_secret_is_not_followed(workspace, project):
    (project / "docs" / "credentials.json").write_text("{}", "utf-8")
    (project / "docs" / "s3.md").unlink()
    (project / "docs" / "s3.md").symlink_to(project / "docs" / "credentials.json")

    with pytest.raises(SourceError, match="looks like a secret"):
        excerpt(workspace.space("docs"), "docs/s3.md")


def test_secrets_are_not_even_indexed(project, plugins):
    (project / "docs" / "secrets.yaml").write_text("key: 1", "utf-8")
    (project / "docs" / ".env").write_text("KEY=1", "utf-8")
    space = Workspace.open(project, host=plugins).space("docs")
    space.index()

    for path in ("docs/secrets.yaml", "docs/.env"):
        with pytest.raises(SourceError, match="is not an indexed file"):
            excerpt(space, path)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [(9, None, "has 5 lines; there is no line 9"), (3, 2, "end_line 2 comes before start_line 3")],
)
def test_lines_that_are_not_there(start, end, message, workspace):
    with pytest.raises(SourceError, match=message):
        excerpt(workspace.space("docs"), "docs/s3.md", start, end)


def test_a_file_that_is_gone(workspace, project):
    (project / "docs" / "s3.md").unlink()
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        excerpt(workspace.space("docs"), "docs/s3.md")


def test_lines_are_shown_without_secrets(project, plugins):
    token = "glpat" + "-" + "aB3dEfGhIjKlMnOpQrSt"
    text = f"# A\n\nThe mirror pulls with {token} at night.\n"
    (project / "docs" / "a.md").write_text(text, "utf-8")
    space = Workspace.open(project, host=plugins).space("docs")
    space.index()
    shown = excerpt(space, "docs/a.md")
    assert token not in shown.text
    assert (len(shown.text), shown.lines, shown.changed) == (len(text), 3, False)
