"""Libraries in a workspace of the test's own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from ragloom import PluginHost, Provider, Workspace
from ragloom.testing.fakes import HashingEmbedder, HashingOptions
from ragloom.testing.fixtures import MakePlugin

Write = Callable[[str, str], Path]

PROOF = """\
    ---
    name: "Proof by Contradiction"
    domain: mathematics
    complexity: moderate
    methodology: deductive
    keywords: [proof, contradiction, negation, assume, QED]
    description: "Template for proving statements by assuming the opposite"
    ---

    ## Steps

    1. **State the claim.** Write down what is to be proved.
    2. **Assume the negation.** Suppose that the claim is false.
    3. **Derive a contradiction.** Reason until two statements exclude each other.
    """


@pytest.fixture(autouse=True)
def _log() -> Iterator[None]:
    """The command line takes the log for itself; the next test wants it back."""
    log = logging.getLogger("ragloom")
    before = list(log.handlers), log.propagate, log.level
    log.handlers, log.propagate = [], True
    yield
    log.handlers, log.propagate = before[0], before[1]
    log.setLevel(before[2])


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the workspace."""

    def write_file(path: str, text: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), "utf-8")
        return file

    return write_file


@pytest.fixture
def embedder() -> HashingEmbedder:
    """The one embedder of the test; it lists what it embedded."""
    return HashingEmbedder(HashingOptions(dimension=256))


@pytest.fixture
def workspace(tmp_path: Path, make_plugin: MakePlugin, embedder: HashingEmbedder) -> Workspace:
    """A workspace whose embedder counts and whose store is a file."""
    import ragloom_local
    import ragloom_templates

    counting = Provider(
        name="counting", summary="for tests", create=lambda _options: embedder, local=True
    )
    host = PluginHost(
        {
            "counting": make_plugin(embedders=[counting]),
            "local": ragloom_local,
            "templates": ragloom_templates,
        }
    )
    (tmp_path / "ragloom.yaml").write_text("embedder: counting\nstore: file\n", "utf-8")
    return Workspace.open(tmp_path, host=host)
