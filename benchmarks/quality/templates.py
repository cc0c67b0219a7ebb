"""Fit the score of a template, and measure matching on the public collections.

::

    python benchmarks/quality/templates.py PROMPTS --fit --needs NEEDS
    python benchmarks/quality/templates.py PROMPTS

PROMPTS is a folder with the unpacked collections ``fabric/data/patterns`` (danielmiessler/fabric),
``anthropic-skills/skills`` (anthropics/skills) and ``awesome-copilot`` (github/awesome-copilot); NEEDS one
with fabric's one-line descriptions of its patterns in BEIR's form (``queries.jsonl``, ``qrels/test.tsv``).

The fit: the weights make the right template the first among the candidates of its problem as often as
they can, over the problems of ``templates_fit.jsonl`` and, weighing as much in all, the needs: a
conditional logit (McFadden, "Conditional Logit Analysis of Qualitative Choice Behavior", 1974). The
second fit tells the problems of ``templates_fit.jsonl`` from the questions that no template fits, which are
its others and the everyday questions of ``ragloom.evaluation``, over libraries of 10 to 1,053 of the
templates: a logistic regression. Its bias has 0.65 passed for 1 in 20 of the questions. Of the shares
from 1 to 20 in 100, those around this one answer the most problems and questions rightly in sum
(Youden's index); core allows 1 in 50. The problems that the tests use are not looked at.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from math import log
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from ragloom import Workspace
from ragloom.evaluation.collections import everyday_questions
from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import Problem, evaluate, read_problems
from ragloom_templates.matching import Curve, Fit, Weights, strength_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIRS = {
    "fabric": "fabric/data/patterns",
    "anthropic-skills": "anthropic-skills/skills",
    "awesome-copilot": "awesome-copilot",
}
THRESHOLD = 0.65
PASSED = 0.05  # share of the questions that none fits that get past the threshold
CANDIDATES = 200  # templates that a problem chooses among
SIZES = (10, 20, 50, 100, 200, 500, 1053)  # templates of the libraries of the second fit
DRAWS = 8  # libraries of each size
EVEN = Weights(cosine=1, words=0)
STEPS = 50  # of Newton's method
RIDGE = 1e-4
SMALLEST_STEP = 1e-9

Rows = npt.NDArray[np.float64]
"""``(n, d)``: what is measured of the candidates of one choice."""


def indexed(prompts: Path) -> TemplateLibrary:
    """A library of all collections, indexed; says what was read and what was skipped."""
    library = TemplateLibrary(list(DIRS.values()), workspace=Workspace.open(prompts))
    started = perf_counter()
    report = library.refresh()
    first = perf_counter() - started
    started = perf_counter()
    count = library.index()
    print(
        f"{count} templates, {len(library.skipped)} skipped, {report.chunks} chunks, "
        f"{report.embedded} embedded, {first:.1f} s; again {perf_counter() - started:.2f} s"
    )
    for name, folder in DIRS.items():
        uris = [uri for uri in library.space.snapshot().files if uri.startswith(f"{folder}/")]
        print(f"  {name}: {len(uris)} templates")
    for failed in library.skipped:
        print(f"  {failed.path}: {failed.error}")
    return library


def uri_of(name: str, library: TemplateLibrary) -> str:
    """``fabric/create_npc`` to the uri of that template."""
    collection, _, rest = name.partition("/")
    if collection == "anthropic-skills":
        rest = rest.removeprefix("skills/")
    folder = f"{DIRS[collection]}/{rest}"
    known = set(library.space.snapshot().files)
    return next(uri for end in ("/system.md", "/SKILL.md", ".md") if (uri := folder + end) in known)


def needs(folder: Path) -> list[Problem]:
    """Fabric's one-line descriptions, as problems."""
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    queries = {entry["_id"]: entry["text"] for entry in map(json.loads, lines)}
    (judged,) = (folder / "qrels").glob("*.tsv")
    rows = [line.split("\t") for line in judged.read_text("utf-8").splitlines()[1:]]
    return [Problem(problem=queries[query], template=f"fabric/{doc}") for query, doc, _ in rows]


def candidates(
    library: TemplateLibrary, problem: Problem, *, as_head: bool
) -> tuple[Rows, int | None]:
    """What is measured of the candidates of a problem, and the row of the right one, if it is there."""
    found = evidence(library, problem, EVEN, as_head=as_head, examined=CANDIDATES)
    right = None if problem.template is None else uri_of(problem.template, library)
    place = next((row for row, fit in enumerate(found) if fit.uri == right), None)
    return np.array([(fit.cosine, fit.words) for fit in found]), place


def evidence(
    library: TemplateLibrary, problem: Problem, weights: Weights, *, as_head: bool, examined: int
) -> Sequence[Fit]:
    """What speaks for the templates of the whole library."""
    index = library._current()  # noqa: SLF001 - it measures the inside
    embedder = library.space.embedder
    return index.evidence(problem.problem, embedder, weights, as_head=as_head, examined=examined)


def fit_weights(
    library: TemplateLibrary, groups: Sequence[Sequence[Problem]], *, as_head: bool
) -> Weights:
    """Fit the evidence on ``groups``, each of the same weight."""
    choices: list[tuple[Rows, int, float]] = []
    for group in groups:
        measured = [candidates(library, problem, as_head=as_head) for problem in group]
        chosen = [(rows, place) for rows, place in measured if place is not None]
        print(f"{len(chosen)} of {len(group)} problems have their template among the candidates")
        choices += [(rows, place, 1 / len(chosen)) for rows, place in chosen]
    cosine, words = conditional_logit(choices).tolist()
    return Weights(cosine=cosine, words=words)


def fit_curve(
    library: TemplateLibrary, groups: Sequence[Sequence[Problem]], off_topic: Sequence[Problem]
) -> Curve:
    """Fit the evidence on ``groups``, and what tells the first of them from ``off_topic``."""
    which, whether = (fit_weights(library, groups, as_head=as_head) for as_head in (True, False))
    print(f"{len(groups[0])} problems against {len(off_topic)} questions that none fits")
    fitting = strengths(library, groups[0], whether)
    others = strengths(library, off_topic, whether)
    rows = np.concatenate([fitting, others]).reshape(-1, 2)
    # A choice between itself and nothing is logistic regression.
    sides = np.stack(
        [np.column_stack([rows, np.ones(len(rows))]), np.zeros((len(rows), 3))], axis=1
    )
    weights = conditional_logit(
        [(pair, int(row >= fitting[..., 0].size), 1 / len(rows)) for row, pair in enumerate(sides)]
    )
    reached = others @ weights[:2]
    bias = _logit(THRESHOLD) - float(np.quantile(reached, 1 - PASSED))
    for place, templates in enumerate(SIZES):
        passed = [
            float((side[:, place] @ weights[:2] + bias > _logit(THRESHOLD)).mean())
            for side in (fitting, others)
        ]
        print(f"  {templates} templates: passed for {passed[0]:.3f} and {passed[1]:.3f}")
    return Curve(
        which=which,
        whether=whether,
        bias=bias,
        strength_weight=float(weights[0]),
        size_weight=-float(weights[1]),
    )


def strengths(
    library: TemplateLibrary, problems: Sequence[Problem], weights: Weights
) -> npt.NDArray[np.float64]:
    """``(problems, sizes, draws, 2)``: the strength, and ln(templates); a right one is always there."""
    uris = list(library.space.snapshot().files)
    column = {uri: place for place, uri in enumerate(uris)}
    random = np.random.default_rng(0)
    draws = [[random.permutation(len(uris))[:size] for _ in range(DRAWS)] for size in SIZES]
    found = np.empty((len(problems), len(SIZES), DRAWS, 2))
    for row, problem in enumerate(problems):
        scores = np.empty(len(uris))
        for fit in evidence(library, problem, weights, as_head=False, examined=len(uris)):
            scores[column[fit.uri]] = fit.score
        for place, some in enumerate(draws):
            for draw, drawn in enumerate(some):
                chosen = drawn
                if problem.template is not None:
                    right = column[uri_of(problem.template, library)]
                    chosen = np.append(drawn[drawn != right][: len(drawn) - 1], right)
                found[row, place, draw] = strength_of(scores[chosen].tolist()), log(len(chosen))
    return found


def conditional_logit(choices: Sequence[tuple[Rows, int, float]]) -> npt.NDArray[np.float64]:
    """The weights under which what was chosen is the likeliest: Newton's method, steps halved."""
    weights = np.zeros(choices[0][0].shape[1])
    reached, gradient, curvature = likelihood(weights, choices)
    for _ in range(STEPS):
        step = np.linalg.solve(curvature, gradient)
        while True:
            found = likelihood(weights + step, choices)
            if found[0] >= reached or float(np.abs(step).max()) < SMALLEST_STEP:
                break
            step /= 2
        weights = weights + step
        reached, gradient, curvature = found
    return weights


def likelihood(
    weights: npt.NDArray[np.float64], choices: Sequence[tuple[Rows, int, float]]
) -> tuple[float, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The log-likelihood of the choices, with a small ridge, its gradient and its negated Hessian."""
    value = -RIDGE * float(weights @ weights) / 2
    gradient = -RIDGE * weights
    curvature = RIDGE * np.eye(len(weights))
    for rows, place, share in choices:
        utility = rows @ weights
        utility -= utility.max()
        chance = np.exp(utility)
        total = float(chance.sum())
        chance /= total
        mean = chance @ rows
        value += share * (float(utility[place]) - log(total))
        gradient += share * (rows[place] - mean)
        curvature += share * ((chance[:, None] * (rows - mean)).T @ (rows - mean))
    return value, gradient, curvature


def _logit(chance: float) -> float:
    return log(chance / (1 - chance))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--needs", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    collections = indexed(options.prompts)
    if options.fit:
        own = read_problems(HERE / "templates_fit.jsonl")
        groups = [[problem for problem in own if problem.template is not None]]
        if options.needs:
            groups.append(needs(options.needs))
        off_topic = [problem for problem in own if problem.template is None]
        off_topic += [Problem(problem=text, template=None) for text in everyday_questions()]
        print(json.dumps(asdict(fit_curve(collections, groups, off_topic)), indent=1))
        return
    workspace = Workspace.open(ROOT / "tests" / "data" / "templates")
    with TemplateLibrary(["templates"], workspace=workspace) as library:
        library.index()
        result = evaluate(read_problems(workspace.root / "problems.jsonl"), library)
    figures = {
        "problems": len(result.answers),
        "metrics": dict(result.metrics),
        "p50_ms": float(np.percentile(result.seconds, 50) * 1e3),
        "p95_ms": float(np.percentile(result.seconds, 95) * 1e3),
        "python": sys.version.split()[0],
    }
    print(json.dumps(figures, indent=1))
    for answer in result.answers:
        if not answer.right:
            print(
                f"  wrong: {answer.problem.problem}\n    {answer.problem.template} <> {answer.found}"
            )
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
