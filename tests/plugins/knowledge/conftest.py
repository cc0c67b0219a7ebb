"""A workspace whose lessons are kept in SQLite or in a real PostgreSQL server, started here."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("pyromark")

from ragloom import PluginHost
from ragloom.testing.fakes import hashing_provider

_NOBODY = "nobody"
_RESTART: dict[str, Callable[[], None]] = {}


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).parent


@pytest.fixture(scope="session")
def postgres_server(planted: str) -> Iterator[str]:
    """The address of an empty PostgreSQL server, which asks for no password but is given one."""
    pytest.importorskip("pg8000")
    folder = _binaries()
    if folder is None:
        pytest.skip("no PostgreSQL server: install the package postgresql")
    user = {"user": _NOBODY} if os.geteuid() == 0 else {}
    # Below the temporary folder itself: another user must reach it, and a socket's path is short.
    place = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())  # noqa: S607
    if user:
        os.chown(place, pwd.getpwnam(_NOBODY).pw_uid, -1)

    def run(*command: str) -> None:
        subprocess.run(
            command,
            check=True,
            cwd=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
            **user,
        )

    cluster = str(place / "cluster")
    run(str(folder / "initdb"), "-D", cluster, "-U", "ragloom", "-A", "trust", "-N", "-E", "UTF8")
    control = (str(folder / "pg_ctl"), "-D", cluster, "-w", "-t", "240")

    def start(attempts: int = 5) -> int:
        """On which port; another program may take one before the server does."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -k {place} -c listen_addresses=127.0.0.1 -c fsync=off"
        try:
            run(*control, "-o", options, "-l", str(place / "log"), "start")
        except subprocess.CalledProcessError:
            if attempts == 1:
                raise
            return start(attempts - 1)
        return port

    port = start()

    def restart() -> None:
        run(*control, "-m", "immediate", "restart")

    _RESTART[f"postgresql://ragloom:{planted}@127.0.0.1:{port}"] = restart
    try:
        yield f"postgresql://ragloom:{planted}@127.0.0.1:{port}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, cwd=place, **user)
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def restart_postgres(postgres_server) -> Callable[[], None]:
    """Starts the server again, which cuts every connection."""
    return _RESTART[postgres_server]


@pytest.fixture
def postgres_url(postgres_server) -> str:
    """A database of the test's own."""
    import sqlalchemy as sa

    name = f"lessons_{uuid.uuid4().hex}"
    address = f"{postgres_server}/postgres".replace("postgresql:", "postgresql+pg8000:")
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return f"{postgres_server}/{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def url(request, tmp_path) -> str:
    """Each of the two databases in turn."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{tmp_path / 'table.db'}"


@pytest.fixture
def host(make_plugin) -> PluginHost:
    """The bundled plugins, with an embedder that needs no model."""
    import ragloom_knowledge
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus

    return PluginHost(
        {
            "hashing": make_plugin(embedders=[hashing_provider()]),
            "knowledge": ragloom_knowledge,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "milvus": ragloom_milvus,
        }
    )


@pytest.fixture
def store(request) -> str:
    """Where the index keeps its chunks: SQLite, which is quick, unless a test asks for ``milvus``."""
    name = getattr(request, "param", "sqlite")
    if name == "milvus":
        pytest.importorskip("milvus_lite")
    return name


@pytest.fixture
def project(tmp_path, store) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    settings = f"embedder: {{name: hashing, dimension: 384}}\nstore: {store}\n"
    (folder / "ragloom.yaml").write_text(settings, "utf-8")
    return folder


@pytest.fixture
def open_knowledge(project, host):
    """Open the lessons of the project, as a fresh process would."""
    from ragloom import Workspace
    from ragloom_knowledge import KnowledgeBase
    from ragloom_knowledge.settings import KnowledgeSettings

    opened = []

    def open_one(database="", folder=project, **settings):
        workspace = Workspace.open(folder, host=host)
        base = KnowledgeBase(workspace, KnowledgeSettings(database=database, **settings))
        opened.append(base)
        return base

    yield open_one
    for base in opened:
        base.close()


@pytest.fixture
def knowledge(open_knowledge, url):
    return open_knowledge(url)
