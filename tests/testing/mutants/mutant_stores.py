"""Stores that break one rule each."""

import dataclasses
import os
import uuid

import numpy as np
from declaring import declare

from ragloom import StoreError
from ragloom.testing import StoreContract
from ragloom_local.file import FileStore

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


@breaks("test_an_empty_store_counts_and_scans_nothing")
class FailsWhereNothingIs(FileStore):
    def scan(self, *, batch_size=1000):
        if not self.count():
            raise IndexError("no chunks")
        yield from super().scan(batch_size=batch_size)


@breaks("test_fingerprint_names_the_place")
class FingerprintByChance(FileStore):
    def __init__(self):
        super().__init__()
        self.fingerprint = uuid.uuid4().hex


@breaks("test_vectors_that_are_not_finite_are_refused")
class MakesFinite(FileStore):
    def upsert(self, chunks, vectors):
        array = isinstance(vectors, np.ndarray)
        super().upsert(chunks, np.nan_to_num(vectors) if array else vectors)


@breaks("test_vectors_of_the_wrong_kind_are_refused")
class CastsVectors(FileStore):
    def upsert(self, chunks, vectors):
        super().upsert(chunks, np.asarray(vectors, dtype=np.float32))


@breaks("test_what_is_not_json_or_utf8_is_refused")
class ReplacesSurrogates(FileStore):
    def upsert(self, chunks, vectors):
        safe = [
            dataclasses.replace(one, text=one.text.encode(errors="replace").decode())
            for one in chunks
        ]
        super().upsert(safe, vectors)


@breaks("test_another_dimension_is_refused_on_opening")
class IgnoresTheDimension(FileStore):
    def open(self, *, space, dimension, directory):
        try:
            super().open(space=space, dimension=dimension, directory=directory)
        except StoreError:
            super().open(space=space, dimension=4, directory=directory)


@breaks("test_an_emptied_space_takes_another_dimension")
class KeepsTheFirstDimension(FileStore):
    def open(self, *, space, dimension, directory):
        super().open(space=space, dimension=dimension, directory=directory)
        first = self._folder / "first"
        if not first.exists():
            first.write_text(str(dimension))
        elif first.read_text() != str(dimension):
            self.close()
            raise StoreError("it was made for another dimension")


@breaks("test_inputs_are_not_changed_nor_kept")
class EmptiesTheIds(FileStore):
    def delete(self, ids):
        super().delete(list(ids))
        ids.clear()


@breaks("test_read_only_and_strided_vectors_are_taken")
class WantsContiguousRows(FileStore):
    def upsert(self, chunks, vectors):
        if isinstance(vectors, np.ndarray) and not vectors.flags.c_contiguous:
            raise StoreError("rows must be contiguous")
        super().upsert(chunks, vectors)


@breaks("test_closing_twice_does_nothing_and_a_closed_store_refuses")
class CountsWhenClosed(FileStore):
    def count(self):
        try:
            return super().count()
        except StoreError:
            return 0


@breaks("test_chunks_come_back_exactly_in_the_order_of_their_ids")
class DropsNul(FileStore):
    def upsert(self, chunks, vectors):
        cut = [dataclasses.replace(one, text=one.text.replace("\0", "")) for one in chunks]
        super().upsert(cut, vectors)


@breaks("test_metadata_comes_back_exactly")
class SortsKeys(FileStore):
    def scan(self, *, batch_size=1000):
        for chunks, vectors in super().scan(batch_size=batch_size):
            yield (
                [
                    dataclasses.replace(one, metadata=dict(sorted(one.metadata.items())))
                    for one in chunks
                ],
                vectors,
            )


@breaks("test_scanned_vectors_are_float32_and_contiguous")
class ScansAtOnce(FileStore):
    def scan(self, *, batch_size=1000):
        return super().scan(batch_size=1000)


@breaks("test_scanned_vectors_are_float32_and_contiguous")
class ScansDoubles(FileStore):
    def scan(self, *, batch_size=1000):
        for chunks, vectors in super().scan(batch_size=batch_size):
            yield chunks, vectors.astype(np.float64)


@breaks("test_overwriting_is_idempotent")
class MergesMetadata(FileStore):
    def upsert(self, chunks, vectors):
        old = {one.id: one for page, _ in self.scan() for one in page}
        merged = [
            dataclasses.replace(one, metadata={**old[one.id].metadata, **one.metadata})
            if one.id in old
            else one
            for one in chunks
        ]
        super().upsert(merged, vectors)


@breaks("test_the_last_of_equal_ids_in_one_call_counts")
class FirstOfEqualIds(FileStore):
    def upsert(self, chunks, vectors):
        super().upsert(chunks, vectors)
        super().upsert(chunks[:1], vectors[:1])


@breaks("test_unknown_ids_are_ignored_when_deleting")
class KnowsItsIds(FileStore):
    def delete(self, ids):
        known = {one.id for page, _ in self.scan() for one in page}
        for name in ids:
            if name not in known:
                raise KeyError(name)
        super().delete(ids)


@breaks("test_what_was_deleted_is_gone_and_can_come_back")
class MarksWhatIsDeleted(FileStore):
    deleted = frozenset()

    def delete(self, ids):
        super().delete(ids)
        self.deleted |= set(ids)

    def scan(self, *, batch_size=1000):
        for chunks, vectors in super().scan(batch_size=batch_size):
            rows = [row for row, one in enumerate(chunks) if one.id not in self.deleted]
            yield [chunks[row] for row in rows], vectors[rows]


@breaks("test_reopened_it_is_the_same")
class KeepsTitlesInMemory(FileStore):
    def upsert(self, chunks, vectors):
        super().upsert(chunks, vectors)
        self.titles = {**getattr(self, "titles", {}), **{one.id: one.headings for one in chunks}}

    def scan(self, *, batch_size=1000):
        titles = getattr(self, "titles", {})
        for chunks, vectors in super().scan(batch_size=batch_size):
            yield (
                [dataclasses.replace(one, headings=titles.get(one.id, ())) for one in chunks],
                vectors,
            )


@breaks("test_a_second_process_sees_it_and_is_seen")
class OneFolderAProcess(FileStore):
    def open(self, *, space, dimension, directory):
        super().open(space=space, dimension=dimension, directory=directory / str(os.getpid()))


class Neighbouring(FileStore):
    def open(self, *, space, dimension, directory):
        super().open(space=space, dimension=dimension, directory=directory)
        self.neighbour = None
        if space.endswith("!"):
            self.neighbour = FileStore()
            self.neighbour.open(space=space[:-1], dimension=dimension, directory=directory)

    def close(self):
        super().close()
        if getattr(self, "neighbour", None):
            self.neighbour.close()


@breaks("test_spaces_do_not_see_each_other")
class IdsOfAllSpaces(Neighbouring):
    def upsert(self, chunks, vectors):
        super().upsert(chunks, vectors)
        if self.neighbour:
            known = {one.id for page, _ in self.neighbour.scan() for one in page}
            for one, vector in zip(chunks, vectors, strict=True):
                if one.id in known:
                    self.neighbour.upsert([one], vector[np.newaxis])


@breaks("test_dropping_a_space_leaves_the_others")
class DropsEverything(Neighbouring):
    def drop(self):
        super().drop()
        if self.neighbour:
            self.neighbour.drop()


declare(
    globals(),
    StoreContract,
    FileStore,
    MUTANTS,
    lambda part: {"make_store": lambda self: part},
)
