"""A request into the queries that it holds: courtesies removed, and each sentence by itself.

"Hi, could you please tell me how to log errors? Thanks a lot!" asks for "how to log errors". Courtesies are
removed only where they stand, at the ends of a sentence, and soft words such as "explain" only beside
one that is nothing else: "explain plan" stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragloom.retrieval.foreign_courtesies import without_foreign_courtesies
from ragloom.snapshot.languages import STOP_WORDS
from ragloom.text.sentences import sentence_starts

MOST_SENTENCES = 4
"""Sentences of a query that are searched one by one; each costs an embedding and a scan."""

_PLEAS = frozenset(
    {"please", "pls", "plz", "thanks", "thank", "thankyou", "thx", "ta", "tia", "ty"}
)
_GREETINGS = _PLEAS | frozenset(
    """
    hi hello hey hiya howdy yo greetings cheers bye goodbye
    """.split()  # noqa: SIM905 - as people read it
)
_COURTESIES = _GREETINGS | frozenset(
    """
    dear kindly sorry appreciate appreciated appreciation grateful gratefully thankful wondering
    wonder mind apologies regards pardon excuse welcome
    """.split()  # noqa: SIM905 - as people read it
)
_SOFT = frozenset(
    """
    able advance advice advise afternoon all also anybody anyone anything appreciating ask
    asking assist assistance best bit brief briefly bunch chance clarify clear confused
    confusing could curious day describe direct direction elaborate enlighten evening ever everybody
    everyone explain explaining explanation favor favour figure find finding folks friend friends give
    giving glad good great guess guidance guide guys hand happen help helpful helping hint hints
    hoping hope i'd i'm i've idea indeed info information insight kind know knowing lead learn let like
    little look looking lot lots love lovely many maybe may might million minute moment morning much
    must name need newbie nice night one pointer pointers point possible possibly question quick
    quickly really right second share shed shout show showing simple simply somebody someone
    something somewhere start stuck suggest super sure team tell telling there time tip tips
    today trouble try trying tough understand understanding us want wanted way week weekend well
    whether wish work worries yes ahead shall ok okay
    """.split()  # noqa: SIM905 - as people read it
)
_REQUESTS = (
    "(?:can|could|would|will|may|might) (?:you|someone|somebody|anyone|anybody|i|we|u)",
    "(?:tell|show|help|give|let|teach|point|guide|walk|remind|enlighten|advise) (?:me|us)",
    "i (?:would|'d|d) (?:like|love)",
    "i'd (?:like|love)",
    "i (?:want|need) to know",
    "i (?:was|am)",
    "i'm (?:curious|looking|wondering|hoping|stuck|trying)",
    "(?:quick|one|short) question",
    "any (?:idea|ideas|chance|pointers|tips|advice|hints|help)",
    "(?:do|does) (?:you|anyone|anybody|somebody|someone) know",
    "good (?:morning|afternoon|evening|day|night)",
    "your name",
    "nice to meet",
    "is there (?:anyone|anybody|someone)",
    "(?:is|are) there (?:any|some|an) (?:(?:docs|documentation|examples?|tutorials?|or) )+(?:on|about)",
    "(?:have|has) (?:a|anyone|anybody) (?:look|idea)",
    "no (?:worries|rush)",
    "take care",
    "have a (?:nice|great|good|lovely)",
    "(?:if|whether|hoping) (?:someone|somebody|anyone|anybody) (?:can|could|would|might)",
    "(?:that|it|this)(?:'d| would| will) be (?:so |super |very )?(?:great|lovely|nice|wonderful|helpful)",
    "(?:got|have) a (?:quick |short |small )?question",
    "a (?:small|little|quick) (?:thing|favou?r)",
    "whenever you (?:have|can|get)(?: (?:a )?(?:minute|moment|second|time|chance))?",
    "a (?:quick )?word on",
    "send me (?:something|anything)",
    "forgive (?:my|me)(?: ignorance)?",
    "for your (?:patience|help|time|support|assistance|kindness|attention)",
    "finds? you (?:all )?well",
    "be so kind",
    "(?:warm|kind|best|many) (?:regards|wishes|thanks)",
    "let me know",
    "(?:hope|hoping) (?:you(?:'re| are)?|all|everyone|everything|this|it(?:'s| is)?)",
    "(?:bother|trouble|disturb|interrupt)(?:ing)? (?:you|anyone|everyone|everybody)",
    "if it(?:'s| is) (?:not|no|ok|okay)(?: too much)?(?: trouble| bother| to ask)?",
    "(?:isn't|is not|not) too much (?:trouble|bother|to ask)",
    "if you (?:don't|do not|wouldn't) mind",
    "if (?:this|that|it) (?:was|is|has been|has) (?:asked|answered)(?: before| already)?",
    "i(?:'m| am) (?:a )?(?:bit|little|totally|completely|really) (?:lost|confused|stuck|new)",
    "i(?:'m| am) new (?:here|to this)",
    "(?:get|have|use|need) (?:some|any) (?:help|guidance|advice|pointers|hints|input)",
    "you(?:'re| are) (?:the best|awesome|amazing|great|a star|a lifesaver)",
    "owe you",
    "taking the time",
    "(?:for|pardon) the (?:interruption|trouble|noise|newbie question)",
    "much obliged",
)
_REQUEST = re.compile(rf"\b(?:{'|'.join(_REQUESTS)})\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SMALL_START = re.compile(r"(?<=[.…]\s)[^\W\d_]")
_GLUE = frozenset(
    """
    me us about whether if that out with to on of for in a an the so and or but just
    """.split()  # noqa: SIM905 - as people read it
)


def queries(text: str) -> tuple[str, Sequence[str]]:
    """A request without its courtesies, and its sentences where it has several.

    Returns:
        The whole, empty where the text is nothing but courtesies; and up to :data:`MOST_SENTENCES` of its
        sentences, questions first, none where there is only one.
    """
    kept = [
        plain
        for sentence in _sentences(text)
        if (plain := _plain(without_foreign_courtesies(sentence)))
    ]
    whole = " ".join(kept)
    if len(kept) < 2:  # noqa: PLR2004 - of one sentence nothing is to be told apart
        return whole, ()
    asked = sorted(kept, key=lambda sentence: not sentence.rstrip().endswith("?"))
    return whole, asked[:MOST_SENTENCES]


def _sentences(text: str) -> Sequence[str]:
    """Sentences of a query, which people begin with small letters, too."""
    bounds = [0, *sentence_starts(_SMALL_START.sub(_as_capital, text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(bounds)]


def _as_capital(letter: re.Match[str]) -> str:
    capital = letter[0].upper()
    return capital if len(capital) == 1 else letter[0]


def _plain(sentence: str) -> str:
    """A sentence without the courtesies at its ends; empty where there is nothing else."""
    words = list(_WORD.finditer(sentence))
    lowered = [match[0].lower().replace("’", "'") for match in words]
    courteous = [word in _COURTESIES for word in lowered]
    joined, starts = " ".join(lowered), {}
    position = 0
    for number, word in enumerate(lowered):
        starts[position] = number
        position += len(word) + 1
    for match in _REQUEST.finditer(joined):
        first = starts.get(match.start())
        if first is not None:
            for number in range(first, first + match[0].count(" ") + 1):
                courteous[number] = True
    empty = [
        courteous[number] or word in STOP_WORDS or word in _SOFT
        for number, word in enumerate(lowered)
    ]
    if not any(courteous) or (sum(empty) == 1 and _named(sentence, words[empty.index(True)])):
        return sentence
    if all(empty):
        return ""
    first, last = empty.index(False), len(empty) - 1 - empty[::-1].index(False)
    head = [number for number in range(first) if courteous[number] or _soft(lowered[number])]
    begin = 0
    if any(courteous[:first]):
        begin = head[-1] + 1
        while begin < first and lowered[begin] in _GLUE:
            begin += 1
    tail = [number for number in range(last + 1, len(words)) if courteous[number]]
    end = tail[0] if tail else len(words)
    start = words[begin].start() if begin else 0
    stop = words[end - 1].end() if end < len(words) else len(sentence)
    # What stands right after the last word, a question mark or a closing bracket, belongs to it.
    closing = re.match(r"[?)\]\"'”’]*", sentence[stop:])
    return sentence[start : stop + (closing.end() if closing else 0)].strip()


def _named(sentence: str, word: re.Match[str]) -> bool:
    """Whether the only word that may be a courtesy is none: "mind map", "hello world", "sorry"."""
    lowered = word[0].lower()
    alone = not _WORD.search(sentence, word.end()) and not _WORD.search(sentence[: word.start()])
    if lowered in _PLEAS or (alone and lowered in _GREETINGS):
        return False
    return alone or not re.match(r"\s*[,!.:;]|\s+[-–—]", sentence[word.end() :])


def _soft(word: str) -> bool:
    return word in _SOFT and word not in STOP_WORDS
