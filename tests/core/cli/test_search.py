import json
import os
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from ragloom.cli import _refresh
from ragloom.indexing.lock import space_lock

HIT_KEYS = [
    "rank", "score", "relevance", "cosine", "lexical", "path", "start_line", "end_line",
    "start_byte", "end_byte", "span", "headings", "text", "metadata", "content_hash", "copies",
    "more_in_file",
]  # fmt: skip


def hits(result):
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)["hits"]


def test_json_has_the_documented_keys_and_exact_places(run, workspace):
    result = run("search", "logging of errors", "docs", "--json", "-k", "3")
    found = json.loads(result.stdout)
    assert [
        "query", "searched_for", "pending", "checked", "space", "reason", "closest", "hits",
    ] == list(found)  # fmt: skip
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


def test_where_nothing_is_shown_the_closest_and_how_to_see_it_are_told(run, workspace):
    asked = ("search", "logging of errors", "docs", "--min-relevance", "1")
    found = json.loads(run(*asked, "--json").stdout)
    closest = found["closest"]
    place = f"{closest['path']}:{closest['start_line']}"
    assert (workspace / closest["path"]).is_file()
    assert ["path", "start_line", "end_line", "relevance", "headings"] == list(closest)
    assert f'closest: {place} "{closest["headings"][-1]}"' in found["reason"]
    for command, told in (("search", "no hits"), ("context", "no passages")):
        note = run(command, *asked[1:]).stderr.splitlines()[-1]
        assert f"{told}: {found['reason']}; show it with --min-relevance 0" == note
    shown = hits(run(*asked[:-1], "0", "--json", "-k", "50", "--per-file", "0"))
    assert place in {f"{hit['path']}:{hit['start_line']}" for hit in shown}
    packed = json.loads(run("context", *asked[1:], "--json").stdout)
    assert (closest, found["reason"]) == (packed["closest"], packed["reason"])
    assert json.loads(run("search", "logging", "docs", "--json").stdout)["closest"] is None


def test_a_text_stands_once_and_of_a_file_as_many_as_are_asked_for(run, workspace):
    page = "".join(f"## Zebra {n}\n\nZebra number {n} grazes.\n\n" for n in range(5))
    (workspace / "docs" / "zebras.md").write_text(page)
    for name in "abcde":
        (workspace / "docs" / f"{name}.md").write_text("# Okapi\n\nOkapis are no zebras.\n")
    asked = ("search", "zebra", "docs", "--mode", "lexical", "-k", "20")
    found = hits(run(*asked, "--json"))
    assert 4 == len(found)
    (once,) = (hit for hit in found if "Okapi" in hit["text"])
    places = {once["path"], *(copy["path"] for copy in once["copies"])}
    assert {f"docs/{name}.md" for name in "abcde"} == places
    assert all(["path", "start_line", "end_line"] == list(copy) for copy in once["copies"])
    (last,) = (hit for hit in found if hit["more_in_file"])
    whole = hits(run(*asked, "--json", "--per-file", "0"))
    ranked = [
        {key: hit[key] for key in ("start_line", "end_line")}
        for hit in whole
        if hit["path"] == "docs/zebras.md"
    ]
    assert (5, ranked[3:]) == (len(ranked), last["more_in_file"])

    lines = run(*asked).stdout.splitlines()
    assert 4 == len(lines)
    (line,) = (line for line in lines if "Okapi" in line)
    first, second, third = (copy["path"] for copy in once["copies"][:3])
    assert line.endswith(f"[same text: {first}:1, {second}:1, {third}:1 and 1 more]")
    named = ", ".join(f"{one['start_line']}-{one['end_line']}" for one in last["more_in_file"])
    assert 1 == sum(line.endswith(f"[2 more in this file: lines {named}]") for line in lines)

    told = run("explain", "zebra", "--space", "docs", *asked[3:])
    assert 2 == told.stdout.count("folded: other hits of its file are shown")
    assert 4 == told.stdout.count(f"copy of {once['path']}:1")
    told = run("explain", "zebra", "--space", "docs", *asked[3:], "--per-file", "1")
    assert 4 == told.stdout.count("folded: other hits of its file are shown")


def test_a_number_that_does_not_fall_with_the_order_is_explained_in_one_line(run, workspace):
    docs = workspace / "docs"
    for number in range(12):
        (docs / f"z{number}.md").write_text(f"# Z{number}\n\n{'zebra ' * number} quagga okapi\n")
    told = {}
    for query in ("zebra quagga", "okapi", "zebra Z3 Z4", "zebra okapi grazing"):
        result = run("search", query, "docs", "-k", "12")
        numbers = [float(line.split()[1]) for line in result.stdout.splitlines()]
        falling = numbers == sorted(numbers, reverse=True)
        assert falling is ("ordered by score" not in result.stderr), result.stdout
        assert "ordered by score" not in run("search", query, "docs", "--json", "-k", "12").stderr
        told[falling] = query
    assert False in told  # the case is there
    assert "" == run("search", told[False], "docs", "-k", "12", "-q").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_on_a_terminal_the_best_matching_lines_stand_out(workspace, environment):
    import pty

    pytest.importorskip("onnxruntime", reason="the command runs with the bundled model")
    filler = "".join(f"Line {n} says nothing of it.\n" for n in range(3, 30))
    text = f"# Page\n\n{filler}The zebra grazes at night.\n{filler}"
    (workspace / "docs" / "zebra.md").write_text(text)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ragloom", "search", "zebra grazing", "docs", "-k", "1"]
    chosen = {"TERM": "xterm", "RAGLOOM_EMBEDDER": "onnx", "RAGLOOM_MODE": "lexical", **environment}
    with os.fdopen(theirs, "wb") as terminal:
        done = subprocess.run(
            command, stdout=terminal, stderr=subprocess.PIPE, env=os.environ | chosen, check=True
        )
    shown = b""
    with suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4096):
            shown += more
    os.close(ours)
    assert done.stderr
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    (line,) = (line for line in lines if "grazes" in line)
    assert ("\x1b" in shown.decode()) is not bool(environment)
    if environment:
        assert "   30 │ The zebra grazes at night." == line
        assert lines[lines.index(line) - 1].strip() == "… 29 lines above"
    else:
        assert "\x1b[1mzebra\x1b[0m" in line


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


@pytest.mark.parametrize("command", [("explain",), ("search", "--no-refresh")])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_missing_path_is_named_where_nothing_is_brought_up_to_date(run, command, indexed):
    if indexed:
        run("index", "docs")
    result = run(*command, "logging", "docs/nosuch.md/a", "nosuch.md")
    assert (1, "") == (result.exit_code, result.stdout)
    assert ": docs/nosuch.md/a: there is no such file or folder" in result.stderr
    assert 1 == result.stderr.count("\n")


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
    monkeypatch.setenv("RAGLOOM_RERANK_WEIGHT", "1")
    (workspace / "docs" / "colours.md").write_text("# Paint\n\nRed and red, red and red.\n")
    (workspace / "docs" / "few.md").write_text("# Red\n\nIt is red.\n")
    asked = ("search", "red", "docs", "--json", "--mode", "lexical")
    plain = hits(run(*asked))
    reranked = hits(run(*asked, "--reranker", "onnx"))
    assert "docs/colours.md" == reranked[0]["path"]
    assert 1 < reranked[0]["score"] <= 2
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
