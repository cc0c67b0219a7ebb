"""An index that many runs made answers as one that a single run made: hits, scores, spelling."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragloom import Space
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.lexical_writer import LexicalDocument

MakeSpace = Callable[..., Space]
Change = Callable[[Path], object]

QUERIES = ["harbour crane", "the ferry timetable", "winter", "pilot", "lantern oil", "berths"]


def note(number: int) -> str:
    about = ("harbour", "ferry", "crane", "lantern", "pilot", "winter")
    first, second = about[number % 6], about[(number * 5 + 2) % 6]
    return (
        f"# Note {number}\n\nThe {first} and the {second}, {number} times.\n\n"
        f"## Details\n\n{'A line on the oil of it. ' * (number % 4)}It has {number} berths.\n"
    )


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


CHANGES: dict[str, Change] = {
    "a file changed": lambda files: append(files / "3.md", "\n## Crane\n\nA harbour crane.\n"),
    "a section is gone": lambda files: (files / "4.md").write_text("# Note 4\n\nWinter.\n"),
    "a section is first now": lambda files: (files / "5.md").write_text(
        "# Before\n\nA pilot timetable.\n\n" + (files / "5.md").read_text("utf-8")
    ),
    "a file is removed": lambda files: (files / "6.md").unlink(),
    "a file is added": lambda files: (files / "new.md").write_text("# New\n\nA ferry timetable.\n"),
    "a file is renamed": lambda files: (files / "7.md").rename(files / "harbour-winter.md"),
    "a file is empty": lambda files: (files / "8.md").write_text(""),
    "a file speaks German": lambda files: (files / "9.md").write_text(
        "# Hafen\n\nDie Boote liegen im Winter am Hafen, und das Wasser ist sehr kalt.\n"
    ),
}


def answers(space: Space) -> object:
    """What searches find, by words and by all."""
    return [
        [
            (hit.chunk.uri, hit.chunk.lines, hit.score, hit.lexical, hit.relevance)
            for hit in space.search(query, min_relevance=0.0, top_k=50, mode=mode).hits
        ]
        for query in QUERIES
        for mode in ("lexical", "hybrid")
    ]


def afresh(make_space: MakeSpace) -> Space:
    shutil.rmtree(make_space().directory)
    make_space().index()
    return make_space()


@pytest.fixture
def indexed(files: Path, make_space: MakeSpace) -> Path:
    for number in range(12):
        (files / f"{number}.md").write_text(note(number), "utf-8")
    make_space().index()
    return files


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_run_after_a_change_answers_as_a_fresh_index(
    indexed: Path, make_space: MakeSpace, change: Change
) -> None:
    change(indexed)
    make_space().index()
    made = answers(make_space())
    assert made == answers(afresh(make_space))


def test_many_runs_answer_as_a_fresh_index(indexed: Path, make_space: MakeSpace) -> None:
    for change in CHANGES.values():
        change(indexed)
        make_space().index()
    made = answers(make_space())
    assert made == answers(afresh(make_space))


def test_the_words_of_a_removed_file_are_words_no_more(
    indexed: Path, make_space: MakeSpace
) -> None:
    (indexed / "one.md").write_text("# One\n\nThe capstan is oiled.\n", "utf-8")
    make_space().index()
    assert ["one.md"] == [hit.chunk.uri for hit in make_space().search("capstan").hits]
    (indexed / "one.md").unlink()
    make_space().index()
    assert () == make_space().search("capstan", mode="lexical", min_relevance=0.0).hits
    assert "" == make_space().search("capstann", mode="lexical").searched_for


def document(serial: int, word: str) -> LexicalDocument:
    return LexicalDocument(
        serial, f"{serial}.md", f"The {word} of {serial} and its other words.", ""
    )


@pytest.fixture
def large(tmp_path: Path, write_lexical: Callable[..., None]) -> Path:
    """An index of a thousand documents and more, one of which was written again five times."""
    folder = tmp_path / "0"
    documents = [document(serial, f"word{serial % 40}") for serial in range(1000)]
    write_lexical(folder, documents, vocabulary=True)
    for run in range(5):
        previous, folder = folder, tmp_path / str(run + 1)
        first = 1000 + 2 * run
        added = [document(first, "capstan"), document(first + 1, "other")]
        write_lexical(folder, added, previous=previous, removed=[first - 2], vocabulary=True)
    return folder


def test_what_is_removed_and_not_yet_merged_away_is_not_counted(large: Path) -> None:
    index = LexicalIndex(large)
    assert (1005, 5) == (len(index), index.removed)
    (word,) = index.query_words("capstan")
    assert (1, 1) == (index.frequency(word), index.spelling_frequency("capstan"))
    assert index.rarity(1) == index.inverse_document_frequency("capstan")


@settings(max_examples=25)
@given(runs=st.lists(st.lists(st.integers(0, 59), max_size=8, unique=True), max_size=6))
def test_frequencies_are_those_of_a_fresh_index(
    tmp_path_factory: pytest.TempPathFactory,
    write_lexical: Callable[..., None],
    runs: list[list[int]],
) -> None:
    root = tmp_path_factory.mktemp("runs")
    held = {serial: document(serial, f"word{serial % 7}") for serial in range(60)}
    folder = root / "0"
    write_lexical(folder, held.values(), vocabulary=True)
    number = 60
    for run, places in enumerate(runs, 1):
        removed = [sorted(held)[place] for place in places if place < len(held)]
        added = [document(number + at, f"word{at % 7}") for at in range(len(removed) // 2)]
        number += len(added)
        previous, folder = folder, root / str(run)
        write_lexical(folder, added, previous=previous, removed=removed, vocabulary=True)
        held = {serial: one for serial, one in held.items() if serial not in removed}
        held |= {one.serial: one for one in added}
    write_lexical(root / "fresh", held.values(), vocabulary=True)
    made, fresh = LexicalIndex(folder), LexicalIndex(root / "fresh")
    assert len(fresh) == len(made) == len(held)
    for word in [f"word{at}" for at in range(7)]:
        (one,) = made.query_words(word)
        assert fresh.frequency(one) == made.frequency(one)
        assert fresh.spelling_frequency(word) == made.spelling_frequency(word)
        assert fresh.inverse_document_frequency(word) == made.inverse_document_frequency(word)
