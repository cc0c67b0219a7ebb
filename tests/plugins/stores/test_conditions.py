"""The table of conditions, over every store: real engines, and files with front matter.

Chroma, Qdrant and PostgreSQL are those of the example plugins, from the dependency group ``engines``.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragloom import ConfigError, PluginHost, Space, Workspace
from ragloom.config import Component, Settings, SpaceSettings
from ragloom.testing.conditions import CONDITIONS, FILES, REFUSED
from ragloom.testing.fakes import hashing_provider
from ragloom.testing.fixtures import MakePlugin

pytest.importorskip("pyromark", reason="the files are Markdown")

EXAMPLES = Path(__file__).parents[3] / "examples" / "plugins"
MODES = ("dense", "lexical")


def _conftest_of(example: str) -> object:
    """The module with the example's own server."""
    path = EXAMPLES / f"ragloom-{example}" / "tests" / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"conftest_of_{example}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pgvector_server = _conftest_of("pgvector").server  # type: ignore[attr-defined]

STORES = [
    pytest.param(("memory", "ragloom_local", ""), id="memory"),
    pytest.param(("file", "ragloom_local", ""), id="file"),
    pytest.param(("sqlite", "ragloom_local", ""), id="sqlite"),
    pytest.param(("milvus", "ragloom_milvus", ""), id="milvus-lite"),
    *(
        pytest.param((store, module, server), id=name, marks=pytest.mark.server)
        for name, store, module, server in (
            ("milvus-lite-server", "milvus", "ragloom_milvus", "milvus_lite_server"),
            ("milvus-server", "milvus", "ragloom_milvus", "milvus_server"),
            ("chroma", "chroma", "ragloom_chroma", ""),
            ("qdrant", "qdrant", "ragloom_qdrant", ""),
            ("pgvector", "pgvector", "ragloom_pgvector", "pgvector_server"),
        )
    ),
]
ENGINES = {
    "ragloom_chroma": ("chromadb",),
    "ragloom_milvus": ("pymilvus", "milvus_lite"),
    "ragloom_pgvector": ("psycopg",),
    "ragloom_qdrant": ("qdrant_client",),
}


@pytest.fixture(params=STORES)
def space(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    make_plugin: MakePlugin,
    monkeypatch: pytest.MonkeyPatch,
    trusted: None,
) -> Iterator[Space]:
    """The files of the table, indexed with a store."""
    name, module, server = request.param
    for engine in ENGINES.get(module, ()):
        pytest.importorskip(engine, reason=f"{engine} is not installed")
    options = {}
    if server:
        key = "uri" if module == "ragloom_milvus" else "url"
        options = {key: request.getfixturevalue(server)}
        if module == "ragloom_milvus":
            options["collection"] = "conditions"
    example = EXAMPLES / module.replace("_", "-")
    if example.is_dir():
        monkeypatch.syspath_prepend(str(example))
    plugins = {one: importlib.import_module(one) for one in (module, "ragloom_markdown")}
    host = PluginHost({"hashing": make_plugin(embedders=[hashing_provider()]), **plugins})
    settings = SpaceSettings(
        embedder=Component(name="hashing"), store=Component(name=name, options=options)
    )
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, (file, metadata) in enumerate(FILES.items()):
        lines = [f"{key}: {json.dumps(value)}" for key, value in metadata.items()]
        text = f"The harbour is open, says note number {number}.\n"
        page = "\n".join(["---", *lines, "---", text])
        (notes / f"{file}.md").write_text(page, "utf-8")
    with Workspace(tmp_path, settings=Settings(defaults=settings), host=host).space("docs") as it:
        report = it.index()
        assert len(FILES) == len(report.added)
        yield it


def passing(space: Space, condition: str, mode: str) -> str:
    """The names of the files that a search finds."""
    ask: Callable[..., object] = space.search
    result = ask("harbour", where=[condition], mode=mode, min_relevance=0.0, top_k=50, per_file=0)
    return " ".join(sorted(Path(hit.chunk.uri).stem for hit in result.hits))  # type: ignore[attr-defined]


def test_every_store_takes_every_condition_as_the_table_says(space: Space) -> None:
    for mode in MODES:
        assert CONDITIONS == {text: passing(space, text, mode) for text in CONDITIONS}
    for text, column in REFUSED.items():
        with pytest.raises(ConfigError, match=rf"column {column}:"):
            passing(space, text, "dense")
