"""Search over source code: hybrid beside BM25 and ripgrep, on queries that doc comments ask.

    python benchmarks/quality/code_search.py [--half tune] [--json FILE] [--against FILE]

The repositories of ``code_repositories.tsv`` are fetched with ``pip download`` and ``npm pack`` into
``--cache``. Of each, up to ``--limit`` definitions ask their first sentence, which the indexed copy lacks
(:mod:`code_queries`), and by name those of them that have one of their own. ``--half held`` are those that
nothing was tuned on.

- hybrid, lexical: ragloom at defaults, and by words alone; ten hits without the gate. ``--set KEY=VALUE``
  changes a setting. ``--gate``: as ``ragloom search`` does, five hits behind the gate.
- bm25: Okapi BM25 (k1 1.2, b 0.75) over the text from one definition to the next, with the same stems and
  parts of identifiers.
- ripgrep: ``rg --count`` for each word of the query but stop words; files by how many different words they
  hold, then by lines. A hit is a file, and the definition's file is right: less is asked of it.

A hit is right that shares a line with the definition. Tokens to the answer are those of the hits up to and
with the right one, and of all ten where none is right; of ripgrep, whole files. ``--against`` compares with
a run before: a paired randomisation test over the queries.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml
from code_queries import CodeQuery, code_queries, definitions, language_of

from ragloom import Query, Space, Workspace
from ragloom.config.settings import with_values
from ragloom.evaluation.askable import content_words
from ragloom.evaluation.measures import compare_by_query
from ragloom.snapshot.languages import ENGLISH, STOP_WORDS
from ragloom.snapshot.lexical import stemmed
from ragloom.text import counter

REPOSITORIES = Path(__file__).with_name("code_repositories.tsv")
_TOP = 10
_K1, _B = 1.2, 0.75
_TOKENS = counter("approximate")


class Repository(NamedTuple):
    """A line of the list."""

    half: str
    registry: str
    name: str
    version: str
    language: str
    folders: str


class Found(NamedTuple):
    """A hit: a stretch of a file, both lines included."""

    uri: str
    first: int
    last: int
    tokens: int


class Answer(NamedTuple):
    """The rank of the first right hit or 0, tokens up to it, and whether the first file is right."""

    rank: int
    tokens: int
    in_file: bool


def repositories(half: str = "") -> Sequence[Repository]:
    """Those of the list, of one half or all."""
    lines = REPOSITORIES.read_text("utf-8").splitlines()
    every = [Repository(*line.split("\t")) for line in lines if not line.startswith("#")]
    return [one for one in every if half in ("", one.half)]


def fetched(one: Repository, cache: Path) -> Path:
    """The unpacked distribution, fetched where it is not there."""
    place = cache / f"{one.name.lstrip('@').replace('/', '-')}-{one.version}"
    if place.is_dir():
        return place
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        source = _from_npm(one, temporary) if one.registry == "npm" else _from_pip(one, temporary)
        source.rename(place)
    return place


def _from_npm(one: Repository, folder: str) -> Path:
    name = f"{one.name}@{one.version}"
    npm = shutil.which("npm") or "npm"
    subprocess.run([npm, "pack", "--silent", name], cwd=folder, check=True, capture_output=True)
    (archive,) = Path(folder).glob("*.tgz")
    shutil.unpack_archive(archive, folder, filter="data")
    return Path(folder) / "package"


def _from_pip(one: Repository, folder: str) -> Path:
    """As pip unpacks it, before it asks the build system for metadata, which need not be there."""
    name = f"{one.name}=={one.version}"
    options = ["--no-binary", ":all:", "--no-deps", "--no-build-isolation", "--no-clean"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, name]
    environment = {**os.environ, "TMPDIR": folder}
    subprocess.run(command, env=environment, check=False, capture_output=True)
    found = [path for path in Path(folder).glob("pip-*/*") if (path / "PKG-INFO").is_file()]
    if not found:
        raise SystemExit(f"{name} cannot be fetched: {' '.join(command)}")
    return found[0]


def texts_of(one: Repository, root: Path) -> Mapping[str, str]:
    """The source files of the folders that the list names, by path."""
    texts: dict[str, str] = {}
    for folder in one.folders.split():
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and language_of(path.name):
                try:
                    texts[path.relative_to(root).as_posix()] = path.read_text("utf-8")
                except UnicodeDecodeError:
                    continue
    return texts


def answer_of(query: CodeQuery, hits: Sequence[Found]) -> Answer:
    """The rank of the first hit that shares a line with the definition."""
    tokens, in_file = 0, bool(hits) and hits[0].uri == query.uri
    for rank, hit in enumerate(hits[:_TOP], 1):
        tokens += hit.tokens
        if hit.uri == query.uri and hit.first <= query.last and query.first <= hit.last:
            return Answer(rank, tokens, in_file)
    return Answer(0, tokens, in_file)


def bm25(texts: Mapping[str, str]) -> Callable[[str], Sequence[Found]]:
    """Okapi BM25 over stretches from one definition to the next."""
    stops = set(stemmed(" ".join(STOP_WORDS), ENGLISH)[0])
    places, words = list[Found](), list[Counter[str]]()
    for uri, text in sorted(texts.items()):
        starts = sorted({0, *(one.start for one in definitions(text, language_of(uri)))})
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            part = text[start:end]
            first = text.count("\n", 0, start) + 1 + (len(part) - len(part.lstrip("\n")))
            last = text.count("\n", 0, end - 1) + 1
            places.append(Found(uri, first, last, _TOKENS.count(part)))
            words.append(Counter(stemmed(part, ENGLISH)[0]))
    frequencies = Counter(word for one in words for word in one)
    lengths = [sum(one.values()) for one in words]
    mean = sum(lengths) / len(lengths)
    postings: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(words):
        for word in one:
            postings[word].append(number)

    def search(query: str) -> Sequence[Found]:
        scores: dict[int, float] = defaultdict(float)
        for word in {*stemmed(query, ENGLISH)[0]} - stops:
            count = frequencies[word]
            weight = math.log(1 + (len(words) - count + 0.5) / (count + 0.5))
            for number in postings[word]:
                often = words[number][word]
                length = 1 - _B + _B * lengths[number] / mean
                scores[number] += weight * often * (_K1 + 1) / (often + _K1 * length)
        best = sorted(scores, key=lambda number: (-scores[number], number))[:_TOP]
        return [places[number] for number in best]

    return search


def ripgrep(folder: Path, texts: Mapping[str, str]) -> Callable[[str], Sequence[Found]]:
    """Files by the number of different words of the query that ripgrep finds, then of lines."""
    tokens = {uri: _TOKENS.count(text) for uri, text in texts.items()}

    def search(query: str) -> Sequence[Found]:
        held: Counter[str] = Counter()
        lines: Counter[str] = Counter()
        for word in sorted(content_words(query)):
            command = [
                "rg",
                "--count",
                "--ignore-case",
                "--fixed-strings",
                "--no-ignore",
                "--",
                word,
                ".",
            ]
            told = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
            for line in told.stdout.splitlines():
                uri, _, count = line.removeprefix("./").rpartition(":")
                held[uri] += 1
                lines[uri] += int(count)
        best = sorted(held, key=lambda uri: (-held[uri], -lines[uri], uri))[:_TOP]
        return [Found(uri, 1, sys.maxsize, tokens.get(uri, 0)) for uri in best]

    return search


def ragloom(space: Space, query: Callable[[str], Query]) -> Callable[[str], Sequence[Found]]:
    """What a space finds for queries that ``query`` makes of texts."""

    def search(text: str) -> Sequence[Found]:
        chunks = [hit.chunk for hit in space.search(query(text)).hits]
        return [Found(one.uri, *one.lines, _TOKENS.count(one.text)) for one in chunks]

    return search


def measured(
    one: Repository, options: argparse.Namespace, state: Path
) -> Mapping[str, Mapping[str, Answer]]:
    """The answers of each system, by system and query."""
    queries, texts = code_queries(
        texts_of(one, fetched(one, options.cache)), one.language, limit=options.limit
    )
    folder = state / one.name.lstrip("@").replace("/", "-")
    for uri, text in texts.items():
        path = folder / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
    workspace = Workspace.open(folder)
    space = workspace.space()
    given = dict(pair.split("=", 1) for pair in options.set)
    values = {"store": "sqlite", **{name: yaml.safe_load(value) for name, value in given.items()}}
    space = space.with_settings(with_values(space.settings, values, "--set"))
    space.index()
    systems: dict[str, Callable[[str], Sequence[Found]]] = {}
    for mode in options.modes.split(","):
        systems[mode] = ragloom(space, partial(Query, top_k=_TOP, min_relevance=0, mode=mode))
    if options.gate:
        systems["gate"] = ragloom(space, Query)
    if options.rivals:
        systems["bm25"] = bm25(texts)
        if shutil.which("rg"):
            systems["ripgrep"] = ripgrep(folder, texts)
    found = {
        name: {
            f"{one.name}|{query.kind}|{query.uri}|{query.name}|{query.text}": answer_of(
                query, search(query.text)
            )
            for query in queries
        }
        for name, search in systems.items()
    }
    space.close()
    return found


def figures(answers: Sequence[Answer]) -> Mapping[str, float]:
    """nDCG@10 with one right answer, the share that is right within 1, 5 and 10, and mean tokens."""
    count = max(len(answers), 1)
    within = {
        f"right@{top}": sum(0 < one.rank <= top for one in answers) / count for top in (1, 5, _TOP)
    }
    return {
        "ndcg@10": sum(map(gain, answers)) / count,
        **within,
        "file@1": sum(one.in_file for one in answers) / count,
        "tokens": sum(one.tokens for one in answers) / count,
    }


def gain(answer: Answer) -> float:
    """The nDCG of a ranking with one right answer."""
    return 1 / math.log2(1 + answer.rank) if answer.rank else 0.0


def by_kind(
    answers: Mapping[str, Mapping[str, Answer]],
) -> Mapping[str, Mapping[str, Mapping[str, Answer]]]:
    """The answers by kind of query, then by system."""
    kinds: dict[str, dict[str, dict[str, Answer]]] = {}
    for system, found in answers.items():
        for query, answer in found.items():
            kinds.setdefault(query.split("|")[1], {}).setdefault(system, {})[query] = answer
    return kinds


def show(
    answers: Mapping[str, Mapping[str, Answer]], before: Mapping[str, Mapping[str, Answer]]
) -> None:
    """Print a table of each kind of query, and what changed since a run before."""
    for kind, systems in sorted(by_kind(answers).items()):
        count = len(next(iter(systems.values())))
        heads = ("system", "nDCG@10", "right@1", "right@5", "right@10", "file@1", "tokens")
        print(f"\n{kind}: {count} queries\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        for system, found in systems.items():
            one = figures(list(found.values()))
            shares = " | ".join(
                f"{one[name]:.3f}"
                for name in ("ndcg@10", "right@1", "right@5", "right@10", "file@1")
            )
            print(f"| {system} | {shares} | {one['tokens']:,.0f} |")
        for system, found in systems.items():
            old = {query: gain(Answer(*one)) for query, one in before.get(system, {}).items()}
            if any(query in old for query in found):
                new = {query: gain(one) for query, one in found.items()}
                told = compare_by_query(new, old)
                print(f"{system}: {told.difference:+.4f} since before, p = {told.p_value:.4f}")


def main() -> int:
    """Read the arguments, ask every repository and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tune", "held"), default="", help="both by default")
    parser.add_argument("--only", default="", help="repositories by name, separated by commas")
    parser.add_argument("--limit", type=int, default=40, help="queries of a kind and repository")
    parser.add_argument("--modes", default="hybrid,lexical", help="of ragloom, separated by commas")
    parser.add_argument("--no-rivals", dest="rivals", action="store_false", help="ragloom only")
    parser.add_argument("--gate", action="store_true", help="also five hits behind the gate")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--cache", type=Path, default=Path(".benchmarks/code"))
    parser.add_argument("--state", type=Path, help="keep the indexes there")
    parser.add_argument("--json", type=Path, help="write the answers there")
    parser.add_argument("--against", type=Path, help="the answers of a run before")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    options.cache = options.cache.resolve()
    answers: dict[str, dict[str, Answer]] = defaultdict(dict)
    with tempfile.TemporaryDirectory(prefix="ragloom-code-") as temporary:
        state = (options.state or Path(temporary)).resolve()
        for one in repositories(options.half):
            if options.only and one.name not in options.only.split(","):
                continue
            for system, found in measured(one, options, state).items():
                answers[system] |= found
            own = {
                name: [a for q, a in all_of.items() if q.startswith(f"{one.name}|comment")]
                for name, all_of in answers.items()
            }
            told = ", ".join(f"{name} {figures(some)['ndcg@10']:.3f}" for name, some in own.items())
            print(f"{one.name} ({one.language}): {told}", flush=True)
    before = json.loads(options.against.read_text("utf-8")) if options.against else {}
    show(answers, before)
    if options.json:
        options.json.write_text(json.dumps(answers, indent=0), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
