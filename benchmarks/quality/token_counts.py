"""How far the counter ``approximate`` is from exact counts of cl100k_base.

    python benchmarks/quality/token_counts.py FOLDER [--json FILE]

Reads every ``*.jsonl`` and ``*.jsonl.gz`` whose records have ``text``, and the Markdown in every zip
archive, below FOLDER. For each collection it prints the ratio of the estimate to the exact count, over
all of its texts, and over stretches of 3,000 tokens and more. Needs tiktoken and its vocabulary on
disk; see ``ragloom.text.tokens``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ragloom.text.tokens import counter

STRETCH = 3000
LEAST = 20_000  # characters that make a collection


def collections(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and documents of every collection; queries are no documents."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        texts: list[str] = []
        if path.is_dir():
            files = sorted(file for file in path.glob("*.md") if file.name != "README.md")
            texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
        elif path.name.endswith((".jsonl", ".jsonl.gz")) and "queries" not in path.name:
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8") as lines:
                texts = [text for line in lines if (text := text_of(json.loads(line)))]
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                names = sorted(name for name in archive.namelist() if name.endswith(".md"))
                texts = [archive.read(name).decode("utf-8", "replace") for name in names]
        if sum(map(len, texts)) > LEAST:
            yield name, texts


def text_of(record: object) -> str:
    """What a record says."""
    if not isinstance(record, dict):
        return ""
    parts = [record.get("title"), record.get("text")]
    parts += [part.get("text") for part in record.get("contexts", ()) if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def main() -> int:
    """Read the arguments and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--json", type=Path, help="also write the figures here")
    options = arguments.parse_args()
    approximate, exact = counter("approximate"), counter("cl100k_base")
    figures: dict[str, dict[str, float]] = {}
    for name, texts in collections(options.folder):
        estimated = truly = 0
        stretches: list[float] = []
        stretch = ""
        for text in texts:
            estimated += approximate.count(text)
            truly += exact.count(text)
            stretch += text + "\n\n"
            if len(stretch) > STRETCH and (tokens := exact.count(stretch)) >= STRETCH:
                stretches.append(approximate.count(stretch) / tokens)
                stretch = ""
        figures[name] = {
            "tokens": truly,
            "ratio": round(estimated / truly, 4),
            "least": round(min(stretches, default=estimated / truly), 4),
            "most": round(max(stretches, default=estimated / truly), 4),
        }
        print(name, figures[name])
    ratios = [figure["ratio"] for figure in figures.values()]
    print(
        f"{len(ratios)} collections: {min(ratios):.3f} to {max(ratios):.3f} times the exact count"
    )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(not 1.0 <= min(ratios) <= max(ratios) < 1.1)


if __name__ == "__main__":
    raise SystemExit(main())
