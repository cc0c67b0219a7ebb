"""What a server counts, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from time import time

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder

from ragloom import RagloomError
from ragloom_mcp.shelf import Shelf

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Requests by address and status, and what is in each space."""

    def __init__(self, shelf: Shelf) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "ragloom_requests", "Requests answered.", ["path", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "ragloom_request_seconds",
            "Seconds to answer a request.",
            ["path"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        ProcessCollector(registry=self._registry)
        self._registry.register(_Spaces(shelf))

    def exposed(self, accept: str) -> tuple[bytes, str]:
        """The metrics, and their content type; ``accept`` is the header of that name."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _Spaces:
    """Asks the spaces whenever it is asked."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """A gauge for each figure, with a value for each space; one that is not indexed has 0."""
        figures = {
            "generation": "The generation that answers; 0 where nothing is indexed.",
            "files": "Files indexed.",
            "chunks": "Chunks indexed.",
            "pending_chunks": "Chunks without an embedding yet.",
            "index_age_seconds": "Seconds since the generation was published.",
        }
        gauges = {
            name: GaugeMetricFamily(f"ragloom_{name}", text, labels=["space"])
            for name, text in figures.items()
        }
        for name in self._shelf.names():
            for figure, value in self._figures(name).items():
                gauges[figure].add_metric([name], value)
        yield from gauges.values()

    def _figures(self, name: str) -> dict[str, float]:
        try:
            snapshot = self._shelf.space(name).snapshot()
        except RagloomError:
            return {"generation": 0}
        return {
            "generation": snapshot.meta.generation,
            "files": len(snapshot.files),
            "chunks": len(snapshot),
            "pending_chunks": len(snapshot.pending),
            "index_age_seconds": max(time() - snapshot.meta.created, 0.0),
        }
