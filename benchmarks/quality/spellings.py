"""Whether versions, flags, dotted names and paths find a chunk that has them letter for letter.

    python benchmarks/quality/spellings.py DOCS.zip|FOLDER ... [--names N] [--seed N] [--json FILE]

Of each corpus: random names of each kind that stand in one to three chunks, asked alone and in a question.
A right chunk has to be among the first five hits; hits of which none has the name are counted apart, as
they pass for evidence and are none. Names of the same kinds that stand nowhere, made of those by another
last part, have to find nothing alone.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from corpora import (
    EXAMPLES,
    Corpus,
    corpora_below,
    note,
    opened,
    percent,
    state_folder,
    table,
    write_json,
)

from ragloom import Chunk

MOST_CHUNKS = 3
LONGEST = 60
KINDS: Mapping[str, re.Pattern[str]] = {
    "version": re.compile(r"(?<![\w./-])v?\d+\.\d+(?:\.\d+)*(?![\w-]|\.\w)"),
    "flag": re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])"),
    "dotted": re.compile(r"(?<![\w./@-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w-]|\.\w|/)", re.ASCII),
    "path": re.compile(r"(?<![\w./:@-])[\w-]+(?:/[\w-]+)+(?:\.\w+)?(?![\w/-]|\.\w)", re.ASCII),
}
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)[^\s<>\"'`)\]]+", re.IGNORECASE)
_QUESTIONS: Mapping[str, str] = {
    "version": "what changed in {}?",
    "flag": "what does {} do?",
    "dotted": "what does {} do?",
    "path": "what is in {}?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a name found.

    Attributes:
        query: As it was asked.
        kind: One of ``KINDS``.
        form: ``alone``, ``in a question`` or ``nowhere``.
        places: Of the first five hits, whether each has the name.
        ranked: The same with the gate open.
    """

    query: str
    kind: str
    form: str
    places: Sequence[bool]
    ranked: Sequence[bool]


def has(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` by itself, whatever the case."""
    bounds = r"(?<![\w-])", r"(?![\w-]|\.\d)"
    return re.search(bounds[0] + re.escape(name) + bounds[1], text, re.IGNORECASE) is not None


def chosen(texts: Sequence[str], kind: str, count: int, seed: int) -> list[str]:
    """Random names of a kind that stand in one to three of some texts."""
    found: dict[str, set[int]] = {}
    for number, text in enumerate(texts):
        for name in KINDS[kind].findall(_URL.sub(" ", text)):
            if len(name) <= LONGEST and re.search(r"\w{2}|\d\.\d", name):
                found.setdefault(name, set()).add(number)
    rare = sorted(name for name, at in found.items() if len(at) <= MOST_CHUNKS)
    random.Random(f"{seed} {kind}").shuffle(rare)  # noqa: S311 - reproducible
    names = []
    for name in rare:
        if len(names) == count:
            break
        if sum(has(text, name) for text in texts) <= MOST_CHUNKS:
            names.append(name)
    return names


def nowhere(name: str, kind: str, whole: str) -> str:
    """``name`` with another last part, such that it stands nowhere."""
    head, last = re.fullmatch(r"(.*?)([^./]+|(?<=-)[^-]+)", name).groups()
    for number in range(71, 999):
        other = f"{head}{number}" if kind == "version" else f"{head}{last[::-1]}{number % 71 or ''}"
        if other.casefold() not in whole and other != name:
            return other
    raise AssertionError(name)


def measure(corpus: Corpus, *, names: int, seed: int) -> list[Answer]:
    """Ask the names of every kind."""
    texts = []
    for space in corpus.group.spaces:
        snapshot = space.snapshot()
        chunks = map(snapshot.chunk, range(len(snapshot)))
        texts += [f"{one.context}\n{one.text}" for one in chunks]
    whole = "\n".join(texts).casefold()
    answers = []
    for kind in KINDS:
        for name in chosen(texts, kind, names, seed):
            absent = nowhere(name, kind, whole)
            forms = {
                "alone": name,
                "in a question": _QUESTIONS[kind].format(name),
                "nowhere": absent,
            }
            for form, query in forms.items():
                shown = corpus.first(query)
                ranked = corpus.first(query, min_relevance=0.0)
                wanted = absent if form == "nowhere" else name
                answers.append(
                    Answer(
                        query=query,
                        kind=kind,
                        form=form,
                        places=[has(_text(hit.chunk), wanted) for hit in shown],
                        ranked=[has(_text(hit.chunk), wanted) for hit in ranked],
                    )
                )
        note(f"{corpus.name}: {kind}")
    return answers


def _text(chunk: Chunk) -> str:
    return f"{chunk.context}\n{chunk.text}"


def shown(results: Mapping[str, Sequence[Answer]]) -> str:
    """Every kind and form over all corpora as a table."""
    rows = []
    for kind in KINDS:
        for form in ("alone", "in a question", "nowhere"):
            some = [
                one
                for each in results.values()
                for one in each
                if (one.kind, one.form) == (kind, form)
            ]
            cells = (
                sum(any(one.places) for one in some),
                sum(one.places[:1] == [True] for one in some),
                sum(any(one.ranked) for one in some),
                sum(bool(one.places) and not any(one.places) for one in some),
            )
            rows.append([kind, form, *(percent(cell, len(some)) for cell in cells)])
    heads = ("kind", "asked", "shown", "shown first", "order alone", "hits without it")
    return table(heads, rows)


def run(sources: Sequence[Path], state: Path, *, names: int, seed: int) -> dict[str, list[Answer]]:
    """Measure corpora one after another."""
    results = {}
    for source in sources:
        with opened(source, state) as corpus:
            results[corpus.name] = measure(corpus, names=names, seed=seed)
    return results


def test_spellings(tmp_path: Path) -> None:
    """The corpora below the folder that RAGLOOM_BENCH_CORPORA names, or the examples."""
    folder = os.environ.get("RAGLOOM_BENCH_CORPORA")
    sources = corpora_below(Path(folder)) if folder else [EXAMPLES]
    print(shown(run(sources, tmp_path, names=40, seed=0)))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="+", metavar="DOCS", help="zip file or folder")
    parser.add_argument("--names", type=int, default=40, help="of each kind, a corpus")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--verbose", action="store_true", help="list what is missed")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    with state_folder(arguments.state) as state:
        results = run(arguments.sources, state, names=arguments.names, seed=arguments.seed)
    print(shown(results))
    if arguments.verbose:
        for name, answers in results.items():
            for one in answers:
                if one.form == "nowhere" and one.places:
                    print(f"{name}\t{one.kind}\t{one.query}\tshows something")
                elif one.form != "nowhere" and not any(one.places):
                    why = "hits without it" if one.places else "nothing shown"
                    why += ", in the order" if any(one.ranked) else ""
                    print(f"{name}\t{one.kind}\t{one.query}\t{why}")
    counted = {name: [asdict(one) for one in each] for name, each in results.items()}
    write_json(arguments.json, "spellings", seed=arguments.seed, answers=counted)


if __name__ == "__main__":
    main()
