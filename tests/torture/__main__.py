"""Torture an index, and print what came of it: ``tox -e torture -- --help``."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from random import SystemRandom

import shim
from checks import Judge
from crowd import crowd
from damage import damage
from faults import faults
from fuzzing import fuzz
from kills import kills
from limits import limits
from power import power
from scenes import Stage, warm_up
from tally import Tally

_ROOM = 1 << 30
_SHARES = {
    "kills": 0.55,
    "power": 0.07,
    "faults": 0.13,
    "limits": 0.06,
    "damage": 0.08,
    "crowd": 0.05,
    "fuzz": 0.06,
}
"""How the minutes are shared out; what one part does not need, the next ones have."""


def main() -> int:
    """Run the parts and return the exit code."""
    options = _options()
    base = shim.preloaded()
    if base is None:
        base = Path(tempfile.mkdtemp(prefix="torture-", dir=options.folder)).resolve()
        if not shim.missing():
            shim.preload(base)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(1)
    )  # what is mounted and written is taken down
    try:
        _leave_the_user_alone(base)
        return _run(options, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _run(options: argparse.Namespace, base: Path) -> int:
    warm_up(base)
    stage = Stage(base)
    judge = Judge(stage)
    played = partial(partial, stage=stage, judge=judge)
    seconds = 60 * options.minutes
    parts = {
        "kills": played(kills, count=options.kills, real=not options.no_model),
        "power": played(power, count=options.kills // 5),
        "faults": played(faults, count=options.kills // 2),
        "limits": played(limits, count=options.kills // 5),
        "damage": played(damage, count=options.kills // 2),
        "crowd": played(crowd, seconds=seconds * _SHARES["crowd"]),
        "fuzz": partial(
            fuzz, stage=stage, corpus=options.corpus, seconds=seconds * _SHARES["fuzz"]
        ),
    }
    begun = time.monotonic()
    tally = Tally(seed=options.seed, deadline=begun, only=options.case)
    for name, part in parts.items():
        if name in options.only:
            tally.deadline = (
                max(tally.deadline, time.monotonic()) + 60 * options.minutes * _SHARES[name]
            )
            part(tally)
            print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    print(tally.table())
    for failure in tally.failures:
        print(failure)
    print(f"seed {options.seed}; {len(tally.failures)} failures", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(tally.as_json(), indent=1) + "\n", "utf-8")
    return 1 if tally.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description="Torture an index.")
    parser.add_argument(
        "--seed", type=int, default=SystemRandom().randrange(2**32), help="repeats a run"
    )
    parser.add_argument("--kills", type=int, default=200, help="how many processes are killed")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="the time of all parts together"
    )
    parser.add_argument(
        "--only", nargs="+", choices=_SHARES, default=list(_SHARES), help="these parts"
    )
    parser.add_argument("--case", type=int, help="the one case of a part to repeat, with its seed")
    parser.add_argument("--no-model", action="store_true", help="the real model is in no kill")
    parser.add_argument(
        "--folder",
        type=Path,
        default=_memory(),
        help="where indexes lie; in memory, syncs cost nothing",
    )
    parser.add_argument(
        "--corpus", type=Path, default=_cache(), help="where the inputs of fuzzing are kept"
    )
    parser.add_argument("--json", type=Path, help="the table for programs")
    return parser.parse_args()


def _memory() -> Path | None:
    """A file system in memory with a gigabyte of room, if there is one; None for the usual place."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > _ROOM else None


def _cache() -> Path:
    """The user's own cache, which outlives a run."""
    place = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(place) / "ragloom-torture" / "corpus"


def _leave_the_user_alone(base: Path) -> None:
    """Neither settings nor state of the user's own are read or written."""
    (base / "home").mkdir(exist_ok=True)
    for name in [name for name in os.environ if name.startswith(("RAGLOOM_", "XDG_"))]:
        if name != "RAGLOOM_TORTURE_SHIM":
            del os.environ[name]
    os.environ["HOME"] = str(base / "home")
    tempfile.tempdir = str(base)


sys.exit(main())
