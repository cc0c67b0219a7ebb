"""A workspace of real parts, with a hashing embedder in place of the model so that a test can count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import ragloom.audit
from ragloom import PluginHost, Provider, Space, Workspace
from ragloom.config.settings import Component, Settings, SpaceSettings
from ragloom.snapshot.lexical_writer import LexicalDocument, LexicalWriter
from ragloom.testing.fakes import HashingEmbedder, HashingOptions
from ragloom.testing.fixtures import MakePlugin

MakeSpace = Callable[..., Space]


@pytest.fixture(scope="session")
def write_lexical() -> Callable[..., None]:
    """A function that makes a lexical index from the one before it."""

    def write(
        directory: Path,
        added: Iterable[LexicalDocument],
        *,
        previous: Path | None = None,
        removed: Iterable[int] = (),
        vocabulary: bool = False,
    ) -> None:
        writer = LexicalWriter(directory, previous=previous, vocabulary=vocabulary)
        writer.remove(removed)
        for document in added:
            writer.add(document)
        writer.close()

    return write


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The workspace's folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def make_space(files: Path, make_plugin: MakePlugin) -> MakeSpace:
    """A function that opens the space ``notes`` or another one over all files, as a fresh process would."""
    pytest.importorskip("pyromark")
    import ragloom_formats
    import ragloom_local
    import ragloom_markdown
    import ragloom_onnx
    import ragloom_text

    def make(
        *,
        name: str = "notes",
        store: str = "sqlite",
        store_options: dict[str, object] | None = None,
        embedder: Callable[[HashingOptions], HashingEmbedder] = HashingEmbedder,
        embedder_options: dict[str, object] | None = None,
        **settings: object,
    ) -> Space:
        provider = Provider(
            name="hashing", summary="for tests", create=embedder, options=HashingOptions
        )
        host = PluginHost(
            {
                "audit": ragloom.audit,
                "formats": ragloom_formats,
                "hashing": make_plugin(embedders=[provider]),
                "local": ragloom_local,
                "markdown": ragloom_markdown,
                "onnx": ragloom_onnx,
                "text": ragloom_text,
            }
        )
        chosen = SpaceSettings(
            embedder=Component(name="hashing", options=embedder_options or {}),
            store=Component(name=store, options=store_options or {}),
            **settings,
        )
        workspace = Workspace(files, settings=Settings(defaults=chosen), host=host)
        return workspace.space(name)

    return make
