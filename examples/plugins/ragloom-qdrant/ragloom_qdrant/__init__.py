"""The store ``qdrant``: Qdrant in a folder, or a Qdrant server by its address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import Provider, Store, hookimpl

__all__ = ["QdrantOptions", "ragloom_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantOptions:
    """Options of the store ``qdrant``.

    Attributes:
        url: ``http://host:6333`` of a server; empty for Qdrant in a folder of the workspace's state.
        path: A folder for embedded Qdrant, instead of the workspace's state.
        key_env: The environment variable that holds the server's API key.
        collection: What the names of collections begin with.
        timeout: Seconds until a server that does not answer is an error.
    """

    url: str = field(default="", metadata={"names": "service"})
    path: str = field(default="", metadata={"names": "output"})
    key_env: str = "QDRANT_API_KEY"
    collection: str = "ragloom"
    timeout: int = 30


def _create(options: QdrantOptions) -> Store:
    from ragloom_qdrant.store import QdrantServerStore, QdrantStore

    return QdrantServerStore(options) if options.url else QdrantStore(options)


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the store ``qdrant``."""
    return [
        Provider(
            name="qdrant",
            summary="Qdrant in a folder, or a Qdrant server by its address",
            create=_create,
            options=QdrantOptions,
            requires=("qdrant_client",),
            extra="ragloom-qdrant",
            local=True,
        )
    ]
