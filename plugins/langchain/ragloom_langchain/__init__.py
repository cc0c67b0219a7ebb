"""A retriever for LangChain over any space of ragloom.

::

    from ragloom_langchain import RagloomRetriever

    retriever = RagloomRetriever.open(".", space="docs", top_k=5)
    documents = retriever.invoke("How do I log errors?", where=["path under docs/adr"])

It offers nothing to ragloom, and so has no hook.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragloom_langchain.retriever import RagloomRetriever, SearchOptions

__all__ = ["RagloomRetriever", "SearchOptions"]


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.retriever"), name)
    globals()[name] = value
    return value
