"""What expires goes from table and index alike, whatever else happens at the same time."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from threading import Thread

import pytest

from ragloom_knowledge import LessonError
from ragloom_knowledge.capturing import now

OLD = timedelta(days=366)


def learn(base, *names, project="one"):
    ids = [
        base.capture_failure_solution(
            project, "backend", f"The service {name} leaks memory", solution_steps=f"Mend {name}"
        ).id
        for name in names
    ]
    base.process_checkpoint(project)
    return ids


def indexed(base):
    return {uri.removesuffix(".md") for uri in base.space.snapshot().files}


@pytest.fixture
def elsewhere(open_knowledge, tmp_path, project):
    """The lessons of another workspace on the same database."""

    def open_one(url):
        folder = tmp_path / "elsewhere"
        folder.mkdir()
        (folder / "ragloom.yaml").write_bytes((project / "ragloom.yaml").read_bytes())
        return open_knowledge(url, folder)

    return open_one


@pytest.mark.parametrize("days", [365, 366, 800_000, 9_999_999, timedelta.max.days, 10**12])
def test_no_age_is_too_great(open_knowledge, url, days):
    knowledge = open_knowledge(url, retention_days=days)
    (first,) = learn(knowledge, "alpha")
    assert 0 == knowledge.process_checkpoint("one").pruned
    for age in (timedelta(days=min(days, timedelta.max.days)), timedelta.max):
        assert () == knowledge.prune(age).ids
    assert (first,) == knowledge.prune(timedelta.min, dry_run=True).ids


@pytest.mark.parametrize("prunes", [True, False], ids=["prune", "checkpoint"])
def test_what_another_workspace_removed_leaves_this_index(knowledge, elsewhere, url, prunes):
    ids = learn(knowledge, "alpha", "beta", "gamma")
    knowledge.pin(ids[0])
    assert set(ids[1:]) == set(elsewhere(url).prune(timedelta(days=-1)).ids)
    assert set(ids) == indexed(knowledge)
    if prunes:
        knowledge.prune(dry_run=True)
        assert set(ids) == indexed(knowledge)
        knowledge.prune()
    else:
        knowledge.process_checkpoint("two")
    assert {ids[0]} == indexed(knowledge)


def test_one_lesson_is_removed_from_table_and_index(knowledge):
    wrong, right = learn(knowledge, "alpha", "beta")
    staged = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    knowledge.pin(wrong)
    assert [wrong, staged.id] == [knowledge.remove(one).id for one in (wrong, staged.id)]
    assert [right] == [lesson.id for lesson in knowledge.lessons()]
    assert {right} == indexed(knowledge)
    with pytest.raises(LessonError, match="unknown lesson"):
        knowledge.remove(wrong)


@pytest.mark.parametrize("how", ["removed", "taken back"])
def test_what_the_table_does_not_have_takes_nobodys_place(knowledge, how):
    asked = "The service zeta leaks memory"
    ids = learn(
        knowledge, *("zeta " * (number + 1) + "abcdefghij"[number % 10] for number in range(60))
    )
    (kept,) = learn(knowledge, "somebody else")
    if how == "removed":
        knowledge.table.delete(ids)
    else:
        for lesson_id in ids:
            knowledge.table._change(lesson_id, embedded=False)
    knowledge.settings = type(knowledge.settings)(task_relevance=0.0, failure_relevance=0.0)
    assert [kept] == [found.id for found in knowledge.query_for_task(asked, max_results=1)]
    assert [kept] == [found.id for found in knowledge.query_for_failure(asked)]


def test_a_pin_that_was_confirmed_keeps_its_lesson(knowledge, monkeypatch):
    ids = learn(knowledge, "alpha", "beta")
    for lesson_id in ids:
        knowledge.table._change(lesson_id, embedded_at=now() - OLD)
    update, pinned = knowledge._index.update, set()

    def slowly(progress):
        with suppress(LessonError):
            pinned.add(knowledge.pin(ids[0]).id)
        return update(progress)

    monkeypatch.setattr(knowledge._index, "update", slowly)
    removed = set(knowledge.prune().ids)
    kept = {lesson.id for lesson in knowledge.lessons()}
    assert pinned <= kept
    assert (set(ids), set()) == (removed | kept, removed & kept)
    assert kept == indexed(knowledge)


def test_captures_while_others_are_removed_are_kept(knowledge, open_knowledge, url):
    """Whoever captures is told the id of a lesson that is there, or gone after it was counted."""
    learnt = []
    stop = []

    def capture():
        base = open_knowledge(url)
        while not stop:
            learnt.append(
                base.capture_failure_solution(
                    "one", "backend", "It leaks", solution_steps="Mend it"
                )
            )

    thread = Thread(target=capture)
    thread.start()
    removed = 0
    for _ in range(20):
        removed += len(knowledge.table.remove_expired(now() + timedelta(days=1)))
    stop.append(True)
    thread.join()
    new = sum(not captured.merged for captured in learnt)
    assert new == removed + len(knowledge.lessons())
    kept = knowledge.lessons()
    assert all(lesson.successes == lesson.uses >= 1 for lesson in kept)
