"""``ragloom templates``, with the model that counts."""

import json

import pytest
from click.testing import CliRunner

from ragloom.cli import Session, cli

from .conftest import PROOF


@pytest.fixture
def run(workspace, write):
    write("data/templates/proof.md", PROOF)
    write(
        "data/bot-buffer/translate.md",
        """\
        ---
        name: Translate
        domain: language
        description: Translate a text
        ---
        Translate into {{language}}: {{input}}
        """,
    )

    def invoke(*arguments, code=0):
        session = Session(folder=str(workspace.root), plugins=workspace.host)
        result = CliRunner().invoke(cli, ["templates", *map(str, arguments)], obj=session)
        assert code == result.exit_code, result.output
        return result

    return invoke


def test_index_says_what_it_did(run, write):
    write("data/templates/broken.md", "---\nname: [\n---\nText\n")
    result = run("index")
    assert result.stdout.startswith("2 templates: 2 added, 0 updated, 0 removed, 1 skipped; ")
    assert "data/templates/broken.md: skipped: front matter, line " in result.stderr
    found = json.loads(run("index", "--json").stdout)
    assert (2, 0, 0) == (found["templates"], found["added"], found["embedded"])
    assert ["data/templates/broken.md"] == [file["path"] for file in found["skipped"]]


def test_match_has_the_documented_json(run):
    (first,) = json.loads(
        run("match", "contradiction proof", "--json", "-k", 1, "--threshold", 0).stdout
    )
    fields = ["id", "name", "score", "description", "content", "front_matter", "fallback", "path"]
    assert fields == list(first)
    assert ("proof", False) == (first["id"], first["fallback"])
    assert first["path"].endswith("data/templates/proof.md")
    assert "deductive" == first["front_matter"]["methodology"]
    assert first["content"].startswith("## Steps")


def test_match_is_a_line_a_template(run):
    result = run("match", "contradiction proof", "--threshold", 0)
    assert ["proof", "translate"] == [line.split("\t")[1] for line in result.stdout.splitlines()]


def test_a_description_cannot_steer_a_terminal(run, write):
    write("data/templates/bad.md", '---\nname: "a\\e[31mb\\u202e"\n---\nText.\n')
    assert "bad\ta␛[31mb\ufffd\t" in run("list").stdout


def test_match_says_that_nothing_fits(run):
    result = run("match", "contradiction proof", "--domain", "cooking")
    assert result.stdout.startswith("fallback\tbot-chain-of-thought\tChain of Thought\t")
    said = "no template has the domain 'cooking' (available: language, mathematics)"
    assert f"{said}: this is the fallback" in result.stderr
    assert said in run("list", "--domain", "cooking").stderr
    assert "no template fits: this is the fallback" in run("match", "bake bread").stderr
    (only,) = json.loads(run("match", "x", "--domain", "cooking", "--json").stdout)
    assert (0.5, True) == (only["score"], only["fallback"])


def test_a_prompt_is_filled_and_never_evaluated(run):
    arguments = ("match", "{{language}} $(pwd)", "--domain", "language", "--threshold", 0)
    result = run(*arguments, "--format", "prompt", "--set", "language=German")
    assert "Translate into German: {{language}} $(pwd)\n" == result.stdout
    result = run(*arguments, "--format", "prompt")
    assert "Translate into {{language}}: {{language}} $(pwd)\n" == result.stdout
    assert "translate: placeholders without a value stay as they are: language" in result.stderr


def test_set_needs_a_name_and_a_value(run):
    assert (
        "--set takes NAME=VALUE, not 'German'"
        in run("match", "x", "--set", "German", code=2).stderr
    )


def test_list_filters(run):
    assert ["proof", "translate"] == [one["id"] for one in json.loads(run("list", "--json").stdout)]
    result = run("list", "--domain", "mathematics")
    assert "proof\tProof by Contradiction\tmathematics\tmoderate\tdeductive\tTemplate for" in (
        result.stdout
    )
    assert 1 == len(result.stdout.splitlines())


def test_show_prints_the_content(run):
    result = run("show", "proof")
    assert result.stdout.startswith("\n## Steps") or result.stdout.startswith("## Steps")
    assert "mathematics, moderate, deductive: proof, contradiction" in result.stderr
    assert "deductive" == json.loads(run("show", "proof", "--json").stdout)["methodology"]


def test_show_names_the_nearest(run):
    message = run("show", "prof", code=2).stderr
    assert "unknown template 'prof'; did you mean 'proof'?" in message
    assert 1 == len(message.strip().splitlines())


def test_add_takes_a_file_from_anywhere(run, write):
    file = write("elsewhere/why.md", "---\nname: Five Whys\n---\nAsk why.\n")
    assert "why\tFive Whys\n" == run("add", file).stdout
    assert "why" in run("list").stdout
    broken = write("elsewhere/broken.md", "---\nname: [\n---\nText\n")
    assert f"error: {broken}: front matter, line" in run("add", broken, code=1).stderr


def test_add_takes_a_folder_and_remove_gives_it_back(run, write):
    folder = write("elsewhere/why.md", "---\nname: Five Whys\n---\nAsk why.\n").parent
    assert "why\tFive Whys\n" == run("add", folder).stdout
    assert ["why"] == [one["id"] for one in json.loads(run("add", folder, "--json").stdout)]
    assert "why" in run("list").stdout
    run("remove", folder)
    assert "why" not in run("list").stdout


def test_remove_undoes_add(run, write):
    before = run("list").stdout
    file = write("elsewhere/why.md", "Ask why.")
    run("add", file)

    assert "removed why\n" == run("remove", "why").stdout
    assert {"removed": "proof"} == json.loads(run("remove", "proof", "--json").stdout)

    assert file.is_file()
    assert "unknown template 'translat'; did you mean 'translate'?" in (
        run("remove", "translat", code=2).stderr
    )
    run("add", write("data/templates/proof.md", PROOF))
    assert before == run("list").stdout


def test_lint_exits_with_1_for_errors_only(run, write):
    assert "0 errors, 0 warnings\n" == run("lint").stdout
    write("data/templates/plain.md", "Text.\n")
    assert "data/templates/plain.md:1: warning: there is no front matter" in run("lint").stdout
    write("data/templates/broken.md", "---\nname: a: b\n---\nText\n")
    result = run("lint", "--json", code=1)
    assert {"path", "line", "severity", "problem"} == set(json.loads(result.stdout)[0])
    assert "1 error, 1 warning" in result.stderr


def test_new_writes_a_skeleton_to_be_filled_in(run, workspace):
    path = run("new", 'Five "Whys"').stdout.strip()
    assert str(workspace.root / "data" / "templates" / "five-whys.md") == path
    assert run("lint").stdout.endswith("\n0 errors, 1 warning\n")
    assert "Five 'Whys'" == json.loads(run("show", "five-whys", "--json").stdout)["name"]
    assert "there is such a file already" in run("new", "five-whys", code=1).stderr
    assert "cannot name a file" in run("new", "???", code=1).stderr


def test_dir_takes_the_place_of_the_settings(run, write):
    folder = write("prompts/other.md", "Text.\n").parent
    assert ["other"] == [
        one["id"] for one in json.loads(run("list", "--dir", folder, "--json").stdout)
    ]


def test_the_group_says_what_it_reads(run):
    assert "SKILL.md" in run("--help").stdout
