"""Fit the curves of relevance that ship: with an embedder's cosines, and by words alone.

    python benchmarks/quality/fit_calibration.py COLLECTION[:SPLIT] CORPUS.zip=QUESTIONS.jsonl ...

The embedder is the one of the settings: ``RAGLOOM_EMBEDDER=multilingual`` fits that of
``ragloom-multilingual``; the cosine of unrelated texts is what the embedder ships.

A collection in BEIR's format is asked 120 of its queries, a corpus the questions of questions.py. Right are
candidates among the first five that answer; wrong are the first five of questions without an answer: near,
far, everyday, those of the other corpora, and answerable ones whose right files are taken out. Prints what
curves that are fitted without a collection keep of it and let in, then the curves that are fitted to all.
A relevance of 0.3 stands at the lowest logit that at most 17 % of the near questions and 1 % of the
everyday ones reach, with curves that do not know them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from corpora import note, opened, state_folder, table
from questions import FORMS, read_questions

from ragloom import Calibration, Mode, Space, Workspace
from ragloom.evaluation.collections import everyday_questions, read_collection
from ragloom.retrieval.calibration import FEATURES, fit_to_pairs, logits, with_gate_at
from ragloom.retrieval.foreign_queries import foreign_bonus
from ragloom.retrieval.gate import examined
from ragloom.retrieval.parsed_query import parse
from ragloom.retrieval.ranking import Candidates, find_candidates, order
from ragloom.retrieval.relevance import DEFAULT_CALIBRATION, LITERAL_RELEVANCE, features, weigh

FIRST = 5
OF_A_SENTENCE = 10
QUERIES = 120  # of a collection in BEIR's format
EVERYDAY_STEP, OTHERS_STEP = 2, 3
WRONG = {"near": 3.0, "far": 1.0, "everyday": 1.0, "other": 1.0, "removed": 0.1}
BEHIND = 0.4  # how much the third to fifth count as wrong
MOST_LET_IN = {"near": 0.17, "everyday": 0.01}
SLOPE = 2.2  # scales logits so that nine of ten answers reach a relevance of 0.7
ABOVE = 1e-6  # the first that may not be let in
USED: Mapping[Mode, Sequence[str]] = {"hybrid": FEATURES, "lexical": FEATURES[2:]}
SHOWN = (*FORMS, *WRONG)

Indexed: TypeAlias = "tuple[str, Space, list[Question]]"
"""A name, the space that is asked, and what it is asked."""

_NOTHING = Calibration(bias=-99.0, cosine_weight=0.0, coverage_weight=0.0, source="")


@dataclass(frozen=True, slots=True)
class Question:
    """A text to ask, and which files answer it.

    Attributes:
        text: As typed.
        group: The form of one that has an answer, or why there is none: a key of ``WRONG``.
        right: The uris that answer.
        without: The uris that are taken out.
    """

    text: str
    group: str
    _: KW_ONLY
    right: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and its candidates.

    Attributes:
        collection: Where it was asked.
        group: As in :class:`Question`.
        features: ``(v, n, 5)`` of the query and its sentences, and of the candidates in their order.
        literal: ``(n,)``: whether what stands in it is evidence by itself.
        right: ``(n,)``: whether it answers, and is among the first five.
        vector: Whether the model knows the query.
        bonus: What its language adds to its logit.
    """

    collection: str
    group: str
    features: npt.NDArray[np.float64]
    literal: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    vector: bool
    bonus: float

    @property
    def answered(self) -> bool:
        """Whether the order alone finds an answer."""
        return bool(self.right.any())


def ask(question: Question, name: str, space: Space, mode: Mode) -> Asked | None:
    """Ask one question; None where nothing is found."""
    snapshot, embedder = space.snapshot(), None if mode == "lexical" else space.embedder
    gone = np.array([uri in question.without for uri in snapshot.uris])[snapshot.file_of_row]
    parsed = parse(question.text, snapshot, embedder)
    found = [
        _without(gone, find_candidates(one, snapshot=snapshot, embedder=embedder, mode=mode))
        for one in parsed
    ]
    ranking, *sentences = (order([one], mode)[0] for one in found)
    place = {row: at for at, row in enumerate(ranking.rows.tolist())}
    best = [row for one in sentences for row in one.rows[:OF_A_SENTENCE].tolist()]
    head = range(min(examined(FIRST), len(ranking.rows)))
    places = [*dict.fromkeys([*head, *(place[row] for row in best if row in place)])]
    if not places:
        return None
    rows, scores = ranking.rows[places], ranking.scores[places]
    pairs = list(zip(parsed, found, strict=True))
    shipped = embedder.calibration if embedder else None
    unrelated = shipped.unrelated_cosine if shipped else 0.0
    nothing = replace(_NOTHING, unrelated_cosine=unrelated)
    uris = [snapshot.uris[at] for at in snapshot.file_of_row[rows]]
    literal = [
        weigh(one, candidates, rows, nothing, scores=None if number else scores).relevance
        for number, (one, candidates) in enumerate(pairs)
    ]
    return Asked(
        collection=name,
        group=question.group,
        features=np.array(
            [
                features(one, candidates, rows, without=gone, unrelated=unrelated).matrix
                for one, candidates in pairs
            ]
        ),
        literal=np.array(literal).max(axis=0) >= LITERAL_RELEVANCE,
        right=np.array([uri in question.right for uri in uris]) & (np.arange(len(rows)) < FIRST),
        vector=found[0].vector is not None,
        bonus=foreign_bonus(parsed[0], found[0], shipped or DEFAULT_CALIBRATION),
    )


def _without(gone: npt.NDArray[np.bool_], found: Candidates) -> Candidates:
    """Candidates as they would be if some rows were not in the index."""
    if not gone.any():
        return found
    kept = ~gone[found.rows]
    return replace(
        found,
        rows=found.rows[kept],
        cosine=found.cosine[kept],
        lexical=found.lexical[kept],
    )


def fitted(asked: Sequence[Asked], mode: Mode) -> Calibration:
    """The curve of some questions, with relevance 0.5 where right and wrong meet."""
    features, answers, weights, offset = [], [], [], []
    for one in asked:
        if mode != "lexical" and not one.vector:
            continue
        for place in range(min(FIRST, one.features.shape[1])):
            right = bool(one.right[place])
            if right or one.group in WRONG:
                features.append(one.features[0, place])
                answers.append(right)
                behind = BEHIND if place >= 2 else 1.0
                weights.append(1.0 if right else WRONG[one.group] * behind)
                offset.append(one.bonus / SLOPE)
    names = ", ".join(dict.fromkeys(one.collection for one in asked))
    return fit_to_pairs(
        np.array(features),
        np.array(answers),
        np.array(weights),
        offset=np.array(offset),
        used=USED[mode],
        source=f"benchmarks/quality/fit_calibration.py on {names}",
    )


def best_logit(one: Asked, curve: Calibration, slope: float = 1.0) -> float:
    """Of what answers, or of anything where nothing does; infinite for what is evidence by itself."""
    found = logits(curve, one.features).max(axis=0) + one.bonus * slope / SLOPE
    found[one.literal] = np.inf
    return float(found[one.right].max() if one.answered else found.max())


def gate(asked: Sequence[Asked], curves: Mapping[str, Calibration]) -> float:
    """The lowest logit that lets in no more than it may.

    Raises:
        SystemExit: What is evidence by itself already lets in more.
    """
    lowest = -np.inf
    for group, most in MOST_LET_IN.items():
        best = sorted(
            (best_logit(one, curves[one.collection]) for one in asked if one.group == group),
            reverse=True,
        )
        if best:
            lowest = max(lowest, best[int(most * len(best))] + ABOVE)
    if np.isinf(lowest):
        sys.exit("no logit lets in so few near and everyday questions")
    return lowest


def left_out(asked: Sequence[Asked], mode: Mode) -> tuple[dict[str, Calibration], float]:
    """For each collection the curve that is fitted without it, and where the gate stands."""
    names = dict.fromkeys(one.collection for one in asked)
    curves = {
        name: fitted([one for one in asked if one.collection != name], mode) for name in names
    }
    lowest = gate(asked, curves)
    return {name: with_gate_at(curve, lowest, SLOPE) for name, curve in curves.items()}, lowest


def rates(asked: Sequence[Asked], curves: Mapping[str, Mapping[str, Calibration]]) -> str:
    """A table of what passes the gate, of what the order alone finds and of what has no answer."""
    cut = float(np.log(0.3 / 0.7))
    passed: dict[tuple[str, str], list[bool]] = {}
    for one in asked:
        if one.answered or one.group in WRONG:
            curve = curves["hybrid" if one.vector else "lexical"][one.collection]
            shown = best_logit(one, curve, SLOPE) >= cut
            for name in (one.collection, "all"):
                passed.setdefault((name, one.group), []).append(shown)
    names = sorted({name for name, _ in passed}, key=lambda name: (name == "all", name))
    rows = [[name, *(share(passed.get((name, group), ())) for group in SHOWN)] for name in names]
    return table(("collection", *SHOWN), rows)


def share(passed: Sequence[bool]) -> str:
    """``95.0% of 60``."""
    return f"{sum(passed) / len(passed):.1%} of {len(passed)}" if passed else ""


def of_corpora(given: Mapping[Path, Path], state: Path) -> Iterator[Indexed]:
    """Each corpus with its own questions and some of the others'."""
    read = {corpus: read_questions(path) for corpus, path in given.items()}
    for corpus, own in read.items():
        asked = []
        for one in own:
            right = frozenset(one.files)
            asked.append(Question(one.query, one.form if right else one.kind, right=right))
            if right and one.form == "plain":
                asked.append(Question(one.query, "removed", without=right))
        for other, theirs in read.items():
            if other != corpus:
                answered = [one for one in theirs if one.files and one.form == "plain"]
                asked += [Question(one.query, "other") for one in answered[::OTHERS_STEP]]
        with opened(corpus, state) as found:
            yield found.name, found.group.spaces[0], asked


def of_collections(given: Sequence[str], state: Path) -> Iterator[Indexed]:
    """Each collection with a sample of its queries."""
    (state / "collections").mkdir(parents=True, exist_ok=True)
    workspace = Workspace.open(state / "collections")
    for name in given:
        folder, _, split = name.partition(":")
        collection = read_collection(Path(folder), split=split or "test")
        space = workspace.collection_space(collection)
        note(f"{space.name}: {space.index().chunks} chunks")
        uri_of = {one.id: f"{number:07}.md" for number, one in enumerate(collection.documents)}
        chosen = random.Random(0)  # noqa: S311 - a reproducible sample
        queries = sorted(collection.queries)
        asked = []
        for query in chosen.sample(queries, min(QUERIES, len(queries))):
            right = frozenset(uri_of[one] for one in collection.judgments[query] if one in uri_of)
            text = collection.queries[query]
            asked += [
                Question(text, "plain", right=right),
                Question(text, "removed", without=right),
            ]
        yield space.name, space, asked


def main() -> None:
    """Ask everything, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("given", nargs="+", metavar="COLLECTION")
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    arguments = parser.parse_args()
    corpora = dict(map(Path, one.split("=", 1)) for one in arguments.given if "=" in one)
    collections = [one for one in arguments.given if "=" not in one]
    asked: dict[Mode, list[Asked]] = {"hybrid": [], "lexical": []}
    with state_folder(arguments.state) as state:
        for source in (of_corpora(corpora, state), of_collections(collections, state)):
            for name, space, questions in source:
                everyday = everyday_questions()[::EVERYDAY_STEP]
                questions += [Question(text, "everyday") for text in everyday]
                for mode in asked:
                    each = (ask(one, name, space, mode) for one in questions)
                    asked[mode] += filter(None, each)
                note(f"{name}: {len(questions)} questions asked")
    curves, gates = {}, {}
    for mode, found in asked.items():
        curves[mode], gates[mode] = left_out(found, mode)
    for mode, found in asked.items():
        print(f"\n{mode}, each collection left out; the gate stands at {gates[mode]:.2f}\n")
        print(rates(found, curves))
    for mode, found in asked.items():
        curve = with_gate_at(fitted(found, mode), gates[mode], SLOPE)
        print(f"\n{mode}, fitted to all\n\n{json.dumps(asdict(curve), indent=1)}")


if __name__ == "__main__":
    main()
