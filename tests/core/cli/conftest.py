"""The command line over a workspace with a copy of the example docs and parts that are quick."""

from __future__ import annotations

import logging
import os
import shutil

import pytest
from click.testing import CliRunner

pytest.importorskip("pyromark", reason="the example docs are Markdown")

import ragloom.audit
from ragloom import PluginHost
from ragloom.cli import Session, cli
from ragloom.testing.fakes import hashing_provider


@pytest.fixture
def workspace(tmp_path, root, monkeypatch):
    """The current folder, with real pages in ``docs``."""
    folder = tmp_path / "workspace"
    source = root / "examples" / "docs"
    for name in ("observability", "code-reviews"):
        shutil.copytree(source / name, folder / "docs" / name)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RAGLOOM_EMBEDDER", "hashing")
    monkeypatch.setenv("RAGLOOM_STORE", "sqlite")
    monkeypatch.setenv("RAGLOOM_MIN_RELEVANCE", "0")  # hashed words are hardly alike
    monkeypatch.delenv("NO_COLOR", raising=False)
    return folder


@pytest.fixture
def host(make_plugin):
    import ragloom_formats
    import ragloom_local
    import ragloom_markdown
    import ragloom_onnx

    return PluginHost(
        {
            "audit": ragloom.audit,
            "formats": ragloom_formats,
            "hashing": make_plugin(embedders=[hashing_provider()]),
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "onnx": ragloom_onnx,
        }
    )


@pytest.fixture
def run(workspace, host):
    """Runs a command as if it were typed in the workspace."""
    log = logging.getLogger("ragloom")
    before = log.handlers, log.level

    def invoke(*arguments, plugins=host):
        try:
            runner = CliRunner(mix_stderr=False)
        except TypeError:  # click 8.2 keeps them apart by itself
            runner = CliRunner()
        return runner.invoke(cli, [*arguments], obj=Session(plugins=plugins))

    yield invoke
    log.handlers, level = before
    log.setLevel(level)


@pytest.fixture
def unreadable(workspace):
    """A file in ``docs`` that cannot be indexed, whoever runs the tests."""
    path = workspace / "docs" / os.fsdecode(b"caf\xe9.md")
    try:
        path.write_text("# Coffee\n", "utf-8")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    return r"docs/caf\udce9.md"
