"""Whether questions find the files that answer them, in the order alone and behind the default gate.

    python benchmarks/quality/questions.py CORPUS.zip QUESTIONS.jsonl ... [--json FILE] [--verbose]

A line of QUESTIONS is a question with the ``files`` that answer it: ``plain``, or ``of`` a plain one with
typos (``typo``), courtesies (``polite``) or background (``story``); or one that the corpus does not
answer, of the same subject (``near``) or of another (``far``). Several files of questions, and several
corpora with theirs, may follow each other; without any, ``questions/CORPUS.jsonl`` beside this script is
asked. "order alone" has a right file among the first five with the gate open, "shown" at defaults.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean

from corpora import (
    FIRST,
    Corpus,
    corpora_below,
    note,
    opened,
    percent,
    state_folder,
    table,
    write_json,
)

HERE = Path(__file__).parent / "questions"
FORMS = ("plain", "typo", "polite", "story")
UNANSWERED = ("near", "far")
DEPTH = 50  # hits in which the first right file is looked for
HEADS = (
    "form",
    "kind",
    "questions",
    "order alone",
    "shown",
    "shown / order",
    "MRR@10",
    "plain ones",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A line of a file of questions.

    Attributes:
        id: Of the question.
        form: ``plain``, ``typo``, ``polite`` or ``story``.
        kind: Such as ``question`` or ``keywords``; ``near`` and ``far`` have no answer.
        query: As people type it.
        files: Those that answer it.
        of: The plain question that it is a form of.
    """

    id: str
    form: str
    kind: str
    query: str
    files: Sequence[str]
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a question found.

    Attributes:
        question: The question.
        ranked: The files of the first five hits with the gate open.
        hits: The files of those at defaults.
        relevance: The best of those; 0 where nothing is shown.
        reciprocal_rank: Of the first right file among the first ten files of the order.
    """

    question: Question
    ranked: Sequence[str]
    hits: Sequence[str]
    relevance: float
    reciprocal_rank: float

    @property
    def in_order(self) -> bool:
        """Whether the order alone has a right file."""
        return not set(self.question.files).isdisjoint(self.ranked)

    @property
    def shown(self) -> bool:
        """Whether a right file is shown."""
        return not set(self.question.files).isdisjoint(self.hits)


def read_questions(path: Path) -> list[Question]:
    """The questions of a file.

    Raises:
        SystemExit: A line is not of the form.
    """
    questions = []
    known = {field.name for field in fields(Question)}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            questions.append(Question(**{key: row[key] for key in row.keys() & known}))
        except (ValueError, TypeError, AttributeError) as error:
            sys.exit(f"{path}:{number}: not a question: {error}")
    return questions


def reciprocal_rank(files: Sequence[str], right: Sequence[str]) -> float:
    """1 over the place of the first right one among the first ten different files; 0 without one."""
    apart = list(dict.fromkeys(files))[:10]
    return next((1 / place for place, file in enumerate(apart, 1) if file in right), 0.0)


def ask(corpus: Corpus, question: Question) -> Answer:
    """Ask one question, at defaults and with the gate open."""
    hits = corpus.first(question.query)
    deep = corpus.files(question.query, min_relevance=0.0, top_k=DEPTH) if question.files else []
    return Answer(
        question=question,
        ranked=corpus.files(question.query, min_relevance=0.0)[:FIRST],
        hits=[hit.chunk.uri for hit in hits],
        relevance=round(max((hit.relevance for hit in hits), default=0.0), 4),
        reciprocal_rank=reciprocal_rank(deep, question.files),
    )


def measure(corpus: Corpus, questions: Sequence[Question]) -> list[Answer]:
    """Ask every question.

    Raises:
        SystemExit: A question names a file that the corpus does not hold.
    """
    for question in questions:
        if absent := set(question.files) - corpus.texts.keys():
            sys.exit(f"{corpus.name}: {question.id}: no file {', '.join(sorted(absent))}")
    note(f"{corpus.name}: {len(questions)} questions")
    return [ask(corpus, question) for question in questions]


def figures(answers: Sequence[Answer]) -> dict[str, float]:
    """What is counted of some questions that have an answer."""
    ranked, shown = sum(one.in_order for one in answers), sum(one.shown for one in answers)
    return {
        "questions": len(answers),
        "order": ranked,
        "shown": shown,
        "kept": sum(one.in_order and one.shown for one in answers),
        "ratio": round(shown / ranked, 4) if ranked else 0.0,
        "mrr@10": round(fmean(one.reciprocal_rank for one in answers), 4) if answers else 0.0,
    }


def groups(answers: Sequence[Answer]) -> dict[tuple[str, str], list[Answer]]:
    """The answered ones by form and kind, and under ``all`` of each form."""
    found: dict[tuple[str, str], list[Answer]] = {}
    answered = [one for one in answers if one.question.kind not in UNANSWERED]
    for form in FORMS:
        of_form = [one for one in answered if one.question.form == form]
        kinds = dict.fromkeys(one.question.kind for one in of_form)
        for kind in ("all", *kinds):
            chosen = [one for one in of_form if kind in ("all", one.question.kind)]
            if chosen:
                found[form, kind] = chosen
    return found


def plain_ones(answers: Sequence[Answer], of: Sequence[Answer]) -> list[Answer]:
    """The plain questions that ``of`` are forms of."""
    names = {one.question.of for one in of}
    return [one for one in answers if one.question.id in names]


def summary(answers: Sequence[Answer]) -> dict[str, object]:
    """Every figure of one corpus, as it is written to JSON."""
    found: dict[str, object] = {}
    for (form, kind), chosen in groups(answers).items():
        figure: dict[str, object] = {**figures(chosen)}
        if plain := plain_ones(answers, chosen):
            figure["plain_ones"] = figures(plain)
        found[f"{form} {kind}"] = figure
    for kind in UNANSWERED:
        chosen = [one for one in answers if one.question.kind == kind]
        shows = sum(bool(one.hits) for one in chosen)
        found[kind] = {"questions": len(chosen), "shows_something": shows}
    return found


def shown_table(answers: Sequence[Answer]) -> str:
    """One corpus as a table: the forms as a whole, each form by kind, near and far."""
    rows = []
    found = groups(answers)
    for form, kind in sorted(found, key=lambda one: (one[1] != "all", FORMS.index(one[0]))):
        chosen = found[form, kind]
        asked = len(chosen)
        ranked, shown = sum(one.in_order for one in chosen), sum(one.shown for one in chosen)
        plain = plain_ones(answers, chosen)
        row = [form, kind, str(asked), percent(ranked, asked), percent(shown, asked)]
        row += [f"{shown / ranked:.1%}" if ranked else "-", f"{figures(chosen)['mrr@10']:.3f}"]
        rows.append([*row, percent(sum(one.shown for one in plain), len(plain)) if plain else ""])
    for kind in UNANSWERED:
        chosen = [one for one in answers if one.question.kind == kind]
        shows = percent(sum(bool(one.hits) for one in chosen), len(chosen))
        rows.append(["plain", kind, str(len(chosen)), "", f"something: {shows}", "", "", ""])
    return table(HEADS, rows)


def misses(answers: Sequence[Answer]) -> list[str]:
    """A line for each question that does not find its file, or finds something where nothing is."""
    lines = []
    for one in answers:
        asked = one.question
        head = f"{asked.id}\t{asked.form}\t{asked.kind}\t{asked.query}"
        if asked.kind in UNANSWERED and one.hits:
            lines.append(f"{head}\tshows {one.hits[0]} ({one.relevance:.2f})")
        elif asked.kind not in UNANSWERED and not one.shown:
            why = "ranked, not shown" if one.in_order else "not ranked"
            lines.append(f"{head}\t{why}\t{', '.join(asked.files)}")
    return lines


def pairs(paths: Sequence[Path]) -> dict[Path, list[Path]]:
    """Each corpus with the files of questions that follow it, or else those of its name.

    Raises:
        SystemExit: The first is a file of questions, or a corpus has none.
    """
    found: dict[Path, list[Path]] = {}
    corpus: Path | None = None
    for path in paths:
        if path.suffix != ".jsonl":
            corpus = path
            found.setdefault(path, [])
        elif corpus is None:
            sys.exit(f"{path}: expected a corpus before its questions")
        else:
            found[corpus].append(path)
    for corpus, given in found.items():
        own = HERE / f"{corpus.resolve().stem}.jsonl"
        if not given and not own.is_file():
            sys.exit(f"{corpus}: no questions given, and there is no {own}")
        if not given:
            given.append(own)
    return found


def run(chosen: Mapping[Path, Sequence[Path]], state: Path) -> dict[str, list[Answer]]:
    """Measure corpora one after another."""
    results = {}
    for source, given in chosen.items():
        questions = [question for path in given for question in read_questions(path)]
        with opened(source, state) as corpus:
            results[corpus.name] = measure(corpus, questions)
    return results


def report(results: Mapping[str, Sequence[Answer]], *, verbose: bool) -> str:
    """A table for each corpus, and its misses."""
    parts = []
    for name, answers in results.items():
        parts += [name, shown_table(answers)]
        if verbose:
            parts.append("\n".join(misses(answers)))
    return "\n\n".join(parts)


def test_questions(tmp_path: Path) -> None:
    """The corpora with questions below the folder that RAGLOOM_BENCH_CORPORA names."""
    import pytest  # the command line needs none

    folder = os.environ.get("RAGLOOM_BENCH_CORPORA")
    if not folder:
        pytest.skip("RAGLOOM_BENCH_CORPORA names no folder")
    sources = [
        each for each in corpora_below(Path(folder)) if (HERE / f"{each.stem}.jsonl").exists()
    ]
    print(report(run(pairs(sources), tmp_path), verbose=False))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given = "zip file or folder, each followed by its QUESTIONS.jsonl"
    parser.add_argument("paths", type=Path, nargs="+", metavar="CORPUS", help=given)
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--verbose", action="store_true", help="list what is missed")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    with state_folder(arguments.state) as state:
        results = run(pairs(arguments.paths), state)
    print(report(results, verbose=arguments.verbose))
    write_json(
        arguments.json,
        "questions",
        results={name: summary(answers) for name, answers in results.items()},
        answers={name: [asdict(one) for one in answers] for name, answers in results.items()},
    )


if __name__ == "__main__":
    main()
