"""Connections to the database of lessons, SQLite or PostgreSQL, and what it says when it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, OperationalError, SQLAlchemyError

from ragloom import ConfigError, MissingDependencyError, StoreError

TIMEOUT: Final = 60.0
"""Seconds that a capture or a checkpoint waits for the database."""

REFUSED: Final = (
    SQLAlchemyError,
    OSError,
    ValueError,
)  # the last for a time in SQLite that is none
_READ_ONLY: Final = ("SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY", "SQLITE_PERM")


def make_engine(url: str, timeout: float) -> sa.Engine:
    """The connections of a URL; none is opened yet.

    Raises:
        ConfigError: The URL cannot be read, or is for another database.
        MissingDependencyError: The driver is not installed.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+pg8000")
        backend = parsed.get_backend_name()
        if backend == "sqlite":
            engine = sa.create_engine(parsed, connect_args={"timeout": max(timeout, 1.0)})
            _lock_before_reading(engine)
            return engine
        if backend == "postgresql":
            if not parsed.username and "user" not in parsed.query:
                raise ConfigError("knowledge.database: no user in it: postgresql://USER@HOST/NAME")
            # pg8000's timeout is that of the socket: of connecting, and of each answer.
            return sa.create_engine(
                parsed,
                pool_pre_ping=True,
                pool_timeout=timeout,
                connect_args={"timeout": timeout},
            )
    except ModuleNotFoundError as error:
        needed_for = "a PostgreSQL database of lessons"
        raise MissingDependencyError(str(error.name), "ragloom[postgres]", needed_for) from error
    except (SQLAlchemyError, NoSuchModuleError, ValueError) as error:
        raise ConfigError("knowledge.database: not a URL such as 'sqlite:///lessons.db'") from error
    raise ConfigError(f"knowledge.database: SQLite and PostgreSQL are supported, not {backend!r}")


def _lock_before_reading(engine: sa.Engine) -> None:
    """Take SQLite's write lock at the start: after reading it is refused at once."""

    @sa.event.listens_for(engine, "connect")
    def _leave_transactions_to_us(connection: object, _record: object) -> None:
        connection.isolation_level = None  # type: ignore[attr-defined]  # sqlite3's

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except OperationalError as error:  # what may not be written can be read
            if getattr(error.orig, "sqlite_errorname", "") not in _READ_ONLY:
                raise
            connection.exec_driver_sql("BEGIN")


@contextmanager
def named(engine: sa.Engine) -> Iterator[None]:
    """Raise a StoreError that names the database, for what it refuses."""
    try:
        yield
    except REFUSED as error:
        raise failed(engine, error) from error


def failed(engine: sa.Engine, error: Exception) -> StoreError:
    """What to raise for an error of the driver."""
    return StoreError(f"the database of lessons, {place_of(engine)}: {_said(error)}")


def place_of(engine: sa.Engine) -> str:
    """Its URL, without a password."""
    return engine.url.render_as_string(hide_password=True)


def _said(error: Exception) -> str:
    """What the driver says, on one line; of what PostgreSQL says, pg8000 has the message under ``M``."""
    cause: object = getattr(error, "orig", None) or error
    said: object = next(iter(getattr(cause, "args", ())), None)
    message = said.get("M") if isinstance(said, Mapping) else None
    return " ".join(str(message or cause).split())
