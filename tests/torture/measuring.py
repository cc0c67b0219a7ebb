"""How much a command does when it is let alone, so that a moment within it can be chosen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import shim
from children import in_child, ragloom
from scenes import Scene, Stage
from shim import Action, Kind


class Measured(NamedTuple):
    """A command that was let alone: its file operations of some kinds, and seconds."""

    operations: int
    seconds: float


class Measure:
    """Measures each command once.

    Args:
        stage: Gives folders in which it can be run.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._known: dict[tuple[str, Sequence[str], Kind], Measured] = {}

    def of(self, scene: Scene, kinds: Kind = Kind.CHANGES) -> Measured:
        """What is under way in a scene; of a watch, its first look."""
        return self.of_command(
            scene, scene.again if scene.name == "watch" else scene.command, kinds
        )

    def of_command(self, scene: Scene, command: Sequence[str], kinds: Kind) -> Measured:
        """What a command does in a scene."""
        key = (scene.title, tuple(command), kinds)
        if key not in self._known:
            folder = self._stage.copy(scene)
            started = time.monotonic()
            ended = in_child(partial(_counted, folder, command, kinds))
            if ended.code:
                raise RuntimeError(f"{scene.title}: {ended.said}")
            self._known[key] = Measured(ended.value, time.monotonic() - started)
            self._stage.strike(folder)
        return self._known[key]


def _counted(folder: Path, command: Sequence[str], kinds: Kind) -> int:
    if shim.missing():
        ragloom(folder, *command)
    shim.arm(folder, Action.COUNT, kinds=kinds)
    try:
        ragloom(folder, *command)
    except SystemExit as ended:
        if ended.code:
            raise
    return shim.seen()
