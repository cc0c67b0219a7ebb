"""An embedder behind a server that is down: a search answers by words, and says so."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import ragloom_formats
import ragloom_local
import ragloom_markdown
from ragloom import ModelError, PluginHost, Provider, Query, Workspace, embedder_from, hookimpl
from ragloom.testing.fakes import HashingEmbedder


class _Server(BaseHTTPRequestHandler):
    model = HashingEmbedder()

    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = json.dumps(self.model.embed_passages(texts).tolist()).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        """Nothing on stderr."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


class _Remote:
    def __init__(self, address):
        self.address = address

    def embed(self, texts):
        body = json.dumps(list(texts)).encode()
        try:
            with urllib.request.urlopen(self.address, body, timeout=5) as answer:  # noqa: S310
                return np.array(json.loads(answer.read()), np.float32)
        except urllib.error.URLError as error:
            raise ModelError(f"{self.address}: {error.reason}") from error

    @hookimpl
    def ragloom_embedders(self):
        make = lambda _options: embedder_from(self.embed, dimension=64, fingerprint="remote-1")  # noqa: E731
        return [Provider(name="remote", summary="Over HTTP.", create=make, local=True)]


@pytest.fixture
def space(server, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text("# Keys\n\nRotate the signing keys weekly.\n")
    (tmp_path / "docs" / "locks.md").write_text("# Locks\n\nA mutex is held for a minute.\n")
    (tmp_path / "ragloom.yaml").write_text("embedder: remote\nstore: memory\n")
    remote = _Remote(f"http://127.0.0.1:{server.server_port}/")
    host = PluginHost(
        {
            "remote": remote,
            "formats": ragloom_formats,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
        }
    )
    with Workspace.open(tmp_path, host=host).space() as opened:
        opened.index()
        yield opened


def test_words_answer_with_a_warning(space, server, caplog):
    asked = Query("signing keys", min_relevance=0.3)
    assert ["docs/keys.md"] == [hit.chunk.uri for hit in space.search(asked).hits]
    assert not caplog.records
    server.shutdown()
    server.server_close()
    found = space.search(asked)
    assert ["docs/keys.md"] == [hit.chunk.uri for hit in found.hits]
    assert [one.getMessage().split(": ")[:2] for one in caplog.records] == [
        ["default", "searching by words alone"]
    ]
    assert "Rotate the signing keys" in space.context("signing keys").text
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1"):
        space.search(Query("signing keys", mode="dense"))
