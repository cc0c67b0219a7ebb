"""A project with real decision records and standards, and its knowledge base made of real parts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyromark")
pytest.importorskip("onnxruntime", reason="needs the extra [librarian]")
pytest.importorskip("pymilvus", reason="needs the extra [librarian]")

from ragloom import PluginHost
from ragloom_librarian import KnowledgeBase

DATA = Path(__file__).parents[2] / "data" / "librarian"


@pytest.fixture(scope="session")
def host():
    """The bundled parts that the knowledge base is made of by default."""
    import ragloom_formats
    import ragloom_librarian
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus
    import ragloom_onnx

    return PluginHost(
        {
            "formats": ragloom_formats,
            "librarian": ragloom_librarian,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "milvus": ragloom_milvus,
            "onnx": ragloom_onnx,
        }
    )


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch):
    import os

    for name in list(os.environ):
        if name.startswith("RAGLOOM_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def built(tmp_path_factory, host):
    """A project whose knowledge base is up to date; not to be changed."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(DATA / "docs", folder / "docs")
    base = KnowledgeBase.open(folder, host=host)
    report = base.rebuild()
    assert () == report.failed
    return folder


@pytest.fixture(scope="session")
def knowledge_base(built, host):
    return KnowledgeBase.open(built, host=host)


@pytest.fixture
def project(built, tmp_path):
    """A copy of that project, to be changed."""
    folder = tmp_path / "project"
    shutil.copytree(built, folder)
    return folder


@pytest.fixture
def bare(tmp_path):
    """The same project without a knowledge base."""
    folder = tmp_path / "bare"
    shutil.copytree(DATA / "docs", folder / "docs")
    return folder
