"""Real pages, indexed with real parts."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyromark")
pytest.importorskip("onnxruntime", reason="needs the extra [standard]")
pytest.importorskip("langchain_core", reason="needs the extra [langchain]")

from ragloom import PluginHost, Workspace

DATA = Path(__file__).parents[2] / "data" / "librarian" / "docs"


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(obj):
    """The standard tests count on a mode of pytest-asyncio that marks coroutines by itself."""
    if inspect.iscoroutinefunction(obj):
        pytest.mark.asyncio(obj)


@pytest.fixture(scope="session")
def host():
    import ragloom_formats
    import ragloom_local
    import ragloom_markdown
    import ragloom_onnx

    return PluginHost(
        {
            "formats": ragloom_formats,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "onnx": ragloom_onnx,
        }
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("workspace")
    shutil.copytree(DATA, made / "docs")
    (made / "ragloom.yaml").write_text("sources: [docs]\nstore: sqlite\nchunker: heading\n")
    return made


@pytest.fixture(scope="session")
def space(folder, host):
    made = Workspace.open(folder, host=host).space()
    report = made.index()
    assert () == report.failed
    return made
