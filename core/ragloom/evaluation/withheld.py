"""What a copy of documents lacks, so that answers share as many words with queries as with questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from ragloom.evaluation.askable import WORD, is_content
from ragloom.types import Span

SHARED = 0.5
"""The share of a query's content words that its answer keeps. Documents that answer the questions of six
judged collections hold 0.46 of theirs, those that hold most 0.58, in the mean."""
MOST_SHARED = 4
"""The most content words that an answer shares with a query. However long the questions are, 5 to 27 such
words in the mean of a collection, the documents that answer those of the six hold 3.2 of them, and those
that hold most 4.5, in the mean."""
_REACH = 20_000  # characters of a document, or else of the answer in it, that words are counted in


def withheld_of(text: str, asked: Span, answer: Span, random: Random) -> list[Span]:
    """Where the text of a query, and some of its words, stand in a document that answers it.

    The query itself is withheld, wherever the answer has it letter for letter. Where the answer has less of
    its words elsewhere than ``shared_words``, some of them stay; where it has more, some are withheld
    everywhere.

    Args:
        text: Of the document.
        asked: What the query was made of.
        answer: Where its answer is.
        random: Draws words.
    """
    region = Span(0, len(text)) if len(text) <= _REACH else answer
    again = re.compile(re.escape(text[slice(*asked)].strip()), re.IGNORECASE)
    places = [asked, *(Span(*match.span()) for match in again.finditer(text, *region))]
    places = [one for at, one in enumerate(places) if not at or not common(one, asked)]
    own = set(stems(text[slice(*asked)]))
    elsewhere = set(stems(without(text, places)[region.start : region.end]))
    held, missing = sorted(own & elsewhere), sorted(own - elsewhere)
    wanted = shared_words(len(own))
    if len(held) > wanted:
        gone = set(random.sample(held, len(held) - wanted))
        words = WORD.finditer(text, region.start, min(region.end, region.start + _REACH))
        found = [Span(*match.span()) for match in words if gone.intersection(stems(match[0]))]
        places += [one for one in found if not any(common(one, other) for other in places)]
    elif missing and len(held) < wanted:
        stay = set(random.sample(missing, wanted - len(held)))
        places[:1] = [
            Span(*match.span())
            for match in WORD.finditer(text, *asked)
            if not stay.intersection(stems(match[0]))
        ]
    return places


def common(one: Span, other: Span) -> int:
    """The number of characters that two spans have in common."""
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def merged(spans: Iterable[Span]) -> Sequence[Span]:
    """The characters of some spans as spans that do not overlap, ascending."""
    found = list[Span]()
    for one in sorted(spans):
        if found and one.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, one.end))
        else:
            found.append(one)
    return found


def shared_words(count: int) -> int:
    """How many of a query's ``count`` content words its answer keeps."""
    return min(round(SHARED * count), MOST_SHARED)


def excess(said: str, counts: Mapping[str, int]) -> int:
    """How many content words of a text its document says elsewhere, beyond those that an answer keeps.

    Below 0 where words are missing. ``counts`` are those of the whole document.
    """
    own = Counter(stems(said))
    held = sum(counts[stem] > number for stem, number in own.items())
    return held - shared_words(len(own))


def stems(text: str) -> Iterator[str]:
    """The content words of a text, as often as it says them, without what they end in, roughly."""
    for word in WORD.findall(text):
        if is_content(word):
            yield word.casefold()[: max(4, len(word) - 3)]


def without(text: str, spans: Sequence[Span]) -> str:
    """``text`` without some spans of it, which do not overlap."""
    parts, last = list[str](), 0
    for start, end in sorted(spans):
        parts.append(text[last:start])
        last = end
    return "".join([*parts, text[last:]])


def moved(span: Span, withheld: Sequence[Span]) -> Span:
    """Where ``span`` stands once some spans are missing."""
    return Span(
        span.start - sum(min(end, span.start) - min(start, span.start) for start, end in withheld),
        span.end - sum(min(end, span.end) - min(start, span.end) for start, end in withheld),
    )
