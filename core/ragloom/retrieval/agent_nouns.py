"""A verb by the noun of who does it, and the noun by the verb.

English stemmers leave them apart: "who owns it" and "its owner" have no term in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_AGENTS: Final = ("ers", "ors", "er", "or")
_VERBS: Final = ("ing", "es", "ed", "s", "")
_SHORTEST: Final = 3  # letters that are the same


def agent_nouns(word: str) -> Iterator[str]:
    """Agent nouns of a verb, then verbs of an agent noun, as own of owner. Some are no words."""
    for endings, others in ((_VERBS, ("er", "or")), (_AGENTS, ("", "e"))):
        for ending in endings:
            stem = word.removesuffix(ending)
            if word.endswith(ending) and len(stem) >= _SHORTEST:
                yield from (stem + other for other in others)
                # run, runner
                doubled = stem[:-1] if stem[-1] == stem[-2] else stem + stem[-1]
                if len(doubled) >= _SHORTEST:
                    yield from (doubled + other for other in others)
