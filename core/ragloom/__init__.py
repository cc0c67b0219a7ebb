"""Retrieval of a project's own documents for a language model: every step a plugin."""

from typing import TYPE_CHECKING

from ragloom.errors import (
    ConfigError,
    MissingDependencyError,
    ModelError,
    NotIndexedError,
    PluginError,
    RagloomError,
    SourceError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from ragloom.hookspecs import CommandSpec, EvaluationSpec, NoOptions, Provider, hookimpl
from ragloom.protocols import (
    Chunker,
    Embedder,
    Embeddings,
    Formatter,
    Loader,
    Reranker,
    SearchableStore,
    Store,
    TokenCounter,
)
from ragloom.types import (
    Calibration,
    Chunk,
    Citation,
    Condition,
    Context,
    Document,
    FailedFile,
    Hit,
    IndexReport,
    Json,
    Lines,
    Metadata,
    Piece,
    SearchResult,
    Section,
    Source,
    Span,
    StaleChunk,
    VerifyReport,
)

if TYPE_CHECKING:
    from ragloom.function_embedder import embedder_from
    from ragloom.plugin.host import MissingExtra, PluginHost, PluginInfo
    from ragloom.workspace import Space, Workspace

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "Chunk",
    "Chunker",
    "Citation",
    "CommandSpec",
    "Condition",
    "ConfigError",
    "Context",
    "Document",
    "Embedder",
    "Embeddings",
    "EvaluationSpec",
    "FailedFile",
    "Formatter",
    "Hit",
    "IndexReport",
    "Json",
    "Lines",
    "Loader",
    "Metadata",
    "MissingDependencyError",
    "MissingExtra",
    "ModelError",
    "NoOptions",
    "NotIndexedError",
    "Piece",
    "PluginError",
    "PluginHost",
    "PluginInfo",
    "Provider",
    "RagloomError",
    "Reranker",
    "SearchResult",
    "SearchableStore",
    "Section",
    "Source",
    "SourceError",
    "Space",
    "Span",
    "StaleChunk",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreLockedError",
    "TokenCounter",
    "VerifyReport",
    "Workspace",
    "__version__",
    "embedder_from",
    "hookimpl",
]

_ON_FIRST_USE = {
    "MissingExtra": "ragloom.plugin.host",
    "PluginHost": "ragloom.plugin.host",
    "PluginInfo": "ragloom.plugin.host",
    "Space": "ragloom.workspace",
    "Workspace": "ragloom.workspace",
    "embedder_from": "ragloom.function_embedder",
}


def __getattr__(name: str) -> object:
    """Import what is heavy when it is first asked for (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_ON_FIRST_USE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, imported or not."""
    return sorted({*globals(), *__all__})
