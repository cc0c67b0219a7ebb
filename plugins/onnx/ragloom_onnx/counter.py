"""Counting tokens as a model's own tokenizer does, without running it every time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

__all__ = ["TokenizerCounter", "UnitCounter", "counter_for", "encodable"]

_UNITS = re.compile(r"[^ \t\n\r]+")
_REMEMBERED_UNITS = 32_768
_LONGEST_REMEMBERED = 64  # characters; longer ones are links and data, seldom seen twice
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """``text`` with every lone surrogate, which no tokenizer takes, as ``?``: of the same length."""
    return text if text.isascii() else _LONE_SURROGATES.sub("?", text)


class TokenizerCounter:
    """Counts with the tokenizer itself, whatever its kind."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self._name = name
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """The model whose tokens are counted."""
        return self._name

    def count(self, text: str) -> int:
        """Tokens in ``text``, without those that the model adds at its ends."""
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The half-open character span of every token, in order."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        spans: Sequence[tuple[int, int]] = encoding.offsets
        return spans


class UnitCounter(TokenizerCounter):
    """Counts a text as the sum over its units, which are remembered.

    A unit is what stands between blanks (space, tab, line feed, carriage return). For BERT's
    tokenizers no token, and nothing that decides about one, reaches across a blank, so the sum is
    exact. Other white space is not safe to cut at: a form feed, for one, is dropped by the
    normaliser, and what stood around it becomes one word.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        super().__init__(name, tokenizer)
        self._tokens: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Tokens in ``text``, without those that the model adds at its ends."""
        units = _UNITS.findall(text)
        known = self._tokens
        try:
            return sum(map(known.__getitem__, units))
        except KeyError:
            fresh = self._tokenize({unit for unit in units if unit not in known})
            return sum(fresh[unit] if unit in fresh else known[unit] for unit in units)

    def _tokenize(self, units: set[str]) -> dict[str, int]:
        ordered = list(units)
        encodings = self._tokenizer.encode_batch_fast(
            [encodable(unit) for unit in ordered], add_special_tokens=False
        )
        fresh = {unit: len(encoding) for unit, encoding in zip(ordered, encodings, strict=True)}
        kept = {unit: size for unit, size in fresh.items() if len(unit) <= _LONGEST_REMEMBERED}
        if len(self._tokens) + len(kept) > _REMEMBERED_UNITS:
            # Replaced, not emptied: `count` still reads the old one.
            self._tokens = {}
        if len(kept) <= _REMEMBERED_UNITS:
            self._tokens.update(kept)
        return fresh


def counter_for(name: str, tokenizer: Tokenizer) -> TokenizerCounter:
    """The fastest exact counter for ``tokenizer``, which must neither truncate nor pad."""
    is_bert = (
        isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(tokenizer.model, WordPiece)
    )
    # A token that contains a blank could be found across units.
    added = tokenizer.get_added_tokens_decoder().values()
    plain = not any(_has_blank(token.content) for token in added)
    return UnitCounter(name, tokenizer) if is_bert and plain else TokenizerCounter(name, tokenizer)


def _has_blank(content: str) -> bool:
    return any(character.isspace() for character in content)
