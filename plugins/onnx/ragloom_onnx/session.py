"""An embedding model in memory: token ids in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragloom import ModelError
from ragloom_onnx.graph import Graph

if TYPE_CHECKING:
    from ragloom import Embeddings
    from ragloom_onnx.files import ModelFiles, Pooling

_POOLED = "sentence_embedding"  # what sentence-transformers and optimum call a pooled output


class Session:
    """Runs a model. May be called from several threads at once, each of which uses one core."""

    def __init__(self, files: ModelFiles, *, pooling: Pooling | None) -> None:
        self._graph = Graph(files, part="the embedder 'onnx'")
        outputs = {name: len(shape) for name, shape in self._graph.outputs.items()}
        # None: the graph pools.
        self._pooling: Pooling | None = None
        if _POOLED in outputs and (pooling is None or files.sha256 is not None):
            self._output = _POOLED
        else:
            per_token = [name for name, rank in outputs.items() if rank == 3]  # noqa: PLR2004 - (n, t, d)
            if not per_token:
                raise ModelError(f"{files.onnx}: has no output with a vector for every token")
            if any(files.folder.glob("*_Dense")):
                raise ModelError(
                    f"{files.folder}: has a dense layer after the pooling, which {files.onnx.name} "
                    f"omits; export it with the output {_POOLED}"
                )
            self._output, self._pooling = per_token[0], pooling or files.pooling or "mean"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, found by running the model once where its file does not say."""
        last = self._graph.outputs[self._output][-1]
        return last if isinstance(last, int) else self.run([[0]]).shape[-1]

    def run(self, ids: Sequence[Sequence[int]]) -> Embeddings:
        """Vectors ``(len(ids), d)`` float32, of unit length, for texts of about the same length."""
        output, mask = self._graph.run(self._output, ids)
        return self._unit(_pool(output, mask, self._pooling))

    def _unit(self, vectors: npt.NDArray[np.float32]) -> Embeddings:
        vectors = np.ascontiguousarray(vectors, np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise ModelError(f"{self._graph.path}: gave a vector that is zero or not finite")
        unit: Embeddings = vectors / norms
        return unit


def _pool(
    output: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: Pooling | None
) -> npt.NDArray[np.float32]:
    if pooling is None:
        return output
    if pooling == "cls":
        return output[:, 0]
    weights = mask[:, :, np.newaxis].astype(np.float32)
    pooled: npt.NDArray[np.float32] = (output * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled
