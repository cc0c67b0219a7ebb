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
        for line in (workspace / path).read_text("utf-8").splitlines(keepends=True)
    )
    assert whole == shown["search"]["tokens_of_files"]
    assert 0 < shown["search"]["tokens_given"] <= whole
    assert json.loads(text)["tokens"] == shown["context"]["tokens_given"]
    for path in paths:
        (workspace / path).unlink()
    assert [] == json.loads(run("savings", "--json").stdout)
    assert "no answer" in run("savings").stderr


def test_lines_count_as_in_hits(run, workspace):
    page = workspace / "docs" / "page.md"
    page.write_text("# A\n\none\x0ctwo\u2028three\n\n# Wombats\n\nDig burrows.\n", "utf-8")
    (hit,) = json.loads(
        run("search", "wombats burrows", "docs/page.md", "-k", "1", "--json").stdout
    )["hits"]
    assert (5, 7) == (hit["start_line"], hit["end_line"])
    (shown,) = json.loads(run("savings", "--json").stdout)
    lines = ["# Wombats\n", "\n", "Dig burrows.\n"]
    assert sum(map(estimate, lines)) == shown["tokens_given"]
