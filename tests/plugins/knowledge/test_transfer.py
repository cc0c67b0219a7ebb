"""Export and import: nothing is trusted, nothing is lost, and nothing comes back from the dead."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import StoreError
from ragloom_knowledge import LessonError
from ragloom_knowledge.capturing import new_lesson
from ragloom_knowledge.exported import exported_text, parse_exported
from ragloom_knowledge.schema import lessons


def lesson(name="alpha"):
    texts = {
        "project": "one",
        "agent_type": "backend",
        "failure_description": f"The service {name} leaks memory",
        "solution_steps": f"Mend {name}",
    }
    made = new_lesson("failure_solution", texts, verified=True)
    moment = datetime.fromisoformat("2026-01-31T10:00:00.000005")
    return replace(made, embedded=True, captured_at=moment, embedded_at=moment)


@pytest.fixture
def folder(tmp_path):
    """An exported folder, one of whose files can be changed."""

    def write(**changes):
        text = exported_text(lesson())
        for name, value in changes.items():
            lines = text.splitlines(keepends=True)
            at = next(at for at, line in enumerate(lines) if line.startswith(f"{name}:"))
            lines[at] = f"{name}: {value}\n"
            text = "".join(lines)
        place = tmp_path / "exported"
        place.mkdir(exist_ok=True)
        (place / f"{lesson().id}.md").write_text(text, "utf-8")
        return place

    return write


WRONG = {
    "project": ["", "null", "x" * 201, "[a, b]", "{a: b}", "*a"],
    "agent_type": ["x" * 101, "''"],
    "task_type": ["x" * 101],
    "technology": ["x" * 101, f'"{"x" * 101}"'],
    "gate_type": ["x" * 51],
    "also_in": ["one", "[[one]]", f"[{'x' * 201}]", "[null]"],
    "kind": ["rumour", "gate_approval", "gate_rejection"],
    "id": ["x", "../../x", "123e4567-e89b-12d3-a456-426614174000", "''"],
    "signature": ["x" * 33, "0" * 32],
    "variant": ["-1", "1", "9" * 30],
    "successes": ["2", "-1", "9" * 5000, "1.0", "many", "0x1", "'1'", "1_0", "10:30", "true"],
    "uses": ["0", "3000000000", "9" * 30],
    "success_verified": ["false", "maybe", "1", "'true'"],
    "embedded": ["1"],
    "captured_at": ["2024-13-45", "soon", "0001-01-01T00:00:00+14:00", "9999-12-31T23:00:00-10:00"],
    "embedded_at": ["null", "''"],
    "failure_description": ["null", "''", "[" * 100_000, "!!python/object/apply:os.system [ls]"],
    "solution_steps": ["null", "*alias"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_file_and_line(open_knowledge, folder, name, value):
    knowledge = open_knowledge()
    place = folder(**{name: value})
    (place / "0.md").write_text(exported_text(lesson("beta")), "utf-8")
    with pytest.raises(LessonError) as raised:
        knowledge.import_lessons(place)
    message = str(raised.value)
    assert message.startswith(f"{place / lesson().id}.md:"), message
    line = int(message.removeprefix(f"{place / lesson().id}.md:").partition(":")[0])
    text = (place / f"{lesson().id}.md").read_text("utf-8").splitlines()
    assert text[line - 1].split(":")[0] in (
        name,
        "successes",
        "id",
        "success_verified",
        "embedded",
        "gate_type",
    )
    assert len(message) < 500
    assert [] == knowledge.lessons()


@pytest.mark.parametrize(
    "content",
    [b"", b"# Notes\n", b"---\n", b"---\nid: x\n", b"\xff\xfe", b"---\n- a\n---\n", b"---\na\n---\n",
     b"---\nid: a\nid: b\n---\n", b"---\n? " + b"[" * 900 + b"]" * 900 + b"\n: b\n---\n",
        b"---\n? [a]\n: b\n---\n", b"---\nid: 'a\n---\n", b"---\na: \x00\n---\n"],
)  # fmt: skip
def test_another_file_is_named(knowledge, folder, content):
    (folder() / "notes.md").write_bytes(content)
    with pytest.raises(LessonError, match=r"notes\.md:[0-9]+: "):
        knowledge.import_lessons(folder())
    assert [] == knowledge.lessons()


def test_a_lesson_twice_names_both_files(knowledge, folder):
    (folder() / "copy.md").write_text(exported_text(lesson()), "utf-8")
    with pytest.raises(LessonError, match=rf"copy\.md.*{lesson().id}\.md"):
        knowledge.import_lessons(folder())


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00"),
        ("'2026-01-31T10:00:00-01:30'", "2026-01-31T11:30:00"),
        ("2026-01-31 10:00:00Z", "2026-01-31T10:00:00"),
        ("2026-01-31", "2026-01-31T00:00:00"),
    ],
)
def test_times_are_kept_in_utc(knowledge, folder, written, kept):
    knowledge.import_lessons(folder(captured_at=written, embedded_at=written))
    (found,) = knowledge.lessons()
    assert kept == found.captured_at.isoformat() == found.embedded_at.isoformat()


def test_what_is_kept_is_what_a_capture_keeps(knowledge, folder):
    place = folder(
        project='" my\\tshop "', technology="''", solution_steps='"a\\0b\\nc"', also_in="[b, a, b]"
    )
    (place / f"{lesson().id}.md").write_bytes(
        b"\xef\xbb\xbf" + (place / f"{lesson().id}.md").read_bytes().replace(b"\n", b"\r\n")
    )
    knowledge.import_lessons(place)
    (found,) = knowledge.lessons()
    assert ("my shop", None, ("a", "b")) == (found.project, found.technology, found.also_in)
    assert "a\ufffdb\nc" == found.solution_steps


@given(st.text(), st.text(), st.text(min_size=1))
def test_every_lesson_comes_back(description, error, other):
    texts = {
        "project": "null",
        "agent_type": "1.0",
        "task_type": "true",
        "technology": "2024-01-01",
        "failure_description": f"- {description}",
        "error_message": error,
        "solution_steps": f"{description}\n---\n{error}.",
    }
    made = replace(
        new_lesson("failure_solution", texts, verified=True), also_in=(f"x{ord(other[0])}", "~")
    )
    assert made == parse_exported(exported_text(made), "a.md")


LONG = {
    column.name: column.type.length for column in lessons.c if getattr(column.type, "length", None)
}


@pytest.mark.parametrize("column", LONG)
def test_the_database_itself_refuses_what_is_too_long(knowledge, column):
    captured = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    with pytest.raises(StoreError):
        knowledge.table._change(captured.id, **{column: "\u00e9" * (LONG[column] + 1)})
    if column not in ("id", "entry_type"):
        knowledge.table._change(captured.id, **{column: "\u00e9" * LONG[column]})


@pytest.mark.parametrize("column", ["uses", "variant"])
def test_the_database_itself_refuses_what_is_too_great(knowledge, column):
    captured = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    with pytest.raises(StoreError):
        knowledge.table._change(captured.id, **{column: 2**31})


def test_what_is_imported_as_staged_leaves_the_index(knowledge, folder):
    asked = "The service alpha leaks memory"
    knowledge.import_lessons(folder())
    assert 1 == len(knowledge.query_for_task(asked))
    knowledge.import_lessons(folder(embedded="false", embedded_at="null"))
    assert () == knowledge.query_for_task(asked)
    assert {} == knowledge.space.snapshot().files
    assert 1 == knowledge.process_checkpoint("one").processed
    assert 1 == len(knowledge.query_for_task(asked))


def test_an_export_replaces_an_older_one_whole(knowledge, tmp_path):
    place = tmp_path / "exported"
    assert 0 == knowledge.export_lessons(place)
    first = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    assert 1 == knowledge.export_lessons(place)
    (place / ".git").mkdir()
    knowledge.table.delete([first.id])
    other = knowledge.capture_gate_approval("one", "a", "door", approved_approach="Do it")
    assert 1 == knowledge.export_lessons(place)
    assert [".git", f"{other.id}.md"] == sorted(path.name for path in place.iterdir())
    assert 1 == knowledge.import_lessons(place)
    assert [other.id] == [one.id for one in knowledge.lessons()]


def test_an_export_goes_into_no_folder_of_something_else(knowledge, tmp_path):
    captured = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    knowledge.process_checkpoint("one")
    place = tmp_path / "notes"
    place.mkdir()
    names = ["notes.txt", "README.md", f"{captured.id}.md"]
    for name in names:
        (place / name).write_text("Mine\n", "utf-8")
        with pytest.raises(LessonError, match=rf"notes: .*{name}"):
            knowledge.export_lessons(place)
        assert [name] == [path.name for path in place.iterdir()]
        assert "Mine\n" == (place / name).read_text("utf-8")
        (place / name).unlink()
    (place / "folder.md").mkdir()
    with pytest.raises(LessonError, match=r"notes: .*folder\.md"):
        knowledge.export_lessons(place)
    with pytest.raises(LessonError, match=captured.id):  # the files of the index
        knowledge.export_lessons(knowledge.space.root)
