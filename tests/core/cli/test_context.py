import json

import pytest


def context(run, *arguments):
    result = run("context", *arguments, "--json")
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)


def test_json_has_the_documented_keys_and_exact_lines(run, workspace):
    found = context(run, "logging of errors", "docs", "-k", "3")
    assert [
        "searched_for", "pending", "checked", "text", "tokens", "max_tokens", "reason", "closest",
        "citations", "omitted",
    ] == list(found)  # fmt: skip
    assert ("", None) == (found["searched_for"], found["closest"])
    assert (4000, "", []) == (found["max_tokens"], found["reason"], found["omitted"])
    assert 0 < found["tokens"] <= 4000
    assert 1 <= len(found["citations"]) <= 3
    for citation in found["citations"]:
        assert [
            "path", "start_line", "end_line", "relevance", "headings", "text", "content_hash",
            "truncated",
        ] == list(citation)  # fmt: skip
        lines = (workspace / citation["path"]).read_text("utf-8").splitlines()
        shown = "\n".join(lines[citation["start_line"] - 1 : citation["end_line"]])
        assert citation["text"] in shown
        assert citation["text"] in found["text"]


def test_the_budget_holds_and_what_did_not_fit_is_named(run):
    found = context(run, "logging of errors", "docs", "--max-tokens", "300", "-k", "8")
    assert found["tokens"] <= 300
    assert found["omitted"]
    assert ["path", "start_line", "end_line", "relevance"] == list(found["omitted"][0])


@pytest.mark.parametrize("strategy", ["relevance", "recency", "diversity"])
def test_strategies(run, strategy):
    assert context(run, "logging of errors", "docs", "--strategy", strategy)["citations"]


def test_the_text_is_what_the_formatter_writes(run):
    result = run("context", "logging of errors", "docs", "-k", "2", "-f", "markdown", "-v")
    assert result.stdout.startswith("### [1] `docs/")
    assert "of 4000 tokens (" in result.stderr
    assert run("context", "logging", "docs", "-k", "2").stdout.startswith("===== [1] docs/")


def test_nothing_found_says_why_and_stays_readable_for_programs(run):
    arguments = ("context", "zebra xylophone", "docs", "--min-relevance", "1")
    result = run(*arguments)
    assert (0, "") == (result.exit_code, result.stdout)
    assert result.stderr.splitlines()[-1].startswith("no passages: ")
    assert [] == json.loads(run(*arguments, "-f", "json").stdout)["passages"]
    assert [] == context(run, *arguments[1:])["citations"]


def test_a_request_to_a_model(run):
    result = run("context", "logging of errors", "docs", "-f", "openai", "--model", "tiny")
    body = json.loads(result.stdout)
    assert "tiny" == body["model"]
    assert ["system", "user"] == [message["role"] for message in body["messages"]]
    assert "logging of errors" == body["messages"][1]["content"]
    (line,) = run("audit", "--operation", "context", "--json").stdout.splitlines()
    assert "openai" == json.loads(line)["provider"]


def test_a_format_that_writes_no_requests_is_wrong_usage(run):
    result = run("context", "logging", "docs", "-f", "text", "--model", "tiny")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "the format 'text' writes no requests" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "markdwn"), "did you mean 'markdown'"),
        (("--counter", "gpt"), "unknown token counter 'gpt' (available: auto,"),
    ],
)
def test_unknown_names_are_one_line(run, arguments, message):
    result = run("context", "logging", "docs", *arguments)
    assert (1, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
