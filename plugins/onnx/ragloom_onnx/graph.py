"""A model's ONNX file in memory: token ids in, numbers out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ragloom import MissingDependencyError, ModelError
from ragloom_onnx.files import first_line

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

    from ragloom_onnx.files import ModelFiles

_DTYPES: Mapping[str, type[np.integer]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Graph:
    """Runs a file. May be called from several threads at once, each of which uses one core.

    Args:
        files: The model.
        part: Who needs it, for messages, such as ``the embedder 'onnx'``.

    Raises:
        ModelError: The file is damaged, is no model, or wants inputs other than text.
    """

    def __init__(self, files: ModelFiles, *, part: str) -> None:
        files.check(files.onnx)
        self.path = files.onnx
        self._session = _open(files, part)
        self._dtypes = {node.name: _DTYPES.get(node.type) for node in self._session.get_inputs()}
        unknown = self._dtypes.keys() - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or not all(self._dtypes.values()):
            raise ModelError(
                f"{files.onnx}: takes {', '.join(sorted(unknown or self._dtypes))}, which is not "
                "what a model of texts takes"
            )

    @property
    def outputs(self) -> Mapping[str, Sequence[object]]:
        """The shape of every output; a number where the file knows it, else a name or None."""
        return {node.name: node.shape for node in self._session.get_outputs()}

    def run(
        self,
        output: str,
        ids: Sequence[Sequence[int]],
        types: Sequence[Sequence[int]] | None = None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Read some texts at once, padded to the longest.

        Args:
            output: Whose numbers to return.
            ids: The tokens of every text.
            types: Which of a pair of texts each token belongs to; 0 by default.

        Returns:
            The output, and the attention mask ``(len(ids), longest)``: 1 for a token, 0 for padding.
        """
        shape = len(ids), max(map(len, ids))
        inputs = {
            name: np.zeros(shape, np.int64)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for row, text in enumerate(ids):
            inputs["input_ids"][row, : len(text)] = text
            inputs["attention_mask"][row, : len(text)] = 1
            if types is not None:
                inputs["token_type_ids"][row, : len(text)] = types[row]
        feed = {
            name: inputs[name].astype(dtype, copy=False) for name, dtype in self._dtypes.items()
        }
        try:
            given = cast("npt.NDArray[np.float32]", self._session.run([output], feed)[0])
        except _runtime_errors() as error:
            raise ModelError(f"{self.path}: the run failed: {first_line(error)}") from error
        return given, inputs["attention_mask"]


def _open(files: ModelFiles, part: str) -> InferenceSession:
    # From 1.29 on, ONNX Runtime sends telemetry to its makers on Linux, too, from its import on.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError("onnxruntime", "ragloom[onnx]", part) from error
    try:
        return onnxruntime.InferenceSession(
            str(files.onnx), _session_options(files), providers=["CPUExecutionProvider"]
        )
    except _runtime_errors() as error:
        raise ModelError(f"{files.onnx}: cannot be loaded: {first_line(error)}") from error


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
