"""Run benchmarks by name.

    python benchmarks/run.py                  product and search, over the examples
    python benchmarks/run.py --list           the names
    python benchmarks/run.py NAME [OPTIONS]   one of them, with the options of its script

A name is that of a script below ``speed`` or ``quality``, with dashes or underscores. Without options,
those that pytest collects are run by it: they take their documents from where the README says.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from conftest import BENCHMARKS

HERE = Path(__file__).parent
DEFAULT = "product or search"
RESULTS = Path(".benchmarks")
SHORT = {"run_collections": "collections"}  # by which pytest's -k finds it, too


def scripts() -> Mapping[str, Path]:
    """What can be run, by name."""
    found: dict[str, Path] = {}
    for path in (*sorted(HERE.glob("speed/*.py")), *sorted(HERE.glob("quality/*.py"))):
        if "\nif __name__ ==" in path.read_text("utf-8"):
            name = SHORT.get(path.stem, path.stem).replace("_", "-")
            found[f"{path.parent.name}-{name}" if name in found else name] = path
    return found


def command(arguments: Sequence[str]) -> Sequence[str]:
    """What runs the benchmark that the arguments name; raises SystemExit where there is none."""
    name = arguments[0].replace("_", "-") if arguments else ""
    known = scripts()
    collected = {HERE / one for one in BENCHMARKS}
    if name and name not in known:
        raise SystemExit(f"unknown benchmark {arguments[0]!r} (available: {', '.join(known)})")
    if name and (len(arguments) > 1 or known[name] not in collected):
        return [sys.executable, str(known[name]), *arguments[1:]]
    # The scripts beside each other in a folder import each other.
    chosen = name.replace("-", "_") or DEFAULT
    pytest = [sys.executable, "-m", "pytest", str(HERE), "--import-mode=prepend", "-s", "-k"]
    return [*pytest, chosen, f"--benchmark-json={RESULTS / 'speed.json'}"]


def main() -> None:
    """Run it."""
    arguments = sys.argv[1:]
    if arguments in (["--list"], ["--help"], ["-h"]):
        print(__doc__)
        print("\n".join(scripts()))
        return
    RESULTS.mkdir(exist_ok=True)
    sys.exit(subprocess.run(command(arguments), check=False).returncode)


if __name__ == "__main__":
    main()
