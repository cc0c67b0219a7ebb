"""README opens with two commands; .ci/run begins with the second, the first answers a question."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def commands(root):
    blocks = re.findall(
        r"```(?:sh|console)\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL
    )
    return [block.strip().removeprefix("$ ") for block in blocks[:2]]


def test_readme_opens_with_two_commands_of_one_line(commands):
    assert [1, 1] == [len(command.splitlines()) for command in commands]


def test_ci_runs_the_second_command_and_then_the_slow_tier(root, commands):
    script = (root / ".ci" / "run").read_text("utf-8").splitlines()
    assert [commands[1], ".venv/bin/tox -e slow"] == [line for line in script if "tox" in line]


def test_the_first_command_installs_and_asks(commands):
    steps = [step.strip() for step in commands[0].split("&&")]
    assert any("pip install" in step for step in steps)
    assert shlex.split(steps[-1])[:2] == [".venv/bin/ragloom", "search"]


@pytest.fixture
def ask(root, tmp_path):
    """Runs a command of the README beside a copy of the pages."""
    if importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("needs the extra [standard]")
    shutil.copytree(root / "examples" / "docs", tmp_path / "examples" / "docs")

    def run(command, *more):
        return subprocess.run(
            [sys.executable, "-m", "ragloom", *shlex.split(command)[1:], *more],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )

    return run


def test_the_first_command_answers_with_file_and_line(commands, ask):
    done = ask(commands[0].rsplit("&&", 1)[1])
    assert re.search(r"^examples/docs/\S+\.md:\d+", done.stdout, re.MULTILINE)


def test_the_answers_that_it_shows_are_those_that_it_gives(root, commands, ask):
    page = (root / "README.md").read_text("utf-8")
    found, nothing = re.search(r"```text\n(.*?)\n\$ (.*?)```", page, re.DOTALL).groups()
    relevance, path, first, last = re.match(r"(\S+)  (\S+):(\d+)-(\d+)\n", found).groups()

    hit = json.loads(ask(commands[0].rsplit("&&", 1)[1], "--json").stdout)["hits"][0]
    assert (path, int(first), int(last)) == (hit["path"], hit["start_line"], hit["end_line"])
    assert float(relevance) == pytest.approx(hit["relevance"], abs=0.01)
    assert " > ".join(hit["headings"]) == found.splitlines()[1].strip()
    lines = (root / path).read_text("utf-8").splitlines()
    for number, text in re.findall(r"^ +(\d+) │ (.*?(?:\n +│ .*)*)$", found, re.MULTILINE):
        shown = re.sub(r"\n +│", "", text).removesuffix(" …")
        line = lines[int(number) - 1]
        assert line.endswith(shown[2:]) if shown.startswith("… ") else line.startswith(shown)

    command, told = nothing.splitlines()
    done = ask(command)
    assert ("", told) == (done.stdout, done.stderr.splitlines()[-1])
