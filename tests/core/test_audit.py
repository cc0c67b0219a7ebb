import json
import logging
import os
import subprocess
import sys
import time

import pytest

import ragloom.audit
from ragloom import Chunk, ConfigError, Hit, IndexFinished, Lines, PluginHost, SearchFinished, Span
from ragloom.audit import AuditLog, AuditSettings, read_log
from ragloom.config.settings import Settings, load_settings

HIT = Hit(
    chunk=Chunk(
        id="1",
        uri="a.md",
        text="secret text",
        span=Span(0, 11),
        lines=Lines(3, 4),
        bytes=Span(0, 11),
    ),
    score=0.75,
    relevance=0.5,
)


def record(log, query="how?", **more):
    given = {"space": "docs", "generation": 2, "hits": (HIT,), "seconds": 0.0123, **more}
    log.record(SearchFinished(operation="context", query=query, **given))


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_says_what_was_asked_and_found_and_no_text(tmp_path):
    log = AuditLog(AuditSettings(), tmp_path)
    record(log, tokens=77, sources=1, provider="ollama")
    (line,) = lines(tmp_path / ".ragloom" / "audit.jsonl")
    moment = line.pop("time")
    assert moment.endswith("+00:00")
    assert {
        "operation": "context",
        "space": "docs",
        "generation": 2,
        "query": "how?",
        "hits": [{"path": "a.md", "start_line": 3, "end_line": 4, "score": 0.75, "relevance": 0.5}],
        "sources": 1,
        "tokens": 77,
        "milliseconds": 12.3,
        "reason": "",
        "provider": "ollama",
    } == line


def test_a_run_has_its_figures(tmp_path):
    event = IndexFinished(
        operation="verify",
        space="docs",
        generation=2,
        changed=False,
        seconds=1.5,
        report={"chunks": 3, "exact": 3, "stale": 0},
    )
    AuditLog(AuditSettings(path="a"), tmp_path).record(event)
    (line,) = lines(tmp_path / "a")
    del line["time"]
    assert {
        "operation": "verify",
        "space": "docs",
        "generation": 2,
        "milliseconds": 1500.0,
        "report": {"chunks": 3, "exact": 3, "stale": 0},
    } == line


def test_queries_can_be_kept_out(tmp_path):
    record(AuditLog(AuditSettings(queries="hash", path="a"), tmp_path), "How do I log?\ud800")
    record(AuditLog(AuditSettings(queries="none", path="b"), tmp_path), "How do I log?")
    (hashed,), (silent,) = lines(tmp_path / "a"), lines(tmp_path / "b")
    assert 64 == len(hashed["query_sha256"])
    assert "query" not in hashed
    assert set() == {"query", "query_sha256"} & set(silent)


def test_it_can_be_switched_off(tmp_path):
    record(AuditLog(AuditSettings(enabled=False), tmp_path))
    assert [] == list(tmp_path.iterdir())


def test_nobody_else_may_read_it(tmp_path):
    record(AuditLog(AuditSettings(path="a"), tmp_path))
    if os.name == "posix":
        assert 0o600 == (tmp_path / "a").stat().st_mode & 0o777


def test_it_rotates_by_size_and_keeps_so_many(tmp_path):
    log = AuditLog(AuditSettings(path="a", max_bytes=700, keep=2), tmp_path)
    for number in range(20):
        record(log, f"query {number:02}")
    assert {"a", "a.1", "a.2", "a.lock"} == {path.name for path in tmp_path.iterdir()}
    assert all(path.stat().st_size <= 700 for path in tmp_path.iterdir())
    queries = [line["query"] for line in read_log(tmp_path / "a")]
    assert [f"query {number:02}" for number in range(20)][-len(queries) :] == queries
    assert 6 == len(queries)


def test_a_line_longer_than_the_limit_and_no_older_files(tmp_path):
    log = AuditLog(AuditSettings(path="a", max_bytes=1, keep=0), tmp_path)
    record(log, "first")
    record(log, "second")
    assert ["second"] == [line["query"] for line in read_log(tmp_path / "a")]


def test_a_torn_line_costs_no_other(tmp_path):
    log = AuditLog(AuditSettings(path="a"), tmp_path)
    record(log, "first")
    with (tmp_path / "a").open("ab") as stream:
        stream.write(b'{"time": "20')
    record(log, "second")
    assert ["first", "second"] == [line["query"] for line in read_log(tmp_path / "a")]


def test_no_log_is_no_lines(tmp_path):
    assert [] == list(read_log(tmp_path / "a"))


def test_a_log_that_cannot_be_written_is_one_warning(tmp_path, caplog):
    (tmp_path / "a").mkdir()
    log = AuditLog(AuditSettings(path="a"), tmp_path)
    with caplog.at_level(logging.WARNING, "ragloom"):
        record(log)
        record(log)
    assert 1 == len(caplog.records)
    assert "the audit log cannot be written" in caplog.text


def test_who_holds_the_lock_for_long_is_not_waited_for(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "a.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.perf_counter()
        record(AuditLog(AuditSettings(path="a"), tmp_path))
        assert time.perf_counter() - started < 30  # it is held for ever
    assert 1 == len(lines(tmp_path / "a"))


WRITER = """
import sys
from pathlib import Path
from ragloom import SearchFinished
from ragloom.audit import AuditLog, AuditSettings
log = AuditLog(AuditSettings(path="a", max_bytes=20_000, keep=50), Path(sys.argv[1]))
for turn in range(200):
    query = f"{sys.argv[2]}-{turn}"
    log.record(
        SearchFinished(
            operation="search", query=query, space="docs", generation=1, hits=(), seconds=0.1
        )
    )
"""


def test_several_processes_lose_no_line(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)])
        for number in range(3)
    ]
    assert [0, 0, 0] == [writer.wait() for writer in writers]
    written = sorted(line["query"] for line in read_log(tmp_path / "a"))
    assert sorted(f"{number}-{turn}" for number in range(3) for turn in range(200)) == written


@pytest.fixture
def read(tmp_path):
    """What the section says in a file of this text."""

    def read_text(text, **environment):
        (tmp_path / "ragloom.yaml").write_text(text, "utf-8")
        sections = PluginHost({"audit": ragloom.audit}).sections()
        settings = load_settings(tmp_path, environment=environment, sections=sections)
        return settings.section("audit", AuditSettings)

    return read_text


def test_settings(read):
    assert AuditSettings() == Settings().section("audit", AuditSettings) == read("audit:\n")
    given = AuditSettings(queries="hash", keep=0, max_bytes=5)
    assert given == read("audit: {queries: hash, keep: 0, max_bytes: 5}\n")
    assert 7 == read("audit: {keep: 1}\n", RAGLOOM_AUDIT_KEEP="7").keep


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("off", "audit: expected a mapping with enabled, path, "),
        ("{querys: none}", "unknown option 'querys'; did you mean 'queries'"),
        ("{queries: some}", "option 'queries' must be one of 'full', 'hash', 'none'"),
        ("{max_bytes: 0}", "max_bytes must be at least 1"),
        ("{keep: -1}", "keep must be at least 0"),
        ("{path: ~nosuchuser/x}", "path must be .* not '~nosuchuser/x'"),
    ],
)
def test_wrong_settings_are_named(given, message, read):
    with pytest.raises(ConfigError, match=rf"ragloom\.yaml:1: .*{message}"):
        read(f"audit: {given}\n")


def test_a_wrong_setting_is_named_with_its_line(tmp_path, read):
    with pytest.raises(ConfigError) as caught:
        read("audit:\n  queries: hash\n  keep: many\n")
    expected = f"{tmp_path / 'ragloom.yaml'}:3: audit: option 'keep' must be int, not 'many'"
    assert expected == str(caught.value)


def test_the_log_may_lie_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    log = AuditLog(AuditSettings(path="~/audit.jsonl"), tmp_path / "workspace")
    assert tmp_path / "audit.jsonl" == log.path


@pytest.mark.parametrize("keep", [0, 1, 4])
@pytest.mark.parametrize("name", ["audit.jsonl", "audit.jsonl.1"])
def test_what_others_wrote_is_neither_written_nor_moved_nor_removed(tmp_path, keep, name, caplog):
    own = tmp_path / name
    own.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n", "utf-8")
    log = AuditLog(AuditSettings(path="audit.jsonl", max_bytes=1, keep=keep), tmp_path)
    for _ in range(9):
        record(log)
    assert "-----BEGIN OPENSSH PRIVATE KEY-----\n" == own.read_text("utf-8")
    if name == "audit.jsonl":
        assert ["audit.jsonl", "audit.jsonl.lock"] == sorted(one.name for one in tmp_path.iterdir())
    elif keep:
        assert 9 == len(lines(tmp_path / "audit.jsonl"))
    foreign = name == "audit.jsonl" or keep > 0
    assert foreign == caplog.text.count("another program wrote it")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("linked", ["audit.jsonl", "audit.jsonl.lock", "audit.jsonl.1", "."])
def test_a_link_below_the_workspace_is_not_followed(tmp_path, linked, caplog):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "own").write_text('{"time":"mine"}\n', "utf-8")
    if linked == ".":
        (root / ".ragloom").symlink_to(outside)
    else:
        (root / ".ragloom").mkdir()
        (root / ".ragloom" / linked).symlink_to(outside / "own")
    log = AuditLog(AuditSettings(max_bytes=300, keep=2), root)
    for _ in range(5):
        record(log)
    assert ["own"] == [one.name for one in outside.iterdir()]
    assert '{"time":"mine"}\n' == (outside / "own").read_text("utf-8")
    assert 1 == caplog.text.count("the audit log cannot be written")


def test_a_file_with_another_name_is_left_alone(tmp_path):
    (tmp_path / "own").write_text('{"time":"mine"}\n', "utf-8")
    (tmp_path / ".ragloom").mkdir()
    os.link(tmp_path / "own", tmp_path / ".ragloom" / "audit.jsonl")
    record(AuditLog(AuditSettings(), tmp_path))
    assert '{"time":"mine"}\n' == (tmp_path / "own").read_text("utf-8")
