"""The reranker: a query and a passage in, a score out, on every core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragloom import ConfigError, ModelError
from ragloom_onnx.files import find_model, tokenizer_of
from ragloom_onnx.graph import Graph
from ragloom_onnx.resources import cores, run_each, trim_memory

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ragloom_onnx import OnnxRerankerOptions

_PART = "the reranker 'onnx'"
_EXAMPLE = "cross-encoder/ms-marco-MiniLM-L6-v2"
_LOGITS = "logits"


class OnnxReranker:
    """Runs a cross-encoder with ONNX Runtime; nothing is loaded before it is needed.

    The score is the model's one logit or, where it has two, for irrelevant and relevant, the second less
    the first. Each pair is read by itself, unpadded, so that its score is the same, bit by bit, whatever
    passages it is ranked with.
    """

    def __init__(self, options: OnnxRerankerOptions) -> None:
        self._files = find_model(options.model, example=_EXAMPLE)
        self._max_sequence = min(
            options.max_tokens or self._files.max_sequence, self._files.max_sequence
        )
        self._threads = options.threads or cores()
        self._graph: Graph | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the model, its tokenizer and the longest pair; its files are read once."""
        return self._files.fingerprint({"sequence": self._max_sequence})

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """As in :class:`ragloom.Reranker`; ModelError where the model is no cross-encoder."""
        if not passages:
            return []
        tokenizer = self._tokenizer
        from ragloom_onnx.tokenizing import encode_pairs

        pairs = encode_pairs(tokenizer, query, passages, max_sequence=self._max_sequence)
        graph, output = self._model()
        scores = [0.0] * len(pairs)

        def run(position: int) -> None:
            ids, types = pairs[position]
            given, _ = graph.run(output, [ids], [types])
            scores[position] = self._score(np.ravel(given))

        longest_first = sorted(range(len(pairs)), key=lambda position: -len(pairs[position][0]))
        run_each(run, longest_first, threads=self._threads)
        return scores

    def close(self) -> None:
        """Free the model's memory; the next use loads it."""
        if self._graph is not None:
            self._graph = None
            trim_memory()

    def _score(self, logits: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
        if len(logits) not in (1, 2):
            raise ModelError(
                f"{self._files.onnx}: gives {len(logits)} numbers for a pair, and a reranker gives one "
                f"or two; choose a cross-encoder such as {_EXAMPLE}"
            )
        score = float(logits[-1]) - (float(logits[0]) if len(logits) == 2 else 0.0)  # noqa: PLR2004
        if not np.isfinite(score):
            raise ModelError(f"{self._files.onnx}: gave a score that is not a finite number")
        return score

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = tokenizer_of(self._files, part=_PART)
        added: int = tokenizer.num_special_tokens_to_add(is_pair=True)
        if self._max_sequence < added + 2:  # a token of each text
            raise ConfigError(
                f"reranker 'onnx': max_tokens is {self._max_sequence}, and {added} tokens of a pair are "
                f"the model's own; make it {added + 2} or more"
            )
        return tokenizer

    def _model(self) -> tuple[Graph, str]:
        if self._graph is None:
            self._graph = Graph(self._files, part=_PART)
        outputs = self._graph.outputs
        if _LOGITS in outputs:
            return self._graph, _LOGITS
        if len(outputs) > 1:
            raise ModelError(
                f"{self._files.onnx}: has no output {_LOGITS!r}, only {', '.join(outputs)}; choose a "
                f"cross-encoder such as {_EXAMPLE}"
            )
        return self._graph, next(iter(outputs))
