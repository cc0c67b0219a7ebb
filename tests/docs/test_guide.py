"""The guide's own plugin, put together from the page and used."""

import json
import re
import sys

import pytest

import ragloom.cli
import ragloom_local
import ragloom_text
from ragloom import PluginHost, Source
from ragloom.testing.fakes import hashing_provider


@pytest.fixture
def guide(root):
    return (root / "docs" / "writing-plugins.md").read_text("utf-8")


@pytest.fixture
def package(guide, tmp_path, monkeypatch):
    """Imports a package of the guide: each module the first block of code after its file's name."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def put_together(name, *modules):
        made.append(name)
        (tmp_path / name).mkdir()
        for module in modules:
            pattern = rf"`{name}/{module}`.*?```python\n(.*?)```"
            (tmp_path / name / module).write_text(re.search(pattern, guide, re.DOTALL)[1], "utf-8")
        return __import__(name)

    yield put_together
    for name in [name for name in sys.modules if name.partition(".")[0] in made]:
        del sys.modules[name]


@pytest.fixture
def plugin(package):
    return package("ragloom_rst_example", "__init__.py", "loader.py")


def test_the_plugin_of_the_guide_works(plugin, tmp_path):
    host = PluginHost({"rst": plugin})
    assert host.plugins()[0].error == ""

    document = host.loader("rst").load(Source(uri="a.rst", path=tmp_path), b"Title\n=====\n")
    assert document.text == "Title\n=====\n"


def test_the_command_of_the_guide_works(package, make_plugin, cli, tmp_path, monkeypatch):
    host = PluginHost(
        {
            "files": package("ragloom_files_example", "__init__.py", "command.py"),
            "hashing": make_plugin(embedders=[hashing_provider()]),
            "local": ragloom_local,
            "text": ragloom_text,
        }
    )
    for name, value in {
        "CHUNKER": "sentence",
        "EMBEDDER": "hashing",
        "MIN_RELEVANCE": "0",
        "STORE": "sqlite",
    }.items():
        monkeypatch.setenv(f"RAGLOOM_{name}", value)
    (tmp_path / "notes").mkdir()
    for name, text in {
        "keys": "Who may rotate the signing keys?",
        "tea": "Tea is at four.",
    }.items():
        (tmp_path / "notes" / f"{name}.txt").write_text(text, "utf-8")

    done = cli("files", "rotate signing keys", "notes", "--json", "-q", plugins=host)
    assert (0, "") == (done.exit_code, done.stderr)
    assert "notes/keys.txt" == json.loads(done.stdout)[0]["path"]
    assert cli("files", "keys", "notes", plugins=host).stdout.startswith("notes/keys.txt\t")
    listed = cli("--help", plugins=host).stdout
    assert re.search(r"files +Name the files that answer\.", listed)
    assert (
        "--workspace DIR" in cli("files", "--help", plugins=host).stdout.split("Common options:")[1]
    )


def test_the_guide_names_all_that_commands_are_made_of(guide):
    section = guide.partition("## A command\n")[2].partition("\n## ")[0]
    for name in set(ragloom.cli.__all__) - {"cli", "main"}:
        assert f"`{name}`" in section


def test_every_block_of_python_compiles(guide):
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        compile(block, "writing-plugins.md", "exec")


@pytest.mark.slow
def test_the_tests_of_the_guide_pass(guide, plugin, run_pytest, tmp_path):
    """Every block with tests, each as a file of its own beside the guide's plugin."""
    section = guide.partition("## Tests\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 4
    for number, block in enumerate(blocks):
        name = "conftest.py" if "pytest_plugins" in block else f"test_{number}.py"
        (tmp_path / name).write_text(block, "utf-8")
    done = run_pytest("-q", "-rx", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " 3 xfailed" in done.stdout
