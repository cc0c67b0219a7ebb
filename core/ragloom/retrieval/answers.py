"""What a search asks of a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ragloom.config.settings import SpaceSettings
from ragloom.protocols import Embedder, Reranker, SearchableStore
from ragloom.reports import UnreadEnding
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Condition, Hit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Answers(Protocol):
    """What answers a query: a :class:`ragloom.Space`."""

    @property
    def name(self) -> str:
        """The space."""

    @property
    def settings(self) -> SpaceSettings:
        """What a query leaves open."""

    @property
    def narrowing(self) -> Sequence[Condition]:
        """What every hit passes, beside the conditions of the query."""

    @property
    def embedder(self) -> Embedder:
        """The one that made the snapshot; not made in mode ``lexical``."""

    @property
    def reranker(self) -> Reranker | None:
        """Reorders the best candidates."""

    def snapshot(self) -> Snapshot:
        """The generation that answers."""

    def native(self) -> SearchableStore | None:
        """An open store that finds the nearest chunks instead of the snapshot."""

    def calibration(self) -> Calibration | None:
        """Instead of the embedder's own."""

    def complete(self, rows: npt.NDArray[np.intp]) -> None:
        """Embed those of some rows, best first, that have no vector yet, while there is time."""

    def follow(self, hit: Hit) -> Hit | None:
        """A hit as its file stands now; None where the file no longer says it."""

    def unread(self) -> Sequence[UnreadEnding]:
        """The endings that no loader reads, of a space that holds nothing."""
