"""The plan of docs/scaling.md is what its script computes from the figures that are kept."""

import json
import subprocess
import sys


def planned(root, *options):
    speed = root / "benchmarks" / "speed"
    command = [sys.executable, str(speed / "scaling.py"), str(speed / "runners.json"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_page_shows_the_plan_of_the_script(root):
    page = (root / "docs" / "scaling.md").read_text("utf-8")
    assert planned(root, "--price", "0.40").strip() in page


def test_the_page_shows_the_figures_that_are_kept(root):
    page = (root / "docs" / "scaling.md").read_text("utf-8")
    kept = json.loads((root / "benchmarks" / "speed" / "runners.json").read_text("utf-8"))
    for run in kept["runs"]:
        assert f"| {run['seconds']:.0f} s | {run['chunks'] / run['seconds']:.1f} |" in page


def test_twice_the_machines_halve_the_work(root):
    rows = [
        planned(root, "--machines", count).splitlines()[2].split("|")[2].strip()
        for count in ("10", "20")
    ]
    hours = [float(row.removesuffix(" h")) for row in rows]
    assert abs(hours[0] / 2 - hours[1]) < 0.02
