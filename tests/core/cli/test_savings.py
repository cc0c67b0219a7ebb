import json

from ragloom.text.token_estimate import estimate


def test_what_was_given_is_compared_with_whole_files(run, workspace):
    found = json.loads(run("search", "how do I log errors?", "docs", "--json").stdout)
    text = run("context", "how do I log errors?", "docs", "--json").stdout
    shown = {one["operation"]: one for one in json.loads(run("savings", "--json").stdout)}
    assert {"context", "search"} == shown.keys()
    assert 1 == shown["search"]["answers"]
    paths = {hit["path"] for hit in found["hits"]}
    whole = sum(
        estimate(line)
        for path in paths
        for line in (workspace / path).read_text("utf-8").splitlines()
    )
    assert whole == shown["search"]["tokens_of_files"]
    assert 0 < shown["search"]["tokens_given"] <= whole
    assert json.loads(text)["tokens"] == shown["context"]["tokens_given"]
    for path in paths:
        (workspace / path).unlink()
    assert [] == json.loads(run("savings", "--json").stdout)
    assert "no answer" in run("savings").stderr
