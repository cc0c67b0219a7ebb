"""Finished searches and runs as spans, and their durations as metrics.

The names are those of the semantic conventions for generative AI, release 0.1.0, which has one span and
one metric for a retrieval (https://github.com/open-telemetry/semantic-conventions-genai); what they have no
name for begins with ``ragloom.``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from functools import lru_cache

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind

import ragloom
from ragloom import IndexFinished, SearchFinished
from ragloom.text import hide

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURED = frozenset({"true", "span_only", "span_and_event"})
_SECONDS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24)

Attributes = dict[str, str | bool | int | float]


def tell_search(event: SearchFinished) -> None:
    """A span ``retrieval``, and a value of ``gen_ai.retrieval.duration``."""
    named: Attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": event.space,
    }
    more: Attributes = {
        "ragloom.operation": event.operation,
        "ragloom.generation": event.generation,
        "ragloom.hits": len(event.hits),
    }
    known = {
        "gen_ai.retrieval.top_k": event.top_k,
        "ragloom.context.passages": event.sources,
        "ragloom.context.tokens": event.tokens,
    }
    more |= {name: value for name, value in known.items() if value is not None}
    if os.environ.get(_CONTENT, "").strip().lower() in _CAPTURED:
        more |= {
            "gen_ai.retrieval.query.text": hide(event.query),
            "gen_ai.retrieval.documents": json.dumps(
                [{"id": hit.chunk.id, "score": hit.relevance} for hit in event.hits]
            ),
        }
    _span("retrieval", event.seconds, named | more)
    _durations().record(event.seconds, named)


def tell_run(event: IndexFinished) -> None:
    """A span ``ragloom.index``, ``ragloom.repair`` or ``ragloom.verify`` with the figures of the run."""
    figures = {f"ragloom.report.{name}": value for name, value in event.report.items()}
    attributes: Attributes = {
        "ragloom.space": event.space,
        "ragloom.generation": event.generation,
        "ragloom.changed": event.changed,
    }
    _span(f"ragloom.{event.operation}", event.seconds, attributes | figures)


def _span(name: str, seconds: float, attributes: Mapping[str, str | bool | int | float]) -> None:
    """A span below the current one that has just ended."""
    end = time.time_ns()
    tracer = trace.get_tracer("ragloom", ragloom.__version__)
    begin = end - int(seconds * 1e9)
    span = tracer.start_span(name, kind=SpanKind.INTERNAL, start_time=begin, attributes=attributes)
    span.end(end)


@lru_cache(maxsize=1)
def _histogram(provider: metrics.MeterProvider) -> metrics.Histogram:
    return provider.get_meter("ragloom", ragloom.__version__).create_histogram(
        "gen_ai.retrieval.duration",
        unit="s",
        description="How long a retrieval took.",
        explicit_bucket_boundaries_advisory=_SECONDS,
    )


def _durations() -> metrics.Histogram:
    return _histogram(metrics.get_meter_provider())
