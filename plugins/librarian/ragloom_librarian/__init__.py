"""The librarian: a project's own decisions and standards for a workflow that drafts designs.

::

    from ragloom_librarian import LibrarianState, librarian_node

    graph = StateGraph(LibrarianState)
    graph.add_node("librarian", librarian_node)
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING
from warnings import warn

from ragloom import CommandSpec, hookimpl

if TYPE_CHECKING:
    from ragloom import Space, Workspace
    from ragloom_librarian.availability import check_rag_available
    from ragloom_librarian.documents import RetrievedDocument
    from ragloom_librarian.knowledge_base import KnowledgeBase, query_knowledge_base
    from ragloom_librarian.merging import merge_context
    from ragloom_librarian.node import (
        LibrarianNode,
        LibrarianState,
        alibrarian_node,
        librarian_node,
        make_librarian_node,
    )
    from ragloom_librarian.settings import LibrarianSettings

__all__ = [
    "KnowledgeBase",
    "LibrarianNode",
    "LibrarianSettings",
    "LibrarianState",
    "RetrievedDocument",
    "alibrarian_node",
    "check_rag_available",
    "librarian_node",
    "make_librarian_node",
    "merge_context",
    "query_knowledge_base",
    "ragloom_commands",
    "ragloom_settings",
    "ragloom_spaces",
]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer the command ``librarian``."""
    return {
        "librarian": CommandSpec(
            target="ragloom_librarian.cli:librarian",
            summary="Rebuild and query a project's decisions and standards.",
        )
    }


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the section ``librarian``."""
    from ragloom_librarian.settings import LibrarianSettings

    return {"librarian": LibrarianSettings}


@hookimpl
def ragloom_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """Offer the knowledge base where it was built."""
    from ragloom_librarian.knowledge_base import named_spaces

    return named_spaces(workspace)


_ON_FIRST_USE: Mapping[str, str] = {
    "KnowledgeBase": "knowledge_base",
    "LibrarianNode": "node",
    "LibrarianSettings": "settings",
    "LibrarianState": "node",
    "RetrievedDocument": "documents",
    "alibrarian_node": "node",
    "check_rag_available": "availability",
    "librarian_node": "node",
    "make_librarian_node": "node",
    "merge_context": "merging",
    "query_knowledge_base": "knowledge_base",
}


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name == "RagloomRetriever":  # where it was before ragloom_langchain
        warn(
            "RagloomRetriever is in ragloom_langchain; ragloom_librarian will not have it from 0.2 on",
            DeprecationWarning,
            stacklevel=2,
        )
        return resolve_name("ragloom_langchain:RagloomRetriever")
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ON_FIRST_USE[name]}"), name)
