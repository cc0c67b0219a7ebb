"""What stands in a file letter for letter is found at the default gate; what stands nowhere is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom import Workspace

CASES = Path(__file__).parents[2] / "data" / "cases"
OWN = {
    "guides/flags.md": "# Running it\n\nAdd --verbose to see each step, and --dry-run to take none.\n",
    "guides/errors.md": "# What went wrong\n\nThe compiler reports E0162 for an odd pattern, and "
    "ECONNRESET where the other side hung up.\n",
    "guides/codes.md": "# Codes\n\nERR_HULL_NOT_FOUND: the registry lists no such vessel.\n",
    "guides/releases.md": "# Releases\n\nv1.2.3 mends the lock; 2.0.0-rc.1 is for the brave.\n",
    "etc/nginx.conf.md": "# Proxy\n\nThe settings of the proxy, line by line.\n",
    "guides/greeting.md": "# The first page\n\nThe page says hello to whoever opens it, and thanks a lot "
    "of people. It asks for your name.\n",
    "guides/encoding.md": "# Tokens\n\nWe count with o200k_base, by tiktoken. The header is "
    "X-Request-Id.\n",
    "guides/ordering.md": "# Order of the crew\n\nThe order in which the crew is told when a storm is due, "
    "and the new part of the store that they check first.\n",
    "guides/classes.md": "# Classes\n\nA `VectorStoreIndex` is made by `from_documents()`; see "
    "core/index/base.py for it, "
    "or issue #4077. Questions go to the Q&A on Fridays.\n",
    "guides/straße.md": "# Straßen\n\nDie Hafenstraße ist gesperrt, solange das Wasser hoch steht.\n",
}
FOUND = {
    # A rare word alone.
    "ECONNRESET": "guides/errors.md",
    "tiktoken": "guides/encoding.md",
    "gesperrt": "guides/straße.md",
    "Hafenstraße": "guides/straße.md",
    # Flags, error codes, versions, headers.
    "--verbose": "guides/flags.md",
    "--dry-run": "guides/flags.md",
    "E0162": "guides/errors.md",
    "v1.2.3": "guides/releases.md",
    "2.0.0-rc.1": "guides/releases.md",
    "X-Request-Id": "guides/encoding.md",
    # Identifiers, whole and as people say them.
    "o200k_base": "guides/encoding.md",
    "VectorStoreIndex": "guides/classes.md",
    "vector store index": "guides/classes.md",
    "from_documents": "guides/classes.md",
    "from_documents()": "guides/classes.md",
    # Numbers and names with signs.
    "what is #4077 about?": "guides/classes.md",
    "Q&A": "guides/classes.md",
    "when is the Q&A?": "guides/classes.md",
    # File names and paths, whether the text has them or not.
    "nginx.conf": "etc/nginx.conf.md",
    "core/index/base.py": "guides/classes.md",
    "guides/flags.md": "guides/flags.md",
    # An identifier in a question.
    "what does --verbose do": "guides/flags.md",
    "what does E0162 mean?": "guides/errors.md",
    "why do I get ECONNRESET": "guides/errors.md",
    "Why does it end with ECONNRESET?": "guides/errors.md",
    # An error code, whatever is pasted around it.
    "Error [ERR_HULL_NOT_FOUND]: cannot resovle 'Aurora' imported form /srv/fleet/app.js line 41": (
        "guides/codes.md"
    ),
    "Who is Szymborska?": "ids.md",
    "about Szymborska": "ids.md",
    "what is new in v1.2.3?": "guides/releases.md",
    "where is o200k_base used": "guides/encoding.md",
    "Hi, could you please tell me where OPS-4711 is mentioned? Thanks a lot!": "ids.md",
    # Words that stand in many notes, together in one of them.
    "order crew": "guides/ordering.md",
}
NOT_FOUND = [
    "OPS-4713",
    "E0163",
    "--quiet",
    "v1.2.4",
    "o100k_base",
    "VectorStoreQuery",
    "what does E0163 mean?",
    "what does --quiet do",
    "Error [ERR_HULL_NOT_READY]: cannot resovle 'Aurora' imported form /srv/fleet/app.js line 41",
    "zzzqqq xyzzy",
    "blorptastic",
    "hello",
    "Hello!",
    "hi there",
    "what is your name?",
    "thanks a lot!",
    "thank you very much",
    "please",
    "good morning",
]


def read(name):
    return [json.loads(line) for line in (CASES / name).open(encoding="utf-8")]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """The notes of the cases; another folder than those of our own, as the cases ask for."""
    root = tmp_path_factory.mktemp("notes")
    for note in read("exact_corpus.jsonl"):
        (root / note["path"]).write_text(note["text"], "utf-8")
    with Workspace.open(root).space("default") as space:
        space.index()
        yield space


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    root = tmp_path_factory.mktemp("more")
    texts = {note["path"]: note["text"] for note in read("exact_corpus.jsonl")} | OWN
    for path, text in texts.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    with Workspace.open(root).space("default") as made:
        made.index()
        yield made


def uris(space, query, **options):
    return [hit.chunk.uri for hit in space.search(query, top_k=5, **options).hits]


@pytest.mark.parametrize("case", read("exact.jsonl"), ids=lambda case: case["query"])
def test_public_reports(notes, case):
    found = uris(notes, case["query"])
    assert found == [] if case["path"] is None else case["path"] in found


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("query", "path"), FOUND.items())
def test_what_stands_in_a_file_is_found(space, query, path, mode):
    assert path in uris(space, query, mode=mode)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", NOT_FOUND)
def test_what_stands_nowhere_and_small_talk_find_nothing(space, query, mode):
    assert [] == uris(space, query, mode=mode)


def test_a_quoted_phrase_is_in_every_hit(space):
    assert ["guides/ordering.md"] == uris(space, '"order of the crew"')
    assert ["guides/ordering.md"] == uris(space, '"Order of  the Crew"', mode="lexical")
    assert [] == uris(space, '"crew of the order"', min_relevance=0.0)


@pytest.mark.parametrize("mark", ["?", ".", ",", "!"])
def test_a_mark_inside_of_quotation_marks_is_the_sentences(space, mark):
    assert ["guides/ordering.md"] == uris(space, f'"order of the crew{mark}"')
    assert ["guides/ordering.md"] == uris(space, f'what is the "order of the crew{mark}"')


def test_the_best_of_a_question_is_seen_whatever_is_told_around_it(space):
    told = (
        "The crew of the ship, its captain, the lookout and the cook went ashore in the harbour. "
    )
    question = "What does E0162 mean?"
    (best, *_) = uris(space, question)
    assert best in uris(space, told * 3 + question)[:4]


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_several_sentences_keep_what_one_finds(space, mode):
    story = (
        "Hi all! Last night we moved the whole service to another machine. It was raining and nobody "
        "had slept. {} Thanks for any hints!"
    )
    for query in ("What does E0162 mean?", "Where is o200k_base used?", "Who is Szymborska?"):
        alone = uris(space, query, mode=mode)
        assert alone
        assert alone[0] in uris(space, story.format(query), mode=mode)


@pytest.fixture(scope="module")
def dotted(tmp_path_factory):
    """Names with dots in one file, whose parts are words of all the others."""
    root = tmp_path_factory.mktemp("dotted")
    for number in range(40):
        words = ("short program", "plan of the page")[number % 2]
        prose = f"# Note {number}\n\nIt is the {words}, on and on, number {number}.\n"
        (root / f"note{number}.md").write_text(prose, "utf-8")
    code = "Set `this.short`, then call `program.on`, `t.plan`, `it.on` and `program.plan`.\n"
    more = "Each of `short.page.plan` is short.\n"
    (root / "code.md").write_text(f"# Code\n\n{code}\n{more}", "utf-8")
    with Workspace.open(root).space("default") as made:
        made.index()
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("name", ["this.short", "program.on", "t.plan", "it.on"])
def test_a_name_with_stop_words_in_it_is_one_name(dotted, name, mode):
    assert "code.md" in uris(dotted, name, mode=mode)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("form", ["what does {} do?", "{} error", "Why is {} undefined?"])
@pytest.mark.parametrize("name", ["this.short", "program.plan", "short.page.plan"])
def test_a_name_of_several_words_in_a_question_is_one_name(dotted, name, form, mode):
    assert "code.md" in uris(dotted, form.format(name), mode=mode)
