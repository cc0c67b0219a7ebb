"""Eight writers and eight readers on one space at once, for a while."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import documents as docs
from checks import Judge, Verdict
from children import Ended, finish, ragloom, start
from ragloom import RagloomError
from scenes import STORES, Scene, Stage
from tally import Tally

_WRITERS = _READERS = 8


def crowd(tally: Tally, stage: Stage, judge: Judge, seconds: float) -> None:
    """Have writers change the files and index them while readers search for what nobody changes."""
    for number in tally.cases(len(STORES)):
        scene, verdict = Scene(name="index, changed", store=STORES[number]), Verdict()
        folder, due = stage.copy(scene), judge.due(scene)
        until = time.monotonic() + seconds / len(STORES)
        writers = [start(partial(_write, folder, one, until)) for one in range(_WRITERS)]
        readers = [start(partial(_read, scene, folder, due, until)) for _ in range(_READERS)]
        for child in writers:
            ended = finish(child)
            if ended.code:
                verdict.failed.append(f"a writer ends with {ended.code}: {ended.last_line}")
        searches = sum(_heard(finish(child), verdict) for child in readers)
        for path in (folder / "docs").glob("writer-*"):
            path.unlink()
        judge.next_run(scene, folder, verdict)
        row = tally.row("crowd", f"{_WRITERS} writers, {_READERS} readers, {scene.store}")
        tally.add("crowd", row.what, number, verdict)
        row.tried = searches
        stage.strike(folder)


def _write(folder: Path, writer: int, until: float) -> None:
    number = 0
    while time.monotonic() < until:
        number += 1
        path = f"docs/writer-{writer}-{number % 3}.md"
        words = tuple(docs.marker(writer, number, section) for section in range(2))
        (folder / path).write_text(docs.text_of(path, words), "utf-8")
        try:
            ragloom(folder, "index", "--quiet")
        except SystemExit as ended:
            if ended.code:
                raise


def _read(scene: Scene, folder: Path, due: list[str], until: float) -> dict[str, object]:
    searches, lost = 0, []
    while time.monotonic() < until:
        word = due[searches % len(due)]
        searches += 1
        try:
            with scene.opened(folder) as space:
                hits = space.search(
                    word, top_k=20, min_relevance=0, mode="lexical", per_file=0
                ).hits
        except RagloomError as error:
            lost.append(str(error))
        else:
            if not any(word in hit.chunk.text for hit in hits):
                lost.append(word)
    return {"searches": searches, "lost": lost[:5]}


def _heard(ended: Ended, verdict: Verdict) -> int:
    verdict.ended("a reader", ended)
    if ended.value is None:
        verdict.unclear.append(f"a reader: {ended.last_line}")
        return 0
    verdict.lost += ended.value["lost"]
    return int(ended.value["searches"])
