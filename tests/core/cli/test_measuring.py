"""``explain``, ``verify``, ``chunks``, ``eval`` and ``calibrate``."""

from __future__ import annotations

import json

import pytest

LOGGING = "docs/observability/pillars/logging.md"


def test_explain_shows_places_evidence_and_verdict(run, workspace):
    run("index", "docs")
    told = json.loads(run("explain", "log levels", "--expect", LOGGING, "--json", "-k", "2").stdout)

    assert told["words"] == ["log", "levels"]
    assert [hit["rank"] for hit in told["hits"]] == [1, 2, 3, 4]
    assert [hit["verdict"] for hit in told["hits"]][:2] == ["shown", "shown"]
    assert {hit["path"] for hit in told["expected"]} == {LOGGING}
    assert 0 < told["hits"][0]["coverage"] <= 1
    assert "default curve" in told["calibration"]


def test_explain_says_why_a_file_is_not_there(run, workspace):
    (workspace / "docs" / "picture.png").write_bytes(b"\x89PNG")
    run("index", "docs")
    result = run("explain", "log levels", "--expect", "docs/picture.png")

    assert result.stdout.endswith("\ndocs/picture.png is not indexed: no loader reads .png\n")
    assert "docs/picture.png" not in result.stderr
    assert 0 == result.exit_code


def test_explain_titles_a_table_where_the_table_is(run):
    run("index", "docs")
    result = run("explain", "log levels", "--expect", LOGGING, "-q")
    hits, expected = result.stdout.split(f"expected {LOGGING}:\n")
    assert 10 == hits.count("\n")
    assert {LOGGING} == {line.partition(":")[0] for line in expected.splitlines()}
    assert "" == result.stderr


def test_explain_shows_what_the_budget_cuts(run, workspace):
    run("index", "docs")
    budget = ("--max-tokens", "120")
    told = json.loads(run("explain", "log levels", "--json", *budget).stdout)
    packed = json.loads(run("context", "log levels", "--json", *budget, "--no-refresh").stdout)
    cut = [
        (hit["path"], hit["start_line"])
        for hit in told["hits"]
        if hit["verdict"] == "omitted: no room in 120 tokens"
    ]
    assert cut == [(hit["path"], hit["start_line"]) for hit in packed["omitted"]]
    assert cut


def test_explain_by_words_names_the_scale_of_words(run, workspace):
    run("index", "docs")
    told = json.loads(run("explain", "log levels", "--mode", "lexical", "--json").stdout)
    assert "without cosines" in told["calibration"]
    assert {hit["cosine"] for hit in told["hits"]} == {None}


def test_several_spaces_are_verified_one_by_one_and_explained_by_name(run, workspace):
    (workspace / "ragloom.yaml").write_text(
        "spaces: {one: {sources: [docs]}, two: {sources: [docs]}}", "utf-8"
    )
    run("index")
    reports = [json.loads(line) for line in run("verify", "--json").stdout.splitlines()]
    assert ["one", "two"] == [report["space"] for report in reports]
    result = run("explain", "log levels")
    assert 2 == result.exit_code
    assert "choose one with --space NAME" in result.stderr


def test_verify_proves_every_chunk_and_names_those_that_changed(run, workspace):
    run("index", "docs")
    proven = json.loads(run("verify", "--json").stdout)
    assert proven["exact"] == proven["chunks"] > 20
    assert proven["stale"] == []

    said = f"docs: {proven['exact']} of {proven['chunks']} chunks equal their files\n"
    assert (said, "") == (run("verify").stdout, run("verify", "--quiet").stdout)

    page = workspace / LOGGING
    page.write_text("# Before\n\n" + page.read_text("utf-8"), "utf-8")
    result = run("verify", "--json")
    found = json.loads(result.stdout)
    assert 1 == result.exit_code
    assert found["chunks"] - found["exact"] == len(found["stale"]) > 0
    assert {stale["path"] for stale in found["stale"]} == {LOGGING}
    assert all("the file has changed" in stale["why"] for stale in found["stale"])


def test_chunks_are_exact_slices_one_a_line(run, workspace):
    lines = run("chunks", LOGGING, "--json").stdout.splitlines()
    content = (workspace / LOGGING).read_bytes()
    assert len(lines) > 3
    for line in lines:
        chunk = json.loads(line)
        start, end = chunk["bytes"]
        assert content[start:end].decode() == chunk["text"]
        assert content[:start].count(b"\n") + 1 == chunk["lines"][0]
        assert chunk["path"] == LOGGING


def test_documents_are_shown_without_their_front_matter(run, workspace):
    (workspace / "a.md").write_text("---\ntags: a, b\n---\n# Title\n", "utf-8")
    shown = json.loads(run("chunks", "a.md", "--documents", "--json").stdout)
    assert {"path": "a.md", "metadata": {"tags": ["a", "b"]}, "text": "# Title\n"} == {
        key: shown[key] for key in ("path", "metadata", "text")
    }
    assert "# Title\n" == run("chunks", "a.md", "--documents").stdout


def test_a_file_that_no_loader_reads_is_named(run, workspace):
    (workspace / "picture.png").write_bytes(b"\x89PNG")
    result = run("chunks", "picture.png")
    assert (1, "") == (result.exit_code, result.stdout)
    assert "picture.png: no loader reads this kind of file" in result.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x00\xff\xfe\x00 no text", "binary content"),
        (b"api_key = 'sk-live-" + b"4eC39HqLyjWDarjtT1zdp7dc" * 2 + b"'\n", "looks like a secret"),
    ],
)
def test_a_file_that_is_not_understood_is_named(run, workspace, content, why):
    (workspace / "odd.md").write_bytes(content)
    result = run("chunks", LOGGING, "odd.md")
    assert 1 == result.exit_code
    assert result.stdout.startswith(f"{LOGGING}:")
    assert f"error: odd.md: {why}" in result.stderr


@pytest.mark.parametrize("options", [(), ("--json",), ("--documents",)])
def test_chunks_warns_of_what_index_warns_of(run, workspace, options):
    odd = workspace / "odd"
    odd.mkdir()
    (odd / "front.md").write_text("---\ntitle: x\n  bad: : [y\n---\n# A\n\nText.\n")
    (odd / "key.md").write_text(f"# Key\n\naws_secret_access_key = {'a1B2c3D4e5' * 4}\n")
    (odd / "latin.md").write_bytes("# Café\n\nDéjà vu, très agréable.\n".encode("latin-1"))
    said = run("index", "odd").stderr.splitlines()
    told = [line for line in said if line.startswith("warning: odd/")]
    assert 3 == len(told)
    names = [f"odd/{name}.md" for name in ("front", "key", "latin")]
    assert told == run("chunks", *names, *options).stderr.splitlines()


@pytest.fixture
def collection(workspace):
    """Twenty notes about a word each, and a question for each of ten."""
    words = ["harbour", "violin", "copper", "meadow", "ledger", "signal", "pump", "orchard"]
    words += ["lantern", "glacier", "saddle", "canvas", "turbine", "pepper", "quarry", "anchor"]
    words += ["thimble", "walnut", "zephyr", "marble"]
    folder = workspace / "notes"
    (folder / "qrels").mkdir(parents=True)
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus:
        for word in words:
            row = {"_id": word, "title": f"The {word}", "text": f"A {word} was found in May."}
            corpus.write(json.dumps(row) + "\n")
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as queries:
        for word in words[:10]:
            queries.write(json.dumps({"_id": f"q-{word}", "text": f"where is the {word}"}) + "\n")
    rows = "".join(f"q-{word}\t{word}\t1\n" for word in words[:10])
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}", "utf-8")
    return folder


def test_eval_prints_quality_gate_and_comparison(run, collection):
    pytest.importorskip("ir_measures")
    result = run("eval", "notes", "--json", "--against", "rrf", "--run", "run.txt")
    found = json.loads(result.stdout)

    assert (found["collection"], found["queries"], found["mode"]) == ("notes", 10, "hybrid")
    assert found["metrics"] == dict.fromkeys(("ndcg@10", "recall@10", "recall@100", "mrr@10"), 1.0)
    assert found["chunks"] == 20
    assert found["gate"]["off_topic"] == 200
    assert found["gate"]["answerable"] == 10
    assert found["comparisons"]["rrf"]["difference"] == 0
    assert found["comparisons"]["rrf"]["p_value"] == 1
    told = run("eval", "notes", "-q")
    assert "of 10 answerable queries kept a hit" in told.stdout
    assert "" == told.stderr
    first = (collection.parent / "run.txt").read_text("utf-8").splitlines()[0].split()
    assert first[:4] == ["q-harbour", "Q0", "harbour", "1"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nodir/run.txt", "'{0}/nodir' does not exist"),
        ("a.md/run.txt", "'{0}/a.md' is no folder"),
        ("docs", "is a directory"),
        ("loop", "'{0}/nodir' does not exist"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(run, workspace, path, why):
    (workspace / "a.md").write_text("# A\n")
    (workspace / "loop").symlink_to("nodir/run.txt")
    for command in (
        ("eval", "notes", "--run"),
        ("explain", "anything", "--html"),
    ):
        if command[0] == "eval":
            (workspace / "notes").mkdir()  # holds no collection, which is told later
        result = run(*command, path)
        assert (2, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))
        assert f"Invalid value for '{command[-1]}': " in result.stderr
        assert why.format(workspace) in result.stderr
    assert not (workspace / ".ragloom").exists()


def test_a_page_is_written_beside_json(run, workspace):
    run("index", "docs")
    result = run("explain", "logging", "--json", "--html", "page.html")
    assert 0 == result.exit_code, result.stderr
    assert json.loads(result.stdout)["hits"]
    assert "<html" in (workspace / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", "{", "corpus.jsonl:1: not JSON"),
        ("corpus.jsonl", "{}", "corpus.jsonl:1: expected a JSON object with _id and text"),
        ("qrels/test.tsv", "a\tb\tc\nx\ty\n", "test.tsv:2: expected query, document and grade"),
    ],
)
def test_a_collection_that_is_not_one_is_named_with_its_line(
    run, collection, name, content, message
):
    (collection / name).write_text(content, "utf-8")
    result = run("eval", "notes")
    assert 1 == result.exit_code
    assert message in result.stderr


def test_a_split_that_is_not_there_names_those_that_are(run, collection):
    result = run("eval", "notes", "--split", "dev")
    assert "unknown split 'dev' (available: test)" in result.stderr


def test_calibrate_keeps_off_topic_questions_out_until_it_is_reset(run, workspace):
    run("index", "docs")
    fitted = json.loads(run("calibrate", "--json").stdout)

    assert fitted["space"] == "docs"
    assert "fitted to 'docs' with 200 off-topic queries" in fitted["source"]
    kept = workspace / ".ragloom" / "spaces" / "docs" / "calibration.json"
    assert kept.is_file()
    told = json.loads(run("explain", "log levels", "--json").stdout)
    assert told["calibration"] == fitted["source"]
    reset = json.loads(run("calibrate", "--reset", "--json").stdout)
    assert (list(fitted), "docs") == (list(reset), reset["space"])
    assert fitted["source"] != reset["source"]
    assert not kept.exists()
    said = run("calibrate").stdout
    assert said.startswith("docs: bias ")
    assert said.endswith("; fitted to 'docs' with 200 off-topic queries\n")
    said = run("calibrate", "--reset").stdout
    assert "docs: the embedder's own calibration applies again\n" == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe" + "How?\n".encode("utf-16-le") * 30, "cannot be read: 'utf-8' codec"),
        ("Größe?\n".encode("latin-1") * 30, "cannot be read: 'utf-8' codec"),
        (b"\n \n", "holds no question; write one a line"),
    ],
)
def test_a_file_of_questions_that_cannot_be_used_is_named(run, workspace, content, said):
    run("index", "docs")
    (workspace / "questions.txt").write_bytes(content)
    result = run("calibrate", "--off-topic", "questions.txt")
    assert (1, "") == (result.exit_code, result.stdout)
    assert f"error: questions.txt: {said}" in result.stderr
