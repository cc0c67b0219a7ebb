"""Install a wheel into a fresh environment of the Python that runs this, and use it as its user would.

``python tests/pkg/try_wheel.py FOLDER``, where FOLDER holds the wheel; what it requires comes from the
index that pip uses.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

QUESTION = "when is a pump oiled?"
EXPECTED = "pumps.md:"


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install, index, search by the command and from Python; an error names the step that failed."""
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    work = folder / "work"
    work.mkdir()
    (work / "pumps.md").write_text("# Pumps\n\nA pump is oiled in May.\n", "utf-8")

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=work, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    python = scripts / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[standard]")
    shown = [
        run(scripts / "ragloom", "--version"),
        run(scripts / "ragloom", "search", QUESTION),
        run(
            python,
            "-c",
            "from ragloom import Workspace, make_tool; "
            f"print(make_tool(Workspace.open('.').space())({QUESTION!r}))",
        ),
    ]
    version = wheel.name.split("-")[1]
    if shown[0].split() != ["ragloom", version] or not all(EXPECTED in one for one in shown[1:]):
        raise SystemExit(f"{wheel.name} on Python {sys.version.split()[0]}: {shown}")
    print(f"{wheel.name} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    (built,) = Path(sys.argv[1]).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as temporary:
        try_wheel(built, Path(temporary))
