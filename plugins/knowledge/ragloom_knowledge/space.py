"""The index of lessons: a space apart, which no server or tool lists unless a setting says so."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from importlib.resources import files
from math import log
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from ragloom import Calibration, ConfigError, Embeddings, Hit, NotIndexedError, Space, Workspace
from ragloom.config import Component, SpaceSettings
from ragloom_knowledge.files import write_atomically
from ragloom_knowledge.matching import CURVE, TASK_PREFIX, Matcher, commonness
from ragloom_knowledge.settings import KnowledgeSettings

NAME: Final = "knowledge"
_HINT: Final = "no lessons are indexed yet: run 'ragloom knowledge checkpoint'"
_CALIBRATION_NAME: Final = "calibration.json"
_GATE: Final = 0.7  # the default relevance of a task
_FEWEST: Final = 20  # queries from which a median deviation can be taken
_MAD_TO_DEVIATION: Final = 1.4826  # of a normal distribution
_NORMAL_QUANTILE: Final = 1.96  # its 97.5th percentile, in standard deviations


class LessonSpace(Space):
    """The index of lessons, whose relevance has a scale of its own."""

    _tasks: Embeddings | None = None

    def calibration(self) -> Calibration:
        """What ``ragloom calibrate`` fitted to these lessons, or the usual curve."""
        return super().calibration() or CURVE

    def software_tasks(self) -> Embeddings:
        """``(t, d)``: the software tasks, embedded; kept beside the index, for this model."""
        if self._tasks is None:
            texts = _software_tasks()
            key = "\n".join((self.embedder.fingerprint, *texts))
            name = f"tasks-{blake2b(key.encode(), digest_size=8).hexdigest()}.npy"
            shape = (len(texts), self.embedder.dimension)
            kept = None
            with suppress(OSError, ValueError):
                kept = np.load(self.directory / name, allow_pickle=False)
            if kept is None or kept.shape != shape:
                kept = np.stack(
                    [self.embedder.embed_query(f"{TASK_PREFIX}{text}") for text in texts]
                )
                with suppress(OSError):  # a folder that is only read
                    _keep(self.directory / name, kept)
            self._tasks = kept
        return self._tasks

    def nearness(self, query: Embeddings, cosine: float) -> float:
        """The cosine of a lesson, less what the query has in common with software tasks at large."""
        return cosine - commonness(query, self.software_tasks())

    def calibrate(self, off_topic: Sequence[str]) -> Calibration:
        """Move the curve so that about one in forty of ``off_topic`` finds a lesson of a relevance of 0.7.

        The best lessons' cosines are told by their median and their median absolute deviation, so that
        queries which the lessons do happen to answer do not move it.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            ConfigError: There are fewer than 20 queries.
        """
        if len(off_topic) < _FEWEST:
            raise ConfigError(f"only {len(off_topic)} queries: give {_FEWEST} or more")
        matcher = Matcher(self.snapshot())
        if not len(matcher.snapshot):
            raise NotIndexedError("no lessons are indexed yet: run 'ragloom knowledge checkpoint'")
        queries = [self.embedder.embed_query(f"{TASK_PREFIX}{text}") for text in off_topic]
        best = [self.nearness(query, matcher.cosines(query, {})[0][1]) for query in queries]
        middle = median(best)
        deviation = _MAD_TO_DEVIATION * median(abs(value - middle) for value in best)
        threshold = middle + _NORMAL_QUANTILE * deviation
        bias = log(_GATE / (1 - _GATE)) - CURVE.cosine_weight * threshold
        source = f"fitted to {self.name!r} with {len(off_topic)} off-topic queries"
        fitted = replace(CURVE, bias=bias, source=source)
        kept = {"embedder": self.embedder.fingerprint, "calibration": asdict(fitted)}
        write_atomically(self.directory / _CALIBRATION_NAME, json.dumps(kept, indent=1))
        return fitted


class ServedLessons(Space):
    """The same index for whoever searches it as any other: a hit is the whole of a lesson."""

    def calibration(self) -> None:
        """None: the scale of lessons is for queries of lessons; this one is that of documents."""

    def follow(self, hit: Hit) -> Hit | None:
        """A hit as its file stands now, with the whole of the lesson, whichever text of it was found."""
        found = super().follow(hit)
        if found is None:
            return None
        snapshot = self.snapshot()
        rows = np.flatnonzero(snapshot.file_of_row == snapshot.uris.index(hit.chunk.uri)).tolist()
        whole = max((snapshot.chunk(row) for row in rows), key=lambda chunk: len(chunk.text))
        return super().follow(replace(found, chunk=whole))


def knowledge_space(workspace: Workspace, home: str = NAME) -> LessonSpace:
    """The space of all lessons, embedded and stored as the project's settings say.

    Its root is the folder of lessons in ``home``, a folder of the project's state.
    """
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(".",),
        loaders={".md": Component(name="markdown")},
        chunker=Component(name="lesson"),
        embedder=defaults.embedder,
        store=defaults.store,
        min_relevance=0.0,
    )
    return LessonSpace(
        workspace,
        NAME,
        settings,
        directory=workspace.state / home / "spaces" / NAME,
        root=workspace.state / home / "lessons",
        hint=_HINT,
    )


def calibrated_space(workspace: Workspace) -> tuple[Space, Sequence[str]]:
    """The lessons, and software tasks that they are not about, for ``ragloom calibrate``."""
    return knowledge_space(workspace), _software_tasks()


def named_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """The lessons where ``knowledge.serve`` is true, or nothing.

    Raises:
        ConfigError: A setting is wrong, or another space has that name.
    """
    if not workspace.section(NAME, KnowledgeSettings).serve:
        return {}
    if NAME in workspace.spaces():
        origin = workspace.settings.origin("knowledge.serve")
        raise ConfigError(
            f"{origin}: knowledge.serve: two spaces have the name {NAME!r}, that of the lessons and one "
            "of the workspace: give that one another name"
        )
    lessons, usual = knowledge_space(workspace), workspace.settings.defaults
    settings = replace(  # a lesson has several texts, and is one hit
        lessons.settings, top_k=usual.top_k, min_relevance=usual.min_relevance, per_file=1
    )
    served = ServedLessons(
        workspace, NAME, settings, directory=lessons.directory, root=lessons.root, hint=_HINT
    )
    return {NAME: served}


def _software_tasks() -> Sequence[str]:
    """Tasks of software development that lessons are seldom about."""
    listed = files(__package__ or "").joinpath("software_tasks.txt").read_text("utf-8")
    return listed.splitlines()


def _keep(path: Path, vectors: Embeddings) -> None:
    """Write vectors in one step, where the folder exists."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            np.save(stream, vectors, allow_pickle=False)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
