"""The guide's own plugin, put together from the page and used."""

import re
import subprocess
import sys

import pytest

from ragloom import PluginHost, Source


@pytest.fixture
def guide(root):
    return (root / "docs" / "writing-plugins.md").read_text("utf-8")


@pytest.fixture
def plugin(guide, tmp_path, monkeypatch):
    """The modules of the guide, each the first block of code after its file's name."""
    package = tmp_path / "ragloom_rst_example"
    package.mkdir()
    for name in ("__init__.py", "loader.py"):
        pattern = rf"`ragloom_rst_example/{name}`.*?```python\n(.*?)```"
        (package / name).write_text(re.search(pattern, guide, re.DOTALL)[1], "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("ragloom_rst_example")
    for name in [name for name in sys.modules if name.startswith("ragloom_rst_example")]:
        del sys.modules[name]


def test_the_plugin_of_the_guide_works(plugin, tmp_path):
    host = PluginHost({"rst": plugin})
    assert host.plugins()[0].error == ""

    document = host.loader("rst").load(Source(uri="a.rst", path=tmp_path), b"Title\n=====\n")
    assert document.text == "Title\n=====\n"


def test_every_block_of_python_compiles(guide):
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        compile(block, "writing-plugins.md", "exec")


def test_the_tests_of_the_guide_pass(guide, plugin, tmp_path):
    """Every block with tests, each as a file of its own beside the guide's plugin."""
    section = guide.partition("## Tests\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 4
    for number, block in enumerate(blocks):
        name = "conftest.py" if "pytest_plugins" in block else f"test_{number}.py"
        (tmp_path / name).write_text(block, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rx", "."],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " 3 xfailed" in done.stdout
