"""Rebuilding and asking the knowledge base; the numbers are the scenarios of the seed."""

import json
import logging
import shutil
from dataclasses import replace

import pytest

from ragloom import (
    ConfigError,
    MissingDependencyError,
    NotIndexedError,
    PluginHost,
    SourceError,
    StoreDamagedError,
)
from ragloom_librarian import (
    KnowledgeBase,
    LibrarianSettings,
    check_rag_available,
    query_knowledge_base,
)
from ragloom_librarian.documents import SNIPPET, snippet

QUESTION = "How do I log errors?"
LOGGING = {
    "docs/adrs/0043-log-errors-as-structured-events.md",
    "docs/standards/error-handling.md",
    "docs/standards/logging.md",
}


@pytest.mark.parametrize("question", [QUESTION, "error logging"])
def test_010_the_documents_on_logging_are_found_all_relevant(built, host, question):
    found = query_knowledge_base(question, workspace=built, host=host)

    assert LOGGING == {document["file_path"] for document in found}
    assert all(document["score"] >= 0.7 for document in found)
    scores = [document["score"] for document in found]
    assert sorted(scores, reverse=True) == scores


def test_020_nothing_relevant_is_an_empty_list_with_a_message(built, host, caplog):
    caplog.set_level(logging.INFO, "ragloom.librarian")

    assert [] == query_knowledge_base("Klingon localization", workspace=built, host=host)
    (record,) = [record for record in caplog.records if record.name == "ragloom.librarian"]
    assert "no relevant match" in record.getMessage()
    assert "Klingon localization" in record.getMessage()


def test_030_the_threshold_filters(knowledge_base):
    question = "Where are secrets kept?"
    everything = knowledge_base.query(question, threshold=0.0, k=12, top_n=12)
    strict = knowledge_base.query(question, threshold=0.7, k=12, top_n=12)

    assert min(document["score"] for document in everything) < 0.7
    assert {document["file_path"] for document in everything if document["score"] >= 0.7} == {
        document["file_path"] for document in strict
    }
    assert [] == knowledge_base.query(question, threshold=1.0)


def test_top_n_documents_are_different_files(knowledge_base):
    one = knowledge_base.query(QUESTION, top_n=1)
    two = knowledge_base.query(QUESTION, top_n=2)

    assert 1 == len(one)
    assert one == two[:1]
    assert 2 == len({document["file_path"] for document in two})


def test_k_bounds_the_documents_to_choose_from(knowledge_base):
    assert 1 == len(knowledge_base.query(QUESTION, k=1, top_n=3))


@pytest.mark.parametrize("options", [{"k": 0}, {"top_n": 0}, {"threshold": 1.5}])
def test_impossible_numbers_are_refused(knowledge_base, options):
    with pytest.raises(ConfigError):
        knowledge_base.query(QUESTION, **options)


def test_a_retrieved_document_is_plain_json_with_its_place(knowledge_base, built):
    for document in knowledge_base.query(QUESTION):
        assert document == json.loads(json.dumps(document))
        lines = (built / document["file_path"]).read_text("utf-8").split("\n")
        said = "\n".join(lines[document["start_line"] - 1 : document["end_line"]])
        assert document["content"].strip() == said.strip()
        assert document["content"].startswith(document["content_snippet"])
        assert document["section"].split(" > ")[-1] in document["content"]
        assert document["last_modified"].endswith("+00:00")


def test_the_whole_of_a_long_section_stays_reachable(knowledge_base):
    (found,) = [
        document
        for document in knowledge_base.query(QUESTION)
        if document["file_path"] == "docs/standards/logging.md"
    ]

    assert "Logging > Best Practices" == found["section"]
    assert len(found["content"]) > 3000
    assert len(found["content_snippet"]) <= SNIPPET
    assert found["content"].startswith("## Best Practices")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("one two three", "one two"),
        ("one two  three", "one two"),
        ("onetwothree", "onetwoth"),
        ("one two\nx", "one two"),
        ("one twox", "one twox"),
    ],
)
def test_a_snippet_ends_at_a_word(text, expected):
    assert expected == snippet(text, 8)


def test_no_knowledge_base_says_what_to_run(bare, host):
    with pytest.raises(NotIndexedError, match="run 'ragloom librarian rebuild'"):
        query_knowledge_base(QUESTION, workspace=bare, host=host)


def test_070_a_full_rebuild_indexes_every_file(bare, host):
    for number in range(88):
        text = f"# Note {number}\n\nText {number}.\n\n## Part\n\nMore on {number}.\n"
        (bare / "docs" / "adrs" / f"9{number:03}.md").write_text(text)
    base = KnowledgeBase.open(bare, host=host)

    report = base.rebuild(full=True)

    assert 100 == len(report.added)
    assert report.chunks == report.embedded + report.reused
    assert (bare / ".ragloom" / "librarian" / "CURRENT").is_file()
    assert not (bare / ".ragloom" / "spaces").exists()

    again = base.rebuild(full=True)

    assert (100, 0, 0) == (len(again.updated), again.unchanged, again.embedded)


def test_080_only_the_changed_sections_of_a_changed_file_are_embedded(project, host):
    base = KnowledgeBase.open(project, host=host)
    file = project / "docs" / "standards" / "error-handling.md"
    text = file.read_text("utf-8")
    file.write_text(text.replace("three times with growing pauses", "twice"), "utf-8")

    report = base.rebuild()

    assert ("docs/standards/error-handling.md",) == report.updated
    assert 11 == report.unchanged
    assert 1 == report.embedded
    assert 3 == report.reused
    assert base.rebuild().unchanged == 12


def test_what_is_removed_is_forgotten(project, host):
    base = KnowledgeBase.open(project, host=host)
    (project / "docs" / "standards" / "logging.md").unlink()
    shutil.rmtree(project / "docs" / "LLDs")

    report = base.rebuild()

    assert ("docs/LLDs/done/0021-invoice-export.md", "docs/standards/logging.md") == tuple(
        sorted(report.removed)
    )
    assert "docs/standards/logging.md" not in {
        document["file_path"] for document in base.query(QUESTION)
    }


def test_only_markdown_is_indexed(bare, host):
    (bare / "docs" / "adrs" / "script.py").write_text("print('log errors')\n")
    (bare / "docs" / "adrs" / "page.txt").write_text("log errors\n")

    assert 12 == len(KnowledgeBase.open(bare, host=host).rebuild().added)


def test_120_sections_begin_at_headings_of_level_1_and_2(bare, host):
    shutil.rmtree(bare / "docs")
    (bare / "docs" / "adrs").mkdir(parents=True)
    (bare / "docs" / "adrs" / "a.md").write_text(
        "---\ntitle: Meta\n---\nBefore.\n\n# One\n\nText.\n\n## Two\n\nText.\n\n### Deeper\n\nText.\n\n"
        "```\n# no heading\n```\n\nThree\n-----\n\nText.\n"
    )
    base = KnowledgeBase.open(bare, host=host)

    assert 4 == base.rebuild().chunks
    titles = [chunk.headings[-1:] for chunk in map(base.space.snapshot().chunk, range(4))]
    assert [(), ("One",), ("Two",), ("Three",)] == titles


def test_no_folder_at_all_is_named(tmp_path, host):
    with pytest.raises(
        SourceError, match="none of docs/adrs, docs/standards, docs/LLDs/done exists"
    ):
        KnowledgeBase.open(tmp_path, host=host).rebuild()


@pytest.mark.parametrize("name", ["meta.json", "files.json", "*.vectors", "*.columns"])
def test_a_damaged_knowledge_base_is_named_and_made_again_by_a_rebuild(project, host, name):
    (generation,) = (project / ".ragloom" / "librarian").glob("gen-*")
    next(generation.glob(name)).write_bytes(b"\x00garbage")
    base = KnowledgeBase.open(project, host=host)

    with pytest.raises(StoreDamagedError, match=r"damaged .*: run 'ragloom librarian rebuild'$"):
        base.query(QUESTION)
    report = base.rebuild()

    assert 12 == len(report.added) + len(report.updated)
    assert 3 == len(base.query(QUESTION))
    assert 1 == len(list((project / ".ragloom" / "librarian").glob("gen-000001.damaged-*")))


def test_everything_installed_is_available(built, host):
    assert (True, "") == check_rag_available(KnowledgeBase.open(built, host=host).workspace)


def test_what_is_missing_is_named_with_the_pip_line(built, host, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    base = KnowledgeBase.open(built, host=host)

    available, message = check_rag_available(base.workspace)

    assert not available
    assert "onnxruntime" in message
    assert "pip install 'ragloom[librarian]'" in message
    with pytest.raises(MissingDependencyError, match="onnxruntime"):
        base.query(QUESTION)


def test_a_plugin_that_is_missing_is_named(built):
    import ragloom_markdown

    base = KnowledgeBase.open(built, host=PluginHost({"markdown": ragloom_markdown}))

    available, message = check_rag_available(base.workspace)

    assert not available
    assert "embedder 'onnx', store 'milvus'" in message


def test_settings_come_from_file_then_environment_then_arguments(bare, host, monkeypatch):
    (bare / "ragloom.yaml").write_text(
        "librarian:\n  threshold: 0.5\n  top_n: 2\n  sources: [docs/standards]\n"
    )
    monkeypatch.setenv("RAGLOOM_LIBRARIAN_TOP_N", "1")
    base = KnowledgeBase.open(bare, host=host)

    expected = LibrarianSettings(sources=("docs/standards",), threshold=0.5, top_n=1)
    assert expected == base.settings
    base.rebuild()
    assert 1 == len(base.query(QUESTION))
    assert 2 == len(base.query(QUESTION, top_n=2))
    assert [] == base.query(QUESTION, threshold=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("librarian:\n  thresh: 1\n", r"ragloom.yaml:2: .*did you mean 'threshold'"),
        ("librarian:\n  threshold: 7\n", r"ragloom.yaml:2: .*a number from 0 to 1, not 7"),
        ("librarian:\n  k: many\n", r"ragloom.yaml:2: .*'k' must be int, not 'many'"),
        ("librarian:\n  k: 0\n", "ragloom.yaml:2: .*k must be a whole number from 1"),
        ("librarian:\n  timeout: -1\n", "seconds"),
        ("librarian:\n  sources: []\n", "a list of folders"),
        ("librarian: 3\n", "a mapping"),
    ],
)
def test_a_wrong_setting_names_its_line(bare, host, text, message):
    (bare / "ragloom.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        KnowledgeBase.open(bare, host=host)


def test_a_wrong_variable_is_named(bare, host, monkeypatch):
    monkeypatch.setenv("RAGLOOM_LIBRARIAN_THRESHOLD", "high")
    with pytest.raises(ConfigError, match="RAGLOOM_LIBRARIAN_THRESHOLD"):
        KnowledgeBase.open(bare, host=host)


def test_settings_are_read_again_when_they_change(project, host):
    assert 3 == len(query_knowledge_base(QUESTION, workspace=project, host=host))
    (project / "ragloom.yaml").write_text("librarian: {top_n: 1}\n")
    assert 1 == len(query_knowledge_base(QUESTION, workspace=project, host=host))


def test_a_stale_file_is_answered_as_it_stands_now(project, host):
    base = KnowledgeBase.open(project, host=host)
    file = project / "docs" / "standards" / "error-handling.md"
    file.write_text("A new first line.\n\n" + file.read_text("utf-8"), "utf-8")

    (found,) = [
        document
        for document in base.query(QUESTION)
        if document["file_path"] == "docs/standards/error-handling.md"
    ]

    said = file.read_text("utf-8").split("\n")
    assert found["content"].split("\n")[0] == said[found["start_line"] - 1]


def test_settings_can_be_given(built, host):
    settings = replace(LibrarianSettings(), top_n=1)
    assert 1 == len(KnowledgeBase.open(built, settings=settings, host=host).query(QUESTION))
