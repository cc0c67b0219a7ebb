"""A loss of power: what was appended to files and not yet synced is lost, wholly or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import shim
from checks import Judge, Verdict
from kills import kill_at_operation
from measuring import Measure
from scenes import Stage, random_of, scenes
from shim import Action
from tally import Tally

_SCENES = ("index, changed", "index, removed", "repair, store", "agents", "checkpoint")
_LAST = 15  # operations with which a command ends


def power(tally: Tally, stage: Stage, judge: Judge, count: int) -> None:
    """Kill commands, and take from the disk what no sync had made durable.

    The order of renames is kept, as file systems with a journal keep it, and so is what overwrites bytes
    in place.
    """
    if why := shim.missing():
        tally.skip("power", why)
        return
    measure = Measure(stage)
    chosen = [scene for scene in scenes() if scene.name in _SCENES]
    for number in tally.cases(count):
        random = random_of(tally.seed, "power", number)
        scene = chosen[number % len(chosen)]
        folder, verdict = stage.copy(scene), Verdict()
        log = folder.with_suffix(".log")
        at = _moment(random, measure.of(scene).operations)
        action, sizes = random.choice((Action.BEFORE, Action.AFTER)), _sizes(folder)
        kill_at_operation(scene, folder, action, at, log=log)
        lose(folder, unsynced(sizes, log.read_text("ascii").splitlines()), random)
        # A store that lost its tail is damaged, and says so; what answers is the snapshot.
        judge.readers(scene, folder, verdict, due=judge.due(scene))
        judge.next_run(scene, folder, verdict, healing=True)
        tally.add("power", scene.title, number, verdict, damage=True)
        stage.strike(folder)
        log.unlink()


def _moment(random: Random, operations: int) -> int:
    """Any operation, and as often one of the last, when all looks as if it was done."""
    last = max(1, operations - _LAST) if random.randrange(2) else 1
    return random.randint(last, operations)


def unsynced(sizes: Mapping[int, int], log: Sequence[str]) -> dict[int, int]:
    """The inodes that were written after their last sync, and how many bytes each then had.

    Args:
        sizes: Of the files that were there before, which are taken to be on the disk.
        log: Lines of ``shim.c``.
    """
    durable, written = dict(sizes), set[int]()
    for line in log:
        what, inode, size = line.split()
        number = int(inode)
        if what == "S":
            written.discard(number)
            durable[number] = int(size)
            continue
        written.add(number)
        if what == "T":
            durable[number] = 0
    return {number: durable.get(number, 0) for number in sorted(written)}


def lose(folder: Path, durable: Mapping[int, int], random: Random) -> None:
    """Of what was appended to the files of these inodes since their last sync, a random part stays."""
    for path in _files(folder):
        status = path.stat()
        if (least := durable.get(status.st_ino, status.st_size)) < status.st_size:
            with path.open("r+b") as stream:
                stream.truncate(
                    random.choice((least, (least + status.st_size) // 2, status.st_size))
                )


def _sizes(folder: Path) -> dict[int, int]:
    return {(status := path.stat()).st_ino: status.st_size for path in _files(folder)}


def _files(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
