"""A space: one named index, and everything that can be done with it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragloom.background import Indexed
from ragloom.components import Components, Home, Select
from ragloom.config.settings import SpaceSettings
from ragloom.errors import NotIndexedError, SourceError
from ragloom.indexing.answering import StoreReader
from ragloom.indexing.drop import drop
from ragloom.indexing.indexer import LOCK_TIMEOUT, Indexer
from ragloom.indexing.pending import PendingVectors
from ragloom.indexing.remote_reader import RemoteReader
from ragloom.indexing.sharded import Sharded
from ragloom.indexing.space_record import SpaceRecord
from ragloom.protocols import SearchableStore
from ragloom.reports import IndexFinished, IndexReport, VerifyReport
from ragloom.retrieval.calibration import CALIBRATION_NAME, read_calibration
from ragloom.retrieval.first_warnings import first_warnings
from ragloom.retrieval.fitting import fit
from ragloom.retrieval.freshness import follow, follow_remote
from ragloom.retrieval.query import Query
from ragloom.retrieval.verify import prove
from ragloom.searchable import Searchable
from ragloom.snapshot import Snapshot, current_generation, last_meta
from ragloom.sources.unread import why_not_indexed
from ragloom.status import SpaceStatus, status_of
from ragloom.types import Calibration, Hit, Mode, Progress, SearchResult

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragloom.explain import Explanation, Sweep
    from ragloom.retrieval.ranking import Ranking


class Space(Components, Searchable, Sharded, Indexed[IndexReport]):
    """One named index; a :class:`ragloom.Workspace` makes it. A context manager that closes it.

    Args:
        workspace: Where it belongs.
        name: Of the space.
        settings: How it is made and searched.
        directory: The folder of the index.
        root: The folder that uris are relative to; the workspace's by default.
        record: Keeps what no settings file says; None where there is nothing to keep.
        hint: What to do where nothing is indexed yet, for the error.
        select: Chooses among the files that are found.
        within: The uris of the only files and folders to index and search; none for all.
    """

    def __init__(
        self,
        workspace: Home,
        name: str,
        settings: SpaceSettings,
        *,
        directory: Path,
        root: Path | None = None,
        record: SpaceRecord | None = None,
        hint: str = "",
        select: Select | None = None,
        within: Sequence[str] = (),
    ) -> None:
        super().__init__(workspace.host, settings, root or workspace.root, select, within)
        self.workspace = workspace
        self.name = name
        self.directory = directory
        self.record = record
        self._hint = hint
        self._snapshot: Snapshot | None = None
        self._pending: PendingVectors | None = None
        self._reader = StoreReader(self.new_store, name, directory)
        self._remote = RemoteReader(self.new_store, name, directory)

    def close(self) -> None:
        """Free the model's memory and let go of a server; the next search starts them again."""
        self._release_worker()
        self._reader.close()
        self._remote.close()
        if "embedder" in self.__dict__:
            self.embedder.close()
        if "runner" in self.__dict__:
            self.runner.close()
        if (reranker := self.__dict__.get("reranker")) is not None:
            reranker.close()

    def with_settings(
        self, settings: SpaceSettings, *, within: Sequence[str] | None = None
    ) -> Space:
        """The same index with other settings, or limited to other files and folders."""
        return Space(
            self.workspace,
            self.name,
            settings,
            directory=self.directory,
            root=self.root,
            record=self.record,
            hint=self._hint,
            select=self._select,
            within=self.within if within is None else within,
        )

    def twin(self) -> Space:
        """The same index with components of its own, which another thread may use."""
        return self.with_settings(self.settings)

    @property
    def members(self) -> Sequence[Space]:
        """Itself."""
        return (self,)

    def index(
        self,
        *,
        full: bool = False,
        allow_empty: bool = False,
        seconds: float | None = None,
        progress: Progress | None = None,
        timeout: float = LOCK_TIMEOUT,
    ) -> IndexReport:
        """Bring the index up to date with the files.

        Args:
            full: Read and split every file again, changed or not.
            allow_empty: Empty the index where other sources than before hold no file.
            seconds: After which no more is embedded, where much is; chunks without a vector are found by
                their words, and the next run goes on. None for no limit.
            progress: Called with a stage, how much of it is done, and of how much.
            timeout: Seconds to wait for another run on the same space.

        Raises:
            SourceError: A source does not exist; or the sources are not those of the last run and hold
                no file, without ``allow_empty``: the index stays as it is.
            StoreLockedError: Another run did not finish in time.
            StoreError: The store failed; the last index keeps answering.
            ModelError: The model failed; nothing was written.
        """
        indexer = self._begun(progress, allow_empty=allow_empty)
        before = current_generation(self.directory)
        report = indexer.run(full=full, seconds=seconds, timeout=timeout)
        self._told(report, changed=report.generation != before)
        if not report.embedded or (before and report.embedded < report.chunks):
            return report
        known = self.snapshot(), self.settings, self.loaders, self.host.providers("chunkers")
        said = first_warnings(self.embedder, self.calibration(), *known)
        return replace(report, warnings=(*report.warnings, *said))

    def repair(self, *, progress: Progress | None = None) -> int:
        """Rebuild the store from the snapshot, or the snapshot from the store; nothing is embedded.

        Where both are lost, the generation before answers again. Damaged files are quarantined.

        Returns:
            Chunks in the index.

        Raises:
            NotIndexedError: There is none of them.
        """
        if not self.directory.is_dir() and not isinstance(self.store, SearchableStore):
            raise NotIndexedError(f"nothing is indexed in {self.name!r} yet: run 'ragloom index'")
        self._prepare()
        started = time.perf_counter()
        chunks = Indexer(self.name, self.directory, self, progress).repair()
        generation, seconds = current_generation(self.directory), time.perf_counter() - started
        self._finished("repair", generation, seconds, {"chunks": chunks}, changed=True)
        return chunks

    def drop(self, *, timeout: float = LOCK_TIMEOUT) -> None:
        """Delete the index: chunks, snapshot and calibration. The files stay.

        A store that several machines share is emptied for all of them, one with shards of this one's rows.

        Args:
            timeout: Seconds to wait for another run on the same space.

        Raises:
            NotIndexedError: There is none.
            StoreLockedError: Another run did not finish in time.
            StoreError: The store failed; the index is still there.
        """
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

    def verify(self, *, progress: Progress | None = None) -> VerifyReport:
        """Read every indexed file again and prove each of its chunks.

        Args:
            progress: Called with ``files``, how many are done, and of how many.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            StoreDamagedError: The index itself is damaged.
        """
        started = time.perf_counter()
        snapshot = self.snapshot()
        snapshot.check()
        report = prove(snapshot, self.root, self.loaders, progress)
        generation, seconds = snapshot.meta.generation, time.perf_counter() - started
        self._finished("verify", generation, seconds, report.counts, changed=False)
        return report

    @property
    def generation(self) -> int:
        """The number of the generation that answers; 0 where nothing is indexed, or no store answers."""
        remote = self.settings.read == "remote"
        return self._remote.generation if remote else current_generation(self.directory)

    def snapshot(self) -> Snapshot:
        """The generation that answers now; opened again only when a newer one was published.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            StoreError: The state folder is not used, or the machine keeps it from being read.
        """
        if self.settings.read == "remote":
            return self._remote.index()
        if self._snapshot is None or self._snapshot.meta.generation != self.generation:
            self.workspace.state  # noqa: B018 - raises where what came since is not to be used
            try:
                self._snapshot = Snapshot.open_current(self.directory)
                self._pending = PendingVectors(self.directory, self._snapshot)
            except NotIndexedError as error:
                known = self.workspace.spaces()
                hint = self._hint or why_not_indexed(self.name, self.roots, known)
                raise NotIndexedError(hint or str(error)) from error
        return self._snapshot

    def complete(self, rows: npt.NDArray[np.intp]) -> None:
        """Embed those of some rows of :meth:`snapshot` that have no vector yet, while there is time.

        Args:
            rows: Best first.

        Raises:
            ModelError: The model does not answer.
        """
        snapshot = self.snapshot()
        if self._pending is not None and snapshot.meta.pending:
            self._pending.recall()
            self._pending.embed(rows, self.embedder, self.settings.first_answer)

    def answer(self, query: Query) -> SearchResult:
        """See :meth:`Searchable.answer`; each hit is compared with its file."""
        from ragloom.retrieval.search import search

        return search(query, self)

    def explain(
        self, query: Query | str, *, expect: str | None = None, max_tokens: int | None = None
    ) -> Explanation:
        """Explain why each hit of a query is shown, and what keeps others away.

        Args:
            query: The question or words, or a :class:`ragloom.Query`.
            expect: A file that should be found, relative to the workspace or the current folder.
            max_tokens: Explain a context of so many tokens: what it has no room for is not shown.

        Raises:
            NotIndexedError: Nothing is indexed yet, or with another model.
        """
        from ragloom.explain import explain

        return explain(query, self, self, expect=expect, max_tokens=max_tokens)

    def sweep(self, query: Query | str) -> Sweep:
        """What each ``min_relevance`` would show of a query; raises as :meth:`explain`."""
        from ragloom.explain import sweep

        return sweep(query, self)

    def rank(self, text: str, *, mode: Mode | None = None, where: Sequence[str] = ()) -> Ranking:
        """The candidates of a query in their order, without a gate; rows are :meth:`snapshot`'s.

        Raises:
            NotIndexedError: Nothing is indexed yet, or with another model.
        """
        from ragloom.retrieval.search import judged

        return judged(Query(text, min_relevance=0.0, mode=mode, where=where), self).ranking

    def follow(self, hit: Hit) -> Hit | None:
        """A hit as its file stands now, or as it was with ``check_files: false``; None where it is gone."""
        path = self.root / (uri := hit.chunk.uri)
        if self.settings.read == "remote":
            return follow_remote(hit, path, lambda: self.loaders)
        # Of the generation that answered: opening it for every hit would read CURRENT each time.
        files = (self._snapshot or self.snapshot()).files
        if not self.settings.check_files:
            return replace(hit, content_hash=files[uri].content_hash)
        return follow(hit, path, files[uri], lambda: self.loaders)

    def calibration(self) -> Calibration | None:
        """What ``ragloom calibrate`` fitted to this index with this model; None if it did not."""
        return read_calibration(self.directory, self.embedder.fingerprint)

    def calibrate(self, off_topic: Sequence[str]) -> Calibration:
        """Fit the scale of relevance to this index, and write it down.

        Args:
            off_topic: Queries that the documents cannot answer, 20 or more.

        Raises:
            NotIndexedError: Nothing is indexed yet.
            ConfigError: Too few of the queries found anything to compare.
        """
        return fit(self, self.directory, off_topic)

    def reset_calibration(self) -> None:
        """Go back to the embedder's own calibration."""
        (self.directory / CALIBRATION_NAME).unlink(missing_ok=True)

    def status(self, *, changes: bool = False) -> SpaceStatus:
        """What is in the index; no store and no model is opened.

        Args:
            changes: Walk the files, too, and say what an index run would find changed.

        Raises:
            SourceError: A source does not exist, with ``changes``.
        """
        snapshot: Snapshot | None = None
        with suppress(NotIndexedError):
            snapshot = self.snapshot() if self.settings.read == "local" else None
        files = self.walk() if changes else None
        return status_of(self.name, self.settings, self.directory, snapshot, files)

    def native(self) -> SearchableStore | None:
        """The store, open for searching, where it answers searches itself and holds what is searched."""
        if self.settings.read == "remote" or not isinstance(self.store, SearchableStore):
            return None
        return self._reader.answering(self.snapshot())

    def _finished(
        self,
        operation: Literal["index", "repair", "verify"],
        generation: int,
        seconds: float,
        report: Mapping[str, int],
        *,
        changed: bool,
    ) -> None:
        event = IndexFinished(
            operation=operation,
            space=self.name,
            generation=generation,
            changed=changed,
            seconds=seconds,
            report=report,
        )
        self.host.finished(self.workspace, event)

    def _begun(self, progress: Progress | None, *, allow_empty: bool = False) -> Indexer:
        self.workspace.check_trust()  # a link may lead elsewhere than when the workspace was opened
        self.roots()  # before anything is created
        if not allow_empty:
            self._refuse_emptying()
        self._prepare()
        return Indexer(self.name, self.directory, self, progress)

    def _told(self, report: IndexReport, *, changed: bool = True) -> None:
        self._finished("index", report.generation, report.seconds, report.counts, changed=changed)

    def _refuse_emptying(self) -> None:
        if self.record is None or not self.generation:
            return
        sources = self.settings.sources
        if sources != self.record.usual().sources and all(f.skipped for f in self.walk()):
            raise SourceError(
                f"{', '.join(sources)}: no file to index; {self.name!r} stays as it is"
            )

    def _prepare(self) -> None:
        self.workspace.make_state()
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.record is not None:
            self.record.write(self.settings)
