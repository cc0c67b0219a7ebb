"""Counting tokens as a model's own tokenizer does, without running it every time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_UNITS = re.compile(r"[^ \t\n\r]+")
_OTHER_SPACE = re.compile(
    "[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
"""What :meth:`str.split` takes for a blank, too."""
_PRINTABLE_ASCII = re.compile(r"[!-~]+")
_WORDS = re.compile(r"[0-9A-Za-z]+")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")

_REMEMBERED = 131_072  # units, some 15 MB; a large documentation collection has as many
_LONGEST_REMEMBERED = 200  # characters; longer ones are data, seldom seen twice


def encodable(text: str) -> str:
    """``text`` with every lone surrogate, which no tokenizer takes, as ``?``; as long as before."""
    return text if text.isascii() else _LONE_SURROGATES.sub("?", text)


class TokenizerCounter:
    """Counts with the tokenizer itself, whatever its kind."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Tokens in ``text``, without those that the model adds at its ends."""
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The half-open character span of every token, in order and not overlapping.

        Where one character is several tokens, as a Korean syllable may be, the last of them has it
        and those before it are empty: a text that ends at any of them ends before the character.
        """
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        spans: list[tuple[int, int]] = encoding.offsets
        return spans if text.isascii() else _apart(spans)


class UnitCounter(TokenizerCounter):
    """Counts a text as the sum over its units, which are remembered. For BERT's tokenizers.

    A unit is what stands between blanks (space, tab, line feed, carriage return). No token, and
    nothing that decides about one, reaches across a blank, so the sum is exact. Other white space
    is not safe to split at: a form feed, for one, is dropped by the normaliser, and what stood around
    it becomes one word.

    A unit of printable ASCII is the sum over its words, plus one token for every sign between them.
    """

    additive = True
    """Counts add up where a space, tab or line end stands between two texts."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        super().__init__(name, tokenizer)
        self._known: dict[str, int] = {}
        # Tokens such as [SEP], which are found in a text before it is taken apart.
        self._added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]

    def count(self, text: str) -> int:
        """Tokens in ``text``, without those that the model adds at its ends."""
        units = _UNITS.findall(text) if _OTHER_SPACE.search(text) else text.split()
        known = self._known
        try:
            return sum(map(known.__getitem__, units))
        except KeyError:
            fresh = self._count_units({unit for unit in units if unit not in known})
            return sum(fresh[unit] if unit in fresh else known[unit] for unit in units)

    def _count_units(self, units: set[str]) -> dict[str, int]:
        # In words where the unit can be taken apart, else None.
        words = {unit: _WORDS.findall(unit) if self._is_plain(unit) else None for unit in units}
        whole = {unit for unit, parts in words.items() if parts is None}
        parts = {word for parts in words.values() for word in parts or ()}
        fresh = self._tokenize(whole.union(parts.difference(self._known)))
        counts = dict.fromkeys(units, 0)
        for unit, parts_of_it in words.items():
            if parts_of_it is None:
                counts[unit] = fresh[unit]
                continue
            signs = len(unit) - sum(map(len, parts_of_it))
            counts[unit] = signs + sum(
                fresh[word] if word in fresh else self._known[word] for word in parts_of_it
            )
        self._remember(fresh | counts)
        return counts

    def _is_plain(self, unit: str) -> bool:
        plain = _PRINTABLE_ASCII.fullmatch(unit) is not None
        return plain and not any(token in unit for token in self._added)

    def _tokenize(self, texts: Iterable[str]) -> dict[str, int]:
        ordered = list(texts)
        encodings = self._tokenizer.encode_batch_fast(
            [encodable(text) for text in ordered], add_special_tokens=False
        )
        return {text: len(encoding) for text, encoding in zip(ordered, encodings, strict=True)}

    def _remember(self, counts: dict[str, int]) -> None:
        kept = {text: size for text, size in counts.items() if len(text) <= _LONGEST_REMEMBERED}
        if len(self._known) + len(kept) > _REMEMBERED:
            # Replaced, not emptied: `count` still reads the old one.
            self._known = {}
        if len(kept) <= _REMEMBERED:
            self._known.update(kept)


def counter_for(name: str, tokenizer: Tokenizer) -> TokenizerCounter:
    """The fastest exact counter for ``tokenizer``, which must neither truncate nor pad."""
    is_bert = (
        isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(tokenizer.model, WordPiece)
    )
    # A token that contains a blank could be found across units.
    added = tokenizer.get_added_tokens_decoder().values()
    plain = not any(character.isspace() for token in added for character in token.content)
    return UnitCounter(name, tokenizer) if is_bert and plain else TokenizerCounter(name, tokenizer)


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    apart = []
    limit = spans[-1][1] if spans else 0
    for start, end in reversed(spans):
        apart.append((min(start, limit), min(end, limit)))
        limit = apart[-1][0]
    return apart[::-1]
