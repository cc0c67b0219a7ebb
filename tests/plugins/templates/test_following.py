"""A library follows its files, and folders that are added to it."""

from __future__ import annotations

import json

import pytest

from ragloom import SourceError
from ragloom_templates import TemplateLibrary
from ragloom_templates.everyday import everyday


@pytest.fixture
def library(workspace, write):
    write("data/templates/bread.md", "---\nname: Bread\ndescription: Bake bread\n---\nKnead.\n")
    write("data/templates/boat.md", "---\nname: Boat\ndescription: Sail a boat\n---\nHoist.\n")
    with TemplateLibrary(workspace=workspace) as made:
        yield made


def first(library, problem):
    return library.search(problem, 1, 0.0)[0]


def test_a_search_finds_a_file_that_is_new(library, write):
    assert "bread" == first(library, "bake bread dough").id
    write("data/templates/forge.md", "---\nname: Forge\ndescription: Forge a nail\n---\nHeat.\n")
    assert "forge" == first(library, "forge a nail").id


def test_a_search_finds_the_new_text_of_an_edited_file_and_not_the_old(library, write):
    assert "boat" == first(library, "sail a boat").id
    write("data/templates/boat.md", "---\nname: Kite\ndescription: Fly a kite\n---\nRun.\n")
    found = first(library, "fly a kite")
    assert ("Fly a kite", "Run.") == (found.description, found.content.strip())
    assert all(one.description != "Sail a boat" for one in library.search("sail a boat", 9, 0.0))


def test_an_edited_file_is_not_matched_by_its_old_text_even_without_an_index_run(library, write):
    library.index()
    write("data/templates/boat.md", "---\nname: Kite\ndescription: Fly a kite\n---\nRun.\n")
    assert ["bread"] == [one.id for one in library.rank("sail a boat", 9, 0.0)]


def test_a_file_that_is_gone_is_not_found(library, workspace):
    library.index()
    (workspace.root / "data/templates/boat.md").unlink()
    assert ["bread"] == [one.id for one in library.search("sail a boat", 9, 0.0)]


def test_a_search_after_nothing_changed_embeds_no_template(library, embedder):
    first(library, "bake bread dough")
    before = len(embedder.calls) if hasattr(embedder, "calls") else None
    first(library, "bake bread dough")
    assert 0 == library.refresh().embedded
    assert before is None or before <= len(embedder.calls)


def test_a_changed_library_embeds_no_everyday_sentence_again(library, write, embedder, monkeypatch):
    first(library, "bake bread dough")
    queries = []
    embed = embedder.embed_query

    def embed_query(text):
        queries.append(text)
        return embed(text)

    monkeypatch.setattr(embedder, "embed_query", embed_query)
    write("data/templates/kite.md", "Fly a kite in the wind.")
    assert "kite" == first(library, "fly a kite").id
    assert "fly a kite" in queries
    assert set(queries).isdisjoint(everyday())


def test_a_damaged_vocabulary_is_built_again(library):
    first(library, "bake bread dough")
    file = library.space.directory / "vocabulary.npz"
    file.write_bytes(file.read_bytes()[:100])
    (library.space.directory / "words.json").write_text("{", "utf-8")
    with TemplateLibrary(workspace=library.workspace) as other:
        assert "bread" == first(other, "bake bread dough").id


def test_a_folder_is_added_followed_and_removed(library, write):
    folder = write("elsewhere/skills/weave/SKILL.md", "---\nname: weave\n---\nWeave.\n").parents[1]
    assert ["weave"] == [one.id for one in library.add_folder(folder)]
    write(
        "elsewhere/skills/knit/SKILL.md", "---\nname: knit\ndescription: Knit a sock\n---\nKnit.\n"
    )
    assert "knit" == first(library, "knit a sock").id
    library.remove(str(folder))
    assert ["boat", "bread"] == [one.id for one in library.list()]
    assert (folder / "weave" / "SKILL.md").is_file()


def test_a_folder_of_a_skill_is_added_as_that_skill(library, write):
    skill = write("elsewhere/weave/SKILL.md", "---\nname: weave\n---\nWeave.\n")
    assert ["weave"] == [one.id for one in library.add_folder(skill.parent)]


def test_a_folder_without_templates_is_refused_and_the_library_stays(library, tmp_path):
    empty = tmp_path / "nothing"
    empty.mkdir()
    library.index()
    with pytest.raises(SourceError, match="no template in it"):
        library.add_folder(empty)
    assert ["boat", "bread"] == [one.id for one in library.list()]
    assert 0 == len(library._added)


def test_fabrics_descriptions_are_read_and_followed(workspace, write):
    write("fabric/data/patterns/create_npc/system.md", "# IDENTITY\n\nYou are an expert.\n")
    described = {"patternName": "create_npc", "description": "Make a character", "tags": ["GAMING"]}
    file = write(
        "fabric/scripts/pattern_descriptions/pattern_descriptions.json",
        json.dumps({"patterns": [described]}),
    )
    with TemplateLibrary(["fabric/data/patterns"], workspace=workspace) as library:
        library.index()
        found = library.get("create_npc")
        assert ("Make a character", ["gaming"]) == (found.description, found.keywords)
        assert "create_npc" == first(library, "make a character").id
        described["description"] = "Invent a hero"
        file.write_text(json.dumps({"patterns": [described]}), "utf-8")
        assert "Invent a hero" == first(library, "invent a hero").description
        file.write_text("{}", "utf-8")
        assert 1 == library.index()
        assert "You are an expert." == library.get("create_npc").description


def test_descriptions_above_the_workspace_are_not_read(workspace, write, tmp_path):
    write("patterns/create_npc/system.md", "You are an expert.\n")
    described = {"patternName": "create_npc", "description": "Make a character"}
    above = tmp_path.parent / "pattern_descriptions.json"
    above.write_text(json.dumps({"patterns": [described]}), "utf-8")
    try:
        with TemplateLibrary(["patterns"], workspace=workspace) as library:
            library.index()
            assert "You are an expert." == library.get("create_npc").description
    finally:
        above.unlink()


def test_what_a_file_says_of_itself_is_kept(library, write):
    write(
        "data/templates/pdf/SKILL.md",
        """\
        ---
        name: pdf
        description: Fill in forms
        license: Apache-2.0
        allowed-tools: Read, Bash(pdftk:*)
        metadata: {author: somebody, version: 1.10}
        applyTo: "**/*.pdf"
        ---
        Fill in.
        """,
    )
    found = first(library, "fill in forms")
    assert {
        "license": "Apache-2.0",
        "allowed-tools": "Read, Bash(pdftk:*)",
        "metadata": {"author": "somebody", "version": "1.10"},
        "applyTo": "**/*.pdf",
    } == {
        key: found.front_matter[key] for key in ("license", "allowed-tools", "metadata", "applyTo")
    }
    assert found.front_matter == library.get("pdf").front_matter
