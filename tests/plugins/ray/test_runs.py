"""Index runs on two Ray nodes of this machine, with the real model."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ragloom import ConfigError, PluginError, PluginHost, Workspace
from ragloom_ray import RayOptions

SUBJECTS = ["sampling", "tracing", "metrics", "logging", "context", "baggage", "exporters", "spans"]
QUERIES = [f"how is {subject} set up?" for subject in SUBJECTS]


@pytest.fixture(scope="module")
def cluster():
    """The address of two nodes with a core each."""
    pytest.importorskip("ray")
    pytest.importorskip("onnxruntime")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    made.add_node(num_cpus=1, object_store_memory=80_000_000)
    yield made.address
    import ray

    ray.shutdown()
    made.shutdown()


def documents(folder: Path, count: int = 60) -> Path:
    (folder / "docs").mkdir(parents=True)
    (folder / "ragloom.yaml").write_text("store: sqlite\nsources: [docs]\n", "utf-8")
    words = random.Random(7)
    for number in range(count):
        subject = SUBJECTS[number % len(SUBJECTS)]
        body = "\n\n".join(
            f"## Part {part} of {subject}\n\n" + " ".join(words.choices(SUBJECTS, k=60))
            for part in range(8)
        )
        (folder / "docs" / f"{subject}-{number}.md").write_text(f"# {subject}\n\n{body}\n", "utf-8")
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    return folder


def contents(space):
    snapshot = space.snapshot()
    rows = np.argsort(snapshot.ids)
    return (
        snapshot.ids[rows].tolist(),
        snapshot.keys[rows].tolist(),
        snapshot.vectors(rows).tolist(),
        [
            [(hit.chunk.id, hit.score, hit.relevance) for hit in space.search(query).hits]
            for query in QUERIES
        ],
    )


def on_ray(folder: Path, address: str, **options: object):
    variables = {"RAGLOOM_RUNNER": "ray", "RAGLOOM_RUNNER_ADDRESS": address}
    variables |= {f"RAGLOOM_RUNNER_{name}".upper(): str(one) for name, one in options.items()}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        return Workspace.open(folder).space("default")


def workers() -> list[int]:
    """Processes that work on a batch now."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::work") and _is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.slow
def test_workers_that_die_cost_their_batch_only(cluster, tmp_path):
    """The index is that of a local run, key for key, whatever is killed."""
    folder = documents(tmp_path / "here")
    with Workspace.open(folder).space("default") as space:
        local = space.index()
        expected = contents(space)
    shutil.rmtree(folder / ".ragloom")

    killed, over = [], threading.Event()

    def kill() -> None:
        moments = random.Random(1)
        while not over.is_set() and len(killed) < 5:
            time.sleep(moments.uniform(0.2, 0.8))
            if found := workers():
                killed.append(moments.choice(found))
                os.kill(killed[-1], signal.SIGKILL)

    stages = []
    with on_ray(folder, cluster, retries=10) as space:
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            report = space.index(progress=lambda *stage: stages.append(stage))
        finally:
            over.set()
            killer.join()
        found = contents(space)

    assert expected == found
    assert (local.chunks, local.added) == (report.chunks, report.added)
    assert [one.path for one in local.failed] == [one.path for one in report.failed]
    assert local.embedded == report.embedded
    assert killed
    read = [done for stage, done, _ in stages if stage == "bytes"]
    assert len(set(read)) > 3
    assert sorted(read) == read


@pytest.mark.slow
def test_a_change_embeds_what_changed(cluster, tmp_path):
    folder = documents(tmp_path / "here", count=6)
    with on_ray(folder, cluster) as space:
        space.index()
        path = folder / "docs" / "sampling-0.md"
        path.write_text(path.read_text("utf-8") + "\n## New\n\nA new section.\n", "utf-8")
        report = space.index()
    assert (1, 1) == (report.embedded, len(report.updated))
    assert report.reused > 0


@pytest.mark.slow
def test_a_shard_on_ray(cluster, tmp_path):
    folder = documents(tmp_path / "here", count=8)
    for shard in ("1/2", "2/2"):
        with on_ray(folder, cluster) as space:
            space.index_shard(shard)
    with Workspace.open(folder).space("default") as space:
        report = space.commit()
        assert (8, 0) == (len(report.added), report.embedded)


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    pytest.importorskip("ray")
    folder = documents(tmp_path / "here", count=1)
    variables = {
        "RAGLOOM_RUNNER": "ray",
        "RAGLOOM_RUNNER_ADDRESS": "127.0.0.1:1",
        "RAGLOOM_RUNNER_TIMEOUT": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "-C", str(folder), "index"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=dict(os.environ) | variables,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert 1 == done.returncode, done.stderr
    assert 1 == len(lines), done.stderr
    assert "runner 'ray': no cluster answers at 127.0.0.1:1" in lines[0]
    assert "Traceback" not in done.stderr


def test_a_project_may_not_name_a_cluster_untrusted(tmp_path):
    folder = documents(tmp_path / "here", count=1)
    (folder / "ragloom.yaml").write_text("runner: {name: ray, address: 'ray://evil:10001'}\n")
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "-C", str(folder), "index"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ) | {"XDG_STATE_HOME": str(tmp_path / "state")},
    )
    assert 1 == done.returncode
    assert "ragloom trust" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workers", -1),
        ("retries", -1),
        ("in_flight", -2),
        ("cpus", 0),
        ("memory", 0),
        ("timeout", -1),
    ],
)
def test_numbers_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        RayOptions(**{name: value})
    with pytest.raises(ConfigError, match=name):
        PluginHost.discover(disabled=()).runner("ray", {name: value})


def test_ray_is_imported_by_no_other_path(tmp_path):
    code = (
        "import sys, json; import ragloom; from ragloom import PluginHost, Workspace;"
        "host = PluginHost.discover(); host.providers('runners');"
        f"space = Workspace.open({str(documents(tmp_path / 'here', count=1))!r}).space('default');"
        "space.index(); space.search('sampling');"
        "print(json.dumps([name for name in sys.modules if name.split('.')[0] == 'ray']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [] == json.loads(done.stdout)


def test_the_error_of_a_worker_keeps_its_type_and_message():
    from ragloom import MissingDependencyError
    from ragloom_ray.worker import Refused

    given = MissingDependencyError("onnxruntime", "ragloom[onnx]", "the embedder 'onnx'")
    error = Refused(kind=MissingDependencyError, message=str(given)).error()
    assert (MissingDependencyError, str(given)) == (type(error), str(error))
    assert isinstance(Refused(kind=PluginError, message="x").error(), PluginError)
