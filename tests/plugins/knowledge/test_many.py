"""Thousands of lessons; what is timed for the record is in benchmarks/speed/knowledge.py."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ragloom_knowledge.capturing import new_lesson
from ragloom_knowledge.signature import stable_id

MANY = 5_000
AGENTS = ("backend", "frontend", "qa", "architect")


def lessons(count):
    from dataclasses import replace

    for number in range(count):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        texts = {
            "project": "one",
            "agent_type": AGENTS[number % 4],
            "technology": "python" if number % 3 else "go",
            "failure_description": f"The service {word} refuses connections of its {word}client",
            "solution_steps": f"Raise the pool of {word} and restart it",
        }
        lesson = new_lesson("failure_solution", texts, verified=True)
        yield replace(lesson, id=stable_id(lesson.kind, lesson.signature, 0))


@pytest.mark.slow
def test_thousands_are_queried_and_pruned_whole(open_knowledge):
    knowledge = open_knowledge()
    assert MANY == knowledge.table.restore(list(lessons(MANY)))
    batches = []
    done = knowledge.process_checkpoint(
        "one", "manual", progress=lambda stage, at, of: batches.append((stage, at, of))
    )
    assert MANY == done.processed
    embedding = [at for stage, at, _ in batches if stage == "chunks"]
    chunks = 2 * MANY  # what each is about, and the whole of it
    # Each segment begins with small steps.
    assert chunks // 256 <= len(embedding) <= 1.5 * chunks // 256
    asked = "The service bcde refuses connections of its bcdeclient"
    knowledge.query_for_task(asked, "qa", technology="python")
    found = knowledge.query_for_task(asked, "qa", technology="python")
    assert found
    kept = found[0].id
    knowledge.pin(kept)
    assert MANY - 1 == len(knowledge.prune(timedelta(days=-1)).ids)
    assert [kept] == [lesson.id for lesson in knowledge.lessons()]
    assert [f"{kept}.md"] == list(knowledge.space.snapshot().files)
