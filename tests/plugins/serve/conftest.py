"""A real server of a workspace with two spaces, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ragloom import PluginHost, Workspace

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")
pytest.importorskip("prometheus_client")

FILES = {
    "ragloom.yaml": "store: sqlite\nspaces:\n  docs: {sources: [docs]}\n  ops: {sources: [ops]}\n",
    "docs/s3.md": "---\nstatus: accepted\nyear: 2024\n---\n# Buckets\n\nCopy a bucket with aws s3 cp.\n",
    "docs/ec2.md": "---\nstatus: draft\n---\n# Machines\n\nStart a machine with aws ec2 run-instances.\n",
    "ops/restart.md": "# Restart\n\nRestart the gateway with systemctl, one node after the other.\n",
}


def write_files(folder: Path) -> None:
    for path, text in FILES.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")


@contextmanager
def running(project: Path, *arguments: str, **variables: str) -> Iterator[str]:
    """The address of a server."""
    command = [sys.executable, "-m", "ragloom", "-C", str(project), "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ) | variables,
    ) as process:
        try:
            yield next(line for line in process.stderr if "serving http" in line).split()[-1]
        finally:
            process.terminate()
            process.wait(30)


def ask(url, path, body=None, *, method=None, raw=None, **headers):
    """The status and the content of an answer: JSON, or its text."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    content = raw if raw is not None else None if body is None else json.dumps(body)
    connection.request(method or ("GET" if content is None else "POST"), path, content, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    kind = answer.getheader("content-type", "")
    connection.close()
    return answer.status, json.loads(text) if kind.startswith("application/json") else text


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    write_files(folder)
    workspace = Workspace.open(folder, host=PluginHost.discover())
    for name in ("docs", "ops"):
        with workspace.space(name) as space:
            space.index()
    return folder


@pytest.fixture(scope="module")
def url(project):
    with running(project) as address:
        yield address
