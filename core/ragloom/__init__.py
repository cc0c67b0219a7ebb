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
    StoreOutdatedError,
    UntrustedError,
)
from ragloom.hookspecs import CommandSpec, EvaluationSpec, NoOptions, Provider, hookimpl
from ragloom.protocols import (
    Chunker,
    Embedder,
    Embeddings,
    Formatter,
    Loader,
    RemoteStore,
    Reranker,
    Runner,
    SearchableStore,
    Store,
    TokenCounter,
    WorkspaceView,
)
from ragloom.reports import (
    FailedFile,
    IndexFinished,
    IndexReport,
    SearchFinished,
    StaleChunk,
    UnreadEnding,
    VerifyReport,
)
from ragloom.types import (
    Calibration,
    Chunk,
    Citation,
    Condition,
    Context,
    Document,
    Hit,
    Json,
    Lines,
    Location,
    Metadata,
    Mode,
    Permission,
    Piece,
    Progress,
    SearchResult,
    Section,
    Source,
    Span,
    StoredChunk,
)

if TYPE_CHECKING:
    from ragloom.context.query_words import QueryWords
    from ragloom.evaluation.collections import everyday_questions
    from ragloom.evaluation.kept import KeptEvaluation
    from ragloom.evaluation.measures import Measurement
    from ragloom.explain import Explanation, GatedHits, HitExplanation, Sweep
    from ragloom.function_embedder import embedder_from
    from ragloom.plugin.host import PluginHost
    from ragloom.plugin.info import MissingExtra, PluginInfo
    from ragloom.release import __version__
    from ragloom.retrieval.query import Query
    from ragloom.snapshot.reader import Snapshot
    from ragloom.space import Space
    from ragloom.space_group import SpaceGroup
    from ragloom.tool import make_tool
    from ragloom.watch import watch_spaces
    from ragloom.workspace import Workspace

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
    "Explanation",
    "FailedFile",
    "Formatter",
    "GatedHits",
    "Hit",
    "HitExplanation",
    "IndexFinished",
    "IndexReport",
    "Json",
    "KeptEvaluation",
    "Lines",
    "Loader",
    "Location",
    "Measurement",
    "Metadata",
    "MissingDependencyError",
    "MissingExtra",
    "Mode",
    "ModelError",
    "NoOptions",
    "NotIndexedError",
    "Permission",
    "Piece",
    "PluginError",
    "PluginHost",
    "PluginInfo",
    "Progress",
    "Provider",
    "Query",
    "QueryWords",
    "RagloomError",
    "RemoteStore",
    "Reranker",
    "Runner",
    "SearchFinished",
    "SearchResult",
    "SearchableStore",
    "Section",
    "Snapshot",
    "Source",
    "SourceError",
    "Space",
    "SpaceGroup",
    "Span",
    "StaleChunk",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreLockedError",
    "StoreOutdatedError",
    "StoredChunk",
    "Sweep",
    "TokenCounter",
    "UnreadEnding",
    "UntrustedError",
    "VerifyReport",
    "Workspace",
    "WorkspaceView",
    "__version__",
    "embedder_from",
    "everyday_questions",
    "hookimpl",
    "make_tool",
    "watch_spaces",
]

_ON_FIRST_USE = {
    "Explanation": "ragloom.explain",
    "GatedHits": "ragloom.explain",
    "HitExplanation": "ragloom.explain",
    "Sweep": "ragloom.explain",
    "MissingExtra": "ragloom.plugin.info",
    "PluginHost": "ragloom.plugin.host",
    "PluginInfo": "ragloom.plugin.info",
    "KeptEvaluation": "ragloom.evaluation.kept",
    "Measurement": "ragloom.evaluation.measures",
    "Query": "ragloom.retrieval.query",
    "QueryWords": "ragloom.context.query_words",
    "Snapshot": "ragloom.snapshot.reader",
    "Space": "ragloom.space",
    "SpaceGroup": "ragloom.space_group",
    "Workspace": "ragloom.workspace",
    "__version__": "ragloom.release",
    "embedder_from": "ragloom.function_embedder",
    "everyday_questions": "ragloom.evaluation.collections",
    "make_tool": "ragloom.tool",
    "watch_spaces": "ragloom.watch",
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
