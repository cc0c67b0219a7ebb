"""A workspace with two spaces, an agent and lessons, indexed with the bundled model."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragloom import PluginHost, Workspace

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")

SETTINGS = """\
store: sqlite
spaces:
  docs: {sources: [docs]}
  runbooks: {sources: ["ops/*.md"]}
"""
AGENTS = """\
rag: {store: sqlite}
agents:
  - {id: storage, docs: {strategy: rag, sources: ["docs/s3.md"]}}
  - {id: silent}
"""
FILES = {
    "ragloom.yaml": SETTINGS,
    "agents.yaml": AGENTS,
    "docs/s3.md": "# Buckets\n\nCopy a bucket with aws s3 cp.\n\nDelete one with aws s3 rb.\n",
    "docs/ec2.md": "# Machines\n\nStart a virtual machine with aws ec2 run-instances.\n",
    "ops/restart.md": "# Restart\n\nRestart the gateway with systemctl, one node after the other.\n",
}


@pytest.fixture(scope="session")
def plugins() -> PluginHost:
    return PluginHost.discover()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def workspace(project: Path, plugins: PluginHost) -> Workspace:
    opened = Workspace.open(project, host=plugins)
    for name in ("docs", "runbooks"):
        opened.space(name).index()
    return opened
