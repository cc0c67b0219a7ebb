"""The second step of an index run on a runner: batches out, Parts back.

A runner of other processes gets what it needs by value: the settings once a process, and with each batch
the files' bytes, so that a worker needs neither the files nor a folder that all share. It answers with the
files of a Part. Whatever a worker does has no effect but its answer: it can be repeated anywhere.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.components import Components
from ragloom.config.settings import SpaceSettings
from ragloom.errors import SourceError
from ragloom.indexing.ahead import parts_ahead
from ragloom.indexing.plan import PlannedFile
from ragloom.indexing.process import ENTRIES, Part, content_of, kept, name_of, process
from ragloom.indexing.workers import ComponentsOfWorker
from ragloom.plugin.local_runner import LocalRunner
from ragloom.protocols import Runner
from ragloom.snapshot import Snapshot
from ragloom.stores.faults import named_faults

_NONE = np.empty(0, "S32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a worker gets.

    Attributes:
        files: A batch of a plan.
        contents: The bytes of each, or why it cannot be read.
        known: The embedding keys that need no vector.
        always: As in :func:`ragloom.indexing.process.process`.
    """

    files: Sequence[PlannedFile]
    contents: Sequence[bytes | str]
    known: npt.NDArray[np.bytes_]
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePart:
    """What a worker answers.

    Attributes:
        part: The Part, whose ``stem`` is a name.
        files: The content of each of its files, by name.
    """

    part: Part
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Starts the work in a process; it can be pickled.

    Attributes:
        settings: Of the space.
        root: The folder that paths of models count from.
    """

    settings: SpaceSettings
    root: Path

    def __call__(self) -> Callable[[Batch], MadePart]:
        """Make the components; each batch uses the same ones."""
        worker = ComponentsOfWorker(self.settings, self.root)

        def work(batch: Batch) -> MadePart:
            worker.check(batch.files)
            contents = dict(zip([one.uri for one in batch.files], batch.contents, strict=True))

            def read(file: PlannedFile) -> bytes:
                content = contents[file.uri]
                if isinstance(content, str):
                    raise SourceError(content)
                return content

            with tempfile.TemporaryDirectory(prefix="ragloom-") as folder:
                part = process(
                    batch.files,
                    worker.components,
                    Path(folder),
                    read=read,
                    known=batch.known,
                    always=batch.always,
                )
                files = {path.name: path.read_bytes() for path in part.stem.parent.iterdir()}
            return MadePart(part=replace(part, stem=Path(part.stem.name)), files=files)

        return work


@dataclass(frozen=True, slots=True, kw_only=True)
class Processing:
    """The second step of one run.

    Attributes:
        components: What the index is made with.
        folder: Where Parts are kept.
        previous: The generation that answers; what it has a vector of is not embedded.
        of_shard: Embed what is split, also in this process, and keep every Part for another run.
    """

    components: Components
    folder: Path
    previous: Snapshot | None = None
    of_shard: bool = False

    def parts(
        self, batches: Sequence[Sequence[PlannedFile]], progress: Callable[[PlannedFile], None]
    ) -> Iterator[Part]:
        """The Parts of batches, in their order."""
        if not batches:
            return
        runner = self.components.runner
        if type(runner) is LocalRunner and not self.of_shard:
            yield from parts_ahead(batches, self.components, self.folder, progress)
            return
        made = self._elsewhere if runner.elsewhere else self._here
        found = sorted(made(runner, batches, progress))
        yield from (part for _, _, part in found)

    def _here(
        self,
        runner: Runner,
        batches: Sequence[Sequence[PlannedFile]],
        progress: Callable[[PlannedFile], None],
    ) -> Iterator[tuple[int, str, Part]]:
        def work(files: Sequence[PlannedFile]) -> Part:
            known = self._known(files) if self.of_shard else None
            return process(
                files, self.components, self.folder, progress, known=known, always=self.of_shard
            )

        for place, part in runner.run(lambda: work, batches):
            yield place, part.stem.name, part

    def _elsewhere(
        self,
        runner: Runner,
        batches: Sequence[Sequence[PlannedFile]],
        progress: Callable[[PlannedFile], None],
    ) -> Iterator[tuple[int, str, Part]]:
        places: list[int] = []

        def missing() -> Iterator[Batch]:
            for place, files in enumerate(batches):
                if kept(self.folder / name_of(files)) is not None:
                    continue
                places.append(place)
                yield Batch(
                    files=files,
                    contents=[_content(file) for file in files],
                    known=self._known(files),
                    always=self.of_shard,
                )

        start = Workshop(settings=self.components.settings, root=self.components.root)
        done: set[int] = set()
        for number, made in runner.run(start, missing()):
            place = places[number]
            done.add(place)
            part = self._received(batches[place], made)
            for file in batches[place]:
                progress(file)
            yield place, part.stem.name, part
        for place in sorted(set(range(len(batches))) - done):
            part = process(batches[place], self.components, self.folder, progress)
            yield place, part.stem.name, part

    def _received(self, files: Sequence[PlannedFile], made: MadePart) -> Part:
        """Write a Part that a worker made; what tells that it is whole comes last."""
        folder = self.folder / name_of(files)
        with named_faults(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for name in sorted(made.files, key=lambda name: (name == ENTRIES, name)):
                (folder / name).write_bytes(made.files[name])
        return replace(made.part, stem=folder / made.part.stem.name)

    def _known(self, files: Sequence[PlannedFile]) -> npt.NDArray[np.bytes_]:
        """The keys of what these files' chunks were, as far as they have vectors of this model."""
        previous, embedder = self.previous, self.components.embedder
        if previous is None or previous.meta.embedder != embedder.fingerprint:
            return _NONE
        uris = {file.uri for file in files}
        numbers = [number for number, uri in enumerate(previous.uris) if uri in uris]
        if not numbers:
            return _NONE
        rows = np.flatnonzero(np.isin(previous.file_of_row, numbers))
        known: npt.NDArray[np.bytes_] = previous.keys[np.setdiff1d(rows, previous.pending)]
        return np.unique(known)


def _content(file: PlannedFile) -> bytes | str:
    """The bytes of a file, or why it cannot be read."""
    try:
        return content_of(file)
    except SourceError as error:
        return str(error)
