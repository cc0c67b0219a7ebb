"""What a team's server bears: clients that ask without a pause while its index is rewritten.

    python benchmarks/speed/team_server.py [--clients 32] [--seconds 60] [--rewrites 10] [--docs DOCS]
        [--json FILE]

``ragloom serve`` runs in a process of its own. Half of the clients ask ``/search`` and half
call the tool ``rag_search`` over MCP; every answer must have status 200 and hits. Meanwhile another process
indexes a changed file and a new one so many times, evenly spread, and the server must answer from the last
generation at the end. Its resident memory is read from ``/proc`` five times a second; compared are the
largest of the second fifth of the time, when every model is loaded, and of the last fifth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median, quantiles

from processes import EXAMPLES, documents, machine, write_files

QUESTIONS = (
    "how are errors logged?",
    "who reviews a change?",
    "what is measured in production?",
    "when is a release made?",
)
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}
_LOOK = 0.2  # seconds between two readings of the memory


@dataclass(kw_only=True)
class Borne:
    """What happened.

    Attributes:
        clients: Number of clients.
        seconds: How long they asked.
        requests: Answers that were right.
        errors: What went wrong, a line each.
        generations: Of the index, that answers came from.
        last_generation: That the index has at the end.
        latencies: Seconds of each right answer.
        memory: Resident bytes of the server, over time.
    """

    clients: int
    seconds: float
    requests: int = 0
    errors: list[str] = field(default_factory=list)
    generations: set[int] = field(default_factory=set)
    last_generation: int = 0
    latencies: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    def early(self) -> int:
        """The most resident bytes in the second fifth of the time."""
        return max(self.memory[len(self.memory) // 5 : 2 * len(self.memory) // 5])

    def late(self) -> int:
        """The most resident bytes in the last fifth."""
        return max(self.memory[-len(self.memory) // 5 :])


def ragloom(folder: Path, *arguments: str) -> list[str]:
    """A command over the folder."""
    return [sys.executable, "-m", "ragloom", "-C", str(folder), *arguments]


def bear(folder: Path, *, clients: int, seconds: float, rewrites: int) -> Borne:
    """Index the folder, serve it, and let the clients ask; see the top of this file."""
    (folder / "ragloom.yaml").write_text("store: sqlite\nmin_relevance: 0\n", "utf-8")
    subprocess.run(ragloom(folder, "index", "--quiet"), check=True)
    borne = Borne(clients=clients, seconds=seconds)
    command = ragloom(folder, "serve", "--port", "0")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            if server.stderr is None:
                raise RuntimeError("no stderr")
            line = next(one for one in server.stderr if "serving http" in one)
            threading.Thread(target=server.stderr.read, daemon=True).start()
            port = int(line.rsplit(":", 1)[1])
            over, lock = threading.Event(), threading.Lock()
            threads = [
                threading.Thread(target=_ask, args=(port, number, over, lock, borne))
                for number in range(clients)
            ]
            threads.append(threading.Thread(target=_watch, args=(server.pid, over, borne)))
            for thread in threads:
                thread.start()
            _rewrite(folder, rewrites, seconds)
            over.set()
            for thread in threads:
                thread.join()
            borne.last_generation = _generation(port)
        finally:
            server.terminate()
    return borne


def _rewrite(folder: Path, rewrites: int, seconds: float) -> None:
    """Index other contents so many times, spread over the time."""
    started = time.monotonic()
    for number in range(rewrites):
        _sleep_until(started + (number + 0.5) * seconds / rewrites)
        (folder / "changed.md").write_text(
            f"# Changed\n\nErrors are logged {number} times.\n", "utf-8"
        )
        (folder / f"new-{number}.md").write_text(f"# New {number}\n\nA release is made.\n", "utf-8")
        subprocess.run(ragloom(folder, "index", "--quiet"), check=True)
    _sleep_until(started + seconds)


def _sleep_until(moment: float) -> None:
    time.sleep(max(moment - time.monotonic(), 0.0))


def _ask(port: int, number: int, over: threading.Event, lock: threading.Lock, borne: Borne) -> None:
    """One client: half of them speak MCP."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    asked = number
    while not over.is_set():
        question = QUESTIONS[asked % len(QUESTIONS)]
        asked += 1
        started = time.perf_counter()
        try:
            found = _search(connection, question, mcp=number % 2 == 1)
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            connection.close()
            with lock:
                borne.errors.append(f"{type(error).__name__}: {error}")
            continue
        took = time.perf_counter() - started
        with lock:
            borne.requests += 1
            borne.latencies.append(took)
            borne.generations.add(found["generation"])
    connection.close()


def _search(connection: HTTPConnection, question: str, *, mcp: bool) -> dict[str, int]:
    arguments = {"query": question, "top_k": 3}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "rag_search", "arguments": arguments},
    }
    path, body = ("/mcp", call) if mcp else ("/search", arguments)
    connection.request("POST", path, json.dumps(body), _HEADERS)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    found = content["result"]["structuredContent"] if mcp and "result" in content else content
    if answer.status != 200 or not found.get("hits"):
        raise ValueError(f"{answer.status}: {json.dumps(content)[:300]}")
    return dict(found)


def _generation(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/spaces")
    return int(json.loads(connection.getresponse().read())["spaces"][0]["generation"])


def _watch(pid: int, over: threading.Event, borne: Borne) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    while not over.wait(_LOOK):
        resident = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
        borne.memory.append(resident * page)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rewrites", type=int, default=10)
    parser.add_argument("--docs", type=Path, default=EXAMPLES)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_files(folder, documents(options.docs))
        borne = bear(
            folder, clients=options.clients, seconds=options.seconds, rewrites=options.rewrites
        )
    milliseconds = [1000 * one for one in borne.latencies]
    mebibytes = 2**20
    figures = {
        **{
            key: value for key, value in asdict(borne).items() if key not in ("latencies", "memory")
        },
        "generations": sorted(borne.generations),
        "errors": borne.errors[:20],
        "error_count": len(borne.errors),
        "per_second": round(borne.requests / borne.seconds, 1),
        "median_ms": round(median(milliseconds), 1),
        "p95_ms": round(quantiles(milliseconds, n=20)[-1], 1),
        "memory_early_mib": round(borne.early() / mebibytes, 1),
        "memory_late_mib": round(borne.late() / mebibytes, 1),
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), **figures}, indent=1), "utf-8")
    sys.exit(bool(borne.errors))


if __name__ == "__main__":
    main()
