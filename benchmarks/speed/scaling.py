"""A plan for an index on many machines, from what ``runners.py`` measured on one.

    python benchmarks/speed/scaling.py FIGURES.json [--chunks N] [--machines N] [--cores N] [--price EURO]

Hours, memory, disk and network by the formulas that are printed with their results; the price of an hour of
one machine is yours to give. ``docs/scaling.md`` says what breaks first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FLOAT, CODES = (
    4,
    3,
)  # bytes a number: on the server, and in a snapshot (24 bits, and an exponent a vector)
HNSW_LINKS = 16 * 2 * 4 * 1.1  # bytes a vector, of a graph with M = 16
WORKER = 350e6  # bytes of a worker that has the bundled model
GB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is planned.

    Attributes:
        chunks: In the whole index.
        machines: That work and commit.
        cores: Of each.
        network: Bytes a second of each.
        rows: That the server takes a second, from all machines.
        price: Of an hour of one machine, in euros.
    """

    chunks: float = 10e6
    machines: int = 20
    cores: int = 8
    network: float = 125e6
    rows: float = 5000
    price: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured, a chunk.

    Attributes:
        work: Seconds of one core to read, split and embed.
        commit: Seconds of the machine that commits.
        overhead: Seconds of the driver a batch.
        text: Bytes of text.
        disk: Bytes of a snapshot.
        dimension: Numbers in a vector.
    """

    work: float
    commit: float
    overhead: float
    text: float
    disk: float
    dimension: int

    @classmethod
    def read(cls, path: Path) -> Figures:
        """From the JSON of ``runners.py``: the run with one worker."""
        found = json.loads(path.read_text("utf-8"))
        one = next(run for run in found["runs"] if run["workers"] == 1)
        chunks = one["chunks"]
        return cls(
            work=(one["seconds"] - one["commit_seconds"]) / chunks,
            commit=one["commit_seconds"] / chunks,
            overhead=found["batch_seconds"],
            text=one["text_bytes"] / chunks,
            disk=one["snapshot_bytes"] / chunks,
            dimension=int(one["dimension"]),
        )


def plan(figures: Figures, wanted: Wanted) -> Mapping[str, tuple[float, str, str]]:
    """Quantity to value, unit and formula."""
    share = wanted.chunks / wanted.machines
    row = figures.text * 3 + figures.dimension * FLOAT
    part = figures.text * 1.3 + figures.dimension * CODES
    vector = figures.dimension * FLOAT + HNSW_LINKS
    batches = max(wanted.chunks * figures.text / (6 << 20), 64)
    hours = {
        "work": wanted.chunks * figures.work / (wanted.machines * wanted.cores) / 3600,
        "commit": share * figures.commit / 3600,
        "store": max(wanted.chunks / wanted.rows, share * row / wanted.network) / 3600,
        "one driver": (batches * figures.overhead + wanted.chunks * part / wanted.network) / 3600,
    }
    shards = hours["work"] + hours["commit"] + hours["store"]
    alone = wanted.chunks * (figures.work / wanted.cores + figures.commit) / 3600
    return {
        "read, split, embed": (hours["work"], "h", "chunks * work / (machines * cores)"),
        "commit of a shard": (hours["commit"], "h", "chunks / machines * commit"),
        "rows to the server": (
            hours["store"],
            "h",
            "max(chunks / rows, chunks / machines * bytes of a row / network)",
        ),
        "in shards, all": (shards, "h", "work + commit + rows"),
        "all on one machine": (alone, "h", "chunks * (work / cores + commit)"),
        "one Ray driver, at least": (
            hours["one driver"],
            "h",
            "batches * overhead + chunks * bytes of a Part / network",
        ),
        "machine time": (shards * wanted.machines, "h", "hours * machines"),
        "price": (shards * wanted.machines * wanted.price, "EUR", "hours * machines * price"),
        "memory of a machine": (
            (wanted.cores * WORKER + share * 60) / GB,
            "GB",
            "cores * a worker + 60 bytes a chunk of its shard",
        ),
        "disk of a machine": (
            share * (2 * figures.disk + part) / GB,
            "GB",
            "chunks / machines * (two generations + Parts)",
        ),
        "memory of the server": (
            wanted.chunks * vector / GB,
            "GB",
            "chunks * (dimension * 4 + HNSW links)",
        ),
        "disk of the server": (
            wanted.chunks * (row + vector) / GB,
            "GB",
            "chunks * (rows + indexes), before replicas",
        ),
        "network to the server": (wanted.chunks * row / GB, "GB", "chunks * bytes of a row"),
    }


def shown(planned: Mapping[str, tuple[float, str, str]]) -> str:
    """The plan as a Markdown table."""
    lines = ["| quantity | value | formula |", "| --- | --- | --- |"]
    for name, (value, unit, formula) in planned.items():
        lines.append(f"| {name} | {value:,.2f} {unit} | {formula} |")
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("figures", type=Path, help="the JSON of runners.py")
    for name, default in asdict(Wanted()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given: dict[str, Any] = vars(parser.parse_args())
    figures = Figures.read(given.pop("figures"))
    wanted = Wanted(**given)
    print(shown(plan(figures, wanted)))


if __name__ == "__main__":
    main()
