"""How long the first answer takes over a folder that was never indexed, beside memsearch and Chroma.

    python benchmarks/speed/first_answer.py [--docs FOLDER|ZIP ...] [--repeat N] [--alone] [--json FILE]

From the start of a process to its end: ``ragloom search`` over a folder without an index, and for a rival
the commands that index and then search; they take turns, with the models of ``rivals.py``. What ragloom has
not embedded by then is completed by ``ragloom index``, which is measured behind it. Where the rivals cannot
be installed, and with ``--alone``, ragloom is measured by itself.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from processes import EXAMPLES, Run, documents, installed, machine, measured, median, table
from processes import write_files as write
from rivals import QUESTION, Contender, contenders, ragloom


def read(sources: Sequence[Path]) -> dict[str, str]:
    """The documents of every source, each in a folder of its own."""
    return {
        f"{source.stem}/{name}": text
        for source in sources
        for name, text in documents(source).items()
    }


def everyone(venvs: Path, scratch: Path, question: str, *, alone: bool) -> Sequence[Contender]:
    """Those that can be had here."""
    if not alone:
        try:
            return contenders(venvs, scratch, question)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"memsearch and Chroma cannot be installed: {error}", file=sys.stderr)
    return [ragloom(question)]


def answered(contender: Contender, folder: Path, scratch: Path) -> Sequence[Run]:
    """The commands until there is an answer, and for ragloom the one that completes the index."""
    shutil.rmtree(folder / contender.state, ignore_errors=True)
    (folder / contender.state).parent.mkdir(parents=True, exist_ok=True)
    own = contender.name == "ragloom"
    commands = [contender.search, contender.index] if own else [contender.index, contender.search]
    runs = [
        measured(command, folder=folder, scratch=scratch, environment=contender.environment)
        for command in commands
    ]
    if not runs[0 if own else 1].output.strip():
        raise RuntimeError(f"{contender.name} found nothing: what was measured is no answer")
    return runs


def figures_of(name: str, rounds: Sequence[Sequence[Run]]) -> dict[str, float]:
    """Seconds until there is an answer, and until the index is complete."""
    first = [runs[:1] if name == "ragloom" else runs for runs in rounds]
    return {
        "first answer, s": median(sum(run.seconds for run in runs) for runs in first),
        "first answer, CPU s": median(sum(run.processor for run in runs) for runs in first),
        "complete, s": median(sum(run.seconds for run in runs) for runs in rounds),
        "complete, CPU s": median(sum(run.processor for run in runs) for runs in rounds),
        "peak, MiB": max(run.peak_mb for runs in rounds for run in runs),
    }


def compare(
    texts: Mapping[str, str], *, venvs: Path, repeat: int, question: str, alone: bool
) -> dict[str, dict[str, float]]:
    """The figures of each contender."""
    rounds: dict[str, list[Sequence[Run]]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made, "docs"), Path(made, "scratch")
        scratch.mkdir()
        write(folder, texts)
        there = everyone(venvs, scratch, question, alone=alone)
        measured([sys.executable, "-m", "ragloom", "--help"], folder=folder, scratch=scratch)
        for number in range(repeat):
            for contender in there:
                print(f"round {number + 1}: {contender.name}", file=sys.stderr)
                runs = answered(contender, folder, scratch)
                rounds.setdefault(contender.name, []).append(runs)
    return {name: figures_of(name, runs) for name, runs in rounds.items()}


def main() -> None:
    """Compare, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, nargs="+", default=[EXAMPLES])
    parser.add_argument("--repeat", type=int, default=1, help="rounds; medians are printed")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--alone", action="store_true", help="ragloom by itself")
    parser.add_argument("--venvs", type=Path, default=Path(".benchmarks/venvs"))
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    texts = read(arguments.docs)
    size = sum(len(text.encode()) for text in texts.values())
    found = compare(
        texts,
        venvs=arguments.venvs.resolve(),
        repeat=arguments.repeat,
        question=arguments.question,
        alone=arguments.alone,
    )
    heads = list(next(iter(found.values())))
    rows = [[name, *(f"{value:.2f}" for value in each.values())] for name, each in found.items()]
    print(f"{len(texts)} files, {size:,} bytes\n")
    print(table(("", *heads), rows))
    if arguments.json:
        content = {
            "benchmark": "first-answer",
            "files": len(texts),
            "bytes": size,
            "figures": found,
            "machine": machine(),
            "versions": installed("ragloom", "onnxruntime", "tantivy", "numpy"),
        }
        arguments.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
