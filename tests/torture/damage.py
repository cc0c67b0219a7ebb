"""Damaged bytes: searches are right or say what is damaged, and a repair or the next run heals it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

from checks import Judge, Verdict
from children import in_child, ragloom
from scenes import STORES, Scene, Stage, random_of
from tally import Tally

Damage = Callable[[Path, Random], object]


def flip(path: Path, random: Random) -> None:
    """One bit is another."""
    content = bytearray(path.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, random: Random) -> None:
    """The end is missing."""
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content))])


def zero(path: Path, random: Random) -> None:
    """A block of zeros, as file systems give back what never arrived."""
    content = bytearray(path.read_bytes())
    start = random.randrange(len(content))
    length = min(len(content) - start, random.choice((16, 512, 4096)))
    content[start : start + length] = bytes(length)
    path.write_bytes(content)


def garbage(path: Path, random: Random) -> None:
    """Bytes of another file."""
    content = bytearray(path.read_bytes())
    start = random.randrange(len(content))
    content[start : start + 64] = random.randbytes(64)
    path.write_bytes(content)


def delete(path: Path, _random: Random) -> None:
    """It is gone."""
    path.unlink()


DAMAGES: Sequence[Damage] = (flip, truncate, zero, garbage, delete)


def damage(tally: Tally, stage: Stage, judge: Judge, count: int) -> None:
    """Damage one file of an index after the other, each in each way."""
    for number in tally.cases(count):
        random, verdict = random_of(tally.seed, "damage", number), Verdict()
        scene = Scene(name="index, changed", store=STORES[number % len(STORES)])
        folder = stage.copy(scene)
        path = random.choice(_files(scene.state(folder)))
        DAMAGES[number % len(DAMAGES)](path, random)
        what = path.relative_to(scene.state(folder)).as_posix()
        _search(judge, scene, folder, verdict)
        if random.random() < 0.5:
            verdict.ended("repair", in_child(partial(ragloom, folder, "repair")))
            _search(judge, scene, folder, verdict)
        judge.next_run(scene, folder, verdict, healing=True)
        verdict.unclear = [f"{what}: {text}" for text in verdict.unclear]
        verdict.failed = [f"{what}: {text}" for text in verdict.failed]
        name = "the store" if what.startswith("store/") else "the snapshot"
        if what.count("/") == 0:
            name = what
        tally.add("damage", f"{name}, {scene.store}", number, verdict, damage=True)
        stage.strike(folder)


def _search(judge: Judge, scene: Scene, folder: Path, verdict: Verdict) -> None:
    """Hold searches to being right or to an error; a damaged index may well refuse to answer."""
    heard = Verdict()
    judge.readers(scene, folder, heard, due=judge.due(scene))
    verdict.unclear += heard.unclear
    verdict.ghosts += heard.ghosts
    verdict.lost += [word for word in heard.lost if "every search ends with" not in word]


def _files(state: Path) -> Sequence[Path]:
    return sorted(
        path
        for path in state.rglob("*")
        if path.is_file() and path.stat().st_size and not path.name.startswith("lock")
    )
