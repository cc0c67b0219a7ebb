"""A workspace with pages, a document that attacks whatever shows it, and lessons; and its page."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from ragloom import PluginHost, Workspace

pytest.importorskip("starlette")
pytest.importorskip("onnxruntime")

sys.path.insert(0, str(Path(__file__).parent))
from browser import CHROMIUM, DRIVER, HOSTILE, HOSTILE_NAME, Client, chromium, page_of

FILES = {
    "ragloom.yaml": "store: sqlite\nspaces: {docs: {sources: [docs]}, hostile: {sources: [hostile]}}\n",
    "docs/adr/0001.md": "---\nstatus: accepted\n---\n# Retries\n\nRetry a call three times with backoff.\n",
    "docs/adr/0002.md": "---\nstatus: draft\n---\n# Queues\n\nQueues retry a call for an hour.\n",
    "docs/copy.md": "# Retries\n\nRetry a call three times with backoff.\n",
    "docs/empty.md": "",
    "notes/outside.md": "# Outside\n\nOutside of every space.\n",
    f"hostile/{HOSTILE_NAME}": HOSTILE,
}


@pytest.fixture(scope="session")
def project(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    shutil.copytree(root / "examples" / "docs", folder / "docs" / "examples")
    workspace = Workspace.open(folder, host=PluginHost.discover())
    for name in ("docs", "hostile"):
        with workspace.space(name) as space:
            space.index()
            space.search("how do I bake bread?")
            space.search("zeppelins and retries")
    return folder


@pytest.fixture(scope="session")
def space(project):
    with Workspace.open(project, host=PluginHost.discover()).space("docs") as opened:
        yield opened


@pytest.fixture(scope="module")
def client(project):
    with page_of(project) as (url, _):
        made = Client(url)
        made.enter()
        yield made


@pytest.fixture(scope="session")
def driver():
    pytest.importorskip("selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium with its driver: apt-get install chromium chromium-driver")
    with chromium() as opened:
        yield opened
