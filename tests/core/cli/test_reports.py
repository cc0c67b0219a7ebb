"""The commands that show something: status, config, plugins, repair, completion."""

import json
import shutil
import sys

import pytest

from ragloom import PluginHost, Provider, hookimpl

STATUS_KEYS = [
    "space", "sources", "generation", "files", "chunks", "bytes", "created", "changed",
    "chunker", "embedder", "store",
]  # fmt: skip


def statuses(run):
    result = run("status", "--json")
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)


def test_status_before_anything(run, workspace):
    result = run("status")
    assert (0, "") == (result.exit_code, result.stdout)
    assert "nothing is indexed yet" in result.stderr
    assert [] == statuses(run)
    assert not (workspace / ".ragloom").exists()


def test_status_counts_what_changed_since(run, workspace):
    run("index", "docs")
    (status,) = statuses(run)
    assert STATUS_KEYS == list(status)
    assert ("docs", ["docs"], 1, 15) == tuple(
        status[key] for key in ("space", "sources", "generation", "files")
    )
    assert ("heading", "hashing", "sqlite") == tuple(status[key] for key in STATUS_KEYS[-3:])
    assert {"added": 0, "updated": 0, "removed": 0} == status["changed"]
    assert "up to date" in run("status").stdout
    pages = workspace / "docs" / "observability"
    (pages / "pitfalls.md").write_text("# Other\n")
    (pages / "alerting.md").unlink()
    (pages / "new.md").write_text("# New\n")
    assert {"added": 1, "updated": 1, "removed": 1} == statuses(run)[0]["changed"]
    assert "1 not indexed, 1 changed, 1 deleted" in run("status").stdout


def test_status_of_declared_spaces_and_of_a_source_that_is_gone(run, workspace):
    (workspace / "ragloom.yaml").write_text(
        "spaces: {logs: {sources: [docs/observability]}, gone: {sources: [nowhere]}}\n"
    )
    run("index", "--space", "logs")
    gone, logs = statuses(run)
    assert ("gone", 0, None, None) == tuple(
        gone[key] for key in ("space", "generation", "created", "changed")
    )
    assert ("logs", 11) == (logs["space"], logs["files"])
    result = run("status")
    place = f"{workspace / 'ragloom.yaml'}:1"
    assert f"warning: gone: {place}: nowhere: there is no such file or folder" in result.stderr
    assert 2 == len(result.stdout.splitlines())


def values(result):
    assert 0 == result.exit_code, result.stderr
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(result.stdout)}


def test_config_shows_values_and_origins(run, workspace, monkeypatch):
    (workspace / "ragloom.yaml").write_text(
        "chunker: {name: heading, levels: [1]}\nmode: dense\nspaces:\n"
        "  docs:\n    sources: [docs]\n    store: file\n    mode: lexical\n"
    )
    monkeypatch.setenv("RAGLOOM_STORE_PATH", "elsewhere")
    found = values(run("config", "--json"))
    assert (5, "default") == found["top_k"]
    assert ("dense", "ragloom.yaml:2") == found["mode"]
    assert ("lexical", "ragloom.yaml:7") == found["spaces.docs.mode"]
    assert (["docs"], "ragloom.yaml:5") == found["spaces.docs.sources"]
    assert ({"name": "heading", "levels": [1]}, "ragloom.yaml:1") == found["spaces.docs.chunker"]
    assert (
        {"name": "sqlite", "path": "elsewhere"},
        "RAGLOOM_STORE, RAGLOOM_STORE_PATH",
    ) == found["spaces.docs.store"]
    assert "mode\tdense\tragloom.yaml:2\n" in run("config").stdout


def test_config_shows_the_sections_of_plugins(run, workspace, monkeypatch):
    import ragloom.audit
    import ragloom_agents
    import ragloom_knowledge

    plugins = {"agents": ragloom_agents, "audit": ragloom.audit, "knowledge": ragloom_knowledge}
    (workspace / "ragloom.yaml").write_text(
        "audit:\n  keep: 2\ndefaults: {docs: {top_k: 3}}\nagents:\n  - id: a\n"
    )
    monkeypatch.setenv("RAGLOOM_KNOWLEDGE_DATABASE", "postgresql://me:secret@host/lessons")
    monkeypatch.setenv("RAGLOOM_RAG_STORE_PATH", "kept.db")
    result = run("config", "--json", plugins=PluginHost(plugins))
    found = values(result)
    assert (2, "ragloom.yaml:2") == found["audit.keep"]
    assert ("full", "default") == found["audit.queries"]
    url = "postgresql://me:***@host/lessons"
    assert (url, "RAGLOOM_KNOWLEDGE_DATABASE") == found["knowledge.database"]
    assert ("kept.db", "RAGLOOM_RAG_STORE_PATH") == found["rag.path"]
    assert (3, "ragloom.yaml:3") == (found["defaults.docs"][0]["top_k"], found["defaults.docs"][1])
    assert ("a", "ragloom.yaml:4") == (found["agents"][0][0]["id"], found["agents"][1])
    assert "secret" not in result.stdout


def test_config_reads_another_file(run, workspace):
    (workspace / "other.yaml").write_text("top_k: 9\n")
    assert 9 == values(run("config", "--json", "--config", "other.yaml"))["top_k"][0]
    assert 1 == run("config", "--config", "nosuch.yaml").exit_code


def broken():
    @hookimpl
    def ragloom_stores(self):
        raise RuntimeError("no luck")

    return type("Broken", (), {"ragloom_stores": ragloom_stores})()


def lacking():
    @hookimpl
    def ragloom_embedders(self):
        return [
            Provider(
                name="big",
                summary="a model",
                create=lambda _: None,
                requires=("no_such_module",),
                extra="ragloom[big]",
            )
        ]

    return type("Lacking", (), {"ragloom_embedders": ragloom_embedders})()


def test_plugins_shows_what_is_there_what_is_missing_and_what_failed(run):
    host = PluginHost({"bad": broken(), "big": lacking()})
    bad, big = json.loads(run("plugins", "--json", plugins=host).stdout)
    keys = ["name", "distribution", "version", "status", "provides", "error", "extra", "missing"]
    assert keys == list(bad)
    assert ("bad", "failed", "RuntimeError: no luck", None) == tuple(
        bad[key] for key in ("name", "status", "error", "extra")
    )
    assert ("big", "loaded", {"embedders": ["big"]}, None, "ragloom[big]") == tuple(
        big[key] for key in ("name", "status", "provides", "error", "extra")
    )
    shown = run("plugins", plugins=host).stdout.splitlines()
    assert "RuntimeError: no luck" in shown[0]
    assert "pip install 'ragloom[big]'" in shown[1]


def test_plugins_with_none_says_how_to_get_them(run):
    result = run("plugins", plugins=PluginHost())
    assert (0, "") == (result.exit_code, result.stdout)
    assert "pip install 'ragloom[standard]'" in result.stderr
    assert "[]\n" == run("plugins", "--json", plugins=PluginHost()).stdout


def test_a_search_with_no_plugin_is_one_line(run):
    result = run("search", "logging", "docs", plugins=PluginHost())
    assert (1, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))


def test_a_search_that_lacks_a_package_says_what_to_install(run, monkeypatch, make_plugin):
    import ragloom_local
    import ragloom_markdown

    plugins = PluginHost({"l": ragloom_local, "m": ragloom_markdown, "big": lacking()})
    result = run("search", "logging", "docs", "--embedder", "big", plugins=plugins)
    assert 1 == result.exit_code
    assert (
        "error: the embedder 'big' needs no_such_module, which is not installed: "
        "pip install 'ragloom[big]'\n"
    ) == result.stderr


def test_repair_makes_the_store_again_without_embedding(run, workspace):
    total = json.loads(run("index", "docs", "--json").stdout)["chunks"]["total"]
    shutil.rmtree(workspace / ".ragloom" / "spaces" / "docs" / "store")
    result = run("repair", "--json")
    assert (0, {"space": "docs", "chunks": total}) == (result.exit_code, json.loads(result.stdout))
    assert f"docs: {total} chunks in place\n" == run("repair", "--space", "docs").stdout


def test_repair_makes_the_snapshot_again(run, workspace):
    total = json.loads(run("index", "docs", "--json").stdout)["chunks"]["total"]
    space = workspace / ".ragloom" / "spaces" / "docs"
    (space / "CURRENT").unlink()
    assert f"docs: {total} chunks in place\n" == run("repair", "docs").stdout
    assert 0 == run("search", "logging", "docs", "--no-refresh").exit_code


def test_a_damaged_snapshot_is_named_and_made_again(run, workspace):
    total = json.loads(run("index", "docs", "--json").stdout)["chunks"]["total"]
    space = workspace / ".ragloom" / "spaces" / "docs"
    (space / "gen-000001" / "meta.json").write_text("")
    for command in (("search", "logging", "docs", "--no-refresh"), ("status",)):
        result = run(*command)
        assert (1, 1) == (result.exit_code, result.stderr.count("\n"))
        assert "gen-000001 is damaged" in result.stderr
        assert "'ragloom index'" in result.stderr
    assert f"docs: {total} chunks in place\n" == run("repair").stdout
    assert 0 == json.loads(run("index", "docs", "--json").stdout)["chunks"]["embedded"]
    (space / "gen-000003" / "files.json").write_text("[")
    result = run("index", "docs", "--json")
    assert (0, total) == (result.exit_code, json.loads(result.stdout)["chunks"]["reused"])
    assert "quarantined as" in result.stderr
    assert 2 == len(list(space.glob("gen-*.damaged-*")))


def test_repair_of_nothing_is_an_error_and_makes_nothing(run, workspace):
    result = run("repair", "docs")
    assert (1, "") == (result.exit_code, result.stdout)
    assert "error: nothing is indexed in 'docs' yet: run 'ragloom index'\n" == result.stderr
    assert not (workspace / ".ragloom").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run, shell):
    result = run("completion", shell)
    assert 0 == result.exit_code
    assert "_RAGLOOM_COMPLETE" in result.stdout
    assert "ragloom" in result.stdout


def test_completion_of_another_shell_names_those_there_are(run):
    result = run("completion", "tcsh")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "'bash', 'zsh', 'fish'" in result.stderr


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (("sea",), {"search"}),
        (("search", "--js"), {"--json"}),
        (("search", "x", "--space", "d"), {"docs"}),
        (("search", "x", "--store", "s"), {"sqlite"}),
        (("search", "x", "--mode", ""), {"hybrid", "rrf", "dense", "lexical"}),
    ],
)
def test_completion_knows_commands_options_spaces_and_parts(run, host, typed, wanted):
    from click.shell_completion import ShellComplete

    from ragloom.cli import Session, cli

    run("index", "docs")
    completer = ShellComplete(cli, {"obj": Session(plugins=host)}, "ragloom", "_RAGLOOM_COMPLETE")
    *before, word = typed
    assert wanted == {item.value for item in completer.get_completions(list(before), word)}


def test_hook_calls_are_logged_when_asked_for(workspace):
    import subprocess

    command = [sys.executable, "-m", "ragloom", "plugins", "--json", "--trace-hooks"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "ragloom_stores() -> " in done.stderr
    json.loads(done.stdout)
