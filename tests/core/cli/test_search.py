import json
import time

import pytest

from ragloom.cli import _refresh
from ragloom.indexing.lock import space_lock

HIT_KEYS = [
    "rank", "score", "relevance", "cosine", "lexical", "path", "start_line", "end_line",
    "start_byte", "end_byte", "span", "headings", "text", "metadata",
]  # fmt: skip


def hits(result):
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)["hits"]


def test_json_has_the_documented_keys_and_exact_places(run, workspace):
    result = run("search", "logging of errors", "docs", "--json", "-k", "3")
    found = json.loads(result.stdout)
    assert ["query", "space", "reason", "hits"] == list(found)
    assert ("logging of errors", "docs", "") == (found["query"], found["space"], found["reason"])
    assert [1, 2, 3] == [hit["rank"] for hit in found["hits"]]
    for hit in found["hits"]:
        assert HIT_KEYS == list(hit)
        content = (workspace / hit["path"]).read_bytes()
        assert hit["text"].encode() == content[hit["start_byte"] : hit["end_byte"]]
        lines = content.decode().splitlines()
        assert hit["text"].splitlines()[0] in lines[hit["start_line"] - 1]
        assert hit["text"].splitlines()[-1] in lines[hit["end_line"] - 1]
    assert 1 == result.stdout.count("\n")


def test_in_a_pipe_a_hit_is_one_line_that_begins_with_its_place(run):
    result = run("search", "logging of errors", "docs", "-k", "2")
    lines = result.stdout.splitlines()
    assert 2 == len(lines)
    for line in lines:
        path, number, rest = line.split(":", 2)
        assert path.startswith("docs/")
        assert number.isdigit()
        assert 0 <= float(rest.split()[0]) <= 1
    assert "\x1b" not in result.output
    assert result.stderr.startswith("indexed docs: 15 files (15 added)")


def test_paths_of_lines_are_relative_to_the_current_folder(run, workspace, monkeypatch):
    monkeypatch.chdir(workspace.parent)
    result = run("search", "logging", "workspace/docs", "-C", "workspace", "-k", "1")
    assert result.stdout.startswith("workspace/docs/")
    (hit,) = hits(
        run("search", "logging", "workspace/docs", "-C", "workspace", "-k", "1", "--json")
    )
    assert hit["path"].startswith("docs/")


def test_nothing_found_is_no_error_and_says_why(run):
    result = run("search", "zebra xylophone", "docs", "--min-relevance", "0.99", "-q")
    assert (0, "", "") == (result.exit_code, result.stdout, result.stderr)
    result = run("search", "zebra xylophone", "docs", "--min-relevance", "0.99")
    assert (0, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("no hits: ")
    found = json.loads(run("search", "zebra", "docs", "--min-relevance", "1", "--json").stdout)
    assert [] == found["hits"]
    assert found["reason"]


def test_a_change_is_found_at_once_and_not_without_refresh(run, workspace):
    run("index", "docs")
    (workspace / "docs" / "new.md").write_text("# Zebras\n\nZebras graze quietly.\n")
    assert [] == hits(
        run("search", "zebras", "docs", "--mode", "lexical", "--json", "--no-refresh")
    )
    result = run("search", "zebras", "docs", "--mode", "lexical", "--json")
    assert ["docs/new.md"] == [hit["path"] for hit in hits(result)]
    assert "indexed docs: 16 files (1 added)" in result.stderr


def test_without_refresh_a_hit_whose_file_is_gone_is_left_out_and_counted(run, workspace):
    (workspace / "docs" / "new.md").write_text("# Zebras\n\nZebras graze quietly.\n")
    run("index", "docs")
    (workspace / "docs" / "new.md").unlink()
    result = run("search", "zebras", "docs", "--mode", "lexical", "--no-refresh")
    assert (0, "") == (result.exit_code, result.stdout)
    assert "1 hit omitted: its file changed after indexing" in result.stderr


def test_without_refresh_and_index_it_is_an_error(run, workspace):
    result = run("search", "logging", "docs", "--no-refresh")
    assert (1, "") == (result.exit_code, result.stdout)
    assert "error: nothing is indexed in 'docs' yet: run 'ragloom index'\n" == result.stderr
    assert not (workspace / ".ragloom").exists()


def test_a_missing_folder_is_one_line_and_leaves_nothing_behind(run, workspace):
    result = run("search", "logging", "nosuch")
    assert (1, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("error: nosuch: there is no such file or folder")
    assert 1 == result.stderr.count("\n")
    assert not (workspace / ".ragloom").exists()


@pytest.mark.parametrize(
    ("arguments", "legal"),
    [
        (("--mode", "fuzzy"), "'hybrid', 'rrf', 'dense', 'lexical'"),
        (("--top-k", "-1"), "x>=0"),
        (("--top-k", "many"), "integer"),
        (("--min-relevance", "2"), "0<=x<=1"),
        (("--where", "status~x"), "field=value, field!=value"),
        (("--jsn",), "--json"),
    ],
)
def test_a_bad_option_is_one_line_with_what_is_legal(run, arguments, legal):
    result = run("search", "x", "docs", *arguments)
    assert (2, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("error: ")
    assert legal in result.stderr
    assert 1 == result.stderr.count("\n")


@pytest.mark.parametrize(
    ("part", "there"),
    [("store", "memory, sqlite"), ("embedder", "hashing"), ("chunker", "heading")],
)
def test_an_unknown_part_names_those_there_are(run, part, there):
    result = run("search", "x", "docs", f"--{part}", "zzz")
    assert 1 == result.exit_code
    assert f"unknown {part} 'zzz'" in result.stderr
    assert there.split(", ")[0] in result.stderr


def test_conditions_all_have_to_pass(run, workspace):
    (workspace / "docs" / "a.md").write_text("---\nstatus: accepted\n---\n# Zebra A\n\nzebra\n")
    (workspace / "docs" / "b.md").write_text("---\nstatus: draft\n---\n# Zebra B\n\nzebra\n")
    common = ("search", "zebra", "docs", "--mode", "lexical", "--json")
    assert {"docs/a.md", "docs/b.md"} == {hit["path"] for hit in hits(run(*common))}
    found = hits(run(*common, "--where", "status=accepted"))
    assert [("docs/a.md", {"status": "accepted"})] == [
        (hit["path"], hit["metadata"]) for hit in found
    ]
    assert [] == hits(
        run(*common, "--where", "status=accepted", "-w", "path under docs/observability")
    )


def test_the_mode_decides_which_scores_there_are(run):
    for mode, absent in (("dense", "lexical"), ("lexical", "cosine")):
        found = hits(
            run("search", "logging", "docs", "--mode", mode, "--json", "--min-relevance", "0")
        )
        assert found
        assert {None} == {hit[absent] for hit in found}


def test_the_settings_hold_where_no_option_does(run, workspace, monkeypatch):
    (workspace / "ragloom.yaml").write_text(
        "min_relevance: 0\nspaces: {docs: {sources: [docs], top_k: 2}}\n"
    )
    assert 2 == len(hits(run("search", "logging", "--json")))
    monkeypatch.setenv("RAGLOOM_TOP_K", "3")
    assert 3 == len(hits(run("search", "logging", "--json")))
    assert 4 == len(hits(run("search", "logging", "--json", "-k", "4")))


def test_a_broken_settings_file_names_file_and_line(run, workspace):
    (workspace / "ragloom.yaml").write_text("store: sqlite\ntop_q: 3\n")
    result = run("search", "logging", "docs")
    assert 1 == result.exit_code
    assert "ragloom.yaml:2: unknown setting 'top_q'; did you mean 'top_k'?" in result.stderr


def test_a_search_beside_a_run_asks_the_last_index(run, workspace, monkeypatch):
    monkeypatch.setattr(_refresh, "_PATIENCE", 0.1)
    run("index", "docs")
    (workspace / "docs" / "new.md").write_text("# Zebras\n")
    with space_lock(workspace / ".ragloom" / "spaces" / "docs", timeout=0):
        started = time.monotonic()
        result = run("search", "logging", "docs", "-k", "1")
    assert time.monotonic() - started < 60  # a run would wait ten minutes
    assert 0 == result.exit_code
    assert result.stdout.startswith("docs/")
    assert "searching the last index" in result.stderr


def test_file_names_in_any_script(run, workspace):
    (workspace / "docs" / "Größe 文档.md").write_text(
        "# Über Größe\n\nZebras sind groß.\n", "utf-8"
    )
    result = run("search", "zebras", "docs", "--mode", "lexical")
    assert result.stdout.startswith("docs/Größe 文档.md:1: ")
    (hit,) = hits(run("search", "zebras", "docs", "--mode", "lexical", "--json"))
    assert "docs/Größe 文档.md" == hit["path"]


def test_text_cannot_steer_the_terminal(run, workspace):
    (workspace / "docs" / "evil.md").write_text(
        "# Zebra\n\nzebra \x1b]0;owned\x07 \u202e\n", "utf-8"
    )
    result = run("search", "zebra", "docs", "--mode", "lexical")
    assert "\x1b" not in result.stdout
    assert "\x07" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "␛]0;owned␇" in result.stdout


def test_an_empty_query_says_so(run):
    result = run("search", " ", "docs")
    assert (0, "") == (result.exit_code, result.stdout)
    assert "no hits: the query is empty" in result.stderr


def test_failed_files_are_counted_not_listed(run, unreadable):
    result = run("search", "logging", "docs", "-k", "1")
    assert (0, 1) == (result.exit_code, result.stdout.count("\n"))
    assert "warning: 1 file not indexed; 'ragloom index' shows why" in result.stderr


@pytest.fixture
def cross_encoder(root, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    folder = root / "tests" / "data" / "onnx" / "tiny-cross-encoder"
    monkeypatch.setenv("RAGLOOM_RERANKER_MODEL", str(folder))


def test_a_reranker_is_named_where_it_is_wanted(run, workspace, cross_encoder, monkeypatch):
    (workspace / "docs" / "colours.md").write_text("# Paint\n\nRed and red, red and red.\n")
    (workspace / "docs" / "few.md").write_text("# Red\n\nIt is red.\n")
    asked = ("search", "red", "docs", "--json", "--mode", "lexical")
    plain = hits(run(*asked))
    reranked = hits(run(*asked, "--reranker", "onnx"))
    assert "docs/colours.md" == reranked[0]["path"]
    assert 1.5 + 3 / 8 == reranked[0]["score"]  # three of four fit into what the model reads
    assert sorted(hit["path"] for hit in plain) == sorted(hit["path"] for hit in reranked)

    monkeypatch.setenv("RAGLOOM_RERANKER", "onnx")
    assert reranked == hits(run(*asked))
    assert plain == hits(run(*asked, "--reranker", "none"))

    context = ("context", "red", "docs", "--json", "--mode", "lexical", "-k", "1")
    result = run(*context, "--reranker", "onnx")
    assert ["docs/colours.md"] == [
        citation["path"] for citation in json.loads(result.stdout)["citations"]
    ]


@pytest.mark.parametrize(
    ("name", "model", "error"),
    [
        ("onnx", None, "error: --reranker: reranker 'onnx': option 'model' is missing"),
        (
            "onnx",
            "no-such-folder",
            "error: RAGLOOM_RERANKER_MODEL: model 'no-such-folder': no such folder",
        ),
        ("onyx", None, "error: --reranker: unknown reranker 'onyx'; did you mean 'onnx'?"),
    ],
)
def test_a_reranker_that_cannot_be_had_is_one_line(run, name, model, error, monkeypatch):
    if model:
        monkeypatch.setenv("RAGLOOM_RERANKER_MODEL", model)
    run("index", "docs")
    result = run("search", "logging", "docs", "--reranker", name)
    assert (1, "") == (result.exit_code, result.stdout)
    (line,) = result.stderr.splitlines()
    assert line.startswith(error)
