"""Fit the score of a template, and measure matching on the public collections.

::

    python benchmarks/quality/templates.py PROMPTS --fit
    python benchmarks/quality/templates.py PROMPTS

PROMPTS is a folder with the unpacked collections ``fabric`` (danielmiessler/fabric: ``data/patterns``
and ``scripts``), ``anthropic-skills/skills`` (anthropics/skills) and ``awesome-copilot``
(github/awesome-copilot).

The fit: the weights make the right template the first among the candidates of its problem as often as
they can, over the problems of ``templates_fit.jsonl``: a conditional logit (McFadden, "Conditional Logit
Analysis of Qualitative Choice Behavior", 1974). The second fit tells these problems from the questions
that no template fits, which are the others of that file and the everyday questions of
``ragloom.evaluation``, over libraries of 10 to 1,053 of the templates: a logistic regression. The
logarithms of the words and clauses of a problem are fitted with it and then dropped: the problems that a
template fits are longer than the others here, and not in life, and what goes with the length would stand
for it. The bias that is printed has 0.65 passed for 1 in 25 of the questions; the problems that the tests
use are not looked at.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from math import log
from pathlib import Path
from time import perf_counter
from typing import cast

import numpy as np
import numpy.typing as npt

from ragloom import Workspace
from ragloom.evaluation.collections import everyday_questions
from ragloom_templates import TemplateLibrary
from ragloom_templates.asked import read
from ragloom_templates.evaluating import Problem, evaluate, read_problems
from ragloom_templates.everyday import clauses, everyday
from ragloom_templates.matching import CURVE, Curve, Evidence, of_best

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIRS = {
    "fabric": "fabric/data/patterns",
    "anthropic-skills": "anthropic-skills/skills",
    "awesome-copilot": "awesome-copilot",
}
THRESHOLD = 0.65
PASSED = 0.04  # share of the questions that none fits that get past the threshold
CANDIDATES = 200  # templates that a problem chooses among
SIZES = (10, 20, 50, 100, 200, 500, 1053)  # templates of the libraries of the second fit
DRAWS = 8  # libraries of each size
STEPS = 50  # of Newton's method
RIDGE = 1e-6  # small: it weighs on cosines, whose weights are large
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


def measured(library: TemplateLibrary, problem: str) -> Evidence | None:
    """What speaks for each template of the whole library; None where it is no problem."""
    index = library._current()  # noqa: SLF001 - it measures the inside
    embedder = library.space.embedder
    asked = read(problem, index.snapshot.lexical, embedder, index.vocabulary)
    return None if asked is None else index.evidence(problem, asked, embedder)


def rows_of(found: Evidence) -> Rows:
    """``(n, 5)``: what is weighed to order the templates."""
    fields = (found.chunk, found.description, found.beginning, found.words, found.answered)
    return np.stack(fields, axis=1)


def length_of(problem: str) -> tuple[float, float]:
    """What the second fit does not weigh: the logarithms of the words and of the clauses."""
    return log(len(problem.split())), log(len(clauses(problem)))


def fit_curve(
    library: TemplateLibrary, fitting: Sequence[Problem], off_topic: Sequence[Problem]
) -> Curve:
    """Fit the order on ``fitting``, then what tells these from ``off_topic``."""
    uris = list(library.space.snapshot().files)
    column = {uri: place for place, uri in enumerate(uris)}
    right = [column[uri_of(one.template or "", library)] for one in fitting]
    found = [one for problem in fitting if (one := measured(library, problem.problem))]
    lengths = [length_of(problem.problem) for problem in fitting]
    choices: list[tuple[Rows, int, float]] = []
    for one, place in zip(found, right, strict=True):
        nearest = np.argsort(-(one.chunk + one.description))[:CANDIDATES]
        some = np.append(nearest[nearest != place], place)
        choices.append((rows_of(one)[some], len(some) - 1, 1 / len(found)))
    which = conditional_logit(choices)
    others: list[Evidence] = []
    for problem in off_topic:
        if one := measured(library, problem.problem):
            others.append(one)
            lengths.append(length_of(problem.problem))
    print(f"{len(found)} problems against {len(others)} of {len(off_topic)} that none fits")
    rows: list[list[float]] = []
    sides: list[tuple[bool, int]] = []
    random = np.random.default_rng(0)
    for number, one in enumerate([*found, *others]):
        sums = rows_of(one) @ which
        for size in SIZES:
            for _ in range(DRAWS if size < len(uris) else 1):
                chosen = random.permutation(len(uris))[:size]
                if number < len(found):
                    chosen = np.append(chosen[chosen != right[number]][: size - 1], right[number])
                rows.append([*of_best(one, sums, chosen), *lengths[number], -log(size), 1.0])
                sides.append((number < len(found), size))
    table, fits = np.array(rows), np.array([side for side, _ in sides])
    # A choice between itself and nothing is logistic regression.
    nothing = np.zeros(table.shape[1])
    pairs = np.stack([table, np.broadcast_to(nothing, table.shape)], axis=1)
    shares = np.where(fits, 0.5 / fits.sum(), 0.5 / (~fits).sum())
    chances = [
        (pair, 0 if fit else 1, float(share))
        for pair, fit, share in zip(pairs, fits, shares, strict=True)
    ]
    best, near, described, usual, *_ = conditional_logit(chances).tolist()
    logits = table @ np.array([best, near, described, usual, 0.0, 0.0, 0.0, 0.0])
    sizes = np.array([size for _, size in sides])
    # Questions without a content word count among those that are kept out.
    none = len(off_topic) - len(others)
    kept_out = 1 - PASSED * len(off_topic) / (len(off_topic) - none)
    # As many of the questions get past the threshold in a library of any size.
    reached = [float(np.quantile(logits[~fits & (sizes == one)], kept_out)) for one in SIZES]
    size, level = np.polyfit(np.log(SIZES), reached, 1).tolist()
    bias = _logit(THRESHOLD) - level
    logits -= size * np.log(sizes)
    for templates in SIZES:
        at = np.array([size == templates for _, size in sides])
        passed = [
            float((logits[at & side] + bias > _logit(THRESHOLD)).mean()) for side in (fits, ~fits)
        ]
        print(f"  {templates} templates: passed for {passed[0]:.3f} and {passed[1]:.3f}")
    weights = tuple(round(one, 2) for one in which.tolist())
    return replace(
        CURVE,
        which=cast("tuple[float, float, float, float, float]", weights),
        bias=bias,
        best=best,
        nearness=near,
        description=described,
        everyday=-usual,
        size=size,
    )


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
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    collections = indexed(options.prompts)
    if options.fit:
        own = read_problems(HERE / "templates_fit.jsonl")
        fitting = [problem for problem in own if problem.template is not None]
        known = set(
            everyday()
        )  # what the evidence is compared with is not what the curve is fitted on
        off_topic = [one for one in own if one.template is None and one.problem not in known]
        off_topic += [Problem(problem=text, template=None) for text in everyday_questions()]
        print(json.dumps(asdict(fit_curve(collections, fitting, off_topic)), indent=1))
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
