"""The embedder: texts in sixteen languages in, unit vectors out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragloom import Calibration, MissingDependencyError, ModelError, TokenCounter

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ragloom import Embeddings
    from ragloom_multilingual import MultilingualOptions
    from ragloom_multilingual.encoder import Encoder

MODEL = Path(__file__).parent / "model"
NAME = "universal-sentence-encoder-multilingual-3"
DIMENSION = 512
_UNKNOWN, _BEGIN, _END = 0, 1, 2
_LONGEST_QUERY = 512  # tokens
_MUCH = (
    0.2  # of the pieces: XQuAD's questions in Hindi have more, those in the model's languages none
)
_SURROGATES = re.compile("[\ud800-\udfff]")

CALIBRATION: Calibration | None = None


class PieceCounter:
    """Counts the pieces of the model's tokenizer; see :class:`ragloom.TokenCounter`."""

    additive = True
    """No piece reaches across a blank."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = NAME
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Pieces in ``text``, without those at its ends."""
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The half-open character span of every piece; one that begins within another's is empty."""
        found: list[tuple[int, int]] = []
        end = 0
        for start, stop in self._tokenizer.encode(
            encodable(text), add_special_tokens=False
        ).offsets:
            end = max(end, stop)
            begin = max(start, found[-1][1] if found else 0)
            found.append((min(begin, end), end))
        return found


class MultilingualEmbedder:
    """Runs the model with numpy, one text after another: a vector depends on no other text.

    Nothing is loaded before it is needed: the counter needs the tokenizer, and embedding the weights.
    """

    dimension = DIMENSION

    def __init__(self, options: MultilingualOptions) -> None:
        self.max_tokens = options.max_tokens
        self.truncated = 0
        self.calibration = CALIBRATION
        self._encoder: Encoder | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the files of the model, which are on record, and the longest text."""
        parts = {"format": 1, "files": dict(self._sha256), "max_tokens": self.max_tokens}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def counter(self) -> TokenCounter:
        """The model's own tokenizer."""
        return PieceCounter(self._tokenizer)

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """As in :class:`ragloom.Embedder`; ModelError where the files are not whole."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        model = self._model()
        for at, encoding in enumerate(self._encode(texts)):
            self.truncated += len(encoding) > self.max_tokens
            vectors[at] = model.vector(_with_ends(encoding[: self.max_tokens]))
        return vectors

    def embed_query(self, text: str) -> Embeddings:
        """``(512,)`` float32; zeros for a text of which the vocabulary lacks much, as of Hindi."""
        (ids,) = self._encode([text])
        if ids.count(_UNKNOWN) >= _MUCH * len(ids):
            return np.zeros(DIMENSION, np.float32)
        return self._model().vector(_with_ends(ids[:_LONGEST_QUERY]))

    def close(self) -> None:
        """Free the model's memory; the next use loads it."""
        self._encoder = None

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        readable = [encodable(text) for text in texts]
        found = self._tokenizer.encode_batch_fast(readable, add_special_tokens=False)
        return [one.ids for one in found]

    @cached_property
    def _sha256(self) -> dict[str, str]:
        try:
            content = json.loads((MODEL / "ragloom.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{MODEL}: the model is not there; pip install --force-reinstall --no-deps "
                "ragloom-multilingual, or of a clone run plugins/multilingual/build_model.py"
            ) from error
        return dict(content["sha256"])

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        self._check("tokenizer.json")
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingDependencyError(
                "tokenizers", "ragloom[multilingual]", "the embedder 'multilingual'"
            ) from error
        return Tokenizer.from_file(str(MODEL / "tokenizer.json"))

    def _model(self) -> Encoder:
        if self._encoder is None:
            from ragloom_multilingual.encoder import Encoder

            self._check("layers.npz")  # the table is read as it is used
            try:
                self._encoder = Encoder(MODEL)
            except (OSError, ValueError) as error:
                raise ModelError(f"{MODEL}: cannot be loaded: {error}") from error
        return self._encoder

    def _check(self, name: str) -> None:
        path = MODEL / name
        try:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror})") from error
        if found != self._sha256[name]:
            raise ModelError(
                f"{path}: the file is damaged or was replaced; pip install --force-reinstall "
                "--no-deps ragloom-multilingual"
            )


def encodable(text: str) -> str:
    """``text`` with every lone surrogate, which no tokenizer takes, as ``?``; as long as before."""
    return text if text.isascii() else _SURROGATES.sub("?", text)


def _with_ends(ids: Sequence[int]) -> list[int]:
    return [_BEGIN, *(ids or [_UNKNOWN]), _END]
