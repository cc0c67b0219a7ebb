"""Processes that are killed: before, after or within a write, a rename or a sync, or at any time."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import shim
from checks import Judge, Verdict
from children import Ended, finish, ragloom, start
from measuring import Measure
from scenes import Scene, Stage, random_of, real_scenes, scenes
from shim import Action, Kind
from tally import Tally

_REAL_SHARE = 5  # one kill in so many has the real model under way
_ANY_TIME = 4  # one in so many comes at any time
_MOMENTS = (Action.BEFORE, Action.AFTER, Action.TORN)
_WATCHED = 3.0  # seconds until a watch that nothing killed is killed


def kill_at_operation(
    scene: Scene, folder: Path, action: Action, at: int, *, log: Path | None = None
) -> Ended:
    """Have what is under way kill itself at its ``at``-th change of a file.

    Args:
        scene: What is under way.
        folder: Where it is ready.
        action: Before, after or within the change.
        at: Which, from one.
        log: Gets the inodes that are written and synced.
    """

    def work() -> None:
        flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND
        noted = -1 if log is None else os.open(log, flags, 0o600)
        shim.arm(folder, action, at, kinds=Kind.CHANGES, log=noted)
        ragloom(folder, *scene.command)

    child = start(work)
    last = time.monotonic() + _WATCHED if scene.name == "watch" else None
    return finish(child, kill_at=last)


def kill_at_any_time(scene: Scene, folder: Path, seconds: float) -> Ended:
    """Kill what is under way after so many seconds."""
    child = start(partial(ragloom, folder, *scene.command))
    return finish(child, kill_at=time.monotonic() + seconds)


def played(number: int, all_scenes: Sequence[Scene], real: Sequence[Scene]) -> Scene:
    """The scene of a case: each in turn, the real model in its share of them."""
    turn, left = divmod(number, _REAL_SHARE)
    if real and left == _REAL_SHARE - 1:
        return real[turn % len(real)]
    return all_scenes[(number - turn if real else number) % len(all_scenes)]


def moment(number: int, count: int, random: Random) -> tuple[Action, int]:
    """A way to be killed and an operation, so that all operations have their turn as evenly as may be."""
    golden = 0.618033988749895  # https://en.wikipedia.org/wiki/Low-discrepancy_sequence
    share = (random.random() * 0.05 + number * golden) % 1.0
    return _MOMENTS[number % len(_MOMENTS)], 1 + int(share * count)


def kills(tally: Tally, stage: Stage, judge: Judge, count: int, *, real: bool = True) -> None:
    """Kill commands in every scene, then hold what is left to what a fresh index says."""
    measure, systematic = Measure(stage), not shim.missing()
    if not systematic:
        tally.skip("kills at operations", shim.missing())
    with_model = real_scenes() if real else []
    for number in tally.cases(count):
        random = random_of(tally.seed, "kills", number)
        scene = played(number, scenes(), with_model)
        folder, verdict = stage.copy(scene), Verdict()
        if systematic and number % _ANY_TIME:
            action, at = moment(number, measure.of(scene).operations, random)
            kill_at_operation(scene, folder, action, at)
        else:
            kill_at_any_time(scene, folder, random.uniform(0, 1.1) * measure.of(scene).seconds)
        due = [] if scene.name == "repair, snapshot" else judge.due(scene)
        judge.readers(scene, folder, verdict, due=due)
        judge.next_run(scene, folder, verdict)
        if scene.name.startswith("repair"):
            verdict.quarantined.clear()  # it was damaged
        tally.add("kills", scene.title, number, verdict)
        stage.strike(folder)
