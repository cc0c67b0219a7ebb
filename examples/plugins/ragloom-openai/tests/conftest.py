"""A server that answers as OpenAI does, on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ragloom.testing import HashingEmbedder, HashingOptions

KEY = "a key for tests"
MOST_TEXTS = 4


class Answering(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        service = self.server.service
        service.requests.append(body)
        if service.failures:
            status, headers = service.failures.pop(0)
            return self.answer(status, {"error": {"message": "busy"}}, headers)
        if self.path != "/v1/embeddings":
            return self.answer(404, {"error": {"message": "no such path"}})
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return self.answer(401, {"error": {"message": "wrong key"}})
        texts = body["input"]
        if len(texts) > MOST_TEXTS or "" in texts:
            return self.answer(400, {"error": {"message": "too many texts, or an empty one"}})
        model = HashingEmbedder(HashingOptions(dimension=body.get("dimensions", 64)))
        rows = [
            {"object": "embedding", "index": index, "embedding": (vector * 3).tolist()}
            for index, vector in enumerate(model.embed_passages(texts))
        ]
        return self.answer(200, {"object": "list", "data": rows[::-1], "model": body["model"]})

    def answer(self, status, content, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_):
        pass


class Service:
    def __init__(self, url):
        self.url = url
        self.requests = []
        self.failures = []


@pytest.fixture(scope="session")
def running():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.service = Service(f"http://127.0.0.1:{server.server_port}/v1")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.service
        server.shutdown()


@pytest.fixture
def service(running, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.requests.clear()
    running.failures.clear()
    return running
