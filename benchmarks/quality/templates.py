"""Fit the score of a template, and measure matching on the public collections.

::

    python benchmarks/quality/templates.py PROMPTS --fit --needs NEEDS
    python benchmarks/quality/templates.py PROMPTS

PROMPTS is a folder with the unpacked collections ``fabric/data/patterns`` (danielmiessler/fabric),
``anthropic-skills/skills`` (anthropics/skills) and ``awesome-copilot`` (github/awesome-copilot); NEEDS one
with fabric's one-line descriptions of its patterns in BEIR's form (``queries.jsonl``, ``qrels/test.tsv``).

The fit: problems of ``templates_fit.jsonl`` and the needs with their own template are fits; each
with the nine best other templates, and every everyday question of ``ragloom.evaluation`` and of
``templates_fit.jsonl`` with its ten best, are none. A logistic regression tells them apart
(:func:`ragloom.calibrating.fit_to_pairs`) by cosine and coverage alone, and the bias is moved so that
0.65 is passed by the best of 1,053 templates for 1 in 20 everyday questions. Core allows 1 in 50; but for
some of these questions a template does fit, such as fabric's extract_recipe, and a template that was
missed costs more here than one too many. The problems that the tests use are not looked at.
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

import numpy as np
import numpy.typing as npt

from ragloom import Calibration, Workspace
from ragloom.calibrating import fit_to_pairs
from ragloom.evaluation import everyday_questions
from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import Problem, evaluate, read_problems
from ragloom_templates.matching import Fit

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIRS = {
    "fabric": "fabric/data/patterns",
    "anthropic-skills": "anthropic-skills/skills",
    "awesome-copilot": "awesome-copilot",
}
THRESHOLD = 0.65
PASSED = 0.05  # share of everyday questions that get past the threshold
NEGATIVES = 9

Row = tuple[float, float, float]


def collections(prompts: Path) -> dict[str, TemplateLibrary]:
    """A library of each collection, and one of all, indexed; says what was read and skipped."""
    workspace = Workspace.open(prompts)
    made = {name: [folder] for name, folder in DIRS.items()} | {"all": list(DIRS.values())}
    libraries: dict[str, TemplateLibrary] = {}
    for name, dirs in made.items():
        library = libraries[name] = TemplateLibrary(dirs, workspace=workspace)
        started = perf_counter()
        count = library.index()
        first = perf_counter() - started
        started = perf_counter()
        library.index()
        print(
            f"{name}: {count} templates, {len(library.skipped)} skipped, "
            f"{len(library.space.snapshot())} chunks, {first:.1f} s, again {perf_counter() - started:.2f} s"
        )
        for failed in library.skipped:
            print(f"  {failed.path}: {failed.error}")
    return libraries


def uri_of(name: str, library: TemplateLibrary) -> str:
    """``fabric/create_npc`` to the uri of that template."""
    collection, _, rest = name.partition("/")
    folder = f"{DIRS[collection]}/{rest.removeprefix('skills/') if collection == 'anthropic-skills' else rest}"
    known = set(library.space.snapshot().files)
    return next(
        uri for end in ("/system.md", "/SKILL.md", ".md") if (uri := folder + end) in known
    )


def needs(folder: Path) -> list[Problem]:
    """Fabric's one-line descriptions, as problems."""
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    queries = {entry["_id"]: entry["text"] for entry in map(json.loads, lines)}
    (judged,) = (folder / "qrels").glob("*.tsv")
    rows = [line.split("\t") for line in judged.read_text("utf-8").splitlines()[1:]]
    return [Problem(problem=queries[query], template=f"fabric/{doc}") for query, doc, _ in rows]


def features(fit: Fit) -> Row:
    """The three numbers of a calibration; the third is not used."""
    return fit.cosine, fit.evidence.coverage, 0.0


def fit_calibration(library: TemplateLibrary, problems: Sequence[Problem]) -> Calibration:
    """Fit on ``problems`` and on everyday questions."""
    index = library._current()  # noqa: SLF001 - it measures the inside
    rows: list[Row] = []
    labels: list[bool] = []
    off_topic: list[npt.NDArray[np.float64]] = []
    everyday = [Problem(problem=text, template=None) for text in everyday_questions()]
    for problem in [*problems, *everyday]:
        vector = library.space.embedder.embed_query(problem.problem)
        fits = index.fits(problem.problem, vector)
        right = None if problem.template is None else uri_of(problem.template, library)
        others = [features(fit) for fit in fits if fit.uri != right][: NEGATIVES + (right is None)]
        rows += others
        labels += [False] * len(others)
        if right is None:
            off_topic.append(np.column_stack([np.ones(len(others)), np.array(others)]))
        for fit in fits:
            if fit.uri == right:
                rows.append(features(fit))
                labels.append(True)
    source = f"{sum(labels)} problems, {len(off_topic)} everyday questions: {Path(__file__).name}"

    def best(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.array([(design @ weights).max() for design in off_topic])

    fitted = fit_to_pairs(np.array(rows), np.array(labels), best, source=source)
    weights = np.array([0.0, fitted.cosine_weight, fitted.coverage_weight, 0.0])
    passed = float(np.quantile(best(weights), 1 - PASSED))
    return replace(fitted, bias=_logit(THRESHOLD) - passed, matched_weight=0.0)


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
    libraries = collections(options.prompts)
    own = read_problems(HERE / "templates_fit.jsonl")
    if options.fit:
        problems = own + (needs(options.needs) if options.needs else [])
        print(json.dumps(asdict(fit_calibration(libraries["all"], problems)), indent=1))
        return
    workspace = Workspace.open(ROOT / "tests" / "data" / "templates")
    with TemplateLibrary(["collections"], workspace=workspace) as library:
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
            print(f"  wrong: {answer.problem.problem}\n    {answer.problem.template} <> {answer.found}")
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
