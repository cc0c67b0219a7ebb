"""Words letter for letter: the index keeps those of files, and those with punctuation of chunks.

To the analyzer (:mod:`ragloom.snapshot.analyzer`), a version, a flag, a dotted name or a path is several
words: ``5.15.5`` is ``5``, ``15`` and ``5``, which stand in many chunks that have not that version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from ragloom.snapshot.letters import clean, has_marks, mark_class

_SPELT = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"(?<!\w)\w++(?:[.#+/@:-]++\w++)*+")
_SLASH = re.compile("/+")
_PUNCTUATED = re.compile(r"(?<!\w)\w++(?:[.#+/@:&-]++\w++)++")
_FLAG = re.compile(r"-(?<![\w-]-)-?[^\W\d_]\w*+(?:-++\w++)*+")
_JOINT = re.compile("[.#+/@:&]++")
_FENCE = re.compile("[#/@:]++")  # what stands between them is a name by itself
_NUMBER = re.compile(r"v?\d++[.:/]")
_MOST_JOINTS = 8  # of a name whose beginnings and ends are kept
_KEPT = range(2, 80)  # characters of what is kept


def spellings(text: str) -> list[str]:
    """The words of ``text`` as they are spelt, in lower case, and identifiers, file names and the like.

    ``docs/log-levels.md`` gives itself, ``log-levels.md``, ``docs``, ``log``, ``levels`` and ``md``.
    """
    text = clean(text).casefold()
    found = (_spelt_with_marks() if has_marks(text) else _SPELT).findall(text)
    for token in _TOKEN.findall(text):
        if not token.isalnum():
            found.append(token)
            found += _SLASH.split(token) if "/" in token else ()
    return found


@cache
def _spelt_with_marks() -> re.Pattern[str]:
    return re.compile(rf"[^\W_](?:[^\W_]|[{mark_class()}])*")


def kept(words: Iterable[str]) -> str:
    """Words as the index keeps them, each once; those that are too long are none."""
    return " ".join(sorted({word for word in words if len(word) in _KEPT}))


def punctuated(text: str) -> list[str]:
    """The words of ``text`` with punctuation, in lower case: ``5.15.5``, ``--no-cache``, ``a/b.md``."""
    text = clean(text).casefold()
    return [*filter(_JOINT.search, _PUNCTUATED.findall(text)), *_FLAG.findall(text)]


def punctuated_terms(text: str) -> set[str]:
    """What the index of chunks keeps of the punctuated words of ``text``.

    Each as it is, a version without its ``v``, too, and what names are in it: ``setup.md`` of
    ``docs/setup.md``. Its beginnings end in ``*``, and its ends begin with one, unless it is a version:
    ``os.path*`` and ``*path.join`` of ``os.path.join``.
    """
    return set().union(*map(_terms, set(punctuated(text))))


@lru_cache(maxsize=1 << 14)
def _terms(word: str) -> Sequence[str]:
    if word[0] == "-":
        return [word]
    found = []
    for piece in dict.fromkeys((word, *filter(_JOINT.search, _FENCE.split(word)))):
        for name in _versions(piece):
            found.append(name)
            for joint in list(_JOINT.finditer(name))[:_MOST_JOINTS]:
                start, end = joint.span()
                if _JOINT.search(name, 0, start):
                    found.append(f"{name[:start]}*")
                if not is_number(name) and _JOINT.search(name, end):
                    found.append(f"*{name[end:]}")
    return found


def is_number(word: str) -> bool:
    """Whether the parts of a punctuated word are numbers, which say nothing by themselves."""
    return _NUMBER.match(word) is not None


def _versions(word: str) -> Sequence[str]:
    """A word, and without its ``v`` where it is a version."""
    return [word, word[1:]] if word[0] == "v" and is_number(word) else [word]


def alternatives(word: str) -> Iterator[Sequence[str]]:
    """The terms of :func:`punctuated_terms` that a punctuated word of a query may mean, the best first."""
    names = _versions(word)
    yield from ([name] for name in names)
    yield [term for name in names for term in (f"{name}*", f"*{name}")]
