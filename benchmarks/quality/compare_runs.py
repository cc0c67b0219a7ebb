"""Two runs of ``run_collections.py``, of before and after a change, compared query by query.

    python benchmarks/quality/compare_runs.py BEFORE.json AFTER.json [--json FILE]

Of each collection that both hold, the difference of nDCG@10 and the p of a two-sided paired randomisation
test over its queries; of what the gate lets in and keeps, both figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from corpora import table, write_json
from ndcg import Comparison, compare_by_query

HEADS = (
    *("collection, split", "queries", "before", "after", "difference", "p", "better / worse"),
    *("off-topic let in", "answerable kept"),
)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The results of a run by collection and split.

    Raises:
        SystemExit: It holds no nDCG@10 by query.
    """
    results = json.loads(path.read_text("utf-8")).get("results", [])
    found = {f"{each['collection']}, {each['split']}": each for each in results}
    if not found or any("ndcg@10_by_query" not in each for each in found.values()):
        sys.exit(f"{path}: no nDCG@10 by query; expected the JSON of run_collections.py")
    return found


def compared(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """The second less the first."""
    return compare_by_query(after["ndcg@10_by_query"], before["ndcg@10_by_query"])


def row(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line of the table."""
    first, second = before["ndcg@10_by_query"], after["ndcg@10_by_query"]
    names = sorted(first.keys() & second.keys())
    better = sum(second[query] > first[query] for query in names)
    worse = sum(second[query] < first[query] for query in names)
    result = compared(before, after)
    gates = before["gate"], after["gate"]
    return [
        name,
        str(len(names)),
        *(f"{fmean(each[query] for query in names):.4f}" for each in (first, second)),
        f"{result.difference:+.4f}",
        f"{result.p_value:.4f}",
        f"{better} / {worse}",
        " -> ".join(f"{gate['injection_rate']:.1%}" for gate in gates),
        " -> ".join(f"{gate['kept_rate']:.1%}" for gate in gates),
    ]


def means(rows: Sequence[Sequence[str]]) -> list[str]:
    """The last line: the means of the collections, each counted once."""
    before, after, difference = (fmean(float(line[at]) for line in rows) for at in (2, 3, 4))
    return ["mean", "", f"{before:.4f}", f"{after:.4f}", f"{difference:+.4f}", "", "", "", ""]


def main() -> None:
    """Compare, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="written by run_collections.py --json")
    parser.add_argument("after", type=Path, help="likewise, of the changed code")
    parser.add_argument("--json", type=Path, help="write the comparisons to this file, too")
    arguments = parser.parse_args()
    before, after = read(arguments.before), read(arguments.after)
    both = [name for name in before if name in after]
    if not both:
        sys.exit(f"{arguments.before} and {arguments.after}: no collection in common")
    rows = [row(name, before[name], after[name]) for name in both]
    print(table(HEADS, [*rows, means(rows)]))
    results = {name: asdict(compared(before[name], after[name])) for name in both}
    write_json(arguments.json, "compare_runs", results=results)


if __name__ == "__main__":
    main()
