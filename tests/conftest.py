"""What all tests share: properties that are deterministic, and one wheel a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from filelock import FileLock

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
RunPytest: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[1]
PLANTED = "Planted" + "-W0rd-8r3k"
"""The password of every URI that tests name: no output, log or file of the suite may show it."""
_SEARCHED = 10_000_000  # bytes of a file
TOGETHER = (
    "tests/integration/test_examples.py::test_a_scaffold_",  # and its environment
    "tests/integration/test_third_party.py",
    "tests/plugins/mcp/test_other_clients.py",  # and packages of npm
    "tests/plugins/ray/",  # two nodes
    "tests/plugins/serve/test_api.py",  # each has a server
    "tests/plugins/serve/test_mcp.py",
    "tests/plugins/serve/test_openai.py",
    "tests/plugins/stores/",  # the servers
    "tests/plugins/templates/test_collections.py",  # and their index
    "tests/plugins/web/",  # a page and a browser
    "tests/testing/",  # twenty seconds of plugins_command are not the last
    "tests/torture/",  # a minute, which begins before single tests rather than after all of them
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that printed, logged or wrote a planted password."""
    report = yield
    shown = [f"{title} shows it" for title, text in report.sections if PLANTED in text]
    if report.when == "call" and isinstance(
        folder := getattr(item, "funcargs", {}).get("tmp_path"), Path
    ):
        shown += [f"{path} holds it" for path in files_with_the_password(folder)]
    if shown and report.outcome != "failed":
        report.outcome = "failed"
        report.longrepr = f"a planted password: {'; '.join(shown)}"
    return report


def files_with_the_password(folder: Path) -> Iterator[Path]:
    """Files below ``folder`` that hold it, but for settings that a test wrote it to."""
    for path in folder.rglob("*"):
        small = path.is_file() and path.stat().st_size <= _SEARCHED
        if small and path.suffix not in (".yaml", ".yml") and PLANTED.encode() in path.read_bytes():
            yield path


@pytest.fixture(scope="session")
def planted() -> str:
    """A password for URIs, for which every output and every file of ``tmp_path`` is searched."""
    return PLANTED


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: tests wait for processes, servers and the disk."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Workers take test by test, but one runs all that share what is costly to make."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((start for start in TOGETHER if nodeid.startswith(start)), nodeid)

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests trust is kept apart from what their user does, in this process and those it starts."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state-of-the-user"))
    os.environ.pop("RAGLOOM_TRUST", None)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user of the test trusts what its settings name outside of the workspace."""
    monkeypatch.setenv("RAGLOOM_TRUST", "1")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def run_pytest() -> RunPytest:
    """Run pytest in a process of its own, with no third-party plugin but hypothesis's."""

    def run(
        *arguments: str, cwd: Path, python: str | Path = sys.executable
    ) -> subprocess.CompletedProcess[str]:
        dropped = {"PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"}
        kept = {key: value for key, value in os.environ.items() if key not in dropped}
        plugins = ("no:cacheprovider", "_hypothesis_pytestplugin")
        return subprocess.run(
            [python, "-m", "pytest", *(f"-p{name}" for name in plugins), *arguments],
            cwd=cwd,
            env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    return run


@pytest.fixture(scope="session")
def build_wheel() -> BuildWheel:
    """Build a project's wheel into a folder, with the hatchling of this environment."""

    def build(project: Path, folder: Path) -> None:
        command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
        subprocess.run([sys.executable, *command, str(project)], check=True, capture_output=True)

    return build


@pytest.fixture(scope="session")
def wheel(build_wheel: BuildWheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of ragloom, built once a session by whichever worker needs it first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            build_wheel(ROOT, folder)
    (built,) = folder.glob("ragloom-*.whl")
    return built
