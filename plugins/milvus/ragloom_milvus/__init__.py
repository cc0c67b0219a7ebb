"""The store ``milvus``: embedded Milvus Lite in a directory, or a Milvus server by its URI."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import Provider, Store, hookimpl

__all__ = ["MilvusOptions", "ragloom_stores"]

_SHARD = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REMOTE = ("http://", "https://", "tcp://", "unix:")


@dataclass(frozen=True, slots=True, kw_only=True)
class MilvusOptions:
    """Options of the store ``milvus``.

    Attributes:
        uri: Empty for embedded Milvus Lite in the workspace's state; a path that ends in ``.db``
            for Milvus Lite there, which keeps; ``http://…``, ``https://…``, ``tcp://…`` or ``unix:…`` for a
            server or a cluster, which searches, too.
        token: ``user:password`` or an API key, for servers that require one.
        collection: What the names of collections begin with. Workspaces that name the same server,
            the same beginning and the same space write to one collection, each to its own shard of it.
        shard: Names the rows that this workspace writes, of letters, digits, ``-``, ``_`` and ``.``;
            by default the machine and the folder do. Name it where either changes, as in containers.
        index: The index that a server builds: ``FLAT`` is exact; ``HNSW`` or ``AUTOINDEX`` are for
            millions of chunks. Milvus Lite needs none.
        timeout: Seconds until a server that does not answer is an error.
    """

    # Both may hold a password.
    uri: str = field(default="", repr=False, metadata={"names": "output"})
    token: str = field(default="", repr=False, metadata={"names": "nothing"})
    collection: str = "ragloom"
    shard: str = field(default="", metadata={"names": "nothing"})
    index: str = field(default="FLAT", metadata={"names": "nothing"})
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Refuse a shard that no expression can name."""
        if self.shard and not _SHARD.fullmatch(self.shard):
            raise ValueError(
                f"shard must be letters, digits, '-', '_' and '.', 64 at most, not {self.shard!r}"
            )


def _create(options: MilvusOptions) -> Store:
    from ragloom_milvus.store import MilvusLiteStore, MilvusServerStore

    if options.uri.startswith(_REMOTE):
        return MilvusServerStore(options)
    return MilvusLiteStore(uri=options.uri, collection=options.collection)


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the store ``milvus``."""
    return [
        Provider(
            name="milvus",
            summary="Milvus Lite in a directory, or a Milvus server by its URI",
            create=_create,
            options=MilvusOptions,
            requires=("pymilvus", "milvus_lite"),
            extra="ragloom[milvus]",
            local=True,
        )
    ]
