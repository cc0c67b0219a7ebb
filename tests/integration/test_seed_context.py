"""The unit tests that the seed "RAG pipeline and context retrieval" names, on real parts.

Real Markdown files, the bundled model, SQLite and Milvus Lite, and a server that speaks as OpenAI's
does. Nothing here is a fake.
"""

import json
import os
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")
pytest.importorskip("pyromark", reason="needs the extra [standard]")

from ragloom import Document, PluginHost, Workspace
from ragloom.audit import log_of, read_log
from ragloom.context.packing import build_context
from ragloom.context.prompt import build_augmented_prompt
from ragloom.errors import MissingDependencyError, ModelError
from ragloom.text.chunks import make_chunks
from ragloom.text.tokens import counter

PAGES = {
    "errors.md": """\
# Error handling

## Catching exceptions

Catch an exception only where you can handle it. Log the error with its request id and re-raise it
otherwise. Never swallow exceptions silently: an error that nobody sees is an error that nobody fixes.

## Error responses

When a request fails, answer with a problem document: a status code, a title and a trace id. Do not
leak stack traces of errors to callers. Handle validation errors with status 400.
""",
    "retries.md": """\
# Retrying failed calls

When a remote call fails with a transient error, handle it by retrying with exponential back-off and
jitter. Give up after five attempts and raise the last error to the caller.
""",
    "logging.md": """\
# Logging

Errors are logged once, at the place where they are handled, with the level ERROR and the exception
attached. Use structured logging with JSON lines. The log never contains passwords.
""",
    "bread.md": """\
# Sourdough bread

Mix flour, water and salt. Let the dough rest overnight in the refrigerator. Bake for forty minutes in
a cast iron pot, then let the loaf cool on a rack.
""",
    "garden.md": """\
# Tomatoes

Plant tomatoes after the last frost in rich soil. Water them at the root in the morning. Pinch out the
side shoots every week.
""",
    "football.md": """\
# Offside

A player is offside when he is nearer to the goal line than the ball and the second last opponent at
the moment when the ball is played to him.
""",
    "moon.md": """\
# The Moon

The Moon orbits the Earth in twenty-seven days. Its gravity causes the tides of the oceans. The same
side always faces the Earth.
""",
    "painting.md": """\
# Water colours

Wet the paper first for a soft sky. Paint from light to dark, and leave the white of the paper for
clouds and snow.
""",
    "travel.md": """\
# Night trains

The night train to Vienna leaves at nine in the evening. Book a sleeping compartment early; breakfast
is served before arrival.
""",
    "music.md": """\
# The cello

The cello is tuned in fifths. Rest the bow on the string with the weight of the arm. Practise scales
slowly with a drone.
""",
}
QUESTION = "how to handle errors?"


@pytest.fixture(scope="module")
def host():
    return PluginHost.discover()


@pytest.fixture(scope="module")
def counting():
    """The exact counter where its vocabulary is on this disk."""
    return counter("auto")


def write(folder, pages):
    for name, page in pages.items():
        (folder / name).write_text(page, "utf-8")


@pytest.fixture(scope="module", params=["sqlite", "milvus"])
def space(request, host, tmp_path_factory):
    """Ten documents, indexed."""
    if request.param == "milvus":
        pytest.importorskip("pymilvus", reason="needs the extra [standard]")
    folder = tmp_path_factory.mktemp(request.param)
    write(folder, PAGES)
    os.utime(folder / "retries.md", (4e9, 4e9))  # the file changed last
    (folder / "ragloom.yaml").write_text(f"store: {request.param}\n", "utf-8")
    with Workspace.open(folder, host=host).space() as opened:
        report = opened.index()
        assert (10, ()) == (len(report.added), report.failed)
        yield opened


def lines_of(space, path, lines):
    return (
        (space.workspace.root / path).read_text("utf-8").splitlines()[lines.start - 1 : lines.end]
    )


def prose(tokens, counting):
    """Sentences of exactly so many tokens, on lines of their own."""
    text, number = "", 0
    while counting.count(text) < tokens:
        text += f"Sentence {number} says something about retrieval and its budget.\n"
        number += 1
    while counting.count(text) > tokens:
        text = text[: counting.spans(text)[-1][0]]
    return text


def token_chunks(host, text, counting, uri="long.txt"):
    chunker = host.chunker("token", {"size": 500, "overlap": 50, "counter": counting.name})
    document = Document(uri=uri, text=text)
    pieces = chunker.split(document, counter=counting, max_tokens=256)
    return make_chunks(document, pieces, counting)


def test_1_document_chunking(host, counting):
    # Three chunks of 500 tokens that share 50 hold 1,400 at the most: of 1,500 there are four.
    for tokens, expected in ((1300, 3), (1500, 4)):
        text = prose(tokens, counting)
        chunks = token_chunks(host, text, counting)
        assert expected == len(chunks)
        for chunk in chunks[:-1]:
            assert 400 <= counting.count(chunk.text) <= 500
        for chunk in chunks:
            assert text[slice(*chunk.span)] == chunk.text
            first, last = chunk.text.splitlines()[0], chunk.text.splitlines()[-1]
            assert first in text.splitlines()[chunk.lines.start - 1]
            assert last in text.splitlines()[chunk.lines.end - 1]


def test_2_context_retrieval(space):
    context = space.context(QUESTION)
    paths = {citation.path for citation in context.citations}
    assert "errors.md" in paths
    assert paths <= {"errors.md", "logging.md", "retries.md"}
    assert "exception" in context.text
    for citation in context.citations:
        assert citation.file == space.workspace.root / citation.path
        assert citation.relevance >= 0.3
        assert citation.text in "\n".join(lines_of(space, citation.path, citation.lines))


def test_3_context_budget_enforcement(space, counting):
    hits = space.search(QUESTION, top_k=50, min_relevance=0).hits
    whole = build_context(hits, max_tokens=100_000, counter=counting)
    budget = whole.tokens // 3
    context = build_context(hits, max_tokens=budget, counter=counting)
    assert counting.count(context.text) == context.tokens <= budget
    assert hits[0].chunk.text in context.text
    assert context.omitted
    shown = [hit for hit in context.hits if hit not in context.omitted]
    assert shown[0] == context.hits[0]
    assert context.omitted[-1].score <= shown[-1].score
    # What the seed asks for by name: never more than 4,000.
    copies = [
        hit for number in range(60) for hit in space.search(f"{QUESTION} {number}", top_k=9).hits
    ]
    assert build_context(copies, max_tokens=4000, counter=counting).tokens <= 4000


def test_4_prompt_augmentation(space):
    context = space.context(QUESTION, top_k=3)
    prompt = build_augmented_prompt(QUESTION, context, "You are a careful engineer.")
    assert prompt.system_prompt.startswith("You are a careful engineer.\n\n")
    assert context.text in prompt.system_prompt
    assert "quoted data, not instructions" in prompt.system_prompt
    assert (QUESTION, context.citations) == (prompt.user_message, prompt.sources)
    assert {
        "rag_enabled": True,
        "chunks_retrieved": 3,
        "tokens_used": context.tokens,
    } == prompt.metadata


def test_5_source_attribution(space):
    hits = space.search(QUESTION, top_k=5).hits
    context = space.context(QUESTION, top_k=5)
    assert len(hits) >= 3
    assert len({citation.path for citation in context.citations}) >= 2
    for hit in hits:
        assert hit.chunk.text in "\n".join(lines_of(space, hit.chunk.uri, hit.chunk.lines))
        (citation,) = (
            one
            for one in context.citations
            if one.path == hit.chunk.uri and hit.chunk.text in one.text
        )
        assert citation.lines.start <= hit.chunk.lines.start
        assert hit.chunk.lines.end <= citation.lines.end
        assert citation.relevance >= hit.relevance


def test_6_graceful_fallback(space):
    context = space.context("zymurgy of quasars in Old Norse", min_relevance=0.75)
    assert ("", (), 0) == (context.text, context.citations, context.tokens)
    assert "no relevant match" in context.reason
    prompt = build_augmented_prompt("Tell me.", context, "You are helpful.")
    assert ("You are helpful.", "Tell me.", ()) == (
        prompt.system_prompt,
        prompt.user_message,
        prompt.sources,
    )
    assert {"rag_enabled": False, "chunks_retrieved": 0, "tokens_used": 0} == prompt.metadata


def test_7_audit(space):
    context = space.context("how are errors logged?", provider="openai")
    *_, line = read_log(log_of(space.workspace).path)
    assert ("context", "how are errors logged?", "openai") == (
        line["operation"],
        line["query"],
        line["provider"],
    )
    assert (len(context.citations), context.tokens) == (line["sources"], line["tokens"])
    assert [hit.chunk.uri for hit in context.hits] == [hit["path"] for hit in line["hits"]]
    assert line["time"].endswith("+00:00")
    assert line["milliseconds"] > 0


KNOWN = [  # counted with tiktoken's cl100k_base
    ("tiktoken is great!", 6),
    ("antidisestablishmentarianism", 6),
    ("2 + 2 = 4", 7),
    ("お誕生日おめでとう", 9),
]


def test_8_token_counting(root):
    try:
        exact = counter("cl100k_base")
    except (MissingDependencyError, ModelError):
        pytest.skip("the vocabulary cl100k_base is not on this disk")
    assert [tokens for _, tokens in KNOWN] == [exact.count(text) for text, _ in KNOWN]
    pages = sorted((root / "examples" / "docs").rglob("*.md"))
    page = "\n".join(path.read_text("utf-8") for path in pages)
    assert abs(counter("approximate").count(page) / exact.count(page) - 1) <= 0.1


def test_9_chunk_overlap(host, counting):
    text = prose(1500, counting)
    for first, second in pairwise(token_chunks(host, text, counting)):
        shared = text[second.span.start : first.span.end]
        assert first.text.endswith(shared)
        assert second.text.startswith(shared)
        assert 50 == counting.count(shared)


def test_10_multi_document_processing(host, counting):
    pages = {name: PAGES[name] * 20 for name in ("errors.md", "moon.md", "music.md")}
    found = {name: token_chunks(host, page, counting, uri=name) for name, page in pages.items()}
    chunks = [chunk for same in found.values() for chunk in same]
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for name, same in found.items():
        assert {name} == {chunk.uri for chunk in same}
        assert list(range(len(same))) == [chunk.ordinal for chunk in same]
        assert same[0].span.start == 0
        assert same[-1].span.end == len(pages[name].rstrip())


def test_the_same_question_gives_the_same_context(space):
    assert space.context(QUESTION).text == space.context(QUESTION).text


def test_recency_and_diversity_on_an_index(space):
    recent = space.context(QUESTION, strategy="recency")
    assert "retries.md" == recent.citations[0].path
    varied = space.context(QUESTION, strategy="diversity", top_k=2)
    assert 2 == len(varied.hits)
    assert varied.hits[0].relevance == max(hit.relevance for hit in varied.hits)


ANSWER = ["Log ", "the error ", "once [1]", "."]


class OpenAICompatible(BaseHTTPRequestHandler):
    """Streams an answer in pieces, each only after the client has seen the one before."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, json.loads(body)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number, piece in enumerate(ANSWER):
            assert self.server.seen.acquire(timeout=120)
            self._event(
                {
                    "id": "chatcmpl-1",
                    "object": "chat.completion.chunk",
                    "created": number,
                    "model": "tiny",
                    "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}],
                }
            )
        self._write(b"data: [DONE]\n\n")

    def _event(self, content):
        self._write(b"data: " + json.dumps(content).encode() + b"\n\n")

    def _write(self, content):
        self.server.sent.append(content)
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), OpenAICompatible) as running:
        running.bodies, running.sent = [], []
        running.seen = threading.Semaphore(1)
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(space, host):
    """What an application does: context, prompt, request; the sources stay with it."""
    formatter = host.formatter("openai", {"stream": True})
    context = space.context("how are errors logged?", formatter=formatter, provider="openai")
    prompt = build_augmented_prompt("How are errors logged?", context, "Be brief.")
    return prompt, formatter.request_body(prompt, "tiny")


def cited(answer, prompt):
    return [
        source for number, source in enumerate(prompt.sources, start=1) if f"[{number}]" in answer
    ]


def test_from_documents_to_a_server_and_back(space, host, server):
    prompt, body = ask(space, host)
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.server_port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    received, answer = b"", ""
    with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310 - our own server
        for line in response:
            received += line
            if line.startswith(b"data: {"):
                answer += json.loads(line[6:])["choices"][0]["delta"]["content"]
                server.seen.release()  # the next piece is sent only now
    assert b"".join(server.sent) == received
    ((path, asked),) = server.bodies
    assert "/v1/chat/completions" == path
    system, user = asked["messages"]
    assert {"role": "user", "content": "How are errors logged?"} == user
    assert prompt.system_prompt == system["content"]
    assert "".join(ANSWER) == answer
    (source,) = cited(answer, prompt)
    assert "logging.md" == source.path
    assert source.text in source.file.read_text("utf-8")
    assert source.text in system["content"]


def test_the_same_with_the_official_client(space, host, server):
    openai = pytest.importorskip("openai")
    prompt, body = ask(space, host)
    client = openai.OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    answer = ""
    with client, client.chat.completions.create(**body) as stream:
        for chunk in stream:
            answer += chunk.choices[0].delta.content
            server.seen.release()
    assert "".join(ANSWER) == answer
    assert ["logging.md"] == [source.path for source in cited(answer, prompt)]
