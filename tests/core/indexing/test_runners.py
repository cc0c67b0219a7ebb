"""An index run whose work is done elsewhere: everything that it hands over is pickled."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

from ragloom import ConfigError, ModelError, Workspace
from ragloom.indexing import plan
from ragloom.plugin.local_runner import LocalRunner

pytest.importorskip("onnxruntime")
pytest.importorskip("pyromark")


class Elsewhere(LocalRunner):
    """Hands over as a cluster does, in an order of its own."""

    elsewhere = True

    def run(self, start, batches):
        work = pickle.loads(pickle.dumps(start))()  # noqa: S301 - our own
        handed = [pickle.dumps(batch) for batch in batches]
        for place in reversed(range(len(handed))):
            done = work(pickle.loads(handed[place]))  # noqa: S301 - our own
            yield place, pickle.loads(pickle.dumps(done))  # noqa: S301 - our own


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "ragloom.yaml").write_text("store: sqlite\nsources: [docs]\n", "utf-8")
    for number in range(6):
        text = f"# Page {number}\n\nSampling of traces, {number}.\n\n## More\n\nMetrics, too.\n"
        (tmp_path / "docs" / f"page{number}.md").write_text(text, "utf-8")
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    return tmp_path


def opened(folder, runner=None):
    space = Workspace.open(folder).space("default")
    if runner is not None:
        space.__dict__["runner"] = runner
    return space


def contents(space):
    snapshot = space.snapshot()
    rows = np.argsort(snapshot.ids)
    return snapshot.ids[rows].tolist(), snapshot.vectors(rows).tolist(), sorted(snapshot.files)


def test_the_index_is_that_of_a_local_run(folder):
    with opened(folder) as space:
        local = space.index()
        expected = contents(space)
    shutil.rmtree(folder / ".ragloom")
    with opened(folder, Elsewhere()) as space:
        report = space.index()
        assert expected == contents(space)
        assert replace(local, seconds=0) == replace(report, seconds=0)
        path = folder / "docs" / "page0.md"
        path.write_text(path.read_text("utf-8") + "\n## New\n\nA new section.\n", "utf-8")
        assert (1, 2) == ((again := space.index()).embedded, again.reused)


def test_a_worker_with_other_components_is_an_error(folder, monkeypatch):
    real = plan.PartsOf.__call__
    with opened(folder, Elsewhere()) as space:
        planned = []

        def differs(self, path):
            found = real(self, path)
            planned.append(path)
            return found if len(planned) <= 7 else f"{found}x"  # the plan's, then the worker's

        monkeypatch.setattr(plan.PartsOf, "__call__", differs)
        with pytest.raises(ConfigError, match="with other components than this process"):
            space.index()
        assert 0 == space.generation


def test_a_model_that_fails_there_fails_the_run(folder, monkeypatch):
    from ragloom_onnx.embedder import OnnxEmbedder

    def fails(self, texts):
        raise ModelError("no memory for the model")

    with opened(folder, Elsewhere()) as space:
        monkeypatch.setattr(OnnxEmbedder, "embed_passages", fails)
        with pytest.raises(ModelError, match="no memory for the model"):
            space.index()
