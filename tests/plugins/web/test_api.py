"""What the page is told: the same as the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from urllib.parse import quote

import numpy as np
import pytest
from browser import HOSTILE_NAME, Client, page_of

QUERY = "How do I log errors?"


def asked(client, address, /, **given):
    text = "&".join(f"{key}={quote(str(value))}" for key, value in given.items())
    status, answer = client.json(f"/api/{address}?{text}")
    assert 200 == status, answer
    return answer


@pytest.mark.parametrize("query", [QUERY, "retry", "What is a trace? How are calls retried?"])
def test_every_gate_shows_what_a_search_with_it_shows(client, space, query):
    told = asked(client, "search", space="docs", q=query)
    assert told["gates"]
    assert [] == [one for one in told["relevances"] if not 0 <= one <= 1]
    for gate in (0.0, 0.1, 0.3, 0.55, 0.8, 0.95, 1.0):
        hits = space.search(query, min_relevance=gate).hits
        found = next((one["hits"] for one in told["gates"] if one["min_relevance"] >= gate), [])
        shown = [told["candidates"][hit["candidate"]] for hit in found]
        assert [(hit.chunk.uri, hit.chunk.lines.start) for hit in hits] == [
            (one["path"], one["start_line"]) for one in shown
        ]
        assert [len(hit.copies) for hit in hits] == [len(hit["copies"]) for hit in found]


def test_words_are_marked_and_conditions_hold(client):
    told = asked(client, "search", space="docs", q="retry calls", where="status=accepted")
    assert {"docs/adr/0001.md"} == {one["path"] for one in told["candidates"]}
    parts = told["candidates"][0]["lines"]
    assert "Retry" in [text for line in parts for text in line[1::2]]
    facet = asked(client, "search", space="docs", q="retry calls", **{"facet.status": "draft"})
    assert {"docs/adr/0002.md"} == {one["path"] for one in facet["candidates"]}


@pytest.mark.parametrize(
    "path",
    [
        "docs/examples/observability/pillars/logging.md",
        "docs/empty.md",
        "notes/outside.md",
        "docs/no.md",
    ],
)
def test_why_not_names_the_reason_that_explain_gives(client, project, path):
    command = [sys.executable, "-m", "ragloom", "explain", QUERY, "-s", "docs", "--expect", path]
    done = subprocess.run([*command, "--json"], cwd=project, capture_output=True, check=True)
    expected = json.loads(done.stdout)
    told = asked(client, "why", space="docs", q=QUERY, path=path)
    assert expected["reason"] == told["reason"]
    assert [one["verdict"] for one in expected["expected"]] == [
        one["verdict"] for one in told["expected"]
    ]
    assert bool(told["reason"]) != bool(told["expected"])


def test_a_document_is_whole_and_has_the_chunks_of_the_index(client, space, project):
    path = "docs/examples/observability/pillars/logging.md"
    told = asked(client, "document", space="docs", path=path)
    text = (project / path).read_text("utf-8")
    assert text == "".join(piece["text"] for piece in told["segments"])
    snapshot = space.snapshot()
    assert not told["changed"]
    for chunk in told["chunks"]:
        held = snapshot.chunk(chunk["row"])
        assert [held.lines.start, held.lines.end, held.tokens] == [
            chunk["start_line"],
            chunk["end_line"],
            chunk["tokens"],
        ]
        assert snapshot.embedded_text(chunk["row"]) == chunk["embedded"]
    lines = text.splitlines()
    for piece in told["segments"]:
        first = piece["text"].splitlines()[0]
        assert lines[piece["line"] - 1].endswith(first)


def test_the_neighbours_of_a_chunk_are_the_nearest(client, space):
    told = asked(client, "neighbours", space="docs", row=3)
    snapshot = space.snapshot()
    vectors = snapshot.vectors(np.arange(len(snapshot)))
    cosines = vectors @ vectors[3]
    cosines[3] = -2
    best = [one["row"] for one in told["neighbours"]]
    assert 6 == len(best)
    assert np.allclose(np.sort(cosines)[::-1][:6], cosines[best], atol=1e-3)


def test_the_map_has_every_chunk_and_names_copies(client, space):
    status, headers, body = client.ask("/api/map?space=docs")
    assert 200 == status
    count = len(space.snapshot())
    assert 12 * count == len(body)
    positions = np.frombuffer(body[: 8 * count], "<f4").reshape(-1, 2)
    assert np.isclose(1, np.abs(positions).max())
    assert 0 < float(headers["x-explained"]) < 1
    files = np.frombuffer(body[8 * count :], "<i4")
    assert np.array_equal(space.snapshot().file_of_row, files)
    assert body == client.ask("/api/map?space=docs")[2]
    vectors = space.snapshot().vectors(np.arange(count))
    spread = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    assert np.isclose(spread[:2].sum() / spread.sum(), float(headers["x-explained"]), atol=1e-3)
    marks = np.frombuffer(client.ask("/api/marks?space=docs")[2], np.uint8)
    uris = np.array(space.snapshot().uris)[files]
    copies = set(uris[(marks & 1) == 1].tolist())
    assert {"docs/adr/0001.md", "docs/copy.md"} <= copies
    assert 0 < ((marks & 2) == 2).sum() < count / 20


def test_the_audit_log_lists_what_found_nothing(client):
    told = asked(client, "audit")
    assert "how do I bake bread?" in [one["query"] for one in told["nothing"]]
    assert told["answered"] < told["searches"]
    assert "search" in {one["operation"] for one in told["entries"]}


def test_relevance_is_measured_once_for_an_index(client):
    before = asked(client, "relevance", space="hostile")
    assert before["measured"] is None
    assert 200 == client.json("/api/measure?space=hostile", "POST")[0]
    told = asked(client, "relevance", space="hostile")["measured"]
    assert told["total"] >= 200
    assert not told["failed"]


def test_evaluations_are_side_by_side_with_p_values(client, project):
    from ragloom.evaluation.kept import keep_evaluation
    from ragloom.evaluation.measures import Evaluation, GateReport

    gate = GateReport(
        min_relevance=0.3,
        off_topic=2,
        injected=1,
        answerable=1,
        kept=1,
        off_topic_relevance=(0.1, 0.4),
        answerable_relevance=(0.9,),
    )
    for mode, score in (("lexical", 0.5), ("hybrid", 0.8)):
        found = Evaluation(
            collection="harbour",
            mode=mode,
            metrics={"ndcg@10": score},
            by_query={f"q{number}": score for number in range(20)},
            run={},
            latency_ms=(1.0,),
            chunks=3,
            gate=gate,
        )
        keep_evaluation(project / ".ragloom", found)
    told = asked(client, "relevance", space="docs")
    assert ["hybrid", "lexical"] == [one["mode"] for one in told["evaluations"]]
    assert [[0.1, 0.4], [0.1, 0.4]] == [one["off_topic"] for one in told["evaluations"]]
    (compared,) = told["comparisons"]
    assert ("hybrid", "lexical") == (compared["first"], compared["second"])
    assert compared["p_value"] < 0.001
    assert abs(compared["difference"] - 0.3) < 1e-9


def test_a_terminal_editor_is_told_and_a_file_outside_is_not_opened(project):
    with page_of(project, EDITOR="vim", VISUAL="") as (url, _):
        client = Client(url)
        client.enter()
        status, told = client.json("/api/open?space=docs&path=docs/copy.md&line=3", "POST")
        assert 200 == status
        assert {"opened": False, "command": f"vim +3 {project / 'docs/copy.md'}"} == told
        for path in ("../../etc/passwd", "notes/outside.md"):
            status, told = client.json(f"/api/open?space=docs&path={path}&line=3", "POST")
            assert 400 == status
            assert "is not in the index" in told["error"]["message"]


@pytest.mark.skipif(os.name != "posix", reason="the editor is a script")
def test_an_editor_with_a_window_is_started_at_the_line(project, tmp_path):
    editor, noted = tmp_path / "code", tmp_path / "noted"
    editor.write_text(f'#!/bin/sh\necho "$@" > {noted}\n', "utf-8")
    editor.chmod(0o700)
    with page_of(project, VISUAL=str(editor)) as (url, _):
        client = Client(url)
        client.enter()
        told = client.json("/api/open?space=docs&path=docs/copy.md&line=3", "POST")[1]
        assert told["opened"]
    assert f"-g {project / 'docs/copy.md'}:3" == noted.read_text("utf-8").strip()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("search?space=docs&q=", "q is missing"),
        ("search?space=nothing&q=a", "unknown space 'nothing'"),
        ("search?space=docs&q=a&mode=magic", "unknown mode 'magic'"),
        ("search?space=docs&q=a&where=%3D", ""),
        ("document?space=docs&path=../ragloom.yaml", "is not in the index"),
        ("neighbours?space=docs&row=999999", "unknown chunk"),
        ("neighbours?space=docs&row=-1", "unknown chunk"),
        ("places?space=docs&row=x", "expected a whole number"),
        ("places?space=docs&row=999999", "unknown chunk"),
    ],
)
def test_an_error_is_one_line(client, path, said):
    status, told = client.json(f"/api/{path}")
    assert 400 == status
    assert said in told["error"]["message"]
    assert "\n" not in told["error"]["message"]


def test_a_hostile_name_is_as_it_is(client):
    held = asked(client, "files", space="hostile")
    assert [f"hostile/{HOSTILE_NAME}"] == [one["path"] for one in held["files"]]
