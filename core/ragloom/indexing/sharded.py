"""An index that is made in shards, by several processes or machines."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ragloom.indexing.indexer import LOCK_TIMEOUT, Indexer
from ragloom.indexing.shards import Shard
from ragloom.reports import IndexReport
from ragloom.types import Progress


class Sharded(ABC):
    """What has an :class:`~ragloom.indexing.indexer.Indexer`, and tells plugins of its runs."""

    def index_shard(
        self, shard: str, *, progress: Progress | None = None, timeout: float = LOCK_TIMEOUT
    ) -> IndexReport:
        """Load, split and embed the files of one shard that are new or changed; nothing is published.

        Args:
            shard: ``2/4`` for the second of four.
            progress: As of :meth:`ragloom.Space.index`.
            timeout: Seconds to wait for another run on the same shard.

        Returns:
            What the shard holds now; :meth:`commit` publishes it.

        Raises:
            ConfigError: It is no shard.
            SourceError: A source does not exist.
            StoreLockedError: Another run on the shard did not finish in time.
            StoreError: The shard cannot be written.
            ModelError: The model failed; what was finished is used by the next run.
        """
        share = Shard.parse(shard)
        return self._begun(progress).shard(share, timeout=timeout)

    def commit(
        self, *, progress: Progress | None = None, timeout: float = LOCK_TIMEOUT
    ) -> IndexReport:
        """Publish what all shards hold, as one index run would have; the shards are gone then.

        Files that have changed since their shard was made are read here.

        Raises:
            NotIndexedError: There is no shard.
            ConfigError: A shard is missing, or was not finished.
            StoreError: As of :meth:`ragloom.Space.index`, like StoreLockedError and ModelError.
        """
        report = self._begun(progress).commit(timeout=timeout)
        self._told(report)
        return report

    @abstractmethod
    def _begun(self, progress: Progress | None) -> Indexer:
        """The indexer of a run that may begin; raises where it may not."""

    @abstractmethod
    def _told(self, report: IndexReport) -> None:
        """Tell plugins of a run."""
