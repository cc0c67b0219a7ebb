"""An index answers by words before all its vectors are made, and is the same in the end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragloom import Space
from ragloom.cli._output import search_json
from ragloom.indexing.lock import space_lock
from ragloom.protocols import Embeddings
from ragloom.snapshot import GenerationWriter, current_generation
from ragloom.testing.fakes import HashingEmbedder

MakeSpace = Callable[..., Space]
SUBJECTS = ("storage", "network", "kernel", "parser", "cache", "queue", "index", "token")


def write(folder: Path, count: int = 400, first: int = 0) -> None:
    """Files of 20 sections each, whose words repeat in many combinations."""
    folder.mkdir(exist_ok=True)
    for start in range(first, first + count, 20):
        sections = [
            f"# Part {n}\n\nThe {SUBJECTS[n % 8]} of item {n} meets the {SUBJECTS[n * 7 % 5]}.\n"
            for n in range(start, start + 20)
        ]
        (folder / f"page{start:04}.md").write_text("\n".join(sections), "utf-8")


def queries() -> Iterator[str]:
    for number, subject in enumerate(SUBJECTS):
        yield f"how does the {subject} meet the {SUBJECTS[number // 2]}"
        yield f"item {number * 37}"


def answers(space: Space) -> list[str]:
    """The JSON of all queries."""
    return [json.dumps(search_json(space.search(query, min_relevance=0.1))) for query in queries()]


@pytest.fixture
def staged(files: Path, make_space: MakeSpace) -> Path:
    """The folder of an index that has the words alone."""
    write(files)
    report = make_space().index(seconds=0)
    assert (400, 400, 0) == (report.chunks, report.pending, report.embedded)
    return make_space().directory


def test_words_answer_before_any_vector_is_made(staged: Path, make_space: MakeSpace) -> None:
    space = make_space(first_answer=0.0)
    found = space.search("item 123", mode="lexical")
    assert "item 123" in found.hits[0].chunk.text
    assert 0 == found.pending
    assert [] == space.embedder.passages
    assert 1 == current_generation(staged)


def test_a_search_embeds_the_best_by_words_and_keeps_their_vectors(
    staged: Path, make_space: MakeSpace
) -> None:
    space = make_space()
    first = space.search("item 123")
    assert "item 123" in first.hits[0].chunk.text
    assert first.hits[0].cosine is not None
    embedded = len(space.embedder.passages)
    assert 0 < embedded <= 100
    assert 400 - embedded == first.pending

    other = make_space()
    again = other.search("item 123")
    assert [] == other.embedder.passages
    assert (first.hits, first.pending) == (again.hits, again.pending)

    report = make_space().index()
    assert (400 - embedded, 0) == (report.embedded, report.pending)


def test_without_time_for_it_a_search_embeds_one_step(staged: Path, make_space: MakeSpace) -> None:
    space = make_space(first_answer=0.0)
    assert 400 - 16 == space.search("storage of item 5").pending
    assert 16 == len(space.embedder.passages)


def test_a_search_while_the_index_is_written_keeps_nothing(
    staged: Path, make_space: MakeSpace
) -> None:
    before = sorted(path.name for path in staged.iterdir())
    with space_lock(staged, timeout=0):
        space = make_space()
        pending = space.search("item 123").pending
        assert 300 <= pending < 400
        assert pending == space.search("item 123").pending  # but in memory
    assert before == sorted(path.name for path in staged.iterdir())


def test_what_an_index_run_makes_meanwhile_is_used(staged: Path, make_space: MakeSpace) -> None:
    reader = make_space(first_answer=0.0)
    reader.search("item 1", mode="lexical")
    report = make_space(embedder=Slow).index(seconds=0.05)
    assert 0 < report.embedded < 400
    assert report.pending == 400 - report.embedded
    assert 1 == report.generation
    assert report.pending - 16 <= reader.search("item 1").pending <= report.pending


class Slow(HashingEmbedder):
    """Takes its time."""

    def embed_passages(self, texts: object) -> Embeddings:
        import time

        time.sleep(0.02)
        return super().embed_passages(texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", ["searches", "runs", "edits"])
def test_completed_in_stages_it_is_the_same_as_made_at_once(
    files: Path, make_space: MakeSpace, tmp_path: Path, steps: str
) -> None:
    write(files)
    make_space().index()
    at_once = answers(make_space())
    shutil.move(files / ".ragloom", tmp_path / "before")

    if steps == "edits":  # all but the last of the files that are there in the end
        (files / "page0380.md").rename(tmp_path / "later")
        write(files, 300, 1000)
        make_space().index(seconds=0)
        make_space().search("storage")
        for path in files.glob("page1*.md"):
            path.unlink()
        (tmp_path / "later").rename(files / "page0380.md")
    make_space().index(seconds=0)
    if steps == "searches":
        for query in list(queries())[:10]:
            make_space().search(query)
    pending = make_space().snapshot().meta.pending
    while left := make_space(embedder=Slow).index(seconds=0.05).pending:
        assert left < pending  # each run makes some
        pending = left

    space = make_space()
    assert at_once == answers(space)
    assert 0 == space.snapshot().meta.pending
    assert space.verify().exact == 400
    assert not list(space.directory.glob("*.journal"))


def test_the_store_is_written_once_all_have_vectors(staged: Path, make_space: MakeSpace) -> None:
    assert not (staged / "store").exists()
    make_space().search("storage")
    assert not (staged / "store").exists()
    make_space().index()
    space = make_space()
    space.store.open(space="notes", dimension=64, directory=staged / "store")
    assert 400 == space.store.count()
    assert {chunk.key for chunks, _ in space.store.scan() for chunk in chunks} == {
        key.decode() for key in space.snapshot().keys
    }
    space.store.close()


def test_copies_are_reused_once_their_text_has_a_vector(files: Path, make_space: MakeSpace) -> None:
    for folder in ("here", "there"):
        write(files / folder)
    first = make_space().index(seconds=0)
    assert (800, 800, 0, 0) == (first.chunks, first.pending, first.embedded, first.reused)
    then = make_space().index(full=True)
    assert (400, 400) == (then.embedded, then.reused)


def test_repair_leaves_an_unfinished_index_to_be_completed(
    staged: Path, make_space: MakeSpace
) -> None:
    make_space().search("item 123")
    assert 400 == make_space().repair()
    report = make_space().index()
    assert (400, 0) == (report.chunks, report.pending)
    assert 400 == make_space().verify().exact


def test_a_killed_run_goes_on_with_its_parts(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import time

    write(files)
    before = time.time() - 60
    for path in files.glob("*.md"):
        os.utime(path, (before, before))
    later = time.time_ns() + 10**10
    monkeypatch.setattr(time, "time_ns", lambda: later)  # or the files may still be changing
    with monkeypatch.context() as patch:
        patch.setattr(GenerationWriter, "adopt", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_space().index()
    read: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr("ragloom.indexing.process._read", lambda file, _: read.append(file.uri))
        report = make_space().index()
    assert [] == read
    assert (400, 400) == (report.chunks, report.embedded)
    assert not (make_space().directory / "parts").exists()


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_many_small_changes_leave_few_segments(files: Path, make_space: MakeSpace) -> None:
    write(files)
    make_space().index()
    for number in range(40):
        (files / f"small{number % 12}.md").write_text(f"The small item number {number}.", "utf-8")
        make_space().index()
    snapshot = make_space().snapshot()
    assert len(snapshot.segments) < 16
    assert 412 == len(snapshot)
    assert 412 == make_space().verify().exact
    shutil.rmtree(make_space().directory / "store")  # made from the same rows, in whatever segments
    assert 412 == make_space().repair()
    staged = answers(make_space())
    shutil.rmtree(files / ".ragloom")
    make_space().index()
    assert staged == answers(make_space())


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["write", "remove", "words", "search", "some", "all"]),
            st.integers(0, 30),
        ),
        max_size=12,
    )
)
def test_whatever_the_steps_the_end_is_that_of_a_fresh_index(
    files: Path, make_space: MakeSpace, steps: list[tuple[str, int]]
) -> None:
    for path in files.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    write(files, 300)
    for number, (step, value) in enumerate(steps):
        if step == "write":
            text = f"# Part {value}\n\nThe cache of item {number} meets the {value}.\n" * 3
            (files / f"page{20 * (value % 18):04}.md").write_text(text, "utf-8")
        elif step == "remove":
            (files / f"page{20 * (value % 15):04}.md").unlink(missing_ok=True)
        elif step == "search" and (files / ".ragloom").exists():
            make_space().search(f"cache of item {value}")
        elif step in ("words", "some", "all"):
            seconds = {"words": 0.0, "some": 0.001, "all": None}[step]
            make_space().index(seconds=seconds)
    make_space().index()
    made = answers(make_space())
    stored = make_space().status().chunks
    shutil.rmtree(files / ".ragloom")
    make_space().index()
    assert made == answers(make_space())
    assert stored == make_space().status().chunks
