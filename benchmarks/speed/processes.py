"""What the speed benchmarks share: documents of a stated size, whole processes measured, the machine."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "EXAMPLES",
    "FILES",
    "Run",
    "documents",
    "edit",
    "installed",
    "machine",
    "measured",
    "median",
    "pick",
    "table",
    "write_files",
]

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
FILES, BYTES = 100, 500_000

# A process inherits the high-water mark of the one that starts it: hence a small one in between.
_LAUNCHER = """
import json, os, subprocess, sys, time
errors = open(sys.argv[1], "wb")
output = open(sys.argv[2], "wb")
start = time.perf_counter()
process = subprocess.Popen(sys.argv[3:], stdout=output, stderr=errors)
_, status, usage = os.wait4(process.pid, 0)
seconds = time.perf_counter() - start
peak = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
processor = usage.ru_utime + usage.ru_stime
written = usage.ru_oublock / 2048  # blocks of 512 bytes
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, processor, peak, written]))
"""


class Run(NamedTuple):
    """One process from its start to its end.

    Attributes:
        seconds: On the wall.
        processor: Seconds of processor time, of all its threads.
        peak_mb: Most resident memory of its largest process, in MiB.
        output: What it wrote to stdout.
        written_mb: What it had the system write to the disk, in MiB; 0 where that is not counted.
    """

    seconds: float
    processor: float
    peak_mb: float
    output: str
    written_mb: float


def measured(
    command: Sequence[str],
    *,
    folder: Path,
    scratch: Path,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run ``command`` in ``folder``; its output goes through files in ``scratch``.

    Raises:
        RuntimeError: It failed; the message holds the end of what it wrote.
    """
    errors, output = scratch / "stderr", scratch / "stdout"
    launched = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(errors), str(output), *command],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    code, seconds, processor, peak, written = json.loads(launched.stdout)
    said = output.read_text("utf-8", "replace")
    if code:
        end = (said + errors.read_text("utf-8", "replace"))[-2000:]
        message = f"{' '.join(command)} ended with {code}:\n{end}"
        raise RuntimeError(message)
    return Run(seconds, processor, peak, said, written)


def documents(source: Path) -> dict[str, str]:
    """The Markdown files in a folder or zip file, by path, sorted."""
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".md"))
            return {name: archive.read(name).decode("utf-8", "replace") for name in names}
    return {
        path.relative_to(source).as_posix(): path.read_text("utf-8", "replace")
        for path in sorted(source.rglob("*.md"))
    }


def pick(texts: Mapping[str, str], *, files: int = FILES, size: int = BYTES) -> dict[str, str]:
    """``files`` documents of about ``size`` bytes in all, chosen the same way every time.

    Evenly spaced over the sorted paths, after as many of the largest files are left out as brings the
    total nearest to ``size``. Where there are too few, the documents are repeated, each repetition
    with a number in its headings so that no passage equals another.
    """
    if len(texts) < files:
        return _repeated(texts, files=files, size=size)
    by_size = sorted(texts, key=lambda name: (-len(texts[name].encode()), name))
    best: list[str] = []
    nearest = float("inf")
    for left_out in range(len(texts) - files + 1):
        names = sorted(by_size[left_out:])
        chosen = [names[at * len(names) // files] for at in range(files)]
        distance = abs(sum(len(texts[name].encode()) for name in chosen) - size)
        if distance < nearest:
            best, nearest = chosen, distance
    return {name: texts[name] for name in best}


def _repeated(texts: Mapping[str, str], *, files: int, size: int) -> dict[str, str]:
    if not texts:
        sys.exit("there is no Markdown file in the folder given")
    packed: dict[str, str] = {}
    parts: list[str] = []
    total = number = 0
    while len(packed) < files:
        number += 1
        for text in texts.values():
            part = re.sub(r"(?m)^(#{1,6} .*\S)", rf"\1 ({number})", text)
            parts.append(part)
            total += len(part.encode())
            if total >= (len(packed) + 1) * size / files and len(packed) < files:
                packed[f"part-{len(packed):03}.md"] = "\n\n".join(parts)
                parts = []
    return packed


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write documents below ``folder``."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def edit(folder: Path, texts: Mapping[str, str], number: int) -> str:
    """Add a paragraph to one of the documents, a different one for each number; its name."""
    by_size = sorted(texts, key=lambda name: (len(texts[name]), name))
    name = by_size[(len(by_size) // 2 + number) % len(by_size)]
    with (folder / name).open("a", encoding="utf-8") as stream:
        stream.write(f"\n\nRevision {number}: rotate the signing keys every {number + 30} days.\n")
    return name


def median(values: Iterable[float]) -> float:
    """The median, of one value or more."""
    return statistics.median(values)


def installed(*names: str) -> dict[str, str]:
    """The versions of Python and of these distributions."""
    versions = {"python": platform.python_version()}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    processor, memory = platform.processor(), ""
    cpus, held = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    if cpus.exists() and (found := re.search(r"model name\s*: (.+)", cpus.read_text())):
        processor = found[1]
    if held.exists() and (found := re.search(r"MemTotal:\s*(\d+) kB", held.read_text())):
        memory = f"{int(found[1]) / 1024**2:.0f} GiB"
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": processor,
        "cores": os.cpu_count(),
        "memory": memory,
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else [],
    }


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
