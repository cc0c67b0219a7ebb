"""What all tests share: properties that are deterministic, and one wheel a session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

try:
    from hypothesis import settings
except ModuleNotFoundError:
    pass
else:
    settings.register_profile("ragloom", deadline=None, derandomize=True)
    settings.load_profile("ragloom")

pytest_plugins = ["ragloom.testing.fixtures"]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of ragloom, built once a session."""
    folder = tmp_path_factory.mktemp("wheel")
    build_wheel(ROOT, folder)
    (built,) = folder.glob("ragloom-*.whl")
    return built


def build_wheel(project: Path, folder: Path) -> None:
    """Build a project's wheel into ``folder`` with the hatchling of this environment."""
    command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True)
