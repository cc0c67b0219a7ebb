"""The store ``pgvector``: PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import Provider, Store, hookimpl

__all__ = ["PgvectorOptions", "ragloom_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PgvectorOptions:
    """Options of the store ``pgvector``.

    Attributes:
        url: ``postgresql://user@host/database``. Empty for what libpq's own variables say, such as
            ``PGHOST``; a password belongs into ``PGPASSWORD`` or ``~/.pgpass``, not into settings.
        schema: Where the tables are made; the connection's own schema where it is empty.
        table: What the names of tables begin with.
        timeout: Seconds until a server that does not answer is an error.
    """

    url: str = field(default="", metadata={"names": "service"})
    schema: str = ""
    table: str = "ragloom"
    timeout: int = 10


def _create(options: PgvectorOptions) -> Store:
    from ragloom_pgvector.store import PgvectorStore

    return PgvectorStore(options)


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the store ``pgvector``."""
    return [
        Provider(
            name="pgvector",
            summary="PostgreSQL with pgvector, by its address",
            create=_create,
            options=PgvectorOptions,
            requires=("psycopg",),
            extra="ragloom-pgvector",
        )
    ]
