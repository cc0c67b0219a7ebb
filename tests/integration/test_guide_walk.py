"""The guide's walk, followed word for word in a fresh folder and a fresh environment."""

import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the walk is written for a POSIX shell"),
]

BLOCK = re.compile(
    r"(?:`(?P<file>[^`\n]+)`:\n\n)?```(?P<language>\w+)\n(?P<body>.*?)```", re.DOTALL
)


def script(section):
    """A shell script of every block in its order: commands as they stand, and files written."""
    lines = ["set -e"]  # not -u: the activation of Python 3.12.1 reads what is not set
    for number, block in enumerate(BLOCK.finditer(section)):
        if block["language"] == "sh":
            lines.append(block["body"])
        else:
            assert block["file"], "a file's name must stand before its block"
            end = f"END_OF_FILE_{number}"
            lines.append(f"mkdir -p {Path(block['file']).parent.as_posix()}")
            lines.append(f"cat > {block['file']} <<'{end}'\n{block['body']}{end}")
    return "\n".join(lines)


def test_the_walk_ends_in_a_working_plugin(root, wheel, tmp_path):
    guide = (root / "docs" / "writing-plugins.md").read_text("utf-8")
    section = guide.partition("## Ten minutes\n")[2].partition("\n## ")[0]
    (tmp_path / "walk.sh").write_text(script(section), "utf-8")
    constraint = tmp_path / "constraint.txt"
    constraint.write_text(f"ragloom=={wheel.name.split('-')[1]}\n", "utf-8")
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"}
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    # `pip install ragloom` means the wheel of this checkout.
    kept |= {
        "PIP_CONSTRAINT": str(constraint),
        "PIP_DEFAULT_TIMEOUT": "60",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": f"{kept.get('PIP_FIND_LINKS', '')} {wheel.parent}".strip(),
    }
    done = subprocess.run(
        ["/bin/sh", "walk.sh"], cwd=tmp_path, env=kept, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    assert re.search(r"\bminutes\b.*\bloaded\b", done.stdout)
    assert done.stdout.count(" passed") == 3
    found = done.stdout.rpartition(" passed")[2]
    assert "meetings/keys.minutes" in found
    assert "first Monday" in found
