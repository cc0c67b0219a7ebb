"""Runs a checkpoint in processes that are killed at one write after the other; prints what came of each.

    kill_driver.py FOLDER STORE STEP: at every STEPth write

This process starts the others by fork and never opens an index itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import sqlalchemy as sa

import ragloom_knowledge
import ragloom_local
import ragloom_markdown
import ragloom_milvus
from ragloom import PluginHost, Provider, Workspace
from ragloom.testing.fakes import HashingEmbedder
from ragloom_knowledge.knowledge import KnowledgeBase
from ragloom_knowledge.settings import KnowledgeSettings

LESSONS = 3
EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


class Plugin:
    @staticmethod
    @ragloom_knowledge.hookimpl
    def ragloom_embedders():
        return [Provider(name="onnx", summary="", create=lambda _options: HashingEmbedder())]


def opened(folder: Path) -> KnowledgeBase:
    host = PluginHost(
        {
            "hashing": Plugin(),
            "knowledge": ragloom_knowledge,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "milvus": ragloom_milvus,
        }
    )
    return KnowledgeBase(Workspace.open(folder, host=host), KnowledgeSettings())


def killed_at(number: int) -> None:
    """Kill this process before its write of that number."""
    left = [number]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
        if event in EVENTS or writes:
            count()

    sys.addaudithook(hook)
    sa.event.listen(sa.Engine, "commit", lambda _connection: count())


def in_child(run) -> int:
    child = os.fork()
    if child == 0:
        try:
            run()
        except BaseException as error:  # noqa: BLE001 - told by the exit code
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(base: Path, store: str, step: int) -> None:
    start = base / "start"
    start.mkdir()
    (start / "ragloom.yaml").write_text(f"store: {store}\n", "utf-8")

    def learn() -> None:
        with opened(start) as knowledge:
            old = knowledge.capture_gate_approval("one", "a", "gate", approved_approach="old")
            knowledge.process_checkpoint("one")
            knowledge.table._change(old.id, embedded_at=sa.func.datetime("2000-01-01"))
            for name in ("alpha", "beta", "gamma"):
                knowledge.capture_failure_solution("one", "a", name, solution_steps=f"fix {name}")

    assert in_child(learn) == 0
    kills = 0
    while True:
        number = 1 + kills * step
        folder = base / str(number)
        shutil.copytree(start, folder)

        def cut_short(number: int = number, folder: Path = folder) -> None:
            knowledge = opened(folder)
            killed_at(number)
            knowledge.process_checkpoint("one")

        def finish(folder: Path = folder) -> None:
            with opened(folder) as knowledge:
                knowledge.process_checkpoint("one")
                snapshot = knowledge.space.snapshot()
                indexed = [Path(snapshot.chunk(row).uri).stem for row in range(len(snapshot))]
                found = knowledge.query_for_task("alpha failure")
                rows = [lesson.id for lesson in knowledge.lessons() if lesson.embedded]
                line = {"indexed": sorted(set(indexed)), "rows": rows, "found": len(found)}
            print(json.dumps(line), flush=True)

        status = in_child(cut_short)
        assert in_child(finish) == 0
        shutil.rmtree(folder)
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        kills += 1
    print(json.dumps({"kills": kills}), flush=True)


main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
