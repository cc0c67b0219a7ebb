"""Milvus servers, of which one is real where it is installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from ragloom.testing import samples

SERVER_VARIABLE = "RAGLOOM_TEST_MILVUS_SERVER"
ETCD_PORTS = (2379, 2380)
ATTEMPTS = 5
PATIENCE = 180  # seconds; a server that starts beside other work takes its time


@pytest.fixture(scope="session")
def make_chunk():
    return samples.chunk


@pytest.fixture(scope="session")
def unit():
    return samples.unit


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Milvus server, started for this session."""
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    binary = find_server()
    if binary is None:
        pytest.skip(
            "no milvus-server: pip install milvus (a 2.3 server), or set " + SERVER_VARIABLE
        )
    folder = tmp_path_factory.mktemp("milvus-server")
    # Its etcd listens on fixed ports, so that a machine runs one such server at a time.
    with FileLock(Path(tempfile.gettempdir()) / "ragloom-milvus-server.lock", timeout=600):
        if not all(map(is_free, ETCD_PORTS)):
            pytest.skip(f"milvus-server needs the ports {ETCD_PORTS}, and one of them is taken")
        yield from run_server(binary, folder)
    shutil.rmtree(folder, ignore_errors=True)


def run_server(binary: Path, folder: Path) -> Iterator[str]:
    process, uri = started(
        lambda port, internal: [
            str(binary),
            *("--data", str(folder / "data")),
            *("--proxy-port", str(port)),
            *("--proxy-internal-port", str(internal)),
        ],
        folder / "log.txt",
    )
    try:
        yield uri
    finally:
        stop(process)


def started(
    command: Callable[[int, int], list[str]], log: Path
) -> tuple[subprocess.Popen[bytes], str]:
    """A server that answers, and its address.

    It cannot be told to choose its ports, so that another program may take one before it does:
    where it gives up, it is started again with others.
    """
    for _ in range(ATTEMPTS):
        ports = free_ports(2)
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command(*ports), stdout=stream, stderr=stream, start_new_session=True
            )
        try:
            if answers(process, ports[0]):
                return process, f"http://127.0.0.1:{ports[0]}"
        except BaseException:
            stop(process)
            raise
        given_up = process.poll() is not None
        stop(process)
        if not given_up:
            break
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    # milvus-server stops its own child on SIGINT only; its session holds nothing but those two.
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_server() -> Path | None:
    """``milvus-server``: named by the environment, on the path, or beside this Python."""
    named = os.environ.get(SERVER_VARIABLE)
    if named:
        return Path(named)
    beside = Path(sys.executable).parent / "milvus-server"
    found = shutil.which("milvus-server") or (str(beside) if beside.exists() else None)
    return Path(found) if found else None


def answers(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the server does; whether it did."""
    from pymilvus import MilvusClient, MilvusException

    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, MilvusException):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            client = MilvusClient(uri=f"http://127.0.0.1:{port}", timeout=5)
            client.list_collections()
            client.close()
            return process.poll() is None  # and not somebody else on its port
        time.sleep(0.2)
    return False


@pytest.fixture(scope="session")
def milvus_lite_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``milvus-lite server``, which speaks the newest calls."""
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    folder = tmp_path_factory.mktemp("milvus-lite-server")
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(folder / "data")]
    process, uri = started(
        lambda port, _: [*command, "--host", "127.0.0.1", "--port", str(port)], folder / "log.txt"
    )
    try:
        yield uri
    finally:
        stop(process)
