"""Index runs with one, two and four Ray workers beside a local run, and what each chunk takes of a machine.

    python benchmarks/speed/runners.py [--docs FOLDER|ZIP ...] [--workers 1 2 4] [--json FILE]

Every run indexes the same files into an empty workspace, in a process of its own. A worker has one core.
The time to start Ray is measured apart. ``scaling.py`` computes a plan from the JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from processes import EXAMPLES, documents, installed, machine, table
from processes import write_files as write

PACKAGES = ("ragloom", "numpy", "ray", "onnxruntime")
HEADS = ("run", "seconds", "chunks a second", "a second and worker", "seconds to start")


def run(folder: Path, workers: int) -> dict[str, float]:
    """Index a folder, in this process; 0 workers for a local run."""
    from ragloom import Workspace

    if workers:
        os.environ |= {"RAGLOOM_RUNNER": "ray", "RAGLOOM_RUNNER_WORKERS": str(workers)}
    started = 0.0
    with Workspace.open(folder).space("default") as space:
        if workers:
            began = time.perf_counter()
            # Until each worker has loaded its model.
            list(space.runner.run(_nothing, range(2 * workers)))
            started = time.perf_counter() - began
        read = 0.0  # until the last Part is there; what follows is the commit

        def progress(stage: str, done: int, total: int) -> None:
            nonlocal read
            if stage == "bytes" and done == total:
                read = time.perf_counter()

        report = space.index(progress=progress)
        commit = time.perf_counter() - read
        snapshot = space.snapshot()
        texts = sum(len(snapshot.chunk(row).text.encode()) for row in range(len(snapshot)))
        disk = sum(path.stat().st_size for path in space.directory.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "workers": workers,
        "chunks": report.chunks,
        "files": len(report.added),
        "seconds": report.seconds,
        "start_seconds": started,
        "text_bytes": texts,
        "disk_bytes": disk,
        "snapshot_bytes": snapshot.size,
        "peak_bytes": peak,
        "dimension": snapshot.meta.dimension,
        "commit_seconds": commit,
    }


def _nothing() -> object:
    """Work that does nothing."""
    return _same


def _same(value: object) -> object:
    return value


def batch_overhead(workers: int) -> float:
    """Seconds that Ray takes for a batch of 256 KB that is worked on in no time."""
    from ragloom import PluginHost

    runner = PluginHost.discover().runner("ray", {"workers": workers})
    batch = bytes(1 << 18)
    list(runner.run(_nothing, [batch] * 4))
    began = time.perf_counter()
    count = len(list(runner.run(_nothing, [batch] * 200)))
    seconds = time.perf_counter() - began
    runner.close()
    return seconds / count


def measured(folder: Path, workers: int) -> dict[str, float]:
    """:func:`run` in a process of its own, on a copy of the files."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "files"
        shutil.copytree(folder, copy)
        (copy / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
        command = [sys.executable, __file__, "--inside", str(copy), str(workers)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found


def shown(runs: Sequence[Mapping[str, float]]) -> str:
    """Every run as a table."""
    rows = [
        [
            f"ray, {one['workers']} workers" if one["workers"] else "local",
            f"{one['seconds']:.1f}",
            f"{one['chunks'] / one['seconds']:.1f}",
            f"{one['chunks'] / one['seconds'] / max(one['workers'], 1):.1f}",
            f"{one['start_seconds']:.1f}",
        ]
        for one in runs
    ]
    return table(HEADS, rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--docs", nargs="+", type=Path, default=[EXAMPLES])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        folder, workers = given.inside
        print(json.dumps(run(Path(folder), int(workers))))
        return
    os.environ.setdefault("RAY_worker_niceness", "0")  # 15 by default: other work would go first
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "docs"
        for source in given.docs:
            write(folder / source.stem, documents(source))
        runs = [measured(folder, workers) for workers in (0, *given.workers)]
    overhead = batch_overhead(2)
    print(shown(runs))
    print(f"\n{1000 * overhead:.1f} ms a batch of 256 KB beside its work")
    if given.json:
        load = os.getloadavg()[1]
        whole = {
            "benchmark": "runners",
            "runs": runs,
            "batch_seconds": overhead,
            "load": load,
            "machine": machine(),
            "versions": installed(*PACKAGES),
        }
        given.json.write_text(json.dumps(whole, indent=1), "utf-8")


if __name__ == "__main__":
    main()
