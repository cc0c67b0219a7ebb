"""Another embedder instead of the default one, and beside it.

    python benchmarks/quality/embedders.py EMBEDDER COLLECTION[:SPLIT] ... [--json FILE]

EMBEDDER is a name, or settings in JSON such as ``{"name": "onnx", "model": "FOLDER"}``. Beside it means
that both orders of mode hybrid are fused, half and half: the words weigh as much as in each, and each
embedder half as much. Prints nDCG@10 with the p of a paired randomisation test against the default
embedder in the same mode. ``--queries`` takes a sample of each collection with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from corpora import note, state_folder, table, write_json
from ndcg import compare_by_query, ndcg_by_query
from reranker import sample

from ragloom import Mode, Space, Workspace
from ragloom.evaluation.collections import Collection, read_collection

HEADS = (
    *("collection", "queries", "hybrid", "instead", "difference", "p", "beside", "difference", "p"),
    *("dense", "instead", "difference", "p"),
)
DEPTH = 200  # documents that are fused
Found = dict[str, dict[str, float]]  # score by document, by query


def ranked(
    space: Space, collection: Collection, queries: Mapping[str, str], mode: Mode = "hybrid"
) -> Found:
    """The score of each query's best documents."""
    snapshot, found = space.snapshot(), {}
    for name, text in queries.items():
        ranking, scores = space.rank(text, mode=mode), {}
        for row, score in zip(ranking.rows[:DEPTH], ranking.scores[:DEPTH], strict=True):
            number = int(Path(snapshot.uris[snapshot.file_of_row[row]]).stem)
            scores.setdefault(collection.documents[number].id, float(score))
        found[name] = scores
    return found


def fused(first: Found, second: Found) -> Found:
    """The sum of both; what one of them does not have counts as its worst."""
    lowest = [
        {name: min(scores.values(), default=0.0) for name, scores in one.items()}
        for one in (first, second)
    ]
    return {
        name: {
            document: first[name].get(document, lowest[0][name])
            + second[name].get(document, lowest[1][name])
            for document in first[name].keys() | second[name].keys()
        }
        for name in first
    }


def scored(found: Found, judgments: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """nDCG@10 by query."""
    judged = {name: judgments[name] for name in found}
    runs = {
        name: sorted(scores, key=lambda document: (-scores[document], document))
        for name, scores in found.items()
    }
    return ndcg_by_query(judged, runs)


def measured(
    given: str, workspaces: Sequence[Workspace], count: int
) -> dict[str, dict[str, float]]:
    """nDCG@10 by query, by what was searched."""
    folder, _, split = given.partition(":")
    collection = read_collection(Path(folder), split=split or "test")
    queries = {name: collection.queries[name] for name in sample(list(collection.queries), count)}
    spaces = [workspace.collection_space(collection) for workspace in workspaces]
    for space in spaces:
        report = space.index()
        note(f"{collection.name}: {report.chunks} chunks, {report.seconds:.0f} s")
    first, second = (ranked(space, collection, queries) for space in spaces)
    dense = [ranked(space, collection, queries, "dense") for space in spaces]
    runs = {
        "hybrid": first,
        "hybrid instead": second,
        "beside": fused(first, second),
        "dense": dense[0],
        "dense instead": dense[1],
    }
    return {name: scored(run, collection.judgments) for name, run in runs.items()}


def row(name: str, found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """One line of the table."""
    cells = [name, str(len(found["hybrid"]))]
    for base, others in (("hybrid", ("hybrid instead", "beside")), ("dense", ("dense instead",))):
        cells.append(f"{fmean(found[base].values()):.4f}")
        for other in others:
            gain = compare_by_query(found[other], found[base])
            mean = fmean(found[other].values())
            cells += [f"{mean:.4f}", f"{gain.difference:+.4f}", f"{gain.p_value:.4f}"]
    return cells


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("embedder", help="a name, or settings in JSON")
    parser.add_argument("collections", nargs="+", metavar="COLLECTION[:SPLIT]")
    parser.add_argument("--queries", type=int, default=0, help="of each collection; all by default")
    parser.add_argument("--state", type=Path, help="keeps the indexes")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    found = {}
    with state_folder(arguments.state) as state:
        other = state / "other"
        other.mkdir(parents=True, exist_ok=True)
        settings = json.dumps({"embedder": arguments.embedder})
        if arguments.embedder.startswith("{"):
            settings = json.dumps({"embedder": json.loads(arguments.embedder)})
        (other / "ragloom.yaml").write_text(settings, "utf-8")
        workspaces = [Workspace.open(state), Workspace.open(other, trusted=True)]
        for given in arguments.collections:
            path = Path(given.partition(":")[0])
            name = f"xquad-{path.name}" if path.parent.name == "xquad" else path.name
            found[name] = measured(given, workspaces, arguments.queries)
            print(f"| {' | '.join(row(name, found[name]))} |", flush=True)
    print(table(HEADS, [row(name, one) for name, one in found.items()]))
    write_json(arguments.json, "embedders", embedder=arguments.embedder, results=found)


if __name__ == "__main__":
    main()
