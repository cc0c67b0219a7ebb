"""What has to hold whatever happened: nothing is lost or comes back, and the next run is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from children import Ended, in_child, ragloom
from ragloom import RagloomError, Space, StoreDamagedError
from scenes import Scene, Stage

_QUERIES = ("harvest and weather", "how is a slow migration done", "nightly backup of the keys")


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What one case did; all empty where everything holds.

    Attributes:
        lost: Words that an index held before, that are on the disk still, and that no search finds.
        ghosts: Words that were removed, and that are found.
        failed: What is wrong with the next run.
        unclear: Ends of processes that are neither success nor a clear error.
        quarantined: Names of what was renamed as damaged.
    """

    lost: list[str] = field(default_factory=list)
    ghosts: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)

    def ended(self, what: str, ended: Ended) -> Ended:
        """Hold an ended process to a clear end."""
        if not ended.clear:
            why = "hangs" if ended.hung else f"ends with {ended.code}"
            self.unclear.append(f"{what} {why}: {ended.last_line}")
        return ended


class Judge:
    """Knows what each scene should come to: what an index says that was made of its files alone."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._fresh: dict[str, dict[str, Any]] = {}
        self._held: dict[str, list[str]] = {}

    def due(self, scene: Scene) -> list[str]:
        """The words that must be found before the next run, as after it."""
        if scene.title not in self._held:
            folder = self._stage.copy(scene)
            held = (
                []
                if scene.name == "index, first"
                else _value(in_child(partial(_held, scene, folder)))
            )
            self._held[scene.title] = sorted(scene.present() & set(held))
        return self._held[scene.title]

    def readers(self, scene: Scene, folder: Path, verdict: Verdict, *, due: Sequence[str]) -> None:
        """Search before the next run, in a process of its own."""
        gone = [] if scene.takes_away_itself else sorted(scene.past())
        ended = verdict.ended("search", in_child(partial(_search, scene, folder, [*due, *gone])))
        if ended.value is None:
            if due:
                verdict.lost.append(f"every search ends with: {ended.last_line}")
            return
        if error := ended.value["error"]:
            if due:
                verdict.lost.append(f"every search ends with: {error}")
            return
        found = set(ended.value["found"])
        verdict.lost += sorted(set(due) - found)
        verdict.ghosts += sorted(set(gone) & found)

    def next_run(
        self, scene: Scene, folder: Path, verdict: Verdict, *, healing: bool = False
    ) -> None:
        """Run the command again, then compare everything with a fresh index.

        With ``healing``, a store that is damaged while nothing changes, which no run then opens, is
        repaired first.
        """
        ended = in_child(partial(ragloom, folder, *scene.again))
        verdict.quarantined += sorted(
            path.name for path in scene.state(folder).glob("*.damaged-*") if path.exists()
        )
        if ended.code:
            verdict.failed.append(f"the next run ends with {ended.code}: {ended.last_line}")
            return
        self.compare(scene, folder, verdict, healing=healing)

    def compare(
        self, scene: Scene, folder: Path, verdict: Verdict, *, healing: bool = False
    ) -> None:
        """Hold an index to what a fresh one says."""
        ended = in_child(partial(_whole, scene, folder, healing=healing))
        if ended.value is None:
            verdict.failed.append(f"after the next run: {ended.last_line}")
            return
        expected, actual = self._expected(scene), ended.value
        verdict.ghosts += sorted(set(scene.past()) & set(actual["words"]))
        verdict.lost += sorted(scene.present() - set(actual["words"]))
        wrong = [name for name in expected if name != "words" and expected[name] != actual[name]]
        verdict.failed += [f"{name} differ from a fresh index's" for name in wrong]

    def _expected(self, scene: Scene) -> dict[str, Any]:
        if scene.title not in self._fresh:
            fresh = self._stage.copy(scene, "fresh")
            self._fresh[scene.title] = _value(in_child(partial(_whole, scene, fresh)))
        return self._fresh[scene.title]


def _held(scene: Scene, folder: Path) -> list[str]:
    """The words that the index holds in passages that its files say still."""
    with scene.opened(folder) as space:
        snapshot = space.snapshot()
        chunks = [snapshot.chunk(row) for row in range(len(snapshot))]
        files = {chunk.uri: space.root / chunk.uri for chunk in chunks}
        texts = {uri: path.read_text("utf-8") for uri, path in files.items() if path.exists()}
        return _words(scene, [one.text for one in chunks if one.text in texts.get(one.uri, "")])


def _search(scene: Scene, folder: Path, words: Sequence[str]) -> dict[str, object]:
    """Which of the words a search by words finds, and why it does not answer."""
    try:
        with scene.opened(folder) as space:
            found = [word for word in words if _finds(space, word)]
    except RagloomError as error:
        return {"found": [], "error": str(error)}
    return {"found": found, "error": ""}


def _finds(space: Space, word: str) -> bool:
    hits = space.search(word, top_k=20, min_relevance=0, mode="lexical", per_file=0).hits
    return any(word in hit.chunk.text for hit in hits)


def _whole(scene: Scene, folder: Path, *, healing: bool = False) -> dict[str, object]:
    """What an index is, down to what its store holds and what its searches answer."""
    with scene.opened(folder) as space:
        generation = space.generation
        report = space.index()
        snapshot = space.snapshot()
        chunks = [snapshot.chunk(row) for row in range(len(snapshot))]
        keys = [key.decode() for key in snapshot.keys]
        rows = sorted(
            [one.uri, one.text, list(one.lines), key] for one, key in zip(chunks, keys, strict=True)
        )
        words = sorted(scene.present() | scene.past())
        proof = space.verify()
        return {
            "words": [word for word in words if _finds(space, word)],
            "rows": rows,
            "rows of the store": _stored(space, healing=healing),
            "proofs": [proof.chunks, proof.exact],
            "runs without a change": [report.embedded, report.generation - generation],
            "answers": [_answers(space, query) for query in _QUERIES],
        }


def _stored(space: Space, *, healing: bool) -> list[list[str]]:
    directory = space.directory / "store"
    try:
        space.store.open(space=space.name, dimension=space.embedder.dimension, directory=directory)
        pages = [chunks for chunks, _ in space.store.scan()]
    except StoreDamagedError:
        if not healing:
            raise
        space.store.close()
        space.repair()
        return _stored(space, healing=False)
    finally:
        space.store.close()
    return sorted([chunk.uri, chunk.text, chunk.key] for chunks in pages for chunk in chunks)


def _answers(space: Space, query: str) -> list[list[object]]:
    hits = space.search(query, top_k=5, min_relevance=0).hits
    return [[hit.chunk.uri, hit.chunk.lines.start, round(hit.relevance, 3)] for hit in hits]


def _words(scene: Scene, texts: Sequence[str]) -> list[str]:
    said = "\n".join(texts)
    return [word for word in scene.present() | scene.past() if word in said]


def _value(ended: Ended) -> Any:
    if ended.code:
        raise RuntimeError(ended.said)
    return json.loads(json.dumps(ended.value))
