"""Descriptors, space and inodes that are used up, and a folder that may not be written."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

from checks import Judge, Verdict
from children import in_child, ragloom
from scenes import STORES, Scene, Stage, random_of
from tally import Tally

_DESCRIPTORS = (3, 24)
_SPARE = 8  # inodes that a full file system may have left
_ROOM = 256 << 20  # bytes of the file system in memory


def limits(tally: Tally, stage: Stage, judge: Judge, count: int) -> None:
    """Run and search where something has been used up; nothing is quarantined for it."""
    kinds = [_descriptors, _size]
    if why := _cannot_mount(stage.empty()):
        tally.skip("limits of a disk", why)
    else:
        kinds += [_space, _inodes, _read_only]
    for number in tally.cases(count):
        random, verdict = random_of(tally.seed, "limits", number), Verdict()
        scene = Scene(name="index, changed", store=STORES[number // len(kinds) % len(STORES)])
        play = kinds[number % len(kinds)]
        with play(stage, scene, random) as (folder, what, limit):
            for command in (("search", "harvest", "--no-refresh"), scene.command):
                ended = in_child(partial(_limited, folder, command, limit))
                verdict.ended(f"{command[0]} with {what}", ended)
            judge.readers(scene, folder, verdict, due=judge.due(scene))
        judge.next_run(scene, folder, verdict)
        tally.add(
            "limits", f"{play.__name__[1:].replace('_', '-')}, {scene.store}", number, verdict
        )
        stage.strike(folder)


Limit = tuple[int, int]
Played = Iterator[tuple[Path, str, Limit | None]]


@contextlib.contextmanager
def _descriptors(stage: Stage, scene: Scene, random: Random) -> Played:
    spare = random.randint(*_DESCRIPTORS)
    yield stage.copy(scene), f"{spare} descriptors", (resource.RLIMIT_NOFILE, spare)


@contextlib.contextmanager
def _size(stage: Stage, scene: Scene, random: Random) -> Played:
    most = random.randrange(1 << 16)
    yield stage.copy(scene), f"files of {most} bytes at most", (resource.RLIMIT_FSIZE, most)


@contextlib.contextmanager
def _space(stage: Stage, scene: Scene, random: Random) -> Played:
    with _mounted(stage.copy(scene), "") as folder:
        filler = folder / "filler"
        with filler.open("wb") as stream:
            room = os.statvfs(folder)
            left = random.randrange(64) * room.f_frsize
            os.posix_fallocate(stream.fileno(), 0, room.f_bavail * room.f_frsize - left or 1)
        yield folder, f"{left} bytes left", None
        filler.unlink()


@contextlib.contextmanager
def _inodes(stage: Stage, scene: Scene, random: Random) -> Played:
    with _mounted(stage.copy(scene), ",nr_inodes=600") as folder:
        spare, filler = random.randrange(_SPARE), folder / "filler"
        filler.mkdir()
        for number in range(os.statvfs(folder).f_ffree - spare):
            (filler / str(number)).touch()
        yield folder, f"{spare} inodes left", None
        shutil.rmtree(filler)


@contextlib.contextmanager
def _read_only(stage: Stage, scene: Scene, random: Random) -> Played:
    with _mounted(stage.copy(scene), "") as folder:
        _call("mount", "-o", "remount,ro", str(folder))
        yield folder, "a folder that is read-only", None
        _call("mount", "-o", "remount,rw", str(folder))


@contextlib.contextmanager
def _mounted(folder: Path, options: str) -> Iterator[Path]:
    """The same files in a file system of their own; afterwards they lie in the folder again."""
    kept = folder.with_name(f"{folder.name}-kept")
    folder.rename(kept)
    folder.mkdir()
    _call("mount", "-t", "tmpfs", "-o", f"size={_ROOM}{options}", "tmpfs", str(folder))
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        shutil.rmtree(kept)
        yield folder
        shutil.copytree(folder, kept)
    finally:
        _call("umount", "-l", str(folder))
        folder.rmdir()
        if kept.exists():
            kept.rename(folder)


def _limited(folder: Path, command: Sequence[str], limit: Limit | None) -> None:
    os.chdir(folder)
    if limit is not None:
        what, most = limit
        if what == resource.RLIMIT_NOFILE:  # beyond those that are open
            most += max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))
    ragloom(folder, *command)


def _cannot_mount(folder: Path) -> str:
    if sys.platform != "linux":
        return "file systems in memory are mounted on Linux only"
    try:
        _call("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"").decode().strip() or error
        return f"a file system in memory cannot be mounted: {said}"
    _call("umount", str(folder))
    return ""


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
