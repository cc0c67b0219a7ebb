"""A model in memory: token ids in, unit vectors out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ragloom import MissingDependencyError, ModelError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

    from ragloom import Embeddings
    from ragloom_onnx.files import ModelFiles, Pooling

__all__ = ["Session"]

_POOLED = "sentence_embedding"  # what sentence-transformers and optimum call a pooled output
_DTYPES: Mapping[str, type[np.integer]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Session:
    """Runs a model. May be called from several threads at once, each of which uses one core.

    Raises:
        ModelError: The file is damaged, is no model, or wants inputs other than text.
        MissingDependencyError: onnxruntime is not installed.
    """

    def __init__(self, files: ModelFiles, *, pooling: Pooling | None) -> None:
        files.check(files.onnx)
        self._path = files.onnx
        self._session = _open(files)
        self._dtypes = {node.name: _dtype(node.type) for node in self._session.get_inputs()}
        unknown = self._dtypes.keys() - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or not all(self._dtypes.values()):
            raise ModelError(
                f"{files.onnx}: takes {', '.join(sorted(unknown or self._dtypes))}, which is not "
                "what a text embedding model takes"
            )
        outputs = {node.name: len(node.shape) for node in self._session.get_outputs()}
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
                    f"leaves out; export it with the output {_POOLED}"
                )
            self._output, self._pooling = per_token[0], pooling or files.pooling or "mean"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, found by running the model once where its file does not say."""
        shapes = {node.name: node.shape for node in self._session.get_outputs()}
        last = shapes[self._output][-1]
        return last if isinstance(last, int) else self.run([[0]]).shape[-1]

    def run(self, ids: Sequence[Sequence[int]]) -> Embeddings:
        """Vectors ``(len(ids), d)`` float32, of unit length, for texts of about the same length.

        Raises:
            ModelError: The run failed, or gave numbers that are not finite.
        """
        shape = len(ids), max(map(len, ids))
        tokens = np.zeros(shape, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, text in enumerate(ids):
            tokens[row, : len(text)] = text
            mask[row, : len(text)] = 1
        inputs = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        feed = {
            name: inputs[name].astype(dtype, copy=False) for name, dtype in self._dtypes.items()
        }
        try:
            output = cast("npt.NDArray[np.float32]", self._session.run([self._output], feed)[0])
        except _runtime_errors() as error:
            raise ModelError(f"{self._path}: the run failed: {_first_line(error)}") from error
        return self._unit(_pool(output, mask, self._pooling))

    def _unit(self, vectors: npt.NDArray[np.float32]) -> Embeddings:
        vectors = np.ascontiguousarray(vectors, np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise ModelError(f"{self._path}: gave a vector that is zero or not finite")
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


def _open(files: ModelFiles) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError(
            "onnxruntime", "ragloom[onnx]", "the embedder 'onnx'"
        ) from error
    try:
        return onnxruntime.InferenceSession(
            str(files.onnx), _session_options(files), providers=["CPUExecutionProvider"]
        )
    except _runtime_errors() as error:
        raise ModelError(f"{files.onnx}: cannot be loaded: {_first_line(error)}") from error


def _session_options(files: ModelFiles) -> SessionOptions:
    from onnxruntime import GraphOptimizationLevel, SessionOptions

    options = SessionOptions()
    # Several runs at once, each on a core of its own, give half as much again as runs that share
    # the cores (two cores: 239 against 160 passages a second).
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; they are raised as well
    if files.sha256 is not None:
        # It is written as it should run. The optimiser gains nothing, and what it does, such as
        # fusing Add and LayerNormalization (six times slower), may change with its version.
        options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def _runtime_errors() -> tuple[type[Exception], ...]:
    """Everything ONNX Runtime raises; its errors have no common root but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = (value for value in vars(state).values() if isinstance(value, type))
    return *(kind for kind in own if issubclass(kind, Exception)), RuntimeError, ValueError


def _dtype(kind: str) -> type[np.integer] | None:
    return _DTYPES.get(kind)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
