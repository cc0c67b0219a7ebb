"""A space: one named index, and everything that can be asked of it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragloom import space_group as asking
from ragloom.components import Wiring
from ragloom.config.settings import SpaceSettings
from ragloom.config.spelling import did_you_mean
from ragloom.errors import NotIndexedError, SourceError, StoreError
from ragloom.indexing.indexer import LOCK_TIMEOUT, Indexer, Progress
from ragloom.indexing.store_sync import answers_for
from ragloom.protocols import Formatter, SearchableStore, TokenCounter
from ragloom.retrieval.calibration import CALIBRATION_NAME, read_calibration
from ragloom.retrieval.freshness import prove
from ragloom.snapshot import Snapshot, current_generation, last_meta
from ragloom.sources.discovery import read_regular, resolve_roots
from ragloom.sources.loading import chunker_for, cut_document, load_document, loader_for
from ragloom.sources.screening import is_secret
from ragloom.status import SpaceStatus
from ragloom.stores.atomic import replace_file
from ragloom.types import (
    Calibration,
    Chunk,
    Condition,
    Context,
    Document,
    IndexReport,
    SearchResult,
    Source,
    VerifyReport,
)

if TYPE_CHECKING:
    from ragloom.context.packing import Strategy
    from ragloom.retrieval.search import Ranking
    from ragloom.workspace import Workspace

__all__ = ["RECORDED", "RECORD_NAME", "Space"]

_LOG = logging.getLogger("ragloom")
RECORD_NAME = "space.json"  # what a space was indexed with that no settings file says
RECORDED = ("store", "embedder", "chunker")  # the parts that an index is made with
_UNCALIBRATED = (
    "this embedder ships no calibration, so relevance follows a default curve: "
    "'ragloom calibrate' fits it to these documents"
)


class Space(Wiring):
    """One named index. A context manager: leaving it gives the model's memory back."""

    def __init__(self, workspace: Workspace, name: str, settings: SpaceSettings) -> None:
        super().__init__(workspace.host, settings, workspace.root)
        self.workspace = workspace
        self.name = name
        self._snapshot: Snapshot | None = None
        self._reading: SearchableStore | None = None

    def __enter__(self) -> Self:
        """The space itself."""
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the model's memory back and let go of a server; the next search starts them again."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if "embedder" in self.__dict__:
            self.embedder.close()
        if (reranker := self.__dict__.get("reranker")) is not None:
            reranker.close()

    @property
    def directory(self) -> Path:
        """The folder of this index."""
        return self.workspace.state / "spaces" / self.name

    def index(
        self,
        *,
        full: bool = False,
        progress: Progress | None = None,
        timeout: float = LOCK_TIMEOUT,
    ) -> IndexReport:
        """Bring the index up to date with the files.

        Args:
            full: Read and cut every file again, changed or not.
            progress: Called with a stage, how much of it is done, and of how much.
            timeout: Seconds to wait for another run on the same space.

        Raises:
            SourceError: A source does not exist.
            StoreLockedError: Another run did not finish in time.
            StoreError: The store failed; the last index goes on answering.
            ModelError: The model failed; nothing was written.
        """
        resolve_roots(self.settings.sources, self.workspace.root)  # before anything is created
        self._prepare()
        report = self._indexer(progress).run(full=full, timeout=timeout)
        first = bool(report.embedded) and report.embedded == report.chunks
        if first and self.embedder.calibration is None and self.calibration() is None:
            return replace(report, warnings=(*report.warnings, _UNCALIBRATED))
        return report

    def repair(self, *, progress: Progress | None = None) -> int:
        """Make the store again from the snapshot, or the snapshot from the store; nothing is embedded.

        Where both are lost, the generation before answers again. What is damaged is kept aside, never
        deleted.

        Returns:
            Chunks in the index.

        Raises:
            NotIndexedError: There is none of them.
        """
        if not self.directory.is_dir() and not isinstance(self.store, SearchableStore):
            message = f"nothing is indexed in {self.name!r} yet: run 'ragloom index'"
            raise NotIndexedError(message)
        self._prepare()
        return self._indexer(progress).repair()

    def drop(self, *, timeout: float = LOCK_TIMEOUT) -> None:
        """Forget the index: chunks, snapshot and calibration. The files stay.

        A store that several machines share is emptied for all of them.

        Args:
            timeout: Seconds to wait for another run on the same space.

        Raises:
            NotIndexedError: There is none.
            StoreLockedError: Another run did not finish in time.
            StoreError: The store failed; the index is still there.
        """
        from ragloom.indexing.drop import drop

        if not self.directory.is_dir():
            raise NotIndexedError(f"nothing is indexed in {self.name!r}")
        meta = last_meta(self.directory)
        self.close()
        drop(
            self.directory,
            store=self.store,
            dimension=self.embedder.dimension if meta is None else meta.dimension,
            aside=self.workspace.state / f"{self.name}.removed",
            timeout=timeout,
        )
        self._snapshot = None

    def cut(
        self, paths: Sequence[str | os.PathLike[str]]
    ) -> Iterator[tuple[Document, list[Chunk]]]:
        """How files are cut; nothing is indexed.

        Args:
            paths: Files, relative to the current folder.

        Raises:
            SourceError: A file cannot be read, or no loader reads its kind.
        """
        for path in map(Path, paths):
            if is_secret(path.name) or is_secret(Path(os.path.realpath(path)).name):
                message = f"{path}: looks like a secret, which is never read"
                raise SourceError(message)
            loader = loader_for(path, self.loaders)
            uri = os.path.relpath(os.path.realpath(path), self.workspace.root).replace(os.sep, "/")
            try:
                content = read_regular(path)
            except OSError as error:
                message = f"{path}: cannot be read: {error.strerror or error}"
                raise SourceError(message) from error
            document = load_document(Source(uri=uri, path=path), content, loader)
            chunker = chunker_for(path, self.chunkers)
            yield document, cut_document(document, chunker, self.embedder)

    def verify(self, *, progress: Progress | None = None) -> VerifyReport:
        """Read every indexed file again and prove each of its chunks.

        Args:
            progress: Called with ``files``, how many are done, and of how many.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            StoreDamagedError: The index itself is damaged.
        """
        snapshot = self.snapshot()
        snapshot.check()
        return prove(snapshot, self.workspace.root, self.loaders, progress)

    def snapshot(self) -> Snapshot:
        """The generation that answers now; opened again only when a newer one was published.

        Raises:
            NotIndexedError: Nothing is indexed yet.
        """
        if self._snapshot is None or self._snapshot.meta.generation != current_generation(
            self.directory
        ):
            try:
                self._snapshot = Snapshot.open_current(self.directory)
            except NotIndexedError as error:
                known = self.workspace.spaces()
                if not known or self.name in known:
                    raise
                there = did_you_mean(self.name, known) or f"; there are: {', '.join(known)}"
                raise NotIndexedError(f"nothing is indexed in {self.name!r}{there}") from error
        return self._snapshot

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: str | None = None,
        where: Sequence[Condition] = (),
    ) -> SearchResult:
        """Ask the index as it is; call :meth:`index` first to bring it up to date.

        Args:
            query: In words.
            top_k: Hits at the most.
            min_relevance: What is less relevant, 0 to 1, is left out.
            mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
            where: Conditions that every hit passes.

        Raises:
            NotIndexedError: Nothing is indexed yet, or another model did it.
        """
        return asking.search(
            [self], query, top_k=top_k, min_relevance=min_relevance, mode=mode, where=where
        )

    def context(
        self,
        query: str,
        *,
        max_tokens: int = 4000,
        strategy: Strategy = "relevance",
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: str | None = None,
        where: Sequence[Condition] = (),
        formatter: Formatter | None = None,
        counter: TokenCounter | None = None,
        provider: str | None = None,
    ) -> Context:
        """Ask the index as it is, and pack what it finds into a budget.

        Args:
            query: In words.
            max_tokens: What the text of the context may have at the most, in tokens of ``counter``.
            strategy: ``relevance``, ``recency`` or ``diversity``; see
                :func:`~ragloom.context.build_context`. Diversity chooses among more hits.
            top_k: Hits at the most.
            min_relevance: What is less relevant, 0 to 1, is left out.
            mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
            where: Conditions that every hit passes.
            formatter: Writes the passages; the settings' own by default.
            counter: Counts the tokens; see :func:`~ragloom.context.build_context`.
            provider: Who is to be shown the context, for the audit log.

        Raises:
            NotIndexedError: Nothing is indexed yet, or another model did it.
            ConfigError: There is no such strategy.
        """
        return asking.context(
            [self],
            query,
            max_tokens=max_tokens,
            strategy=strategy,
            top_k=top_k,
            min_relevance=min_relevance,
            mode=mode,
            where=where,
            formatter=formatter,
            counter=counter,
            provider=provider,
        )

    def rank(
        self, query: str, *, mode: str | None = None, where: Sequence[Condition] = ()
    ) -> Ranking:
        """The candidates of a query in their order, without a gate; rows are :meth:`snapshot`'s.

        Raises:
            NotIndexedError: Nothing is indexed yet, or another model did it.
        """
        from ragloom.retrieval.rerank import reranked
        from ragloom.retrieval.search import rank

        mode = mode or self.settings.mode
        ranking = rank(
            query,
            snapshot=self.snapshot(),
            embedder=None if mode == "lexical" else self.embedder,
            native=None if mode == "lexical" else self.native(),
            mode=mode,
            where=where,
        )
        if self.reranker is None:
            return ranking
        return reranked(
            query,
            snapshot=self.snapshot(),
            ranking=ranking,
            reranker=self.reranker,
            places=range(min(self.settings.rerank_depth, len(ranking.rows))),
        )

    def calibration(self) -> Calibration | None:
        """What ``ragloom calibrate`` fitted to this index with this model; None if it did not."""
        return read_calibration(self.directory, self.embedder.fingerprint)

    def calibrate(self, off_topic: Sequence[str]) -> Calibration:
        """Fit the scale of relevance to this index, and keep it.

        Args:
            off_topic: Queries that the documents cannot answer, 20 or more.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            ConfigError: Too few of the queries found anything to compare.
        """
        from ragloom.retrieval.calibration import fit_to_corpus, write_calibration
        from ragloom.retrieval.relevance import DEFAULT_CALIBRATION

        self.reset_calibration()
        fitted = fit_to_corpus(
            self.embedder.calibration or DEFAULT_CALIBRATION,
            lambda query: asking.found(self, query, min_relevance=0.0, mode="hybrid", rerank=False),
            off_topic,
            source=f"fitted to {self.name!r} with {len(off_topic)} off-topic queries",
        )
        write_calibration(self.directory, self.embedder.fingerprint, fitted)
        return fitted

    def reset_calibration(self) -> None:
        """Go back to the embedder's own calibration."""
        (self.directory / CALIBRATION_NAME).unlink(missing_ok=True)

    def status(self) -> SpaceStatus:
        """What is in the index; no store and no model is opened."""
        try:
            snapshot = self.snapshot()
        except NotIndexedError:
            return SpaceStatus(name=self.name, settings=self.settings)
        size = sum(entry.stat().st_size for entry in self.directory.rglob("*") if entry.is_file())
        return SpaceStatus(
            name=self.name,
            generation=snapshot.meta.generation,
            files=len(snapshot.files),
            chunks=len(snapshot),
            bytes=size,
            created=snapshot.meta.created,
            settings=self.settings,
        )

    def native(self) -> SearchableStore | None:
        """The store, open for searching, where it answers searches itself and holds what is asked."""
        reading = self._reading or self.new_store()
        if not isinstance(reading, SearchableStore):
            return None
        snapshot = self.snapshot()
        try:
            if self._reading is None:
                reading.open(
                    space=self.name,
                    dimension=snapshot.meta.dimension,
                    directory=self.directory / "store",
                )
            # Another machine may have written other chunks to it: then the snapshot answers.
            answers = answers_for(reading, snapshot)
        except StoreError as error:  # and it has all that it takes to answer as exactly
            self._reading = None
            reading.close()
            _LOG.warning("%s: %s; the snapshot answers instead", self.name, error)
            return None
        self._reading = reading
        return reading if answers else None

    def _prepare(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        ignore = self.workspace.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text(
                "# Made by ragloom; can be made again by 'ragloom index'.\n*\n", "utf-8"
            )
        record = self.directory / RECORD_NAME
        known = self.workspace.settings.space(self.name)
        kept: dict[str, object] = {}
        if self.settings.sources != known.sources:
            kept["sources"] = self.settings.sources
        for name in RECORDED:
            part, usual = getattr(self.settings, name), getattr(known, name)
            if part.name != usual.name and "" not in usual.places:
                kept[name] = part.name
        if not kept:
            record.unlink(missing_ok=True)
            return
        text = json.dumps(kept)
        if not record.is_file() or record.read_bytes() != text.encode():
            # Another run may be at the same place: the lock is not held yet.
            replace_file(record, text)

    def _indexer(self, progress: Progress | None) -> Indexer:
        return Indexer(
            name=self.name,
            directory=self.directory,
            walk=self.walk,
            loaders=self.loaders,
            chunkers=self.chunkers,
            embedder=self.embedder,
            store=self.store,
            progress=progress,
        )
