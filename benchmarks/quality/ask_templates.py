"""Ask a library of templates the problems of ``template_problems``.

::

    python benchmarks/quality/ask_templates.py PROMPTS dev third

PROMPTS is a folder with the unpacked archives ``fabric-patterns`` (danielmiessler/fabric: ``data/patterns``
and ``scripts``), ``anthropic-skills`` and ``awesome-copilot``. The templates of ``library.txt`` are copied
to a folder of their own, with fabric's file of descriptions; ``--plain`` omits that file, and ``--library``
says which folder, so that its index is kept for the next time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ragloom import Workspace
from ragloom_templates import TemplateLibrary

HERE = Path(__file__).parent / "template_problems"
DIRS = ("fabric-patterns/data/patterns", "anthropic-skills/skills", "awesome-copilot")
DESCRIPTIONS = "fabric-patterns/scripts/pattern_descriptions/pattern_descriptions.json"
TOPS = {"first": 1, "among three": 3, "among ten": 10}


def copied(prompts: Path, folder: Path, *, plain: bool) -> Path:
    """The folder, with the templates of the library."""
    names = (HERE / "library.txt").read_text("utf-8").split()
    for name in names if plain else [*names, DESCRIPTIONS]:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(prompts / name, target)
    return folder


def ask(library: TemplateLibrary, name: str) -> Mapping[str, int]:
    """How many problems of each kind there are, and how many are answered rightly."""
    found: Counter[str] = Counter()

    def paths(problem: str, most: int, threshold: float | None) -> list[str]:
        root = library.workspace.root
        matches = library.rank(problem, most, threshold)
        return [match.file_path.relative_to(root).as_posix() for match in matches]

    for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        kind, right = one["kind"], set(one["templates"])
        found[kind] += 1
        shown = paths(one["problem"], 3, None)
        if not right:
            found[f"{kind}: the fallback"] += not shown
            continue
        order = paths(one["problem"], max(TOPS.values()), 0.0)
        for label, top in TOPS.items():
            found[f"{kind}: {label}"] += not right.isdisjoint(order[:top])
        found[f"{kind}: shown among three"] += not right.isdisjoint(shown)
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("sets", nargs="+", help="names of files in template_problems")
    parser.add_argument("--plain", action="store_true", help="without fabric's descriptions")
    parser.add_argument("--library", type=Path, help="where the library is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied(options.prompts, options.library or Path(temporary), plain=options.plain)
        with TemplateLibrary(DIRS, workspace=Workspace.open(folder)) as library:
            print(f"{library.index()} templates")
            for name in options.sets:
                print(json.dumps({"set": name, **ask(library, name)}))


if __name__ == "__main__":
    main()
