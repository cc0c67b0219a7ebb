"""The American spelling of a British word, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SHORTEST: Final = 4  # letters; "our" is no "or"
# British and American endings, each with what inflections put behind it.
_ENDINGS: Final = tuple(
    (re.compile(f"(?<=[a-z]{{{before}}}){one}(?={rest}$)"), other)
    for before, british, american, rest in (
        (2, "is", "iz", "(?:e|es|ed|er|ers|ing|ation|ations|able)"),
        (3, "ys", "yz", "(?:e|ed|er|ers|ing)"),
        (2, "our", "or", "(?:s|ed|ing|ite|ites|able|al|less|ful|)"),
        (2, "tre", "ter", "s?"),
        (2, "bre", "ber", "s?"),
        (2, "tr", "ter", "ed"),
        (3, "ogue", "og", "s?"),
        (2, "ll", "l", "(?:ed|ing|er|ers|able)"),
        (3, "ence", "ense", "s?"),
        (2, "ence", "ense", "s?"),
        (3, "mme", "m", "s?"),
    )
    for one, other in ((british, american), (american, british))
)
_WORDS: Final = {
    "grey": "gray",
    "tyre": "tire",
    "aluminium": "aluminum",
    "artefact": "artifact",
    "artefacts": "artifacts",
    "cheque": "check",
    "judgement": "judgment",
    "judgements": "judgments",
    "licence": "license",
    "licences": "licenses",
    "practise": "practice",
    "sceptical": "skeptical",
    "fulfil": "fulfill",
    "enrol": "enroll",
}
_PAIRS: Final = {**_WORDS, **{american: british for british, american in _WORDS.items()}}


def spelling_variants(word: str) -> Iterator[str]:
    """Other spellings of an English word in lower case; some are no words."""
    if word in _PAIRS:
        yield _PAIRS[word]
    if len(word) >= _SHORTEST:
        for ending, other in _ENDINGS:
            if ending.search(word):
                yield ending.sub(other, word, count=1)
