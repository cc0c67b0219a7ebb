"""Patterns: one a problem, with its counts; what failed, what is opposed, what a human decided."""

from __future__ import annotations

from itertools import product

import pytest

from ragloom.text import counter
from ragloom_knowledge import LessonError, Task
from ragloom_knowledge.block import fitting, pattern_block
from ragloom_knowledge.capturing import new_lesson
from ragloom_knowledge.types import Pattern

FAILURE = "The orders consumer leaves its Kafka group while it works on records"
ERROR = "max.poll.interval.ms exceeded"


def capture(base, solution, failure=FAILURE, **labels):
    texts = {"error_message": ERROR, "solution_steps": solution} | labels
    return base.capture_failure_solution("one", "backend", failure, **texts).id


def outcomes(base, lesson_id, successes, failures):
    for success in [True] * successes + [False] * failures:
        base.report_outcome(lesson_id, success)


def test_opposite_advice_stays_apart_and_the_block_shows_both(knowledge):
    up = capture(knowledge, "Raise max.poll.records to 500")
    down = capture(knowledge, "Lower max.poll.records to 50")
    assert up != down
    outcomes(knowledge, down, 4, 0)
    knowledge.process_checkpoint("one")
    made = knowledge.context_for_task(Task(description=FAILURE))
    first, second = made.patterns
    assert (down, (up,)) == (first.id, first.conflicts)
    assert (up, (down,)) == (second.id, second.conflicts)
    assert "Pattern 1 (Most Common - 5 of 5 successes):" in made.text
    assert "Pattern 2 (Less Common - 1 of 1 success):" in made.text
    assert "- Conflict: Pattern 2 advises the opposite" in made.text
    assert "- Conflict: Pattern 1 advises the opposite" in made.text
    assert f"- Id: {down}" in made.text


def test_what_failed_more_often_than_it_worked_is_advised_against(knowledge):
    bad = capture(knowledge, "Raise max.poll.records to 500")
    good = capture(knowledge, "Process the records of a poll in a thread pool")
    outcomes(knowledge, bad, 0, 30)
    knowledge.process_checkpoint("one")
    found = knowledge.query_for_task(FAILURE)
    assert ([good], [bad]) == ([one.id for one in found], [one.id for one in found.avoid])
    text = knowledge.build_context_for_task(Task(description=FAILURE))
    before, _, after = text.partition("Avoid: these have failed more often than they worked.")
    assert "500" not in before
    assert "Avoid 1 (1 of 31 successes):" in after
    assert "None of them is proven yet." in after
    knowledge.remove(good)
    alone = knowledge.context_for_task(Task(description=FAILURE))
    assert ((), "") == (alone.patterns, alone.reason)
    assert "nothing that works is known" in alone.text


def test_two_failures_in_two_uses_say_nothing_yet(knowledge):
    lesson = capture(knowledge, "Raise max.poll.records to 500")
    outcomes(knowledge, lesson, 0, 1)
    knowledge.process_checkpoint("one")
    assert [lesson] == [one.id for one in knowledge.query_for_task(FAILURE)]
    outcomes(knowledge, lesson, 0, 1)
    assert [lesson] == [one.id for one in knowledge.query_for_task(FAILURE).avoid]


def test_most_likely_is_said_with_evidence_only(knowledge):
    lesson = capture(knowledge, "Raise max.poll.records to 500")
    knowledge.process_checkpoint("one")
    assert "most likely" not in knowledge.build_context_for_task(Task(description=FAILURE))
    outcomes(knowledge, lesson, 3, 0)
    text = knowledge.build_context_for_task(Task(description=FAILURE))
    assert "Pattern 1 is most likely based on historical data." in text


def test_what_a_human_decided_is_marked_and_before_unproved_fixes(knowledge):
    fix = capture(knowledge, "Raise the interval of the orders consumer", technology="Kafka")
    outcomes(knowledge, fix, 1, 0)
    human = knowledge.capture_gate_rejection(
        "one",
        "backend",
        "design review",
        human_feedback="The orders consumer leaves its Kafka group while it works on records",
        revision_approach="Hand records of the consumer to a pool of threads",
    ).id
    knowledge.process_checkpoint("one")
    assert [human, fix] == [one.id for one in knowledge.query_for_task(FAILURE)]
    text = knowledge.build_context_for_task(Task(description=FAILURE))
    assert "Pattern 1 (Less Common, decided by a human - 1 of 1 success):" in text
    outcomes(knowledge, fix, 4, 0)
    assert [fix, human] == [one.id for one in knowledge.query_for_task(FAILURE)]


def test_wordings_of_one_problem_are_one_pattern_and_reported_at_capture(knowledge):
    one = capture(knowledge, "Hand the records of a poll to a thread pool", technology="Kafka")
    again = knowledge.capture_failure_solution(
        "two",
        "backend",
        "The Kafka group removes the orders consumer while it still works on its records",
        error_message=ERROR,
        solution_steps="Hand records of one poll to threads of a pool",
        technology="kafka",
    )
    assert (one,) == again.similar
    assert not again.merged
    for project in ("one", "two"):
        knowledge.process_checkpoint(project)
    outcomes(knowledge, again.id, 1, 1)
    (pattern,) = knowledge.query_for_task(FAILURE)
    assert {one, again.id} == {pattern.id, *pattern.wordings}
    assert (3, 4) == (pattern.successes, pattern.uses)


@pytest.mark.parametrize(
    ("failure", "error", "solution", "things"),
    [
        (
            "Importing the module {} fails in the worker image",
            "ModuleNotFoundError: No module named '{}'",
            "Add {} to requirements.txt and rebuild the image",
            ("requests", "yaml", "redis", "boto3"),
        ),
        (
            "The deployment of the {} service is stuck",
            "Deployment {} exceeded its progress deadline",
            "Raise the memory limit of {} and roll it out again",
            ("orders", "payments", "search", "billing"),
        ),
    ],
)
def test_the_advice_for_another_thing_is_no_wording(knowledge, failure, error, solution, things):
    ids = {
        thing: capture(
            knowledge,
            solution.format(thing),
            failure.format(thing),
            error_message=error.format(thing),
        )
        for thing in things
    }
    knowledge.process_checkpoint("one")
    outcomes(knowledge, ids[things[0]], 20, 0)
    for thing in things[1:]:
        for found in (
            knowledge.query_for_task(failure.format(thing)),
            knowledge.query_for_failure(failure.format(thing), error.format(thing)),
        ):
            assert [(ids[thing], 1, ())] == [(one.id, one.uses, one.wordings) for one in found]


def test_the_wording_that_has_the_reported_error_is_shown(knowledge):
    ids = {
        module: capture(
            knowledge,
            f"Add {package} to requirements.txt and rebuild the image",
            f"Importing the module {module} fails in the worker image",
            error_message=f"ModuleNotFoundError: No module named '{module}'",
        )
        for module, package in (("yaml", "PyYAML"), ("cv2", "opencv-python"), ("PIL", "pillow"))
    }
    knowledge.process_checkpoint("one")
    outcomes(knowledge, ids["yaml"], 20, 0)
    for module, known in ids.items():
        found = knowledge.query_for_failure(
            f"Importing the module {module} fails",
            f"ModuleNotFoundError: No module named '{module}'",
        )
        assert known == found[0].id
    outcomes(knowledge, ids["cv2"], 0, 9)
    found = knowledge.query_for_failure(
        "Importing the module cv2 fails", "ModuleNotFoundError: No module named 'cv2'"
    )
    assert ids["cv2"] not in [one.id for one in found]


def test_problems_that_name_other_codes_are_two_patterns(knowledge):
    for code in ("404", "503"):
        capture(
            knowledge,
            "Check what the gateway is told about its pool",
            f"The gateway answers HTTP {code} to orders",
            error_message=f"HTTP {code}",
        )
    knowledge.process_checkpoint("one")
    assert 2 == len(knowledge.query_for_task("The gateway answers orders"))


def test_a_superseded_lesson_gives_its_place(knowledge):
    old = capture(knowledge, "Raise max.poll.records to 500")
    new = capture(knowledge, "Use static membership", "Another wording of a thing that is far away")
    newest = capture(knowledge, "Use cooperative rebalancing", "A third text about nothing of it")
    knowledge.process_checkpoint("one")
    assert [old] == [one.id for one in knowledge.query_for_task(FAILURE)]
    knowledge.supersede(old, new)
    assert [new] == [one.id for one in knowledge.query_for_task(FAILURE)]
    knowledge.supersede(new, newest)
    assert [newest] == [one.id for one in knowledge.query_for_task(FAILURE)]
    with pytest.raises(LessonError, match="was superseded by"):
        knowledge.supersede(newest, old)
    with pytest.raises(LessonError, match="does not supersede itself"):
        knowledge.supersede(old, old)
    with pytest.raises(LessonError, match="unknown lesson 'x'"):
        knowledge.supersede(old, "x")
    knowledge.remove(newest)
    assert [new] == [one.id for one in knowledge.query_for_task(FAILURE)]
    knowledge.supersede(old, None)
    assert [old] == [one.id for one in knowledge.query_for_task(FAILURE)]


def test_a_lesson_is_found_by_the_tasks_that_it_names(knowledge):
    told = capture(
        knowledge,
        "Use static membership",
        "Rebalances",
        error_message=None,
        applies_to="Enrich the click stream with data of the customer service",
    )
    knowledge.process_checkpoint("one")
    (found,) = knowledge.query_for_task("Enrich the click stream with data of the customers")
    assert told == found.id


def test_filters_fold_case_and_name_what_there_is(knowledge):
    capture(knowledge, "Use static membership", technology="Kafka")
    knowledge.process_checkpoint("one")
    assert 1 == len(knowledge.query_for_task(FAILURE, "BACKEND", technology="kafka"))
    found = knowledge.query_for_task(FAILURE, technology="RabbitMQ")
    assert "no lesson has the technology 'RabbitMQ' (available: Kafka)" == found.reason
    found = knowledge.query_for_task(FAILURE, task_type="migration")
    assert "no lesson has the task_type 'migration' (available: none)" == found.reason


def test_the_same_error_is_evidence(knowledge):
    capture(knowledge, "Use static membership", "Something odd", error_message=ERROR)
    knowledge.process_checkpoint("one")
    assert 1 == len(knowledge.query_for_failure("Quite another story of the night", ERROR))


def test_a_lesson_that_is_verified_later_is_indexed(knowledge):
    staged = capture(knowledge, "Use static membership", success_verified=False)
    assert 0 == knowledge.process_checkpoint("one").processed
    lesson = knowledge.verify(staged)
    assert (True, 1, 1) == (lesson.success_verified, lesson.successes, lesson.uses)
    assert 1 == knowledge.verify(staged).uses
    assert 1 == knowledge.process_checkpoint("one").processed
    empty = knowledge.capture_failure_solution("one", "qa", "It is red", success_verified=False)
    with pytest.raises(LessonError, match="no solution"):
        knowledge.verify(empty.id)


def pattern(name, *, relevance, successes=1, text="word"):
    return Pattern(
        id=name,
        kind="failure_solution",
        problem=text,
        solution=text,
        when_to_try=text,
        successes=successes,
        uses=successes,
        relevance=relevance,
    )


def test_a_block_takes_what_is_proven_and_then_what_fits_best():
    given = [
        pattern("proven", relevance=0.7, successes=9),
        pattern("long", relevance=0.99, text="word " * 500),
        *(pattern(str(number), relevance=0.8 + number / 100) for number in range(5)),
    ]
    shown, avoid = fitting(given, counter(), 300)
    assert ["proven", "3", "4"] == [one.id for one in shown]
    assert () == avoid
    shown, avoid = fitting(given[:1], counter(), 300, [pattern("bad", relevance=0.9)])
    assert ["bad"] == [one.id for one in avoid]
    assert counter().count(pattern_block(shown, avoid)) <= 300


def test_tasks_may_be_named_by_every_kind():
    texts = {"project": "p", "agent_type": "a", "gate_type": "g", "approved_approach": "x"}
    lesson = new_lesson("gate_approval", texts | {"applies_to": "Build it"}, verified=True)
    assert "Build it" == lesson.applies_to
    assert lesson.id == new_lesson("gate_approval", texts, verified=True).id


def test_the_own_error_of_a_lesson_enters_whatever_a_long_report_says_beside_it(knowledge):
    parts = [
        "payments",
        "orders",
        "billing",
        "search",
        "users",
        "mail",
        "cart",
        "stock",
        "ledger",
        "audit",
        "events",
    ]
    for part, fault in product(parts, ("is slow", "leaks", "deadlocks", "stops", "lies", "loops")):
        knowledge.capture_failure_solution(
            "one", "backend", f"The {part} {fault}", solution_steps=f"Mend the {part} that {fault}"
        )
    flux = knowledge.capture_failure_solution(
        "one",
        "backend",
        "Gadget kaputt",
        error_message="ZQX-7781 flux undersaturated",
        solution_steps="Replace the cell",
    )
    knowledge.process_checkpoint("one")
    noise = "\n".join(f"visited {part} and its garden" for part in parts * 4)
    found = knowledge.query_for_failure("", f"{noise}\nZQX-7781 flux undersaturated\n{noise}")
    assert flux.id in {one.id for one in found}
