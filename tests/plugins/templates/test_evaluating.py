"""``ragloom eval`` on a folder of problems, with the model that counts."""

import json

import pytest
from click.testing import CliRunner

from ragloom.cli import Session, cli

from .conftest import PROOF

PROBLEMS = """\
    {"problem": "contradiction proof negation", "template": "proof"}

    {"problem": "zebra", "template": null}
    """


@pytest.fixture
def run(workspace):
    def invoke(*arguments, code=0):
        session = Session(folder=str(workspace.root), plugins=workspace.host)
        result = CliRunner().invoke(cli, ["eval", *map(str, arguments)], obj=session)
        assert code == result.exit_code, result.output
        return result

    return invoke


def test_json_has_every_share(run, write):
    write("data/templates/proof.md", PROOF)
    folder = write("mine/problems.jsonl", PROBLEMS).parent
    found = json.loads(run(folder, "--json").stdout)
    assert ["top1", "top3", "shown1", "shown3", "fallback"] == list(found["metrics"])
    assert ("mine", 2, "problems") == (found["collection"], found["queries"], found["mode"])
    assert 1.0 == found["metrics"]["top1"]
    assert found["chunks"] > 0


def test_the_templates_beside_the_problems_are_asked(run, write):
    write("data/templates/other.md", "Text.\n")
    write("mine/templates/proof.md", PROOF)
    folder = write("mine/problems.jsonl", PROBLEMS).parent
    cells = run(folder).stdout.strip().split("\t")
    assert 7 == len(cells)
    assert "1.000" == cells[0]


def test_what_is_wrong_is_told(run, write):
    write("data/templates/proof.md", PROOF)
    folder = write("mine/problems.jsonl", '{"problem": "zebra", "template": "proof"}\n').parent
    assert "zebra: wanted proof, found the fallback" in run(folder).stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"problem": "x"}', "problems.jsonl:1: expected"),
        ('{"problem": 1, "template": null}', "problems.jsonl:1: expected"),
        ('{"problem": "x", "template": []}', "problems.jsonl:1: expected"),
        ("[1]", "problems.jsonl:1: expected"),
        ('{"problem": "x", "template": "nothing"}', "the library has no template 'nothing'"),
    ],
)
def test_a_wrong_line_is_named(run, write, line, message):
    write("data/templates/proof.md", PROOF)
    folder = write("mine/problems.jsonl", line + "\n").parent
    assert message in run(folder, code=1).stderr


def test_bytes_that_are_no_text_are_one_line(run, workspace, write):
    write("data/templates/proof.md", PROOF)
    file = write("mine/problems.jsonl", "x\n")
    file.write_bytes(b"\xff\xfe{")
    message = run(file.parent, code=1).stderr
    assert "problems.jsonl" in message
    assert 1 == len(message.strip().splitlines())


def test_options_of_another_kind_of_folder_are_refused(run, write):
    folder = write("mine/problems.jsonl", PROBLEMS).parent
    message = run(folder, "--min-relevance", "0.5", code=2).stderr
    assert "--min-relevance is for collections in BEIR's format" in message


def test_a_folder_of_no_kind_says_what_it_may_hold(run, write):
    folder = write("mine/readme.txt", "x").parent
    message = run(folder, code=1).stderr
    assert "corpus.jsonl" in message
    assert "problems.jsonl" in message
