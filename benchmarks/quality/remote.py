"""What a machine finds that has only the address of a Milvus server, beside one that has the index.

    python benchmarks/quality/remote.py COLLECTION ... [--queries N] [--documents N] [--uri URI]

Each collection in BEIR's format is indexed with its chunks on the server. Every query is asked of the index
and, from another folder with ``read: remote``, of the server. Without ``--uri`` a ``milvus-lite server`` is
started. Queries: those that are judged, and of ten one about everyday things that no collection answers.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from corpora import note, state_folder, table, write_json
from ndcg import ndcg_by_query

from ragloom import Query, Space, Workspace
from ragloom.evaluation.collections import (
    Collection,
    everyday_questions,
    read_collection,
    write_documents,
)

HITS = 10
HEADS = (
    "collection",
    "documents",
    "queries",
    "overlap of ten",
    "nDCG local",
    "nDCG remote",
    "gate alike",
    "local ms",
    "remote ms",
)


@contextlib.contextmanager
def lite_server(folder: Path) -> Iterator[str]:
    """The address of a server in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(folder / "data")]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log
        )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def smaller(collection: Collection, documents: int, queries: int) -> Collection:
    """Some queries, with the documents that are judged for them and others up to a number."""
    asked = dict(list(collection.queries.items())[: queries or None])
    judged = {one for query in asked for one in collection.judgments[query]}
    kept = [one for one in collection.documents if one.id in judged]
    others = [one for one in collection.documents if one.id not in judged]
    if documents:
        others = others[: max(documents - len(kept), 0)]
    judgments = {query: collection.judgments[query] for query in asked}
    return replace(collection, documents=kept + others, queries=asked, judgments=judgments)


def opened(folder: Path, name: str, **variables: str) -> Space:
    """The space of a folder, with variables as of another process."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        return Workspace.open(folder).space(name)
    finally:
        for key in variables:
            os.environ.pop(key)
        os.environ.update(before)


def measure(collection: Collection, state: Path, uri: str) -> dict[str, Any]:
    """Index a collection and ask it both ways."""
    here, away = state / collection.name, state / f"{collection.name}-away"
    write_documents(collection, here)
    away.mkdir(parents=True, exist_ok=True)
    ids = {f"{number:07}.md": one.id for number, one in enumerate(collection.documents)}
    store = {"RAGLOOM_STORE": "milvus", "RAGLOOM_STORE_URI": uri, "RAGLOOM_STORE_TIMEOUT": "300"}
    with opened(here, collection.name, **store) as space:
        report = space.index()
        note(f"{collection.name}: {report.chunks} chunks, {report.seconds:.1f} s")
    # The index answers from its snapshot: the server takes long to find a thousand.
    local = opened(here, collection.name, RAGLOOM_STORE="sqlite")
    remote = opened(away, collection.name, RAGLOOM_READ="remote", **store)
    queries = dict(collection.queries)
    everyday = everyday_questions()[: max(len(queries) // 10, 1)]
    queries |= {f"everyday-{number}": text for number, text in enumerate(everyday)}
    runs: dict[str, dict[str, list[str]]] = {"local": {}, "remote": {}}
    seconds: dict[str, list[float]] = {"local": [], "remote": []}
    overlap: list[float] = []
    alike = 0
    with local, remote:
        remote.use_embedder_of(local)
        for number, (query, text) in enumerate(queries.items()):
            if number % 10 == 0:
                note(f"{collection.name}: {number} of {len(queries)} queries")
            tops: dict[str, list[str]] = {}
            shown: dict[str, bool] = {}
            for name, asked in (("local", local), ("remote", remote)):
                started = time.perf_counter()
                result = asked.answer(Query(text, top_k=5 * HITS, min_relevance=0.0, per_file=0))
                seconds[name].append(time.perf_counter() - started)
                tops[name] = [hit.chunk.id for hit in result.hits[:HITS]]
                least = asked.settings.min_relevance
                shown[name] = any(hit.relevance >= least for hit in result.hits[:HITS])
                found = dict.fromkeys(ids[hit.chunk.uri] for hit in result.hits)
                if query in collection.judgments:
                    runs[name][query] = list(found)
            if tops["local"]:
                both = set(tops["local"]) & set(tops["remote"])
                overlap.append(len(both) / len(tops["local"]))
            alike += shown["local"] == shown["remote"]
    ndcg = {
        name: fmean(ndcg_by_query(collection.judgments, run).values()) for name, run in runs.items()
    }
    return {
        "collection": collection.name,
        "documents": len(collection.documents),
        "chunks": report.chunks,
        "queries": len(queries),
        "overlap": fmean(overlap),
        "ndcg": ndcg,
        "gate_alike": alike / len(queries),
        "median_seconds": {name: median(taken) for name, taken in seconds.items()},
    }


def shown(results: list[Mapping[str, Any]]) -> str:
    """Every collection as a table."""
    rows = [
        [
            each["collection"],
            str(each["documents"]),
            str(each["queries"]),
            f"{each['overlap']:.1%}",
            f"{each['ndcg']['local']:.4f}",
            f"{each['ndcg']['remote']:.4f}",
            f"{each['gate_alike']:.1%}",
            f"{1000 * each['median_seconds']['local']:.0f}",
            f"{1000 * each['median_seconds']['remote']:.0f}",
        ]
        for each in results
    ]
    return table(HEADS, rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("collections", nargs="+", type=Path, metavar="COLLECTION")
    parser.add_argument("--queries", type=int, default=0, help="of each collection; all by default")
    parser.add_argument("--documents", type=int, default=0, help="of each; all by default")
    parser.add_argument("--uri", help="of a Milvus server; milvus-lite's is started by default")
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    given = parser.parse_args()
    results: list[Mapping[str, Any]] = []
    with state_folder(given.state) as state, contextlib.ExitStack() as stack:
        uri = given.uri or stack.enter_context(lite_server(state))
        for folder in given.collections:
            collection = smaller(read_collection(folder), given.documents, given.queries)
            results.append(measure(collection, state, uri))
            print(shown(results[-1:]), flush=True)
    print(shown(results))
    write_json(given.json, "remote", results=results)


if __name__ == "__main__":
    main()
