"""Measuring retrieval on judged collections: quality, what the gate lets through, and latency."""

from ragloom.evaluation.collections import (
    Collection,
    everyday_questions,
    read_collection,
    write_documents,
)
from ragloom.evaluation.measures import (
    Comparison,
    Evaluation,
    GateReport,
    Measurement,
    compare,
    evaluate,
    write_run,
)

__all__ = [
    "Collection",
    "Comparison",
    "Evaluation",
    "GateReport",
    "Measurement",
    "compare",
    "evaluate",
    "everyday_questions",
    "read_collection",
    "write_documents",
    "write_run",
]
