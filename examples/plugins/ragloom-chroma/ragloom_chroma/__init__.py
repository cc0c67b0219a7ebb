"""The store ``chroma``: Chroma in a folder, or a Chroma server by its address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import Provider, Store, hookimpl

__all__ = ["ChromaOptions", "ragloom_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChromaOptions:
    """Options of the store ``chroma``.

    Attributes:
        url: ``http://host:port`` of a server; empty for Chroma in a folder of the workspace's state.
        path: A folder for embedded Chroma, instead of the workspace's state.
        collection: What the names of collections begin with.
    """

    url: str = field(default="", metadata={"names": "service"})
    path: str = field(default="", metadata={"names": "output"})
    collection: str = "ragloom"


def _create(options: ChromaOptions) -> Store:
    from ragloom_chroma.store import ChromaStore

    return ChromaStore(options)


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the store ``chroma``."""
    return [
        Provider(
            name="chroma",
            summary="Chroma in a folder, or a Chroma server by its address",
            create=_create,
            options=ChromaOptions,
            requires=("chromadb",),
            extra="ragloom-chroma",
            local=True,
        )
    ]
