"""A project with documents and agents; the model is the bundled one, or one that counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from ragloom import PluginHost, Provider
from ragloom.testing.fakes import HashingEmbedder, HashingOptions
from ragloom.testing.fixtures import MakePlugin

pytest.importorskip("pyromark")

OpenAgents = Callable[..., "object"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    return folder


@pytest.fixture
def write(project: Path) -> Callable[[str, str], Path]:
    """Write a file of the project."""

    def write_file(path: str, text: str) -> Path:
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), "utf-8")
        return file

    return write_file


@pytest.fixture
def embedder() -> HashingEmbedder:
    """The one embedder that every agent of the test uses; it lists what it embedded."""
    return HashingEmbedder(HashingOptions(dimension=256))


@pytest.fixture
def host(make_plugin: MakePlugin, embedder: HashingEmbedder) -> PluginHost:
    """The bundled plugins, with that embedder under the name ``onnx``."""
    import ragloom_agents
    import ragloom_local
    import ragloom_markdown
    import ragloom_text

    counting = Provider(
        name="onnx", summary="for tests", create=lambda _options: embedder, local=True
    )
    return PluginHost(
        {
            "agents": ragloom_agents,
            "counting": make_plugin(embedders=[counting]),
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "text": ragloom_text,
        }
    )


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables with a home folder that holds nothing yet."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home" / ".config")}


@pytest.fixture
def open_agents(project, host, environment):
    """Open the project's agents, as a fresh process would."""
    from ragloom_agents import Agents

    def opened(*, plugins=host, **variables):
        return Agents.open(project, host=plugins, environment=environment | variables)

    return opened
