"""The tutorial, followed from its first line in a fresh folder and a fresh environment."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the tutorial is written for a POSIX shell"),
]

BLOCK = re.compile(
    r"(?:^`(?P<file>[^`\n]+)`:\n\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
EXPECTED = {
    'ragloom search "Which channel': "docs/radio.md:",
    'ragloom search "how do skippers': "docs/adr/0001-tide-tables.md:",
    'ragloom search "How do I bake': "no relevant match",
    "ragloom explain": "docs/berths.md:",
    "ragloom context": "40 crowns a night",
    "ragloom index": "chunks",
    "ragloom status": "harbour",
    'ragloom search "where do long': "north quay",
    'ragloom search "where do yachts': "marina",
    "ragloom verify": "",
    "ragloom audit": "How do I bake bread?",
    "ragloom doctor": "up to date",
}


def steps(page):
    """The files to write and the commands to run, in their order."""
    for block in BLOCK.finditer(page):
        if block["language"] == "console":
            yield from (("", line) for line in block["body"].splitlines())
        else:
            assert block["file"], "a file's name stands before its block"
            yield block["file"], block["body"]


def test_every_command_runs_in_order_in_a_fresh_environment(root, wheel, tmp_path):
    page = (root / "docs" / "tutorial.md").read_text("utf-8")
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"}
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    constraint = tmp_path / "constraint.txt"
    constraint.write_text(f"ragloom=={wheel.name.split('-')[1]}\n", "utf-8")
    # `pip install ragloom` means the wheel of this checkout.
    kept |= {
        "PIP_CONSTRAINT": str(constraint),
        "PIP_DEFAULT_TIMEOUT": "60",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": f"{kept.get('PIP_FIND_LINKS', '')} {wheel.parent}".strip(),
        "BROWSER": "true",  # the page is opened by what does nothing
    }
    folder = tmp_path / "harbour"
    folder.mkdir()
    ran = []
    for file, text in steps(page):
        if file:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, "utf-8")
        elif text.startswith("ragloom ui "):
            shows_its_page(text, folder, kept)
            ran.append(text)
        elif text == ". .venv/bin/activate":
            kept["PATH"] = f"{folder / '.venv' / 'bin'}{os.pathsep}{kept['PATH']}"
        else:
            done = subprocess.run(
                ["/bin/sh", "-c", text],
                cwd=folder,
                env=kept,
                capture_output=True,
                text=True,
                check=False,
            )
            said = done.stdout + done.stderr
            assert done.returncode == 0, (text, said[-3000:])
            for start, expected in EXPECTED.items():
                if text.startswith(start):
                    assert expected in said, (text, said)
            ran.append(text)
    assert [] == [start for start in EXPECTED if not any(one.startswith(start) for one in ran)]
    assert any(one.startswith("ragloom ui") for one in ran)


def shows_its_page(command, folder: Path, variables):
    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            assert "q=where+do+yachts+moor" in url
            page = url.partition("?")[0]
            browser = build_opener(HTTPCookieProcessor())
            with pytest.raises(OSError, match="401"):
                browser.open(page, timeout=20)
            with browser.open(url, timeout=60) as answer:
                assert b"<title>ragloom</title>" in answer.read()
            for asset in (
                "app.js",
                "map.js",
                "style.css",
                "vendor/uPlot.js",
                "vendor/uPlot.LICENSE",
            ):
                with browser.open(f"{page}assets/{asset}", timeout=20) as answer:
                    assert answer.read()
        finally:
            process.terminate()
            process.wait(30)
