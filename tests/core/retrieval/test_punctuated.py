"""A version, a flag, a dotted name or a path finds the chunk that has it, not one that has its parts."""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom import Workspace

VERSIONS = [
    f"{major}.{minor}.{patch}" for major in (4, 5) for minor in range(16) for patch in range(6)
]
CHANGES = ("faster start", "a race in the pool", "clearer errors", "less memory", "new metrics")
FLAGS = ["--workers", "--no-cache", "--cache-dir", "--dry-run", "--dir", "--run-once", "-q"]
NAMES = [
    f"{one}.{two}.{three}"
    for one in ("app", "pool")
    for two in ("job", "log")
    for three in ("run", "dir")
]
PATHS = [
    f"{one}/{two}.yaml" for one in ("etc/jobs", "etc/logs", "share/logs") for two in ("run", "pool")
]


def page(title, names, text):
    sections = [
        f"## {text.format(name)}\n\n{CHANGES[at % 5].capitalize()}. {CHANGES[at % 3].capitalize()} again. "
        "The pool of jobs keeps 4, 5 or 15 workers; the cache has a directory and runs dry.\n"
        for at, name in enumerate(names)
    ]
    return f"# {title}\n\n" + "\n".join(sections)


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    pages = {
        "changes.md": page("Changes", VERSIONS, "Release {}"),
        "flags.md": page("Command line", FLAGS, "The option `{}` of the pool"),
        "names.md": page("Names", NAMES, "The function `{}()` of a job"),
        "paths.md": page("Files", PATHS, "What `{}` is for"),
        "kites.md": "# Kites\n\nHold the kite against the wind, and let it fly when the line is tight.\n",
        "words.md": "# Workers\n\nThe app has a pool of workers. A job has a log, and runs in its dir; "
        "cache and logs share it, as etc has no jobs. A dry run is quick.\n",
    }
    for name, text in pages.items():
        (root / name).write_text(text, "utf-8")
    with Workspace.open(root).space("default") as made:
        made.index()
        yield made


QUESTIONS = {"{}": "alone", "what changed with {}?": "in a question"}
EVERY = [*VERSIONS[::17], "v5.15.5", *FLAGS, *NAMES, *PATHS]


AROUND = [
    "{} does not work in my project",
    "I saw {} in a config file, what is it for?",
    "is there a way to turn off {}?",
    "since the upgrade {} throws an error",
    "my boss asked me what {} is",
    "do I really need {}?",
]


def shown(space, query, mode):
    return [hit.chunk.headings[-1] for hit in space.search(query, top_k=5, mode=mode).hits]


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("question", QUESTIONS, ids=QUESTIONS.get)
@pytest.mark.parametrize("name", EVERY)
def test_it_stands_in_the_first_hit(space, name, question, mode):
    first = shown(space, question.format(name), mode)[0]
    assert name.lstrip("v") in first.replace("`", " ").replace("()", " ").split()


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", ["--no-cache", "4.15.5", "app.job.run"])
def test_whatever_is_said_around_it(space, name, around):
    found = shown(space, around.format(name), "hybrid")
    assert any(name in heading for heading in found)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("name", ["5.15.9", "4.5.15", "v5.16.0", "4.5.1/2"])
def test_alone_it_finds_nothing_where_it_stands_nowhere(space, name, mode):
    assert [] == shown(space, name, mode)


@pytest.mark.parametrize(
    ("part", "whole"), [("5.15", "5.15."), ("job.run", ".job.run"), ("app.log", "app.log.")]
)
def test_a_part_of_longer_names_finds_them(space, part, whole):
    assert whole in shown(space, part, "hybrid")[0]


def test_two_versions_find_both(space):
    found = shown(space, "from 4.5.1 to 5.1.4", "hybrid")[:2]
    assert {"Release 4.5.1", "Release 5.1.4"} == set(found)


@pytest.mark.parametrize("question", ["why does a kite fly with a tight line", "wind for kites"])
def test_a_version_beside_a_question_is_no_topic(space, question):
    def relevance(query):
        return space.search(query, min_relevance=0.0).hits[0].relevance

    # All of these numbers stand somewhere; 4.9.15 does not.
    assert relevance(f"{question} in 4 or 9 or 15") == pytest.approx(
        relevance(f"{question} in 4.9.15"), abs=0.2
    )
