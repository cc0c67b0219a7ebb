"""What one project learns reaches the next, in both databases alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest

from ragloom import NotIndexedError, StoreError
from ragloom_knowledge import LessonError, Task
from ragloom_knowledge.capturing import new_lesson, now

FAILURE = "The database migration of the orders table times out"
ERROR = "QueryCanceled: canceling statement due to statement timeout"
FIX = "Create the index concurrently and migrate in batches of ten thousand rows"


def learn(base):
    """One lesson of each kind, from project one."""
    ids = [
        base.capture_failure_solution(
            "one",
            "backend",
            FAILURE,
            error_message=ERROR,
            solution_steps=FIX,
            task_type="migration",
        ).id,
        base.capture_gate_rejection(
            "one",
            "frontend",
            "design review",
            human_feedback="The login form gives no hint which field is wrong",
            revision_approach="Show the message of each field of the login form below it",
        ).id,
        base.capture_gate_approval(
            "one",
            "architect",
            "architecture review",
            approved_approach="Draw the payment service as a hexagon with ports for each bank",
        ).id,
    ]
    base.process_checkpoint("one", "project_completion")
    return ids


@pytest.mark.parametrize("store", ["sqlite", "milvus"], indirect=True)
def test_the_three_kinds_reach_another_project(knowledge, open_knowledge, url):
    failure, rejection, approval = learn(knowledge)
    two = open_knowledge(url)
    asked = {
        failure: Task(description=f"Write the {FAILURE}", agent_type="backend"),
        rejection: Task(
            description="Show a message of each field of the login form", agent_type="frontend"
        ),
        approval: Task(
            description="Draw the payment service with ports for each bank", agent_type="architect"
        ),
    }
    for lesson_id, task in asked.items():
        made = two.context_for_task(task)
        assert [lesson_id] == [pattern.id for pattern in made.patterns], task
        assert made.text.startswith(f"{task.description}\n\n[ORCHESTRATOR CONTEXT: Historical")
        assert made.text.endswith("[END CONTEXT]\n")


def test_nothing_is_embedded_before_a_checkpoint_and_only_what_is_verified(knowledge):
    verified = knowledge.capture_failure_solution("one", "backend", FAILURE, solution_steps=FIX)
    open_one = knowledge.capture_failure_solution(
        "one", "backend", "The cache is cold", success_verified=False
    )
    assert () == knowledge.query_for_task(FAILURE)
    done = knowledge.process_checkpoint("one", "phase_completion")
    assert (1, 2) == (done.processed, done.embedded)  # what it is about, and the whole
    assert [verified.id] == [pattern.id for pattern in knowledge.query_for_task(FAILURE)]
    assert not knowledge.lesson(open_one.id).embedded
    again = knowledge.process_checkpoint("one", "manual")
    assert (0, 0) == (again.processed, again.embedded)


def test_a_repeated_lesson_is_counted_and_keeps_its_wording(knowledge):
    first = knowledge.capture_failure_solution(
        "one",
        "backend",
        "Cannot open /srv/a/7f3a9c12/data.bin at 0x7ffe12 on line 12",
        solution_steps="Create the folder before the file is opened",
    )
    again = knowledge.capture_failure_solution(
        "two",
        "backend",
        "cannot open /home/x/deadbeef99/data.bin at 0xabc on line 9876",
        solution_steps="Create the folder before the file is opened.",
    )
    assert (first.id, True) == (again.id, again.merged)
    lesson = knowledge.lesson(first.id)
    assert (2, 2) == (lesson.successes, lesson.uses)
    assert "/srv/a/" in (lesson.failure_description or "")


def test_other_advice_for_the_same_failure_is_another_pattern_ranked_by_success(knowledge):
    one = knowledge.capture_failure_solution("one", "backend", FAILURE, solution_steps=FIX)
    other = knowledge.capture_failure_solution(
        "one", "backend", FAILURE, solution_steps="Raise statement_timeout for this session only"
    )
    assert not other.merged
    knowledge.process_checkpoint("one", "manual")
    for _ in range(4):
        knowledge.report_outcome(other.id, success=True)
    knowledge.report_outcome(one.id, success=False)
    assert [other.id, one.id] == [found.id for found in knowledge.query_for_task(FAILURE)]


def test_outcomes_never_embed_again(knowledge):
    lesson_id, *_ = learn(knowledge)
    knowledge.report_outcome(lesson_id, success=True)
    knowledge.report_outcome(lesson_id, success=False)
    lesson = knowledge.lesson(lesson_id)
    assert (2, 3) == (lesson.successes, lesson.uses)
    assert 0 == knowledge.process_checkpoint("one", "manual").embedded


def test_filters_run_inside_the_search(knowledge):
    wanted = "The build of module {} fails with an unresolved import"
    for number in range(60):  # more than the search would give without a filter
        knowledge.capture_failure_solution(
            "one",
            "backend",
            wanted.format("abcdefghij"[number % 10] * (number + 2)),
            solution_steps="Add it to the lock file",
        )
    only = knowledge.capture_failure_solution(
        "one", "frontend", wanted.format("zeta"), solution_steps="Add it", task_type="build"
    )
    knowledge.process_checkpoint("one", "manual")
    found = knowledge.query_for_task(wanted.format("abc"), "frontend", task_type="build")
    assert [only.id] == [pattern.id for pattern in found]
    assert () == knowledge.query_for_task(wanted.format("abc"), "frontend", task_type="test")


def test_a_task_that_names_a_technology_finds_its_lessons_without_a_filter(knowledge):
    failure, fix = "The cache loses its keys at night", "Give it more memory, and watch it"
    ids = {
        name: knowledge.capture_failure_solution(
            "one", "backend", failure, solution_steps=fix, technology=name
        ).id
        for name in ("redis", "memcached", "varnish")
    }
    knowledge.process_checkpoint("one")
    for name, lesson_id in ids.items():
        (found,) = knowledge.query_for_task(f"Set up {name}: {failure}", max_results=1)
        assert lesson_id == found.id


def test_an_empty_answer_says_why(knowledge):
    def reasons(**asked):
        task = Task(description="Write the report", **asked)
        found = knowledge.query_for_task(task.description, *asked.values())
        failures = knowledge.query_for_failure(task.description, "", *asked.values())
        assert ((), ()) == (found, failures)
        return {found.reason, failures.reason, knowledge.context_for_task(task).reason}

    assert {"no lessons are indexed yet: run 'ragloom knowledge checkpoint'"} == reasons()
    learn(knowledge)
    there = "(available: architect, backend, frontend)"
    assert {f"no lesson has the agent_type 'nobody' {there}"} == reasons(agent_type="nobody")
    assert all(reason.startswith("no relevant match (best ") for reason in reasons())
    assert "" == knowledge.query_for_task(FAILURE).reason


def test_another_model_is_named_and_a_checkpoint_mends_it(knowledge, open_knowledge, project, url):
    lesson_id, *_ = learn(knowledge)
    (project / "ragloom.yaml").write_text(
        "embedder: {name: hashing, dimension: 64}\nstore: sqlite\n", "utf-8"
    )
    other = open_knowledge(url)
    with pytest.raises(NotIndexedError, match="another model: run 'ragloom knowledge checkpoint'"):
        other.query_for_task(FAILURE)
    assert "another model" in other.context_for_task(Task(description=FAILURE)).reason
    other.process_checkpoint("one")
    assert [lesson_id] == [found.id for found in other.query_for_task(FAILURE, "backend")]


def test_failures_get_three_fixes_at_most(knowledge):
    for fix in ("Restart it", "Clear the cache", "Upgrade the driver", "Widen the pool"):
        knowledge.capture_failure_solution(
            "one", "backend", FAILURE, error_message=ERROR, solution_steps=fix
        )
    knowledge.process_checkpoint("one", "manual")
    assert 3 == len(knowledge.query_for_failure(FAILURE, ERROR, "backend"))
    assert () == knowledge.query_for_failure(FAILURE, ERROR, "frontend")


@pytest.mark.parametrize("store", ["sqlite", "milvus"], indirect=True)
def test_expired_lessons_go_from_table_and_index_and_pinned_ones_stay(knowledge):
    lesson_id, pinned, young = learn(knowledge)
    knowledge.pin(pinned)
    knowledge.table._change(lesson_id, embedded_at=now() - timedelta(days=366))
    knowledge.table._change(pinned, embedded_at=now() - timedelta(days=366))
    assert (lesson_id,) == knowledge.prune(dry_run=True).ids
    assert 3 == len(knowledge.lessons())
    assert (lesson_id,) == knowledge.prune().ids
    assert {pinned, young} == {lesson.id for lesson in knowledge.lessons()}
    assert {pinned, young} == {Path(uri).stem for uri in knowledge.space.snapshot().files}
    assert () == knowledge.query_for_task(FAILURE, "backend")


@pytest.mark.parametrize("store", ["sqlite", "milvus"], indirect=True)
def test_export_wipe_import_gives_the_same_answers_and_counts(
    knowledge, open_knowledge, url, tmp_path, store
):
    lesson_id, *_ = learn(knowledge)
    knowledge.capture_gate_approval("one", "qa", "release", approved_approach="staged: yes\n---\n#")
    knowledge.report_outcome(lesson_id, success=False)
    knowledge.pin(lesson_id)
    before, answers = knowledge.lessons(), knowledge.query_for_task(FAILURE)
    assert 4 == knowledge.export_lessons(tmp_path / "exported")
    knowledge.prune(timedelta(days=-1))
    knowledge.pin(lesson_id, pinned=False)
    knowledge.prune(timedelta(days=-1))
    assert [] == knowledge.lessons()
    assert () == knowledge.query_for_task(FAILURE)
    assert 4 == knowledge.import_lessons(tmp_path / "exported")
    assert before == knowledge.lessons()
    assert answers == knowledge.query_for_task(FAILURE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "ragloom.yaml").write_text(
        f"embedder: {{name: hashing, dimension: 384}}\nstore: {store}\n"
    )
    new = open_knowledge("", elsewhere)
    assert 4 == new.import_lessons(tmp_path / "exported")
    assert (before, answers) == (new.lessons(), new.query_for_task(FAILURE))
    assert url


@pytest.mark.server
def test_both_databases_answer_the_same(open_knowledge, postgres_url, tmp_path):
    def script(base):
        ids = learn(base)
        base.report_outcome(ids[0], success=True)
        base.capture_failure_solution(
            "two",
            "backend",
            FAILURE,
            error_message=ERROR,
            solution_steps=FIX,
            task_type="migration",
        )
        with pytest.raises(LessonError):
            base.report_outcome("no such id", success=True)
        shown = [
            (one.id, one.successes, one.uses, one.embedded, one.variant) for one in base.lessons()
        ]
        return (
            ids,
            shown,
            base.query_for_task(FAILURE),
            base.build_context_for_task(Task(description=FAILURE)),
        )

    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        text = "embedder: {name: hashing, dimension: 384}\nstore: sqlite\n"
        (folder / "ragloom.yaml").write_text(text, "utf-8")
    sqlite = script(open_knowledge("", folders[0]))
    assert sqlite == script(open_knowledge(postgres_url, folders[1]))


def test_captures_at_once_lose_no_count(knowledge, open_knowledge, url):
    def capture():
        base = open_knowledge(url)
        for _ in range(10):
            base.capture_failure_solution("one", "backend", FAILURE, solution_steps=FIX)

    threads = [Thread(target=capture) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (lesson,) = knowledge.lessons()
    assert (40, 40) == (lesson.successes, lesson.uses)


def approvals(*names):
    for name in names:
        texts = {
            "project": "one",
            "agent_type": "a",
            "gate_type": name,
            "approved_approach": "Do it",
        }
        yield new_lesson("gate_approval", texts, verified=True)


def test_many_are_captured_at_once_in_their_order(knowledge):
    given = list(approvals("alpha", "beta", "alpha", "gamma"))
    seen = []
    captured = knowledge.capture_all(given, progress=lambda *at: seen.append(at))
    assert [lesson.id for lesson in given] == [one.id for one in captured]
    assert [False, False, True, False] == [one.merged for one in captured]
    assert [("staging", number, 4) for number in (1, 2, 3, 4)] == seen
    assert 4 == sum(lesson.uses for lesson in knowledge.lessons())


def test_many_are_captured_all_or_none(knowledge):
    wrong = replace(next(approvals("beta")), agent_type="x" * 101)
    with pytest.raises(StoreError):
        knowledge.capture_all([*approvals("alpha"), wrong, *approvals("gamma")])
    assert [] == knowledge.lessons()


def test_batches_in_opposite_orders_do_not_wait_for_each_other(knowledge, open_knowledge, url):
    given = list(approvals(*(f"gate {letter}" for letter in "abcdefghijklmnopqrstuvwxyz")))
    bases = [open_knowledge(url) for _ in range(4)]
    started = Barrier(len(bases))
    done = []

    def capture(base, lessons):
        started.wait()
        done.append(base.capture_all(lessons))

    threads = [
        Thread(target=capture, args=[base, given[::step]])
        for base, step in zip(bases, (1, -1, 1, -1), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 4 == len(done)
    assert [4] * 26 == [lesson.uses for lesson in knowledge.lessons()]


def test_whoever_comes_first_makes_the_tables(open_knowledge, url, tmp_path):
    """Many CI jobs capture for the first time at once."""
    started = Barrier(8)
    folders = [tmp_path / str(number) for number in range(8)]
    failures = []

    def capture(folder):
        started.wait()
        try:
            base = open_knowledge(url, folder)
            base.capture_failure_solution("one", "backend", FAILURE, solution_steps=FIX)
        except StoreError as error:
            failures.append(error)

    for folder in folders:
        folder.mkdir()
    threads = [Thread(target=capture, args=[folder]) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures
    (lesson,) = open_knowledge(url, folders[0]).lessons()
    assert 8 == lesson.uses


@pytest.mark.parametrize(
    "change",
    [
        {"entry_type": "rumour"},
        {"failure_description": None},
        {"project_id": None},
        {"agent_type": None},
        {"successes": 5},
        {"uses": 0},
        {"success_verified": False, "embedded": True},
        {"embedded": True, "embedded_at": None},
        {"solution_steps": None},
    ],
)
def test_the_database_itself_refuses(knowledge, change):
    learnt = knowledge.capture_failure_solution("one", "backend", FAILURE, solution_steps=FIX)
    with pytest.raises(StoreError, match="constraint") as raised:
        knowledge.table._change(learnt.id, **change)
    assert "{" not in str(raised.value)


def test_a_time_that_is_none_is_a_fault_of_the_database(open_knowledge):
    """SQLite keeps whatever another program writes."""
    knowledge = open_knowledge()
    learn(knowledge)
    with knowledge.table._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE knowledge_staging SET timestamp = 'soon'")
    with pytest.raises(StoreError, match=r"lessons\.db: .*'soon'"):
        knowledge.lessons()
    assert "soon" in knowledge.context_for_task(Task(description=FAILURE)).reason


def test_no_other_space_and_no_server_lists_the_lessons(knowledge, project, host):
    from ragloom import Workspace

    learn(knowledge)
    workspace = Workspace.open(project, host=host)
    assert [] == list(workspace.spaces())
    space = workspace.space()
    assert 0 == space.index().chunks


def test_a_context_never_fails(knowledge, monkeypatch):
    def broken(*_args, **_kwargs):
        raise StoreError("gone")

    monkeypatch.setattr(knowledge._index, "search", broken)
    made = knowledge.context_for_task(Task(description="Do it"))
    assert ("Do it", "gone") == (made.text, made.reason)


def test_lessons_of_one_wording_are_all_counted(knowledge):
    """One problem is one pattern, in which each of its lessons counts; a filter narrows it."""
    ids = {
        knowledge.capture_failure_solution("one", agent, FAILURE, solution_steps=FIX).id
        for agent in ("backend", "frontend")
    }
    knowledge.process_checkpoint("one", "manual")
    assert 2 == len(ids)
    (pattern,) = knowledge.query_for_task(FAILURE)
    assert ids == {pattern.id, *pattern.wordings}
    assert (2, 2) == (pattern.successes, pattern.uses)
    for agent in ("Backend", "FRONTEND"):
        (one,) = knowledge.query_for_task(FAILURE, agent)
        assert (one.wordings, one.uses) == ((), 1)
