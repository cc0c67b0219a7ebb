"""The embedder: the model of this distribution, run as ``ragloom_onnx`` runs the bundled one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragloom import Calibration, ModelError
from ragloom_onnx import OnnxOptions
from ragloom_onnx.embedder import OnnxEmbedder

if TYPE_CHECKING:
    from ragloom_multilingual import MultilingualOptions

MODEL = Path(__file__).parent / "model"

CALIBRATION = Calibration(
    bias=-29.50,
    cosine_weight=19.18,
    coverage_weight=4.29,
    words_weight=5.06,
    unknown_weight=-11.15,
    agreement_weight=4.39,
    unrelated_cosine=0.72,  # the median of everyday questions with XQuAD's paragraphs: 0.71 to 0.74
    source="benchmarks/quality/fit_calibration.py on eight collections in five languages named in "
    "benchmarks/README.md",
)


def multilingual_embedder(options: MultilingualOptions) -> OnnxEmbedder:
    """The model with what it was trained to see before a query and a passage, and its own curve.

    Raises:
        ModelError: The files of the model are not there.
    """
    if not (MODEL / "ragloom.json").is_file():
        raise ModelError(
            f"{MODEL}: the model is not there; pip install --force-reinstall --no-deps "
            "ragloom-multilingual, or of a clone run plugins/multilingual/build_model.py"
        )
    embedder = OnnxEmbedder(
        OnnxOptions(
            model=str(MODEL),
            query_prefix="query: ",
            passage_prefix="passage: ",
            max_tokens=options.max_tokens,
            threads=options.threads,
        )
    )
    embedder.calibration = CALIBRATION
    return embedder
