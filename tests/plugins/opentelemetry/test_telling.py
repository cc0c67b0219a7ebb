"""Spans and durations by the real SDK, read from its exporters in memory."""

import asyncio
import json
import subprocess
import sys

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra [opentelemetry]")
pytest.importorskip("pyromark")

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ragloom import PluginHost, SpaceGroup, Workspace
from ragloom.testing import hashing_provider

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture(scope="session")
def sdk():
    """The exporter of spans and the reader of metrics; a process has one provider of each."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    return exporter, reader


@pytest.fixture
def spans(sdk):
    exporter, _ = sdk
    exporter.clear()
    return exporter.get_finished_spans


@pytest.fixture
def space(tmp_path, make_plugin):
    import ragloom_formats
    import ragloom_local
    import ragloom_markdown
    import ragloom_opentelemetry

    plugins = {
        "formats": ragloom_formats,
        "hashing": make_plugin(embedders=[hashing_provider()]),
        "local": ragloom_local,
        "markdown": ragloom_markdown,
        "opentelemetry": ragloom_opentelemetry,
    }

    def make(settings="opentelemetry: {enabled: true}\n"):
        (tmp_path / "pumps.md").write_text("# Pumps\n\nA pump is oiled in May.\n")
        (tmp_path / "ragloom.yaml").write_text(
            f"embedder: hashing\nstore: sqlite\nmin_relevance: 0\n{settings}"
        )
        return Workspace.open(tmp_path, host=PluginHost(plugins), trusted=True).space()

    return make


def test_a_search_is_a_span_of_the_conventions(space, spans):
    opened = space()
    opened.index()
    result = opened.search("oiled pump", top_k=3)

    (span,) = (one for one in spans() if one.name == "retrieval")
    assert {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "default",
        "gen_ai.retrieval.top_k": 3,
        "ragloom.operation": "search",
        "ragloom.generation": 1,
        "ragloom.hits": len(result.hits),
    } == dict(span.attributes)
    assert 1 == len(result.hits)
    assert trace.SpanKind.INTERNAL == span.kind
    assert span.start_time < span.end_time


def test_a_context_says_how_much_was_packed(space, spans):
    opened = space()
    opened.index()
    context = opened.context("oiled pump", strategy="diversity")

    (span,) = (one for one in spans() if one.name == "retrieval")
    assert "context" == span.attributes["ragloom.operation"]
    assert context.tokens == span.attributes["ragloom.context.tokens"]
    assert 1 == span.attributes["ragloom.context.passages"]
    assert opened.settings.top_k == span.attributes["gen_ai.retrieval.top_k"]


@pytest.mark.parametrize(
    ("said", "told"),
    [("true", True), ("SPAN_ONLY", True), ("span_and_event", True), ("false", False), ("", False)],
)
def test_queries_are_told_only_where_the_variable_says_so(space, spans, monkeypatch, said, told):
    monkeypatch.setenv(CONTENT, said)
    opened = space()
    opened.index()
    token = "ghp_" + "a1B2" * 9
    hits = opened.search(f"oiled pump {token}").hits

    (span,) = (one for one in spans() if one.name == "retrieval")
    assert told == ("gen_ai.retrieval.query.text" in span.attributes)
    if told:
        assert "oiled pump" in span.attributes["gen_ai.retrieval.query.text"]
        expected = [{"id": hit.chunk.id, "score": hit.relevance} for hit in hits]
        assert expected == json.loads(span.attributes["gen_ai.retrieval.documents"])
    assert token not in str(dict(span.attributes))


def test_a_run_is_a_span_with_its_figures(space, spans):
    opened = space()
    opened.index()
    opened.verify()

    first, second = spans()
    assert ("ragloom.index", "ragloom.verify") == (first.name, second.name)
    assert 1 == first.attributes["ragloom.report.added"]
    assert first.attributes["ragloom.changed"] is True
    assert 1 == second.attributes["ragloom.report.exact"]


def test_spans_are_below_the_span_of_the_caller(space, spans):
    opened = space()
    opened.index()
    tracer = trace.get_tracer("caller")

    async def asked():
        with tracer.start_as_current_span("answer"):
            opened.search("pump")
            await opened.asearch("pump")
            await SpaceGroup([opened]).acontext("pump")

    asyncio.run(asked())
    found = {one.name: one for one in spans()}
    retrievals = [one for one in spans() if one.name == "retrieval"]
    assert 3 == len(retrievals)
    assert {found["answer"].context.span_id} == {one.parent.span_id for one in retrievals}


def test_durations_are_a_metric_of_the_conventions(space, sdk):
    _, reader = sdk
    opened = space()
    opened.index()
    opened.search("pump")

    (metric,) = (
        metric
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    )
    assert ("gen_ai.retrieval.duration", "s") == (metric.name, metric.unit)
    (point,) = metric.data.data_points
    assert {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "default",
    } == dict(point.attributes)
    assert point.count >= 1
    assert 0 < point.sum < 600


@pytest.mark.parametrize("settings", ["", "opentelemetry: {enabled: false}\n"])
def test_it_is_off_unless_it_is_configured(space, spans, settings):
    opened = space(settings)
    opened.index()
    opened.search("pump")
    assert () == spans()


def test_a_variable_turns_it_on(space, spans, monkeypatch):
    monkeypatch.setenv("RAGLOOM_OPENTELEMETRY_ENABLED", "true")
    space("").index()
    assert ["ragloom.index"] == [one.name for one in spans()]


def test_without_the_package_a_search_answers_and_the_extra_is_named(space, monkeypatch, caplog):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *a: None if name == "opentelemetry" else find(name, *a),
    )
    opened = space()
    opened.index()
    assert opened.search("pump").hits
    assert "pip install 'ragloom[opentelemetry]'" in caplog.text


def test_without_a_provider_a_command_answers_as_ever(tmp_path):
    (tmp_path / "pumps.md").write_text("# Pumps\n\nA pump is oiled in May.\n")
    (tmp_path / "ragloom.yaml").write_text("store: memory\nopentelemetry: {enabled: true}\n")
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "search", "pump", "--mode", "lexical"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pumps.md:" in done.stdout
    assert "opentelemetry" not in done.stderr
