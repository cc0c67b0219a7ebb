"""An ending that nothing reads is named, with its count and how to have it read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragloom.cli import cli
from ragloom.reports import UnreadEnding
from ragloom.sources.unread import UnreadFiles, named, nothing_indexed

pytest.importorskip("pyromark", reason="the chunker of the settings' defaults")

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/cases/endings.jsonl").open(encoding="utf-8")
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        result = CliRunner().invoke(cli, list(arguments))
        assert 0 == result.exit_code, result.stderr
        return result

    return invoke


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_reported_endings_are_read(case, run, tmp_path):
    (tmp_path / case["path"]).write_text(case["text"], encoding="utf-8")
    found = json.loads(run("search", case["query"], "--json").stdout)
    assert [case["path"]] == [hit["path"] for hit in found["hits"]]


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.foo", b"The mooring fee is nine crowns.\n", ".foo (1 file; settings: loaders: {.foo: text})"),
        ("a.ppt", b"\xd0\xcf\x11\xe0\0\0\0\0", ".ppt (1 file; needs a plugin that reads it)"),
        ("a.png", b"\x89PNG\0\0", ".png (1 file)"),
    ],
)  # fmt: skip
def test_a_folder_that_holds_nothing_readable_is_not_called_empty(
    name, content, named, run, tmp_path
):
    (tmp_path / name).write_bytes(content)
    assert f"default: no loader reads {named}\n" in run("index").stderr
    assert f"nothing is indexed: no loader reads {named}" in run("search", "mooring").stderr
    (unread,) = json.loads(run("index", "--json").stdout)["unread"]
    assert (Path(name).suffix, 1) == (unread["ending"], unread["files"])


def test_the_advice_works(run, tmp_path):
    (tmp_path / "a.foo").write_text("The mooring fee is nine crowns.\n", encoding="utf-8")
    run("index")
    (tmp_path / "ragloom.yaml").write_text("loaders: {.foo: text}\n", encoding="utf-8")
    result = run("search", "what is the mooring fee", "--json")
    assert ["a.foo"] == [hit["path"] for hit in json.loads(result.stdout)["hits"]]
    assert "no loader" not in result.stderr


def test_beside_what_is_read_only_what_people_write_is_named(run, tmp_path):
    (tmp_path / "a.md").write_text("# A\n\ntext\n", encoding="utf-8")
    for name in ("a.png", "b.foo", "c.foo", ".hidden.foo", "package.min.js", "ignored.bar"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.bar\n", encoding="utf-8")
    assert "default: no loader reads .foo (2 files; settings: " in run("index").stderr
    assert "no loader" not in run("search", "text").stderr


def test_the_extra_is_named_where_a_package_is_missing():
    unread = UnreadFiles()
    for path in ("a.docx", "b/b.DOCX"):
        unread.add(path)
    (found,) = unread.endings({".docx": "ragloom[docx]"}, "text", media=False)
    assert UnreadEnding(ending=".docx", files=2, advice="pip install 'ragloom[docx]'") == found


def test_many_endings_on_one_line():
    unread = [UnreadEnding(ending=f".{letter}", files=2) for letter in "abcdefg"]
    assert named(unread).endswith(".e (2 files) and 2 more endings")
    assert "nothing is indexed: no file of this space holds any text" == nothing_indexed([])
