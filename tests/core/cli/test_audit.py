import json

import pytest


@pytest.fixture
def asked(run, workspace):
    run("search", "logging of errors", "docs", "-k", "2")
    run("search", "zebra", "docs", "--min-relevance", "1")
    run("context", "code review", "docs", "-k", "2")


def audit(run, *arguments):
    result = run("audit", *arguments, "--json")
    assert 0 == result.exit_code, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def queries(run, *arguments):
    return [record["query"] for record in audit(run, *arguments) if "query" in record]


@pytest.mark.usefixtures("asked")
def test_every_retrieval_is_one_line(run):
    assert ["logging of errors", "zebra", "code review"] == queries(run)
    index, search, nothing, context = audit(run)
    assert ["index", "search", "search", "context"] == [
        one["operation"] for one in (index, search, nothing, context)
    ]
    assert (2, None) == (len(search["hits"]), search["tokens"])
    assert ([], True) == (nothing["hits"], "no relevant match" in nothing["reason"])
    assert context["tokens"] > 0


@pytest.mark.usefixtures("asked")
def test_what_changed_the_index_or_proved_it_is_one_line(run, workspace):
    (workspace / "docs" / "new.md").write_text("# New\n\nA new page.\n", "utf-8")
    run("index", "docs")
    run("verify")
    run("repair", "docs")

    assert ["index", "search", "search", "context", "index", "verify", "repair"] == [
        record["operation"] for record in audit(run)
    ]
    (changed,) = audit(run, "--operation", "index", "-n", "1")
    assert (1, 1) == (changed["report"]["added"], changed["report"]["embedded"])
    proved, repaired = audit(run, "--operation", "repair", "--operation", "verify")
    assert changed["report"]["chunks"] == proved["report"]["exact"]
    assert changed["report"]["chunks"] == repaired["report"]["chunks"]
    line = run("audit", "--operation", "verify").stdout
    assert f"{proved['report']['exact']} exact" in line


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-n", "1"), ["code review"]),
        (("-n", "0"), ["logging of errors", "zebra", "code review"]),
        (("--empty",), ["zebra"]),
        (("--query", "LOG"), ["logging of errors"]),
        (("--space", "other"), []),
        (("--space", "docs", "--query", "review"), ["code review"]),
        (("--path", "nosuch/"), []),
        (("--since", "2999-01-01"), []),
        (("--since", "2020-01-01T12:00", "-n", "1"), ["code review"]),
    ],
)
def test_filters(run, arguments, expected):
    assert expected == queries(run, *arguments)


@pytest.mark.usefixtures("asked")
def test_in_a_pipe_a_retrieval_is_one_line_with_tabs(run):
    lines = run("audit").stdout.splitlines()
    assert 4 == len(lines)
    moment, operation, space, query, hits, tokens, milliseconds, found = lines[1].split("\t")
    assert ("search", "docs", "logging of errors") == (operation, space, query)
    assert ("2", "") == (hits, tokens)
    assert moment.startswith("20")
    assert float(milliseconds) > 0
    assert found.startswith("docs/")


def test_nothing_written_down_is_said(run, workspace):
    result = run("audit")
    assert (0, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("no matching entry in .ragloom/audit.jsonl")
    (workspace / "ragloom.yaml").write_text("audit: {enabled: false}\n")
    assert "disables the log" in run("audit").stderr
    run("search", "logging", "docs")
    assert not (workspace / ".ragloom" / "audit.jsonl").exists()


def test_queries_are_kept_out_where_the_settings_say_so(run, workspace):
    (workspace / "ragloom.yaml").write_text("audit: {queries: none}\n")
    run("search", "logging of errors", "docs")
    assert "logging of errors" not in (workspace / ".ragloom" / "audit.jsonl").read_text()


def test_wrong_settings_are_one_line(run, workspace):
    (workspace / "ragloom.yaml").write_text("audit: {keeep: 3}\n")
    result = run("audit")
    assert (1, "") == (result.exit_code, result.stdout)
    assert "unknown option 'keeep'; did you mean 'keep'" in result.stderr
