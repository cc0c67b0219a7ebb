"""System calls that fail: named, nothing quarantined, readers go on, and the next run is right."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import shim
from checks import Judge, Verdict
from children import Ended, in_child, ragloom
from measuring import Measure
from scenes import Stage, random_of, scenes
from shim import Action, Kind
from tally import Tally

_RUNS = {
    Kind.OPEN: (errno.EMFILE, errno.ENFILE, errno.EIO, errno.EACCES, errno.ENOMEM),
    Kind.READ: (errno.EIO, errno.ENOMEM),
    Kind.CREATE: (errno.EMFILE, errno.ENOSPC, errno.EACCES, errno.EROFS, errno.ENOMEM),
    Kind.WRITE: (errno.ENOSPC, errno.EIO, errno.EDQUOT),
    Kind.RENAME: (errno.ENOSPC, errno.EIO, errno.EACCES),
    Kind.REMOVE: (errno.EIO, errno.EACCES),
    Kind.SYNC: (errno.EIO, errno.ENOSPC),
    Kind.FOLDER: (errno.ENOSPC, errno.EACCES, errno.EMLINK),
}
_SEARCHES = {kind: _RUNS[kind] for kind in (Kind.OPEN, Kind.READ, Kind.CREATE)}
_SEARCHING = 3  # one fault in so many befalls a search
_ACTIONS = (Action.FAIL, Action.FAIL, Action.FAIL_ON)


def faults(tally: Tally, stage: Stage, judge: Judge, count: int) -> None:
    """Have system calls fail below runs and searches, of each kind and with each error in turn."""
    if why := shim.missing():
        tally.skip("faults", why)
        return
    measure = Measure(stage)
    running = [one for one in scenes() if not one.name.startswith(("repair", "watch"))]
    searched = [one for one in running if one.name == "index, changed"]
    for number in tally.cases(count):
        random, verdict = random_of(tally.seed, "faults", number), Verdict()
        searching = number % _SEARCHING == 0
        scene = (searched if searching else running)[number // _SEARCHING % len(searched)]
        if not searching:
            scene = running[number % len(running)]
        due, folder = judge.due(scene), stage.copy(scene)
        word = random.choice(due or [""])
        command = _search(word) if searching else scene.again
        kind, error = _fault(_SEARCHES if searching else _RUNS, number, random)
        operations = measure.of_command(scene, command, kind).operations
        action, at = random.choice(_ACTIONS), 1 + random.randrange(max(1, operations))
        faulty = partial(_faulty, folder, command, action, at, kind, error)
        ended = verdict.ended(f"{kind.name} {at}, {errno.errorcode[error]}", in_child(faulty))
        if searching:
            _answered(ended, word, verdict)
        judge.readers(scene, folder, verdict, due=due)
        judge.next_run(scene, folder, verdict)
        what = "search" if searching else scene.name
        tally.add("faults", f"{what}, {scene.store}", number, verdict)
        stage.strike(folder)


def _fault(errors: dict[Kind, tuple[int, ...]], number: int, random: Random) -> tuple[Kind, int]:
    kinds = list(errors)
    kind = kinds[(number + number // len(kinds)) % len(kinds)]
    return kind, random.choice(errors[kind])


def _faulty(
    folder: Path, command: Sequence[str], action: Action, at: int, kinds: Kind, error: int
) -> None:
    # A search may well find that a document cannot be read; the index is what must answer.
    below = folder / ".ragloom" if command[0] == "search" else folder
    shim.arm(below, action, at, kinds=kinds, error=error)
    ragloom(folder, *command)


def _search(word: str) -> Sequence[str]:
    # All of them: the order by vectors of a hash says nothing.
    return (
        "search",
        word,
        "--space",
        "kb",
        "-k",
        "50",
        "--per-file",
        "50",
        "--no-refresh",
        "--json",
        "--quiet",
    )


def _answered(ended: Ended, word: str, verdict: Verdict) -> None:
    """Hold a search to finding the word, or to saying that it cannot."""
    if ended.code == 0 and word not in json.dumps(_hits(ended.said)):
        verdict.lost.append(f"{word}, though the search says that all is well")


def _hits(said: str) -> object:
    for line in said.splitlines():
        if line.startswith("{"):
            return json.loads(line).get("hits")
    return None
