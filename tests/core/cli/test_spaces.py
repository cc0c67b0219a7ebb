import json
import shutil

import pytest

DECLARED = """\
min_relevance: 0
spaces:
  logs: {sources: [docs/observability]}
  reviews: {sources: [docs/code-reviews]}
"""


def spaces(run):
    return [status["space"] for status in json.loads(run("status", "--json").stdout)]


def test_paths_make_a_space_that_keeps_its_sources(run):
    run("index", "docs/observability")
    (name,) = spaces(run)
    before = json.loads(run("index", "--space", name, "--json").stdout)["files"]["unchanged"]
    assert before == 11
    assert 11 == json.loads(run("index", "--json").stdout)["files"]["unchanged"]


def test_paths_with_a_name(run):
    run("index", "docs/observability", "docs/code-reviews", "--space", "kb")
    assert ["kb"] == spaces(run)
    found = json.loads(run("search", "logging", "--json").stdout)
    assert "kb" == found["space"]
    assert 15 == json.loads(run("index", "--space", "kb", "--json").stdout)["files"]["unchanged"]


def test_the_whole_workspace_is_the_default_space(run):
    assert "default: 15 files (15 added)" in run("index").stdout
    assert "default: 15 files (nothing changed)" in run("index", ".").stdout
    run("index", "docs/observability")
    assert "default" == json.loads(run("search", "logging", "--json").stdout)["space"]


def test_every_declared_space_is_indexed_and_all_are_asked_as_one(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    lines = run("index", "--json").stdout.splitlines()
    assert ["logs", "reviews"] == [json.loads(line)["space"] for line in lines]
    found = json.loads(run("search", "logging a review", "-k", "20", "--json").stdout)
    assert "logs, reviews" == found["space"]
    assert {"observability", "code-reviews"} == {hit["path"].split("/")[1] for hit in found["hits"]}
    scores = [hit["score"] for hit in found["hits"]]
    assert sorted(scores, reverse=True) == scores
    found = json.loads(
        run("search", "logging a review", "-k", "20", "--per-file", "0", "--json").stdout
    )
    context = json.loads(run("context", "logging a review", "-k", "20", "--json").stdout)
    assert {hit["path"] for hit in found["hits"]} == {one["path"] for one in context["citations"]}
    for arguments in (("--space", "logs"), ("docs/observability",)):
        assert "logs" == json.loads(run("search", "logging", "--json", *arguments).stdout)["space"]


def test_where_one_space_cannot_be_indexed_the_others_answer(run, workspace):
    (workspace / "ragloom.yaml").write_text(f"{DECLARED}  gone: {{sources: [nowhere]}}\n")
    result = run("search", "logging", "--json")
    assert 0 == result.exit_code, result.stderr
    found = json.loads(result.stdout)
    assert "logs, reviews" == found["space"]
    assert "nothing is indexed in 'gone' yet: run 'ragloom index'" == found["reason"]
    assert found["hits"]
    assert (
        f"warning: gone: not up to date: {workspace / 'ragloom.yaml'}:5: nowhere: "
        "there is no such file or folder" in result.stderr
    )
    for command in ("search", "context"):
        alone = run(command, "logging", "--space", "gone")
        assert (1, "") == (alone.exit_code, alone.stdout)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("top_k: 3\nsources: [docs, nowhere]\n", 2),
        ("sources:\n- docs\n- nowhere\n", 3),
        ("sources: [docs]\nspaces:\n  gone:\n    sources:\n    - nowhere/*.md\n", 5),
        ("spaces:\n  gone: {sources: nowhere}\n", 2),
        ("sources: [docs, /proc/self]\n", 1),
    ],
)
def test_a_wrong_source_is_named_with_its_line(run, workspace, text, line):
    place = f"{workspace / 'ragloom.yaml'}:{line}: "
    (workspace / "ragloom.yaml").write_text(text)
    for command in (("index",), ("search", "x"), ("doctor",)):
        result = run(*command)
        said = result.stdout if command == ("doctor",) else result.stderr
        assert (1, True) == (result.exit_code, place in said), (command, said)


def test_a_wrong_source_of_a_variable_or_a_path_is_named(run, workspace, monkeypatch):
    (workspace / "ragloom.yaml").write_text("sources: [gone]\n")
    assert run("index", "gone", "docs").stderr.startswith("error: gone: there is no such")
    monkeypatch.setenv("RAGLOOM_SOURCES", "docs, gone")
    assert run("index").stderr.startswith("error: RAGLOOM_SOURCES: gone: there is no such")


def test_what_takes_one_space_has_it_chosen(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    run("index")
    result = run("explain", "logging")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "choose one with --space NAME: logs, reviews" in result.stderr


@pytest.mark.parametrize("command", [("index",), ("search", "x"), ("status",), ("repair",)])
def test_an_unknown_space_is_wrong_usage(run, workspace, command):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    result = run(*command, "--space", "log")
    assert 2 == result.exit_code
    assert "unknown space 'log'; did you mean 'logs'?" in result.stderr
    assert not (workspace / ".ragloom").exists()


def test_a_declared_space_has_sources_of_its_own(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    result = run("index", "docs", "--space", "logs")
    assert 2 == result.exit_code
    assert "give --space or PATHs, not both" in result.stderr


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden"])
def test_a_space_is_named_as_a_folder_can_be(run, workspace, name):
    result = run("index", "docs", "--space", name)
    assert 1 == result.exit_code
    assert "cannot name a space" in result.stderr
    assert [workspace] == list(workspace.parent.iterdir())


@pytest.mark.parametrize("command", [("index",), ("search", "logging"), ("context", "logging")])
def test_other_paths_that_hold_nothing_empty_no_index(run, workspace, command):
    run("index", "docs", "--space", "kb")
    (workspace / "empty").mkdir()
    (workspace / "empty" / ".env").write_text("KEY=1\n")

    result = run(*command, "empty", "--space", "kb")

    assert (1, "") == (result.exit_code, result.stdout)
    assert "error: empty: no file to index; 'kb' stays as it is\n" == result.stderr
    assert 15 == json.loads(run("index", "--space", "kb", "--json").stdout)["files"]["unchanged"]


def test_the_same_paths_may_hold_nothing_any_more(run, workspace):
    run("index", "docs", "--space", "kb")
    shutil.rmtree(workspace / "docs")
    (workspace / "docs").mkdir()

    assert "kb: 0 files (15 removed)" in run("index", "docs", "--space", "kb").stdout
    assert "kb: 0 files (nothing changed)" in run("index", "--space", "kb").stdout
    assert 0 == run("index", "docs").exit_code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "x", "--chunker", "headin"), "--chunker: unknown chunker 'headin'"),
        (("search", "x", "--store", "sqlit"), "--store: unknown store 'sqlit'"),
        (("index", "--embedder", "onx"), "--embedder: unknown embedder 'onx'"),
        (("search", "x", "--reranker", "onnx"), "--reranker: reranker 'onnx': option 'model' is"),
        (("context", "x", "--format", "txt"), "--format: unknown formatter 'txt'"),
    ],
)
def test_a_part_that_an_option_names_wrongly_is_blamed_on_the_option(run, arguments, message):
    result = run(*arguments)

    assert result.exit_code == 1
    assert f"error: {message}" == result.stderr.splitlines()[-1][: len(f"error: {message}")]


def stores(run):
    return [status["store"] for status in json.loads(run("status", "--json").stdout)]


def test_a_part_that_an_option_names_stays_where_the_settings_name_none(run, monkeypatch):
    monkeypatch.delenv("RAGLOOM_STORE")
    first = run("index", "docs", "--store", "file", "--chunker", "heading")
    assert "the store is 'file' from now on\n" in first.stderr
    (name,) = spaces(run)

    assert "" == run("index", "docs").stderr
    assert "" == run("search", "logging", "docs").stderr
    assert "" == run("search", "logging", "docs", "--space", name).stderr
    assert ["file"] == stores(run)

    changed = run("index", "docs", "--store", "sqlite")
    assert f"{name}: the store is 'sqlite' from now on\n" in changed.stderr
    assert f"{name}: store changed: copying all chunks from the index to 'sqlite'" in changed.stderr
    assert ["sqlite"] == stores(run)
    assert 0 == json.loads(run("index", "docs", "--full", "--json").stdout)["chunks"]["embedded"]


def test_a_part_that_an_option_names_is_for_one_run_where_the_settings_name_another(run):
    run("index", "docs", "--store", "file")

    once = run("index", "docs", "--store", "file")
    assert "--store file applies to this run only: RAGLOOM_STORE says 'sqlite'\n" in once.stderr
    assert ["sqlite"] == stores(run)
    back = run("index", "docs")
    assert "store changed: copying all chunks from the index to 'sqlite'\n" in back.stderr
    assert "" == run("index", "docs").stderr


def test_settings_go_before_what_an_option_named_once(run, workspace, monkeypatch):
    monkeypatch.delenv("RAGLOOM_STORE")
    run("index", "docs", "--store", "file")
    (workspace / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")

    assert ["sqlite"] == stores(run)


def test_it_is_said_that_another_embedder_embeds_all_again(run, monkeypatch):
    run("index", "docs")
    (name,) = spaces(run)
    monkeypatch.setenv("RAGLOOM_EMBEDDER_DIMENSION", "32")

    again = run("index", "docs")

    said = f"{name}: embedder changed: re-embedding everything with 'hashing'\n"
    assert said == again.stderr[: len(said)]
    assert "" == run("index", "docs").stderr


def test_options_go_with_the_part_that_is_named_again(run, workspace, monkeypatch):
    monkeypatch.setenv("RAGLOOM_STORE_PATH", str(workspace / "kept.db"))
    run("index", "docs", "--store", "sqlite")
    assert (workspace / "kept.db").is_file()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("index", "loop"), "there is no such file or folder"),
        (("search", "x", "loop"), "there is no such file or folder"),
        (("index", "-C", "loop"), "there is no such folder"),
        (("config", "-C", "loop"), ""),
        (("explain", "x", "--expect", "loop"), ""),
        (("chunks", "loop"), "loop"),
    ],
)
def test_a_loop_of_links_is_a_path_that_does_not_exist(run, workspace, arguments, what):
    run("index", "docs")
    (workspace / "loop").symlink_to("loop")

    result = run(*arguments)

    assert "bug" not in result.stderr
    assert (bool(what), True) == (result.exit_code > 0, what in result.stderr)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a ", " a", "\udcff", "", "a\0b"])
def test_a_name_that_would_steer_a_terminal_names_no_space(run, name):
    result = run("index", "docs", "--space", name)
    assert (1, 1) == (result.exit_code, result.stderr.count("\n"))
    assert "cannot name a space" in result.stderr


@pytest.mark.parametrize("command", ["search", "explain", "context"])
def test_any_number_of_hits_may_be_asked_for(run, command):
    run("index", "docs")
    result = run(command, "logging", "-k", "1" + "0" * 30)
    assert 0 == result.exit_code
    assert result.stdout


def test_dropping_takes_names_and_knows_them_first(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    run("index")
    result = run("drop", "logs", "review")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "unknown space 'review'; did you mean 'reviews'?" in result.stderr
    assert '{"space": "logs", "dropped": true}\n' == run("drop", "logs", "--json").stdout
    assert ["logs", "reviews"] == spaces(run)  # the settings still name it
    assert 1 == run("drop", "logs").exit_code
    assert "reviews: dropped\n" == run("drop", "reviews").stdout


PAGE = "docs/observability/README.md"
OTHER = "docs/code-reviews/README.md"


def append(path, text):
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def changed(run, *arguments):
    """What an index run did: the files of each space, by kind."""
    lines = run("index", *arguments, "--json").stdout.splitlines()
    return {
        report["space"]: {kind: number for kind, number in report["files"].items() if number}
        for report in map(json.loads, lines)
    }


def test_a_file_inside_a_space_updates_that_space_and_no_other_file(run, workspace):
    run("index", "docs")
    append(workspace / PAGE, "\nZebras.\n")
    append(workspace / OTHER, "\nGiraffes.\n")
    (workspace / "docs" / "new.md").write_text("# New\n", "utf-8")

    assert {"docs": {"updated": 1, "unchanged": 14}} == changed(run, PAGE)
    assert ["docs"] == spaces(run)
    # The others are as they were: changed since, and found so by the next whole run.
    assert {"docs": {"added": 1, "updated": 1, "unchanged": 14}} == changed(run)


def test_one_file_at_a_time_gives_the_index_of_a_whole_run(run, workspace):
    run("index", "docs")
    append(workspace / PAGE, "\nZebras.\n")
    append(workspace / OTHER, "\nGiraffes.\n")
    (workspace / "docs" / "new.md").write_text("# New\n\nOkapis.\n", "utf-8")
    for path in (PAGE, OTHER, "docs/new.md"):
        run("index", path)

    assert {"docs": {"unchanged": 16}} == changed(run)
    queries = ("zebras", "giraffes", "okapis", "logging", "how is a review done?")
    found = [json.loads(run("search", text, "--json").stdout)["hits"] for text in queries]
    run("drop", "docs")
    run("index", "docs")
    anew = [json.loads(run("search", text, "--json").stdout)["hits"] for text in queries]
    assert anew == found


@pytest.mark.parametrize("source", [".", "docs", "docs/*/*.md", PAGE])
def test_whatever_the_source_is_that_holds_it(run, workspace, source):
    (workspace / "ragloom.yaml").write_text(f"spaces: {{kb: {{sources: ['{source}']}}}}\n")
    run("index")
    append(workspace / PAGE, "\nZebras.\n")
    assert {"kb"} == changed(run, PAGE).keys()
    assert ["kb"] == spaces(run)


def test_several_paths_of_one_space_and_folders_of_it(run, workspace):
    run("index", "docs")
    for path in (PAGE, OTHER):
        append(workspace / path, "\nZebras.\n")
    (workspace / "docs" / "new.md").write_text("# New\n", "utf-8")

    assert {"docs": {"updated": 2, "unchanged": 13}} == changed(
        run, "docs/observability", str(workspace / OTHER)
    )


def test_a_deleted_file_that_is_named_is_removed_and_its_neighbours_stay(run, workspace):
    run("index", "docs")
    (workspace / PAGE).unlink()
    (workspace / OTHER).unlink()

    assert {"docs": {"removed": 1, "unchanged": 14}} == changed(run, PAGE)
    result = run("index", PAGE)
    assert (1, "") == (result.exit_code, result.stdout)
    assert "no such file" in result.stderr


def test_a_deleted_folder_that_is_named_is_removed(run, workspace):
    run("index", "docs")
    shutil.rmtree(workspace / "docs" / "code-reviews")
    assert {"docs": {"removed": 4, "unchanged": 11}} == changed(run, "docs/code-reviews")


def test_paths_that_no_space_holds_make_one(run, workspace):
    run("index", "docs/observability")
    assert {"docs-code-reviews"} == {name[:17] for name in changed(run, "docs/code-reviews")}
    both = changed(run, "docs/code-reviews", "docs")  # no space holds all of docs
    assert {"unchanged", "added"} >= next(iter(both.values())).keys()
    assert 3 == len(spaces(run))


def test_what_a_space_ignores_is_not_held_by_it(run, workspace):
    (workspace / ".gitignore").write_text("docs/code-reviews/\n", "utf-8")
    run("index", "docs/observability", "--space", "kb")
    run("index", ".", "--space", "all")
    assert {"docs-code-reviews"} == {name[:17] for name in changed(run, OTHER)}


def test_a_file_of_two_spaces_updates_both_and_is_found_once(run, workspace):
    run("index", "docs", "--space", "all")
    run("index", "docs/observability", "--space", "part")
    append(workspace / PAGE, "\nZebra crossings.\n")

    one = {"updated": 1}
    assert {"all": one | {"unchanged": 14}, "part": one | {"unchanged": 10}} == changed(run, PAGE)
    found = json.loads(run("search", "zebra crossings", PAGE, "--json", "-k", "20").stdout)
    assert "all, part" == found["space"]
    lines = [hit["start_line"] for hit in found["hits"]]
    assert len(set(lines)) == len(lines)
    assert [] == [hit["copies"] for hit in found["hits"] if hit["copies"]]


def test_files_of_two_spaces_update_each_its_own(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    run("index")
    for path in (PAGE, OTHER):
        append(workspace / path, "\nZebras.\n")
    changes = changed(run, PAGE, OTHER)
    assert {"logs": 1, "reviews": 1} == {name: files["updated"] for name, files in changes.items()}


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense", "rrf"])
def test_a_search_with_a_path_inside_a_space_finds_what_stands_there(run, workspace, mode):
    run("index", "docs")
    options = ("--mode", mode, "--json", "-k", "30", "--per-file", "0")
    query = "observability review"
    where = json.loads(run("search", query, "--where", f"path under {OTHER}", *options).stdout)
    there = json.loads(run("search", query, OTHER, *options).stdout)

    assert {OTHER} == {hit["path"] for hit in there["hits"]}
    assert where["hits"] == there["hits"]
    both = json.loads(run("search", query, OTHER, PAGE, *options).stdout)
    assert {OTHER, PAGE} == {hit["path"] for hit in both["hits"]}
    assert ["docs"] == spaces(run)


def test_a_search_with_a_path_reads_only_that_file_again(run, workspace):
    run("index", "docs")
    append(workspace / PAGE, "\nZebra crossings.\n")
    append(workspace / OTHER, "\nZebra crossings.\n")
    found = run("search", "zebra crossings", PAGE, "--mode", "lexical")
    assert "1 updated" in found.stderr
    packed = json.loads(run("context", "zebra crossings", PAGE, "--json").stdout)
    assert {PAGE} == {one["path"] for one in packed["citations"]}
    assert {"docs": {"updated": 1, "unchanged": 14}} == changed(run)


def test_another_model_for_a_file_of_a_space_loses_no_neighbour(run, workspace, monkeypatch):
    run("index", "docs")
    monkeypatch.setenv("RAGLOOM_EMBEDDER_DIMENSION", "32")  # vectors of two models never mix
    run("index", PAGE)
    found = json.loads(run("search", "review", OTHER, "--json", "--mode", "dense").stdout)
    assert {OTHER} == {hit["path"] for hit in found["hits"]}
    assert ["docs"] == spaces(run)


def test_a_path_below_the_project_and_from_a_folder_in_it(run, workspace, monkeypatch):
    run("index", "docs")
    append(workspace / PAGE, "\nZebras.\n")
    monkeypatch.chdir(workspace / "docs" / "observability")
    assert {"docs": {"updated": 1, "unchanged": 14}} == changed(
        run, "README.md", "-C", str(workspace)
    )


def test_a_space_that_cannot_be_opened_keeps_no_path_from_being_indexed(run, workspace):
    run("index", "docs/code-reviews", "--space", "broken")
    (workspace / ".ragloom" / "spaces" / "broken" / "space.json").write_text("{", "utf-8")
    run("index", "docs/observability", "--space", "kb")
    append(workspace / PAGE, "\nZebras.\n")
    assert {"kb": {"updated": 1, "unchanged": 10}} == changed(run, PAGE)
