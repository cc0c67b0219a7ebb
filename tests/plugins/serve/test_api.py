"""A team's server over real requests: its own addresses, errors, the document, metrics, access."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("mcp")

from jsonschema import Draft202012Validator

from ragloom_serve.api import CONTEXT_GIVES, SEARCH_GIVES

from .conftest import ask, running

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105
QUERY = "copy a bucket"


def test_search_by_address_and_by_body_answers_the_same(url):
    status, found = ask(url, "/search?query=copy+a+bucket&space=docs&top_k=3")
    assert 200 == status
    Draft202012Validator(SEARCH_GIVES).validate(found)
    assert ("docs", "docs/s3.md") == (found["hits"][0]["space"], found["hits"][0]["path"])
    assert "Copy a bucket with aws s3 cp." in found["hits"][0]["text"]
    assert (200, found) == ask(url, "/search", {"query": QUERY, "space": "docs", "top_k": 3})


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ("path=ops", {"ops/restart.md"}),
        ("path=docs&path=ops/restart.md", {"docs/s3.md", "docs/ec2.md", "ops/restart.md"}),
        ("where=status=accepted", {"docs/s3.md"}),
        ("where=year>=2024&where=status!=draft", {"docs/s3.md"}),
        ("space=ops", {"ops/restart.md"}),
    ],
)
def test_filters(url, arguments, paths):
    status, found = ask(url, f"/search?query=aws+gateway+with&min_relevance=0&{arguments}")
    assert 200 == status, found
    assert paths == {hit["path"] for hit in found["hits"]}


def test_the_mode_decides_what_is_compared(url):
    nothing = ask(url, "/search?query=duplicate+object+storage&mode=lexical")[1]
    assert [] == nothing["hits"]
    found = ask(url, "/search?query=duplicate+object+storage&mode=dense&min_relevance=0")[1]
    assert "docs/s3.md" == found["hits"][0]["path"]


def test_a_context_keeps_to_its_budget(url):
    status, found = ask(url, "/context", {"query": QUERY, "max_tokens": 60, "format": "markdown"})
    assert 200 == status
    Draft202012Validator(CONTEXT_GIVES).validate(found)
    assert 0 < found["tokens"] <= 60
    assert "docs/s3.md" == found["citations"][0]["path"]
    assert found["citations"][0]["text"] in found["text"]


def test_spaces(url):
    spaces = ask(url, "/spaces")[1]["spaces"]
    assert [("docs", 2, 1), ("ops", 1, 1)] == [
        (one["name"], one["files"], one["generation"]) for one in spaces
    ]


WRONG = [
    ("/search", None, 400, "'query' is a required property"),
    ("/search?query=a&query=b", None, 400, "query is given 2 times"),
    ("/search?query=a&top_k=many", None, 400, "top_k: 'many' is not of type 'integer'"),
    ("/search?query=a&where=status", None, 400, "cannot read the condition 'status'"),
    ("/search?query=a&space=doc", None, 400, "unknown space 'doc'; did you mean 'docs'?"),
    ("/search?query=a&path=doks", None, 400, "no indexed file is 'doks' or lies below it"),
    ("/search?query=a&limit=3", None, 400, "'limit' was unexpected"),
    ("/search", "{", 400, "the body is no JSON"),
    ("/search", "[]", 400, "the body is no JSON object"),
    ("/search", "[" * 100_000, 400, "the body is no JSON"),
    ("/search", " " * 5_000_000, 413, "the body has more than"),
    ("/context", '{"query": "a", "format": "markdwn"}', 400, "did you mean 'markdown'"),
    ("/nothing", None, 404, "/openapi.json lists all"),
    ("/spaces", "{}", 405, "does not take this method"),
    ("/v1/vector_stores/doc/search", '{"query": "a"}', 404, "unknown vector store 'doc'"),
    ("/v1/embeddings", '{"input": "a", "model": "ada"}', 400, "unknown model 'ada'"),
    ("/v1/embeddings", '{"input": [1, 2], "model": "onnx"}', 400, "input: "),
]


@pytest.mark.parametrize(("path", "raw", "status", "said"), WRONG)
def test_what_is_wrong_is_one_line_of_json(url, path, raw, status, said):
    found, content = ask(url, path, raw=raw)
    assert status == found, content
    assert {"error"} == set(content)
    assert said in content["error"]["message"]
    assert "\n" not in content["error"]["message"]
    assert len(content["error"]["message"]) < 500
    assert status == content["error"]["code"]


@pytest.mark.slow
def test_the_document_is_openapi_and_names_every_address(url):
    pytest.importorskip("openapi_spec_validator")
    from openapi_spec_validator import validate

    document = ask(url, "/openapi.json")[1]
    validate(document)
    for path, item in document["paths"].items():
        for method in {"get", "post"} & set(item):
            address = path.replace("{space}", "docs")
            status, _ = ask(
                url, address, method=method.upper(), raw="" if method == "post" else None
            )
            assert status in (200, 400), (method, address)


def test_metrics_are_prometheus_and_follow_requests(url):
    from prometheus_client.parser import text_string_to_metric_families

    def value(name, **labels):
        families = text_string_to_metric_families(ask(url, "/metrics")[1])
        samples = [one for family in families for one in family.samples]
        return next(
            (one.value for one in samples if one.name == name and labels == one.labels), 0.0
        )

    before = value("ragloom_requests_total", path="/context", status="200")
    ask(url, "/context?query=bucket")
    ask(url, "/context?query=bucket")
    assert before + 2 == value("ragloom_requests_total", path="/context", status="200")
    assert 1 == value("ragloom_generation", space="docs")
    assert 2 == value("ragloom_chunks", space="docs")
    assert value("process_resident_memory_bytes") > 1e6


def test_health_names_no_document(url):
    status, found = ask(url, "/health")
    assert (200, {"status", "version"}) == (status, set(found))


def test_access_is_the_same_for_every_address(project):
    with running(project, "--space", "docs", RAGLOOM_SERVE_TOKEN=TOKEN) as address:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/search?query=a", "/context?query=a", "/spaces", "/metrics", "/openapi.json"):
            assert 401 == ask(address, path)[0]
            assert 200 == ask(address, path, **bearer)[0]
            assert 421 == ask(address, path, **bearer, Host="evil.example")[0]
            assert 403 == ask(address, path, **bearer, Origin="https://evil.example")[0]
        assert 401 == ask(address, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})[0]
        assert 200 == ask(address, "/health")[0]
        assert ["docs"] == [one["name"] for one in ask(address, "/spaces", **bearer)[1]["spaces"]]


def test_a_request_under_way_is_finished_before_the_end(project):
    from concurrent.futures import ThreadPoolExecutor
    from time import sleep

    texts = [f"Text {number}. " + "The gateway is restarted by hand. " * 40 for number in range(64)]
    with ThreadPoolExecutor() as pool:
        with running(project) as address:
            answer = pool.submit(ask, address, "/v1/embeddings", {"input": texts, "model": "docs"})
            sleep(0.5)  # until it is under way; then the server is told to stop
        status, found = answer.result(60)
    assert (200, 64) == (status, len(found["data"]))


def test_nothing_indexed_is_said_and_then_served(tmp_path):
    (tmp_path / "a.md").write_text("# Zebras\n\nZebras graze on the plain.\n", "utf-8")
    (tmp_path / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
    with running(tmp_path) as address:
        status, content = ask(address, "/search?query=zebras")
        assert (503, True) == (status, "run 'ragloom index'" in content["error"]["message"])
        index = [sys.executable, "-m", "ragloom", "-C", str(tmp_path), "index", "--quiet"]
        subprocess.run(index, check=True, timeout=120)
        assert "a.md" == ask(address, "/search?query=zebras")[1]["hits"][0]["path"]
        (tmp_path / "b.md").write_text("# Okapis\n\nOkapis hide in the forest.\n", "utf-8")
        subprocess.run(index, check=True, timeout=120)
        found = ask(address, "/search?query=okapis")[1]
        assert ("b.md", 2) == (found["hits"][0]["path"], found["generation"])
