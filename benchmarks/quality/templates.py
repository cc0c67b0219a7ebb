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
bias then has 0.65 passed by the best template for 1 in 20 of the questions that none fits, over libraries
of 20 to 1,053 of the templates: the everyday questions of ``ragloom.evaluation`` and those in
``templates_fit.jsonl``. Of the shares from 1 to 20 in 100, those around this one answer the most problems
and questions rightly in sum (Youden's index: at 7 in 100 with 1,053 templates, at 5 with 134, at 3 with
50); core allows 1 in 50. The problems that the tests use are not looked at.
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
from ragloom.evaluation import everyday_questions
from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import Problem, evaluate, read_problems
from ragloom_templates.matching import Curve

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIRS = {
    "fabric": "fabric/data/patterns",
    "anthropic-skills": "anthropic-skills/skills",
    "awesome-copilot": "awesome-copilot",
}
THRESHOLD = 0.65
PASSED = 0.05  # share of everyday questions that get past the threshold
CANDIDATES = 200  # templates that a problem chooses among
SIZES = (20, 50, 100, 200, 500, 1053)  # of the libraries that the bias is fitted on
DRAWS = 8  # libraries of each size
FEATURES = 2
STEPS = 50  # of Newton's method
RIDGE = 1e-4
SMALLEST_STEP = 1e-9

Rows = npt.NDArray[np.float64]
"""``(n, 2)``: cosine and words of a problem's candidates."""


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


def candidates(library: TemplateLibrary, problem: Problem) -> tuple[Rows, int | None]:
    """What is measured of the candidates of a problem, and the row of the right one, if it is there."""
    index = library._current()  # noqa: SLF001 - it measures the inside
    vector = library.space.embedder.embed_query(problem.problem)
    found = index.fits(problem.problem, vector, examined=CANDIDATES)
    right = None if problem.template is None else uri_of(problem.template, library)
    place = next((row for row, fit in enumerate(found) if fit.uri == right), None)
    return np.array([(fit.cosine, fit.words) for fit in found]), place


def fit_curve(
    library: TemplateLibrary, groups: Sequence[Sequence[Problem]], off_topic: Sequence[Problem]
) -> Curve:
    """Fit the weights on ``groups``, each of the same weight, and the bias on ``off_topic``."""
    choices: list[tuple[Rows, int, float]] = []
    for group in groups:
        measured = [candidates(library, problem) for problem in group]
        chosen = [(rows, place) for rows, place in measured if place is not None]
        print(f"{len(chosen)} of {len(group)} problems have their template among the candidates")
        choices += [(rows, place, 1 / len(chosen)) for rows, place in chosen]
    weights = conditional_logit(choices)
    print(f"{len(off_topic)} questions that none fits")
    return Curve(
        bias=_logit(THRESHOLD) - reached(library, off_topic, weights),
        cosine_weight=float(weights[0]),
        words_weight=float(weights[1]),
    )


def reached(
    library: TemplateLibrary, off_topic: Sequence[Problem], weights: npt.NDArray[np.float64]
) -> float:
    """What the best of a library's templates reaches for 1 in 20 questions, less ln(templates)."""
    index = library._current()  # noqa: SLF001 - it measures the inside
    uris = list(index.snapshot.files)
    place = {uri: column for column, uri in enumerate(uris)}
    evidence = np.empty((len(off_topic), len(uris)))
    for row, problem in enumerate(off_topic):
        vector = library.space.embedder.embed_query(problem.problem)
        for fit in index.fits(problem.problem, vector, examined=len(uris)):
            evidence[row, place[fit.uri]] = weights @ (fit.cosine, fit.words)
    random = np.random.default_rng(0)
    best = [
        evidence[:, random.permutation(len(uris))[:size]].max(axis=1) - log(size)
        for size in SIZES
        for _ in range(DRAWS)
    ]
    for size, some in zip(SIZES, np.reshape(best, (len(SIZES), -1)), strict=True):
        print(f"  {size} templates: {np.quantile(some, 1 - PASSED):.2f}")
    return float(np.quantile(best, 1 - PASSED))


def conditional_logit(choices: Sequence[tuple[Rows, int, float]]) -> npt.NDArray[np.float64]:
    """The weights under which what was chosen is the likeliest: Newton's method, steps halved."""
    weights = np.zeros(FEATURES)
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
    curvature = RIDGE * np.eye(FEATURES)
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
