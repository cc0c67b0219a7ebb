"""The order of source code: what a chunk defines counts more, tests and others' code count less.

Nothing of it touches a file whose ending is not that of a programming language. Every number is measured in
``benchmarks/README.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.snapshot import Snapshot
from ragloom.snapshot.analyzer import words
from ragloom.snapshot.languages import ENGLISH, STOP_WORDS, stemmer
from ragloom.sources.screening import ending_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DEFINED = 0.4
"""What it weighs in the score that a chunk defines what the query names or describes."""

ASIDE = 0.8
"""What the score of a test, an example, or somebody else's code is multiplied with."""

EXAMINED = 128
"""Candidates, from the best on, that are read for what they define."""

_ENDINGS = """
.bash .c .cc .cjs .clj .cljc .cljs .cpp .cs .cts .cxx .dart .elm .erl .ex .exs .f90 .f95 .go .gradle .groovy
.h .hh .hpp .hs .hxx .java .jl .js .jsx .kt .kts .lua .m .mjs .ml .mm .mts .php .pl .pm .proto .ps1 .psm1
.py .pyi .r .rb .rs .sc .scala .sh .sql .svelte .swift .ts .tsx .vue .zig .zsh
"""
CODE_ENDINGS = frozenset(_ENDINGS.split())
"""Of files that define things by name."""

_NAME = r"[^\W\d][\w$]*"
_MODIFIERS = (
    r"(?:(?:abstract|async|data|declare|default|export|extern|final|inline|internal|open|override|"
    r"partial|private|protected|pub(?:\([a-z: ]*\))?|public|readonly|sealed|static|suspend|unsafe)[ \t]+)*+"
)
_KEYWORD = re.compile(
    rf"^[ \t]*+{_MODIFIERS}(?:"
    r"(?:class|def|defp|defmodule|enum|(?:const[ \t]+)?fn|fun|func|function|interface|macro_rules!|macro|"
    r"module|namespace|object|protocol|record|struct|sub|trait|type|union)"
    rf"[ \t*]+(?:\([^()\n]*\)[ \t]*)?(?:self\.)?(?P<name>{_NAME})"
    rf"|(?:const|let|val|var)[ \t]+(?P<value>{_NAME})[^=\n]*="
    rf"[ \t]*(?:async\b|function\b|\(|{_NAME}[ \t]*=>))",
    re.MULTILINE,
)
_BLOCK = re.compile(r"^(?P<before>[^\n(=]*+)\([^\n]*(?:\{|=>)[ \t]*$", re.MULTILINE)
_METHOD = re.compile(rf"[*&~#]*({_NAME})")
_BLOCKS = "catch elif else except for foreach function if match return switch synchronized until while with"
_NO_METHOD = frozenset(_BLOCKS.split())
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|__tests__|specs?|e2e|mocks?|__mocks__|fixtures?|examples?|samples?|"
    r"benches|benchmarks?|vendor|vendored|_vendor|third[_-]party|external(?:_libs?)?|node_modules|dist)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.\w+$|[._-](?:tests?|spec|bench)\.\w+$|[a-z]Tests?\.\w+$"
)
_TEST = re.compile(r"tests?(?:_|$)|Tests?(?:[A-Z_]|$)")
_WORDS = """
bench benchmark benchmarks example examples fixture fixtures mock mocks sample samples
spec specs test testing tests vendor vendored
"""
_SOUGHT = frozenset(_WORDS.split())
"""Words of a query that looks for them."""


@lru_cache(maxsize=1 << 14)
def is_code(uri: str) -> bool:
    """Whether a file defines things by name."""
    return ending_of(uri) in CODE_ENDINGS


def is_aside(uri: str, headings: Sequence[str] = ()) -> bool:
    """Whether a file is a test, an example, or somebody else's, or its headings are of a test."""
    return _ASIDE.search(uri) is not None or any(map(_TEST.match, headings))


def code_scores(
    query: ParsedQuery,
    snapshot: Snapshot,
    rows: npt.NDArray[np.intp],
    scores: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64] | None:
    """``(n,)`` the scores of the first rows of a ranking, weighed as code; None where none is code."""
    files = snapshot.file_of_row[rows].tolist()
    code = {
        number: snapshot.uris[number] for number in set(files) if is_code(snapshot.uris[number])
    }
    if not code or not query.words:
        return None
    apart = _SOUGHT.isdisjoint(word.text for word in query.words)
    places = [at for at, number in enumerate(files) if number in code]
    chunks = [snapshot.chunk(int(rows[at])) for at in places]
    defined = [names_defined(one.text, one.headings) for one in chunks]
    matches = _matches(query, defined, snapshot.lexical.inverse_document_frequency)
    weighed = (1 - DEFINED) * scores
    for at, chunk, names in zip(places, chunks, defined, strict=True):
        match = max([matches[name] for name in names], default=0.0)
        weighed[at] += DEFINED * match
        if apart and is_aside(chunk.uri, chunk.headings):
            weighed[at] *= ASIDE
    return weighed


def names_defined(text: str, headings: Sequence[str] = ()) -> Sequence[str]:
    """The names of the definitions that begin in a text, and of the one that it is part of, each once."""
    found = [*headings[-1:], *(one["name"] or one["value"] for one in _KEYWORD.finditer(text))]
    for line in _BLOCK.finditer(text):
        name = _METHOD.fullmatch((line["before"].split() or [""])[-1].rpartition("::")[2])
        if name and name[1] not in _NO_METHOD and not _KEYWORD.match(line[0]):
            found.append(name[1])
    return list(dict.fromkeys(found))


def _matches(
    query: ParsedQuery, defined: Sequence[Sequence[str]], rarity: Callable[[str], float]
) -> Mapping[str, float]:
    """0 to 1 for each name: the harmonic mean of the shares, by rarity, that it and the query share."""
    names = list(dict.fromkeys(name for some in defined for name in some))
    asked, *parts = _stems([query.text, *names])
    sharing = [own for own in parts if own & asked]
    weights = {stem: rarity(stem) for stem in asked.union(*sharing)}

    def weight(stems: frozenset[str]) -> float:
        return sum(weights[stem] for stem in stems)

    every = weight(asked)
    found = dict.fromkeys(names, 0.0)
    for name, own in zip(names, parts, strict=True):
        if both := own & asked:
            found[name] = 2 * weight(both) / (every + weight(own))
    return found


def _stems(texts: Sequence[str]) -> Sequence[frozenset[str]]:
    """The stems of the words and the parts of identifiers of some texts, without stop words."""
    parts = [[term for word in words(text) for term in word.forms[-1]] for text in texts]
    every = list({term for some in parts for term in some} - STOP_WORDS)
    stems = dict(zip(every, stemmer(ENGLISH).analyze(" ".join(every)), strict=True))
    return [frozenset(stems[term] for term in some if term in stems) for some in parts]
