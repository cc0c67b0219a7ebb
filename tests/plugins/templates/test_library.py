"""A library without a model: what is read, what is not, and under which id."""

import json
import logging
from textwrap import dedent

import pytest

from ragloom import ConfigError, ModelError, SourceError, StoreError, Workspace, __version__
from ragloom_templates import TemplateLibrary, TemplateSettings

from .conftest import PROOF


@pytest.fixture
def library(workspace):
    return TemplateLibrary(["one", "two"], workspace=workspace)


def ids(library):
    return [template.id for template in library.list()]


def test_ids_are_paths_below_the_folders(library, write):
    write("one/proof.md", "Text.")
    write("one/math/proof.md", "Text.")
    write("one/skills/builder/SKILL.md", "Text.")
    write("one/npc/system.md", "Text.")
    write("two/review.prompt.md", "Text.")
    assert 5 == library.index()
    assert ["math/proof", "npc", "proof", "review.prompt", "skills/builder"] == ids(library)


def test_two_folders_may_hold_the_same_name(library, write):
    write("one/proof.md", "The first.")
    write("two/proof.md", "The second.")
    write("two/other.md", "Text.")
    assert 3 == library.index()
    assert ["other", "proof", "two/proof"] == ids(library)
    assert "The first." == library.get("proof").content
    assert "The second." == library.get("two/proof").content


def test_material_of_a_skill_is_no_template(library, write):
    write("one/builder/SKILL.md", "Text.")
    write("one/builder/reference/api.md", "Text.")
    write("one/builder/examples/SKILL.md", "Text.")
    write("one/npc/system.md", "Text.")
    write("one/npc/user.md", "Text.")
    write("one/npc/deeper/notes.md", "Text.")
    assert 3 == library.index()
    assert ["builder", "npc", "npc/deeper/notes"] == ids(library)


def test_a_folder_may_be_one_skill(workspace, write):
    write("builder/SKILL.md", "---\ndescription: Builds.\n---\nText.")
    write("builder/notes.md", "Text.")
    library = TemplateLibrary(["builder"], workspace=workspace)
    assert 1 == library.index()
    assert [("builder", "builder")] == [(one.id, one.name) for one in library.list()]


def test_what_lies_about_is_no_template(library, write):
    write("one/README.md", "Text.")
    write("one/LICENSE.md", "Text.")
    write("one/data.txt", "Text.")
    write("one/proof.md", "Text.")
    assert 1 == library.index()


def test_broken_templates_are_reported_and_the_rest_load(library, write, caplog):
    write("one/good.md", PROOF)
    write("one/open.md", "---\nname: [a\n---\nText.\n")
    write("one/empty.md", "---\nname: a\n---\n")
    (write("one/binary.md", "x")).write_bytes(bytes(range(256)) * 8)
    with caplog.at_level(logging.WARNING, "ragloom"):
        assert 1 == library.index()
    skipped = {file.path: file.error for file in library.skipped}
    assert ["one/binary.md", "one/empty.md", "one/open.md"] == sorted(skipped)
    assert "front matter, line 2: " in skipped["one/open.md"] or "line 3" in skipped["one/open.md"]
    assert "it has no content below its front matter" == skipped["one/empty.md"]
    assert 3 == sum("skipped" in record.getMessage() for record in caplog.records)
    assert ["good"] == ids(library)


def test_a_template_that_breaks_is_not_matched_any_more(library, write):
    file = write("one/proof.md", PROOF)
    library.index()
    assert "proof" == library.search("Proof by contradiction", threshold=0.0)[0].id
    file.write_text("---\nname: [a\n---\nText\n", "utf-8")
    assert 0 == library.index()
    assert library.search("Proof by contradiction", threshold=0.0)[0].fallback
    file.unlink()
    assert 0 == library.index()


def test_only_what_changed_is_embedded(library, write, embedder):
    for number in range(20):
        write(f"one/{number}.md", f"Template number {number}.")
    assert 20 == library.index()
    embedded = len(embedder.passages)
    assert 20 == library.index()
    assert embedded == len(embedder.passages)
    write("one/7.md", "Another text altogether.")
    report = library.refresh()
    assert (("one/7.md",), 19) == (report.updated, report.unchanged)
    assert report.embedded == len(embedder.passages) - embedded <= 2


def test_a_file_that_is_gone_leaves_the_library(library, write):
    file = write("one/proof.md", PROOF)
    write("one/other.md", "Text.")
    library.index()
    file.unlink()
    assert [] == [m for m in library.search("contradiction", threshold=0.0) if m.id == "proof"]
    assert 1 == library.index()
    assert ["other"] == ids(library)


def test_a_library_is_indexed_by_its_first_search(library, write):
    write("one/proof.md", PROOF)
    assert "proof" == library.search("Proof by contradiction", threshold=0.0)[0].id
    assert library.is_ready()


def test_what_fails_is_logged_and_the_fallback_comes(library, write, embedder, caplog, monkeypatch):
    write("one/proof.md", PROOF)
    library.index()

    def fail(_text):
        raise ModelError("the model is gone")

    monkeypatch.setattr(embedder, "embed_query", fail)
    (match,) = library.search("Proof by contradiction")
    assert (True, 0.5) == (match.fallback, match.score)
    assert "templates: the model is gone; the fallback is used" in caplog.text
    with pytest.raises(ModelError):
        library.rank("Proof by contradiction")


def test_the_fallback_is_the_one_of_the_settings(workspace, write):
    write("one/mine.md", "Think twice.")
    settings = TemplateSettings(dirs=("one",), fallback="mine")
    library = TemplateLibrary(workspace=workspace, settings=settings)
    library.index()
    assert ("mine", "Think twice.") == (library.fallback().id, library.fallback().content)
    library.remove("mine")
    assert "bot-chain-of-thought" == library.fallback().id


def test_what_was_removed_stays_out_and_comes_back_when_added(library, write, workspace):
    file = write("one/proof.md", PROOF)
    library.index()
    library.remove("proof")
    assert file.is_file()
    again = TemplateLibrary(["one", "two"], workspace=workspace)
    assert 0 == again.index()
    assert "proof" == again.add(file).id
    assert 1 == again.index()
    with pytest.raises(SourceError, match="no template 'nothing'"):
        again.remove("nothing")


def test_a_file_that_is_no_template_is_not_added(library, write):
    library.index()
    broken = write("elsewhere/broken.md", "---\nname: [a\n---\nText\n")
    with pytest.raises(SourceError, match="front matter"):
        library.add(broken)
    with pytest.raises(SourceError, match="no such file"):
        library.add("nowhere.md")
    with pytest.raises(SourceError, match=r"only '\.md' files"):
        library.add(write("elsewhere/text.txt", "Text."))
    assert 0 == library.index()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("text.txt", "Text.", r"text\.txt: only '\.md' files are templates"),
        (".env.md", "Text.", r"\.env\.md: looks like a secret"),
        ("skill/more.md", "Text.", r"more\.md: .* belongs to the template of its folder"),
        ("broken.md", "---\nname: x\nkeywords: [\n---\nText", r"broken\.md: front matter, line \d"),
        ("empty.md", "---\nname: x\n---\n", r"empty\.md: it has no content"),
        ("binary.md", "a\0b" * 200, r"binary\.md: "),
    ],
)
def test_what_cannot_be_added_is_named_and_not_remembered(
    library, write, workspace, caplog, name, content, said
):
    write("one/proof.md", PROOF)
    write("one/skill/SKILL.md", "Text.")
    library.index()
    file = write(f"{'one' if '/' in name else 'elsewhere'}/{name}", content)

    with pytest.raises(SourceError, match=said):
        library.add(file)

    file.unlink()
    caplog.clear()
    for again in (library, TemplateLibrary(["one", "two"], workspace=workspace)):
        assert 2 == again.index()
    assert [] == caplog.messages


@pytest.mark.parametrize("change", ["add", "remove"])
def test_a_change_that_fails_is_undone(library, write, workspace, monkeypatch, change):
    write("one/proof.md", PROOF)
    file = write("elsewhere/why.md", "Ask why.")
    library.index()

    def fail(**_):
        raise ModelError("the model is gone")

    with monkeypatch.context() as patch:
        patch.setattr(library.space, "index", fail)
        with pytest.raises(ModelError):
            library.add(file) if change == "add" else library.remove("proof")

    for again in (library, TemplateLibrary(["one", "two"], workspace=workspace)):
        assert 1 == again.index()
        assert ["proof"] == [template.id for template in again.list()]


def test_a_file_that_was_added_and_is_gone_can_be_removed(library, write, caplog):
    file = write("elsewhere/why.md", "Ask why.")
    library.add(file)
    file.unlink()
    assert 0 == library.index()
    assert "'ragloom templates remove elsewhere/why.md'" in caplog.text

    library.remove("elsewhere/why.md")

    caplog.clear()
    assert 0 == library.index()
    assert "" == caplog.text


def test_the_index_lies_apart_from_other_spaces(library, write, workspace, tmp_path):
    write("one/proof.md", PROOF)
    library.index()
    assert [] == list(workspace.spaces())
    assert (tmp_path / ".ragloom" / "templates").is_dir()


def test_settings_are_read_from_the_workspace(workspace, tmp_path, write):
    write("prompts/proof.md", PROOF)
    written = dedent("""\
        embedder: counting
        store: file
        templates:
          dirs: [prompts]
          top_k: 1
          threshold: 0.0
          weights: {keywords: 2}
    """)
    (tmp_path / "ragloom.yaml").write_text(written, "utf-8")
    opened = type(workspace).open(tmp_path, host=workspace.host)
    library = TemplateLibrary(workspace=opened)
    assert 1 == library.index()
    (match,) = library.search("anything at all")
    assert "proof" == match.id
    chunk = library.space.snapshot().chunk(0)
    assert 2 == chunk.context.count("Keywords: ")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[]", "expected a mapping with dirs, "),
        ("{dir: x}", "unknown option 'dir'; did you mean 'dirs'"),
        ("{dirs: [1]}", "option 'dirs' must be a list of str"),
        ("{dirs: [~nosuchuser/x]}", "dirs must be a path that begins with"),
        ("{top_k: 0}", "top_k must be a whole number from 1"),
        ("{threshold: 65}", "threshold must be a number from 0 to 1"),
        ("{threshold: true}", "'threshold'"),
        ("{fallback: ''}", "fallback must be the id of a template"),
        ("{weights: 2}", "'weights'"),
        ("{weights: {name: 9}}", "the weight 'name' must be 0 to 5"),
    ],
)
def test_a_wrong_setting_is_named_with_its_place(value, message, tmp_path):
    (tmp_path / "ragloom.yaml").write_text(f"top_k: 3\ntemplates: {value}\n", "utf-8")
    with pytest.raises(ConfigError, match=rf"ragloom\.yaml:2: templates.*: .*{message}"):
        Workspace.open(tmp_path)


def test_a_wrong_weight_is_named_with_its_place(tmp_path):
    (tmp_path / "ragloom.yaml").write_text("templates:\n  weights:\n    keyword: 2\n", "utf-8")
    with pytest.raises(ConfigError, match=r"ragloom\.yaml:3: templates\.weights: unknown option"):
        Workspace.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"added": 1}', b"\xff", b"[" * 100_000])
def test_damaged_changes_are_kept_aside(library, write, tmp_path, caplog, content):
    library.index()
    file = library.space.directory / "changes.json"
    file.write_bytes(content)
    again = TemplateLibrary(library.dirs, workspace=library.workspace)
    assert (set(), [content]) == (
        again._removed,
        [kept.read_bytes() for kept in file.parent.glob("changes.json.damaged-*")],
    )
    assert "is damaged" in caplog.text


def test_changes_are_plain_json(library, write, tmp_path):
    write("one/proof.md", PROOF)
    outside = write("elsewhere/other.md", "Text.")
    library.index()
    library.add(outside)
    library.remove("proof")
    (file,) = (tmp_path / ".ragloom" / "templates").glob("*/changes.json")
    changes = json.loads(file.read_text("utf-8"))
    assert __version__ == changes.pop("release")
    expected = {"format": 1, "added": ["elsewhere/other.md"], "left_out": ["one/proof.md"]}
    assert expected == changes


def test_a_token_in_a_template_is_redacted(library, write):
    token = "npm" + "_" + "aB3dEfGhIjKlMnOpQrStUvWxYz0123456789"
    write(
        "one/publish.md",
        f"---\nkeywords: [publish]\n---\nPublish the package with {token} as its token.",
    )
    assert 1 == library.index()
    content = library.get("publish").content
    assert token not in content
    assert content.startswith("Publish the package with REDACTED")


def test_changes_of_a_newer_format_are_named_and_left_alone(library, write, tmp_path):
    write("one/proof.md", PROOF)
    library.index()
    library.remove("proof")
    (file,) = (tmp_path / ".ragloom" / "templates").glob("*/changes.json")
    file.write_text('{"format": 2, "release": "9.1", "moved": {}}', "utf-8")
    with pytest.raises(StoreError, match=r"changes\.json: a newer ragloom wrote it \(release 9\.1"):
        TemplateLibrary(["one", "two"], workspace=library.workspace)
    assert '{"format": 2, "release": "9.1", "moved": {}}' == file.read_text("utf-8")
