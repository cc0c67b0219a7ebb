"""What the page costs at 50,000 chunks.

    python benchmarks/speed/ui.py [--docs FOLDER|ZIP] [--chunks N] [--json FILE]

The index is that of the benchmark ``search``; its page is shown by Debian's chromium, headless, without a
GPU. Measured are the first paint and the end of the first search, the map from the request to its last
point and one frame of it while it is moved, and the most memory of the process, after all views were shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from processes import EXAMPLES, machine, table

sys.path.append(str(Path(__file__).parents[2] / "tests" / "plugins" / "web"))
from browser import Browser, chromium, memory_of, page_of, settle, size_of, visit
from search import CHUNKS, build

ROUNDS = 5
VIEWS = ("search", "document", "relevance", "lessons", "audit")
TARGETS = {
    "first paint": "< 1 s",
    "first search": "",
    "map": "< 2 s",
    "map, first time": "< 2 s",
    "a frame of the map": "< 16 ms",
    "process": "< 300 MB",
}
_PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_DRAWN = "return document.querySelector('canvas')?.dataset.points === arguments[0]"
_MOVED = """
const canvas = document.querySelector("canvas");
canvas.focus();
const times = [];
for (let at = 0; at < 20; at += 1) {
  const key = at % 2 ? "ArrowLeft" : "ArrowRight";
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  times.push(Number(canvas.dataset.milliseconds));
}
return times.sort((a, b) => a - b)[10];
"""


def shown_map(driver: Browser, base: str, chunks: int) -> float:
    """Seconds until the map is drawn."""
    started = time.perf_counter()
    driver.get(f"{base}/?view=map")
    while not driver.execute_script(_DRAWN, str(chunks)):
        time.sleep(0.01)
    return time.perf_counter() - started


def measure(project: Path, question: str, chunks: int) -> Mapping[str, float]:
    """The figures; times are the medians of a few rounds, in seconds but for the frame."""
    with page_of(project) as (url, process), chromium() as driver:
        base = f"http://{urlsplit(url).netloc}"
        size_of(driver, 1600, 1000)
        visit(driver, url)
        paints: list[float] = []
        searches: list[float] = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            visit(driver, f"{base}/?q={question}")
            searches.append(time.perf_counter() - started)
            paints.append(driver.execute_script(_PAINTED) / 1000)
        first = shown_map(driver, base, chunks)
        settle(driver)
        maps = [shown_map(driver, base, chunks) for _ in range(ROUNDS)]
        settle(driver)
        frame = driver.execute_async_script(
            f"const done = arguments[0]; (async () => {{ {_MOVED} }})().then(done);"
        )
        for view in VIEWS:
            visit(driver, f"{base}/?view={view}")
        return {
            "first paint": sorted(paints)[ROUNDS // 2],
            "first search": sorted(searches)[ROUNDS // 2],
            "map": sorted(maps)[ROUNDS // 2],
            "map, first time": first,
            "a frame of the map": float(frame),
            "process": memory_of(process),
        }


def main() -> None:
    """Measure, and print or write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--docs", type=Path, default=EXAMPLES)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        question = build(Path(folder), given.docs, given.chunks)[0]
        found = measure(Path(folder), question, given.chunks)
    units = {"a frame of the map": "ms", "process": "MB"}
    rows = [
        [name, f"{value:.2f} {units.get(name, 's')}", TARGETS[name]]
        for name, value in found.items()
    ]
    print(f"\n{given.chunks:,} chunks, {machine()}\n")
    print(table(("what", "measured", "target"), rows))
    if given.json:
        given.json.write_text(json.dumps({"chunks": given.chunks, **found}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
