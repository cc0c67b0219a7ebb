"""What is known of an index that is elsewhere, as its shards tell it."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ragloom.errors import NotIndexedError, StoreError
from ragloom.protocols import RemoteStore
from ragloom.snapshot.languages import ENGLISH
from ragloom.snapshot.statistics import FIELDS, FORMAT, LEVELS, STATISTICS, page_name
from ragloom.stores.formats import check_format
from ragloom.text.parsing import parse_json

_FRESH = 5.0  # seconds that statistics are used before they are asked for again


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteMeta:
    """What a snapshot's ``meta`` says, of an index elsewhere.

    Attributes:
        embedder: The fingerprint of the model.
        dimension: Numbers in a vector.
        created: When the newest shard was made, in seconds since 1970.
        generation: The same, as a whole number, which changes with the index.
        pending: Chunks without a vector, which are in no store.
    """

    embedder: str
    dimension: int
    created: float = 0.0
    generation: int = 0
    pending: int = 0


@dataclass(slots=True, kw_only=True)
class _Shard:
    """What one shard says of itself, and the pages that were read of it."""

    chunks: int
    files: int
    embedder: str
    dimension: int
    created: float
    languages: Sequence[str]
    lengths: Mapping[str, Sequence[float]]
    pages: int
    read: dict[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)


class ShardStatistics:
    """What a store tells of all shards of a space.

    Args:
        store: Connected.
        space: Its name.
        directory: Of the space here, for messages; nothing need be there.

    Raises:
        NotIndexedError: No shard is complete.
        StoreError: The store failed, or a newer ragloom wrote to it.
    """

    def __init__(self, store: RemoteStore, space: str, directory: Path) -> None:
        self.store = store
        self.space = space
        self.directory: Path = directory / "remote"
        self._said: Mapping[str, str] = {}
        self._shards: dict[str, _Shard] = {}
        self._read_at = -_FRESH
        self.refresh()

    def refresh(self) -> None:
        """Read the statistics again, where they are not of this moment."""
        if time.monotonic() - self._read_at < _FRESH:
            return
        found = self.store.shard_records([STATISTICS])
        said = {shard: records[STATISTICS] for shard, records in found.items()}
        if said != self._said:
            self._shards = {shard: self._parsed(shard, said[shard]) for shard in sorted(said)}
            self._said = said
        if not self._shards:
            raise NotIndexedError(f"nothing is indexed in {self.space!r} on its store yet")
        self._read_at = time.monotonic()

    def _parsed(self, shard: str, text: str) -> _Shard:
        try:
            said = cast("dict[str, Any]", parse_json(text))
            check_format(
                int(said["format"]), FORMAT, place=f"shard {shard}", release=said.get("release")
            )
            return _Shard(
                chunks=int(said["chunks"]),
                files=int(said["files"]),
                embedder=str(said["embedder"]),
                dimension=int(said["dimension"]),
                created=float(said["created"]),
                languages=[str(one) for one in said["languages"]],
                lengths={level: [float(n) for n in said["lengths"][level]] for level in LEVELS},
                pages=int(said["pages"]),
            )
        except (ValueError, TypeError, LookupError) as error:
            raise StoreError(
                f"{self.space}: the statistics of shard {shard!r} cannot be read ({error}): its next "
                "index run writes them again"
            ) from error

    @property
    def meta(self) -> RemoteMeta:
        """Of the shards together; raises StoreError where they are of several models."""
        by_model: dict[str, str] = {one.embedder: name for name, one in self._shards.items()}
        if len(by_model) > 1:
            named = " and ".join(repr(name) for name in sorted(by_model.values())[:2])
            raise StoreError(
                f"{self.space}: the shards {named} were indexed with different models: index one of them "
                "with the other's"
            )
        first = next(iter(self._shards.values()))
        created = max(one.created for one in self._shards.values())
        return RemoteMeta(
            embedder=first.embedder,
            dimension=first.dimension,
            created=created,
            generation=int(created),
        )

    @property
    def shards(self) -> Mapping[str, int]:
        """How many chunks each shard holds, by its name."""
        return {name: shard.chunks for name, shard in self._shards.items()}

    def __len__(self) -> int:
        """Chunks of all shards."""
        return sum(shard.chunks for shard in self._shards.values())

    def total(self, level: int) -> int:
        """Chunks, or files, of all shards."""
        return sum((shard.chunks, shard.files)[level] for shard in self._shards.values())

    def average(self, level: int, place: int) -> float:
        """The terms that a field of :data:`FIELDS` has on average."""
        sums = sum(
            (shard.chunks, shard.files)[level] * shard.lengths[LEVELS[level]][place]
            for shard in self._shards.values()
        )
        return max(sums / max(self.total(level), 1), 1e-9)

    @property
    def languages(self) -> Sequence[str]:
        """Of the documents, those of most shards first."""
        every = Counter(one for shard in self._shards.values() for one in shard.languages)
        return tuple(one for one, _ in every.most_common()) or (ENGLISH,)

    def prefetch(self, terms: Iterable[str]) -> None:
        """Read the pages of some terms that are not read yet, at once."""
        terms = list(terms)
        lacking = {
            name
            for shard in self._shards.values()
            for term in terms
            if (name := page_name(term, shard.pages)) not in shard.read
        }
        if not lacking:
            return
        found = self.store.shard_records(sorted(lacking))
        for shard, known in self._shards.items():
            for name in lacking:
                text = found.get(shard, {}).get(name, "{}")
                known.read[name] = cast("dict[str, list[int]]", json.loads(text))

    def frequency(self, term: str, level: int, place: int) -> int:
        """How many chunks, or files, hold a term in a field of :data:`FIELDS`."""
        self.prefetch([term])
        at, count = len(FIELDS) * level + place, 0
        for shard in self._shards.values():
            counts = shard.read[page_name(term, shard.pages)].get(term, ())
            count += counts[at] if at < len(counts) else 0
        return count
