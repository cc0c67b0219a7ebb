"""Fit the scale of relevance to one index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragloom.retrieval.answers import Answers
from ragloom.retrieval.calibration import CALIBRATION_NAME, fit_to_corpus, write_calibration
from ragloom.retrieval.query import Query
from ragloom.types import Calibration


def fit(space: Answers, directory: Path, off_topic: Sequence[str]) -> Calibration:
    """Fit a calibration to what a space says of queries that it cannot answer, and write it to its folder.

    Raises:
        ConfigError: Too few of the queries found anything to compare.
    """
    from ragloom.retrieval.relevance import DEFAULT_CALIBRATION
    from ragloom.retrieval.search import search

    # The searches below are by the embedder's own.
    (directory / CALIBRATION_NAME).unlink(missing_ok=True)
    fitted = fit_to_corpus(
        space.embedder.calibration or DEFAULT_CALIBRATION,
        lambda text: search(Query(text, min_relevance=0.0, mode="hybrid"), space, rerank=False),
        off_topic,
        source=f"fitted to {space.name!r} with {len(off_topic)} off-topic queries",
    )
    write_calibration(directory, space.embedder.fingerprint, fitted)
    return fitted
