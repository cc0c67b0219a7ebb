"""Real faults of the machine: searches answer from the last index, and the next run is right.

The command runs as a user starts it, with the real model, under limits of the kernel: few descriptors, a
file system without inodes or space, one that is read-only, a folder of somebody else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="no limits of this kind here")
pytest.importorskip("onnxruntime", reason="needs the extra [standard]")
pytest.importorskip("milvus_lite", reason="needs the extra [standard]")

MOUNT, UMOUNT = shutil.which("mount") or "", shutil.which("umount") or ""
RAGLOOM = (sys.executable, "-m", "ragloom")
STORES = ("milvus", "sqlite", "file")
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
PAGES = {
    "retry": "# Retries\n\nA call that fails is tried five times, with a pause that doubles.\n",
    "logging": "# Logging\n\nEvery line of the log has a correlation id and a level.\n",
    "deploy": "# Deployment\n\nOnly a release manager may deploy on a Friday.\n",
}
QUESTION = ("how many times is a call that fails tried?", "retry.md")
FRESH = "\n## Circuit breaker\n\nAfter ten failures the zebrafish breaker opens for a minute.\n"

LIMITED = f"""
import ctypes, json, os, resource, sys

for kind, most in json.loads(sys.argv[1]):
    resource.setrlimit(kind, (most, most))
if int(sys.argv[2]) and os.geteuid() == 0:
    for capability in {CAP_DAC_OVERRIDE}, {CAP_DAC_READ_SEARCH}:
        ctypes.CDLL(None).prctl({PR_CAPBSET_DROP}, capability, 0, 0, 0)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Begins a command under limits: with threads of gRPC nothing may be done between fork and exec."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fill = Callable[[Path, str], Path]


def ragloom(
    folder: Path,
    *words: str,
    limits: Sequence[tuple[int, int]] = (),
    obeying: bool = False,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command in ``folder`` under limits of the kernel, or obeying modes where that is root."""

    # A measure of coverage needs descriptors, inodes and space itself.
    plain = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
    return subprocess.run(
        [sys.executable, "-c", LIMITED, json.dumps(limits), str(int(obeying)), *RAGLOOM, *words],
        cwd=folder,
        env={**plain, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def fill(tmp_path_factory: pytest.TempPathFactory) -> Fill:
    """Copy a workspace with an index of three pages, which is made once for each store."""
    made: dict[str, Path] = {}

    def make(folder: Path, store: str) -> Path:
        (folder / "docs").mkdir(parents=True)
        for name, text in PAGES.items():
            (folder / "docs" / f"{name}.md").write_text(text, "utf-8")
        (folder / "ragloom.yaml").write_text(f"sources: [docs]\nstore: {store}\n", "utf-8")
        done = ragloom(folder, "index")
        assert 0 == done.returncode, done.stderr
        return folder

    def copied(folder: Path, store: str) -> Path:
        if store not in made:
            made[store] = make(tmp_path_factory.mktemp("filled") / "workspace", store)
        return shutil.copytree(made[store], folder)

    return copied


def change(folder: Path) -> None:
    with (folder / "docs" / "retry.md").open("a", encoding="utf-8") as page:
        page.write(FRESH)


def found(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [Path(hit["path"]).name for hit in json.loads(done.stdout)["hits"]]


def search(folder: Path, *options: str, **under: object) -> subprocess.CompletedProcess[str]:
    return ragloom(folder, "search", QUESTION[0], "--json", *options, **under)  # type: ignore[arg-type]


def assert_named(done: subprocess.CompletedProcess[str], why: str) -> None:
    """One line with a path says why; it is neither taken for a bug nor for damage."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert (1, 1) == (done.returncode, len(lines)), done.stderr
    assert why in lines[0].lower()
    assert "/" in lines[0]
    for word in ("bug", "damaged", "Traceback"):
        assert word not in done.stderr


def assert_answers(done: subprocess.CompletedProcess[str]) -> None:
    assert 0 == done.returncode, done.stderr
    assert QUESTION[1] == found(done)[0]
    for word in ("bug", "damaged", "Traceback"):
        assert word not in done.stderr


def assert_next_run_is_right(folder: Path) -> None:
    """Nothing was set aside, and what changed is there."""
    aside = [path.name for path in (folder / ".ragloom").rglob("*.damaged-*")]
    assert [] == aside
    done = ragloom(folder, "index", "--json")
    assert 0 == done.returncode, done.stderr
    chunks = json.loads(done.stdout)["spaces"][0]["chunks"] if "spaces" in done.stdout else None
    assert chunks is None or chunks["embedded"] <= 2
    asked = ragloom(folder, "search", "zebrafish", "--json")
    assert ["retry.md"] == found(asked), asked.stderr
    assert 0 == ragloom(folder, "verify").returncode
    leftovers = [path.name for path in (folder / ".ragloom").rglob("*.tmp")]
    assert [] == leftovers


SPARE = (4096, 16_384, 40_000, 100_000, 200_000, 400_000)  # bytes
FIRST = (STORES[0], *(pytest.param(store, marks=pytest.mark.slow) for store in STORES[1:]))
LIMITS = ((8, 16), pytest.param(range(5, 30, 4), marks=pytest.mark.slow))


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("store", FIRST)
def test_few_descriptors_cost_nothing(
    tmp_path: Path, fill: Fill, store: str, limits: Sequence[int]
) -> None:
    folder = fill(tmp_path / "workspace", store)
    change(folder)
    answered = 0
    for most in limits:
        few = {"limits": [(resource.RLIMIT_NOFILE, most)]}
        done = ragloom(folder, "index", **few)  # type: ignore[arg-type]
        if done.returncode:
            assert_named(done, "")
        for options in (["--no-refresh"], []):
            done = search(folder, *options, **few)
            if done.returncode:
                assert_named(done, "")
            else:
                answered += 1
                assert_answers(done)
        assert [] == [path.name for path in (folder / ".ragloom").rglob("*.damaged-*")]
    assert answered >= len(limits)
    assert_next_run_is_right(folder)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a small file system; skipped where one may not."""
    places: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"mounted-{len(places)}"
        place.mkdir()
        command = [MOUNT, "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
        if done.returncode:
            pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
        places.append(place)
        return place

    if sys.platform != "linux" or not MOUNT or not UMOUNT:
        pytest.skip("tmpfs is Linux's")
    yield mount
    for place in places:
        subprocess.run([UMOUNT, "-l", str(place)], check=False)


@pytest.mark.parametrize("store", FIRST)
def test_without_inodes(mounted: Callable[[str], Path], fill: Fill, store: str) -> None:
    place = mounted("nr_inodes=400,size=64m")
    folder = fill(place / "workspace", store)
    change(folder)
    filled = place / "filled"
    filled.mkdir()
    for number in range(400):
        try:
            (filled / str(number)).touch()
        except OSError:
            break
    under = {"TMPDIR": str(place)}

    assert_named(ragloom(folder, "index", **under), "no space left")  # type: ignore[arg-type]
    assert_answers(search(folder, "--no-refresh", **under))
    assert_answers(search(folder, **under))

    shutil.rmtree(filled)
    assert_next_run_is_right(folder)


@pytest.mark.parametrize("spare", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in SPARE)])
@pytest.mark.parametrize("store", FIRST)
def test_without_space(mounted: Callable[[str], Path], fill: Fill, store: str, spare: int) -> None:
    place = mounted("size=64m")
    folder = fill(place / "workspace", store)
    change(folder)
    filled = place / "filled"
    with filled.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4096))
        except OSError:
            stream.truncate(max(0, stream.tell() - spare))
    under = {"TMPDIR": str(place)}

    done = ragloom(folder, "index", **under)  # type: ignore[arg-type]
    if done.returncode or not spare:
        assert_named(done, "")
    assert_answers(search(folder, "--no-refresh", **under))
    assert_answers(search(folder, **under))

    filled.unlink()
    assert_next_run_is_right(folder)


@pytest.mark.parametrize("store", FIRST)
def test_on_a_read_only_file_system(mounted: Callable[[str], Path], fill: Fill, store: str) -> None:
    place = mounted("size=64m")
    folder = fill(place / "workspace", store)
    change(folder)
    subprocess.run([MOUNT, "-o", "remount,ro", str(place)], check=True)

    assert_named(ragloom(folder, "index"), "read-only file system")
    assert_answers(search(folder, "--no-refresh"))
    assert_answers(search(folder))

    subprocess.run([MOUNT, "-o", "remount,rw", str(place)], check=True)
    assert_next_run_is_right(folder)


@pytest.mark.parametrize("store", FIRST)
def test_in_a_folder_that_may_not_be_written(tmp_path: Path, fill: Fill, store: str) -> None:
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root obeys no modes")
    folder = fill(tmp_path / "workspace", store)
    change(folder)
    everything = [folder, *sorted(folder.rglob("*"))]
    modes = [path.stat().st_mode for path in everything]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)

    assert_named(ragloom(folder, "index", obeying=True), "permission denied")
    assert_answers(search(folder, "--no-refresh", obeying=True))
    assert_answers(search(folder, obeying=True))
    generation = next((folder / ".ragloom").rglob("gen-*"))
    for place in (generation / "lexical", generation, generation.parent, generation / "meta.json"):
        place.chmod(0o000)
        assert_named(search(folder, obeying=True), "permission denied")
        assert_named(ragloom(folder, "index", obeying=True), "permission denied")
        assert_named(ragloom(folder, "repair", obeying=True), "permission denied")
        place.chmod(0o555)

    for path, mode in zip(everything, modes, strict=True):
        path.chmod(mode)
    assert_next_run_is_right(folder)
