"""What all tests share: properties that are deterministic, and one wheel a session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError:
    pass
else:
    # No property fails because the machine is busy: neither an example nor its making is timed.
    settings.register_profile(
        "ragloom",
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("ragloom")

pytest_plugins = ["ragloom.testing.fixtures"]

BuildWheel: TypeAlias = Callable[[Path, Path], None]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def build_wheel() -> BuildWheel:
    """Build a project's wheel into a folder, with the hatchling of this environment."""

    def build(project: Path, folder: Path) -> None:
        command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
        subprocess.run([sys.executable, *command, str(project)], check=True, capture_output=True)

    return build


@pytest.fixture(scope="session")
def wheel(build_wheel: BuildWheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of ragloom, built once a session."""
    folder = tmp_path_factory.mktemp("wheel")
    build_wheel(ROOT, folder)
    (built,) = folder.glob("ragloom-*.whl")
    return built
