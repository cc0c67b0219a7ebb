"""Whether words and identifiers that stand in one to three files find them, asked alone at defaults.

    python benchmarks/quality/words.py DOCS.zip|FOLDER ... [--words N] [--seed N] [--json FILE]

Of each corpus: random words of at least four letters, as ``grep -iw`` sees them in the raw files; random
identifiers (with an underscore, in camelCase, letters with digits, dotted, hyphenated) as ``grep -F`` sees
them, alone and in a question; none is a stop word, or stands in URLs or base64 alone. A right file has to
be among the first five hits. Words that no chunk holds (of front matter, or of files that no loader reads)
are counted apart. Made-up words, three edits or more from every word of the corpus, have to find nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from pathlib import Path

from corpora import (
    EXAMPLES,
    FIRST,
    Corpus,
    corpora_below,
    indexed,
    note,
    opened,
    percent,
    state_folder,
    table,
    write_json,
)

MOST_FILES = 3
LEAST_LETTERS = 4
MADE_UP = 30
MADE_UP_LETTERS = range(6, 11)
DISTANCE = 3
ASKED: Mapping[str, str] = {
    "word": "{}",
    "identifier": "{}",
    "in a question": "what does {} do?",
}
"""What is asked of each kind of what stands in a file; ``in a question`` are the identifiers."""
LONGEST_IDENTIFIER = 60
# Those of the Snowball project's English list that have four letters or more, and common contractions.
STOP_WORDS = frozenset(
    """
    about above after again against because been before being below between both cannot could didn does
    doesn doing down during each from further hadn hasn have haven having hers herself himself into isn
    itself just more most mustn myself once only other ought ours ourselves over same shan should
    shouldn some such than that their theirs them themselves then there these they this those through
    under until very wasn were weren what when where which while whom will with won would wouldn your
    yours yourself yourselves
    """.split()  # noqa: SIM905 - as people read it
)

_RUN = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)[^\s<>\"'`)\]]+", re.IGNORECASE)
_BASE64 = re.compile(r"\bdata:[^\s,\"')]*,\S+|[A-Za-z0-9+/]{60,}={0,2}")
_NAME = re.compile(r"(?<![\w%])[A-Za-z0-9]\w*(?:[.-]\w+)*", re.ASCII)
_KINDS: Mapping[str, re.Pattern[str]] = {
    "underscore": re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]"),
    "camelCase": re.compile(r"[a-z][A-Z]"),
    "digits": re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]"),
    "dotted": re.compile(r"\w\.\w"),
    "hyphenated": re.compile(r"\w-\w"),
}
_ONSETS = "b br c cr d dr f fl g gr h j k kl l m n p pl qu r s sk st t tr v vr w z zw".split()  # noqa: SIM905
_NUCLEI = "a e i o u ai au ea oo ou".split()  # noqa: SIM905 - as people read it
_CODAS = ("", "", "", "b", "d", "g", "k", "l", "lm", "m", "n", "p", "r", "rk", "st", "x", "z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a word found, asked alone.

    Attributes:
        query: The word.
        kind: One of ``ASKED``, or ``made-up``.
        right: The files that hold it.
        in_chunk: Whether a chunk of those holds it.
        shown: The files of the first five hits at defaults.
        ranked: Those of the first five with the gate open.
    """

    query: str
    kind: str
    right: Sequence[str]
    in_chunk: bool
    shown: Sequence[str]
    ranked: Sequence[str]

    @property
    def found(self) -> bool:
        """Whether a right file is shown."""
        return not set(self.right).isdisjoint(self.shown)

    @property
    def in_order(self) -> bool:
        """Whether the order alone has a right file."""
        return not set(self.right).isdisjoint(self.ranked)


def without_links(text: str) -> str:
    """``text`` without URLs, data URIs and runs of base64."""
    return _BASE64.sub(" ", _URL.sub(" ", text))


def words_of(text: str) -> set[str]:
    """The words that ``grep -iw`` sees: runs of letters, with no digit or underscore beside them."""
    return {run.lower() for run in _RUN.findall(text) if run.isalpha()}


def holds_word(text: str, word: str) -> bool:
    """``grep -iw``: whether ``word`` stands in ``text`` by itself."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def holds_name(text: str, name: str) -> bool:
    """``grep -F``: whether ``name`` stands in ``text``, letter for letter."""
    return name in text


def kind_of(name: str) -> str:
    """What makes ``name`` an identifier; empty where nothing does."""
    if LEAST_LETTERS <= len(name) <= LONGEST_IDENTIFIER and re.search("[A-Za-z]", name):
        return next((kind for kind, pattern in _KINDS.items() if pattern.search(name)), "")
    return ""


def names_of(text: str) -> set[str]:
    """The identifiers in ``text``."""
    found = (name.rstrip("_") for name in _NAME.findall(text))
    return {name for name in found if kind_of(name)}


def in_few(files_of: Mapping[str, set[str]]) -> list[str]:
    """What stands in one to three files, sorted."""
    return sorted(name for name, files in files_of.items() if len(files) <= MOST_FILES)


def by_name(texts: Mapping[str, str], find: Callable[[str], set[str]]) -> dict[str, set[str]]:
    """The files of everything that ``find`` finds in texts."""
    files_of: dict[str, set[str]] = {}
    for path, text in texts.items():
        for name in find(text):
            files_of.setdefault(name, set()).add(path)
    return files_of


def choose_words(texts: Mapping[str, str], count: int, seed: int) -> dict[str, list[str]]:
    """Random words in one to three files, with those files."""
    files_of = by_name(texts, words_of)
    outside = set(chain.from_iterable(words_of(without_links(text)) for text in texts.values()))
    rare = [
        word
        for word in in_few(files_of)
        if len(word) >= LEAST_LETTERS and word not in STOP_WORDS and word in outside
    ]
    chosen = random.Random(seed).sample(rare, min(count, len(rare)))  # noqa: S311 - reproducible
    return {word: sorted(files_of[word]) for word in chosen}


def choose_names(texts: Mapping[str, str], count: int, seed: int) -> dict[str, list[str]]:
    """Random identifiers in one to three files, with those files; each kind in its turn."""
    plain = {path: without_links(text) for path, text in texts.items()}
    rare = in_few(by_name(plain, names_of))
    random.Random(seed).shuffle(rare)  # noqa: S311 - reproducible
    piles = [iter([name for name in rare if kind_of(name) == kind]) for kind in _KINDS]
    chosen: dict[str, list[str]] = {}
    while piles and len(chosen) < count:
        pile = piles.pop(0)
        for name in pile:
            files = sorted(path for path, text in texts.items() if holds_name(text, name))
            if len(files) <= MOST_FILES:  # as a part of longer names, too
                chosen[name] = files
                piles.append(pile)
                break
    return chosen


def deletions(word: str) -> set[str]:
    """``word`` without none to two of its letters: words within two edits of each other share one."""
    return {
        "".join(letters)
        for left in range(DISTANCE)
        if left <= len(word)
        for letters in combinations(word, len(word) - left)
    }


def parts_of(text: str) -> set[str]:
    """The words in ``text`` and in its identifiers."""
    found = chain(_LETTERS.findall(text), _CAMEL.findall(text))
    return {part.lower() for part in found}


def made_up(text: str, count: int, seed: int | str) -> list[str]:
    """Pronounceable words of six to ten letters, three edits or more from every word.

    Args:
        text: Holds the words, and in no word one of the made-up ones.
        count: How many.
        seed: Of the syllables.
    """
    longest = MADE_UP_LETTERS[-1] + DISTANCE - 1
    words = (word for word in parts_of(text) if len(word) <= longest)
    near = set(chain.from_iterable(map(deletions, words)))
    lowered = text.lower()
    chooser = random.Random(seed)  # noqa: S311 - reproducible
    found: list[str] = []
    while len(found) < count:
        syllables = chooser.randint(2, 4)
        parts = (_ONSETS, _NUCLEI, _CODAS) * syllables
        word = "".join(chooser.choice(part) for part in parts)
        if (
            len(word) in MADE_UP_LETTERS
            and word not in found
            and word not in lowered
            and near.isdisjoint(deletions(word))
        ):
            found.append(word)
    return found


def measure(corpus: Corpus, *, words: int, seed: int) -> list[Answer]:
    """Ask every chosen word."""
    held = indexed(corpus)
    everything = "\n".join((*corpus.texts, *corpus.texts.values()))
    none = dict.fromkeys(made_up(everything, MADE_UP, f"{seed} {corpus.name}"), ())
    names = choose_names(corpus.texts, words, seed)
    chosen: list[tuple[str, Mapping[str, Sequence[str]], Callable[[str, str], bool]]] = [
        ("word", choose_words(corpus.texts, words, seed), holds_word),
        ("identifier", names, holds_name),
        ("in a question", names, holds_name),
        ("made-up", none, holds_word),
    ]
    answers = []
    for kind, queries, holds in chosen:
        note(f"{corpus.name}: {len(queries)} queries, {kind}")
        for query, right in queries.items():
            text = ASKED.get(kind, "{}").format(query)
            answer = Answer(
                query=query,
                kind=kind,
                right=right,
                in_chunk=any(holds(held.get(path, ""), query) for path in right),
                shown=[hit.chunk.uri for hit in corpus.first(text)],
                ranked=corpus.files(text, min_relevance=0.0)[:FIRST],
            )
            answers.append(answer)
    return answers


def figures(answers: Sequence[Answer], kind: str) -> dict[str, int]:
    """What is counted of one kind."""
    chosen = [answer for answer in answers if answer.kind == kind]
    return {
        "queries": len(chosen),
        "found": sum(answer.found for answer in chosen),
        "in_a_chunk": sum(answer.in_chunk for answer in chosen),
        "found_of_those_in_a_chunk": sum(answer.found for answer in chosen if answer.in_chunk),
        "in_order": sum(answer.in_order for answer in chosen),
        "shows_something": sum(bool(answer.shown) for answer in chosen),
    }


def shown(results: Mapping[str, Sequence[Answer]]) -> str:
    """Every corpus as a table."""
    rows = []
    for name, answers in results.items():
        for kind in ASKED:
            counts = figures(answers, kind)
            asked, held = counts["queries"], counts["in_a_chunk"]
            row = [name, kind, percent(counts["found"], asked), str(asked - held)]
            row += [percent(counts["found_of_those_in_a_chunk"], held)]
            rows.append([*row, percent(counts["in_order"], asked), ""])
        counts = figures(answers, "made-up")
        some = percent(counts["shows_something"], counts["queries"])
        rows.append([name, "made-up", "", "", "", "", some])
    heads = ("corpus", "kind", "found in the first five", "not in any chunk")
    return table((*heads, "found of those in a chunk", "order alone", "shows something"), rows)


def misses(results: Mapping[str, Sequence[Answer]]) -> list[str]:
    """A line for every word that finds no right file, and every made-up one that finds something."""
    lines = []
    for name, answers in results.items():
        for one in answers:
            if one.kind == "made-up" and one.shown:
                lines.append(f"{name}\tmade-up\t{one.query}\tshows {', '.join(one.shown)}")
            elif one.kind != "made-up" and not one.found:
                why = "ranked" if one.in_order else "not ranked"
                why = why if one.in_chunk else f"not in any chunk, {why}"
                lines.append(f"{name}\t{one.kind}\t{one.query}\t{why}\t{', '.join(one.right)}")
    return lines


def run(sources: Sequence[Path], state: Path, *, words: int, seed: int) -> dict[str, list[Answer]]:
    """Measure corpora one after another."""
    results = {}
    for source in sources:
        with opened(source, state) as corpus:
            results[corpus.name] = measure(corpus, words=words, seed=seed)
    return results


def test_words(tmp_path: Path) -> None:
    """The corpora below the folder that RAGLOOM_BENCH_CORPORA names, or the examples."""
    folder = os.environ.get("RAGLOOM_BENCH_CORPORA")
    sources = corpora_below(Path(folder)) if folder else [EXAMPLES]
    print(shown(run(sources, tmp_path, words=50, seed=0)))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="+", metavar="DOCS", help="zip file or folder")
    parser.add_argument("--words", type=int, default=50, help="of each kind, a corpus")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--verbose", action="store_true", help="list what is missed")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    with state_folder(arguments.state) as state:
        results = run(arguments.sources, state, words=arguments.words, seed=arguments.seed)
    print(shown(results))
    if arguments.verbose:
        print("\n".join(["", *misses(results)]))
    counted = {
        name: {kind: figures(answers, kind) for kind in (*ASKED, "made-up")}
        for name, answers in results.items()
    }
    answers = {name: [asdict(one) for one in each] for name, each in results.items()}
    write_json(
        arguments.json,
        "words",
        words=arguments.words,
        seed=arguments.seed,
        results=counted,
        answers=answers,
    )


if __name__ == "__main__":
    main()
