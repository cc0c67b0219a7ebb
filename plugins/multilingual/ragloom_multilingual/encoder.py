"""The model in numpy: token ids in, a unit vector out.

The architecture is that of Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval"
(2019), in its convolutional form: convolutions over 2, 3 and 5 tokens with residuals, beside the embeddings
themselves; their sum over the root of the length; residual dense layers; tanh; unit length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

_CHUNKS = 17  # the table is quantised in so many parts: piece ``i`` belongs to part ``i % 17``
_WINDOWS = ((2, 0), (3, 1), (5, 2))  # tokens of a convolution, and how many of them stand before
_WIDTH = 256  # numbers that each gives for a token

Array = npt.NDArray[np.float32]


class Encoder:
    """The weights, of which the table is mapped into memory.

    Raises:
        OSError: A file is missing or cannot be read.
        ValueError: One is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._table = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
        with np.load(folder / "layers.npz", allow_pickle=False) as archive:
            self._layers: Mapping[str, Array] = {name: archive[name] for name in archive.files}
        self._epsilon = np.float32(self._layers["epsilon"])

    def vector(self, ids: Sequence[int]) -> Array:
        """``(512,)`` float32 of unit length, for one text; it depends on no other text."""
        layers, n = self._layers, len(ids)
        tokens = np.array(ids, np.intp)
        parts = tokens % _CHUNKS
        embedded = self._table[tokens] * layers["scale"][parts, None]
        embedded += layers["low"][parts, None]
        features = np.empty((n, embedded.shape[1] + len(_WINDOWS) * _WIDTH), np.float32)
        features[:, : embedded.shape[1]] = embedded
        projected = embedded @ layers["project"] + layers["project_bias"]
        projected = self._normalised(projected, layers["project_gain"], layers["project_shift"])
        for number, (size, before) in enumerate(_WINDOWS):
            hidden = projected[:, number * _WIDTH : (number + 1) * _WIDTH]
            for step in (1, 2):
                seen = _windows(hidden, size, before)
                name = f"window{size}_{step}"
                hidden = np.maximum(seen @ layers[name] + layers[f"{name}_bias"], 0) + hidden
            start = embedded.shape[1] + number * _WIDTH
            features[:, start : start + _WIDTH] = hidden
        features = self._normalised(features, layers["gain"], layers["shift"])
        # The sum first: of a linear layer it is the same, and one row is multiplied instead of n.
        mean = features.sum(axis=0) @ layers["out"] + n * layers["out_bias"]
        mean /= np.float32(np.sqrt(n))
        first = np.maximum(mean @ layers["d0"], 0)
        second = np.maximum(mean @ layers["p1"] + first @ layers["d1"], 0)
        third = np.maximum(second @ layers["d2"], 0)
        last = np.tanh(second @ layers["p3"] + third @ layers["d3"])
        vector: Array = last / np.float32(np.linalg.norm(last))
        return vector

    def _normalised(self, values: Array, gain: Array, shift: Array) -> Array:
        """Each row less its mean, over its deviation."""
        values = values - values.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", values, values) / np.float32(values.shape[1])
        scaled: Array = values / np.sqrt(variance + self._epsilon)[:, None] * gain + shift
        return scaled


def _windows(values: Array, size: int, before: int) -> Array:
    """``(n, size * width)``: each row with its neighbours, zeros beyond the ends."""
    padded = np.pad(values, ((before, size - 1 - before), (0, 0)))
    n = len(values)
    return np.concatenate([padded[at : at + n] for at in range(size)], axis=1)
