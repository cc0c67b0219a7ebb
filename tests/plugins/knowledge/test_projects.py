"""A lesson that several projects have learnt belongs to each of them."""

from __future__ import annotations

import pytest

from ragloom_knowledge import LessonError

FAILURE = "The database migration of the orders table times out"
FIX = "Create the index concurrently and migrate in batches of ten thousand rows"


def learn(base, project, *, verified=True):
    return base.capture_failure_solution(
        project,
        "backend",
        FAILURE,
        solution_steps=FIX if verified else None,
        success_verified=verified,
    )


@pytest.mark.parametrize("verified", [True, False], ids=["staged", "unverified"])
@pytest.mark.parametrize("asking", ["one", "two", "three"])
def test_a_checkpoint_of_any_project_takes_what_they_share(knowledge, asking, verified):
    first = learn(knowledge, "one", verified=verified)
    for again in ("two", "three", "two"):
        assert (first.id, True) == (learn(knowledge, again).id, learn(knowledge, again).merged)
    assert 0 == knowledge.process_checkpoint("four").processed
    assert 1 == knowledge.process_checkpoint(asking).processed
    assert [first.id] == [found.id for found in knowledge.query_for_task(FAILURE)]
    lesson = knowledge.lesson(first.id)
    assert ("one", ("three", "two"), True) == (lesson.project, lesson.also_in, lesson.embedded)
    assert [lesson] == knowledge.lessons(project=asking)
    assert [] == knowledge.lessons(project="four")


def test_every_capture_counts_for_its_project_however_the_lesson_came_to_be(knowledge, tmp_path):
    first = learn(knowledge, "one")
    learn(knowledge, "two")
    before = knowledge.lessons()
    knowledge.export_lessons(tmp_path / "exported")
    knowledge.table.delete([first.id])
    learn(knowledge, "three")  # it was forgotten, and who had learnt it as well
    assert () == knowledge.lesson(first.id).also_in
    knowledge.import_lessons(tmp_path / "exported")
    assert before == knowledge.lessons()
    assert 1 == knowledge.process_checkpoint("two").processed


def test_what_is_verified_a_year_later_is_as_old_as_its_proof(knowledge):
    from datetime import timedelta

    from ragloom_knowledge.capturing import now

    first = learn(knowledge, "one", verified=False)
    knowledge.table._change(first.id, timestamp=now() - timedelta(days=366))
    learn(knowledge, "two")
    done = knowledge.process_checkpoint("two")
    assert (1, 0) == (done.processed, done.pruned)


def test_names_are_asked_for_as_they_are_kept(knowledge):
    knowledge.capture_gate_approval(" my\tshop ", "front  end", "gate", approved_approach="Do it")
    assert 1 == knowledge.process_checkpoint("my  shop ").processed
    assert 1 == len(knowledge.lessons(project="\tmy shop"))
    asked = "Do it"
    assert 1 == len(knowledge.query_for_task(asked, " front end "))
    assert 0 == len(knowledge.query_for_task(asked, " "))


@pytest.mark.parametrize("asking", ["", " \n", "x" * 201])
def test_a_checkpoint_needs_a_project_that_can_be(knowledge, asking):
    knowledge.capture_gate_approval("one", "a", "gate", approved_approach="Do it")
    with pytest.raises(LessonError, match=r"^project: "):
        knowledge.process_checkpoint(asking)
