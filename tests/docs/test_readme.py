"""README opens with two commands; the second is what .ci/run runs, the first answers a question."""

import importlib.util
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


def test_ci_runs_the_second_command_and_nothing_else(root, commands):
    script = (root / ".ci" / "run").read_text("utf-8").splitlines()
    told = [line for line in script if line and not line.startswith(("#", "set ", "cd "))]
    assert [commands[1]] == told


def test_the_first_command_installs_and_asks(commands):
    steps = [step.strip() for step in commands[0].split("&&")]
    assert any("pip install" in step for step in steps)
    assert shlex.split(steps[-1])[:2] == [".venv/bin/ragloom", "search"]


@pytest.mark.skipif(
    importlib.util.find_spec("ragloom.cli") is None, reason="the command line is not there yet"
)
@pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="needs the extra [standard]"
)
def test_the_first_command_answers_with_file_and_line(commands, root, tmp_path):
    arguments = shlex.split(commands[0].rsplit("&&", 1)[1])[1:]
    folders = [argument for argument in arguments if (root / argument).is_dir()]
    for folder in folders:
        shutil.copytree(root / folder, tmp_path / folder)
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert folders
    assert re.search(
        rf"^{re.escape(folders[0].rstrip('/'))}/\S+\.md:\d+", done.stdout, re.MULTILINE
    )
