"""Stores that break one rule each."""

import dataclasses
import fnmatch
import os
import uuid

import numpy as np
from declaring import declare

from ragloom import StoreError
from ragloom.stores.filters import as_folder, matches
from ragloom.stores.records import cosines, nearest
from ragloom.testing import StoreContract
from ragloom.types import Condition
from ragloom_local.file import FileStore

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


def with_values(where, change):
    return [
        dataclasses.replace(one, value=change(one.value)) if isinstance(one.value, str) else one
        for one in where
    ]


class Filtering(FileStore):
    """Finds by looking at every chunk; a mutant says what passes."""

    def passes(self, chunk, condition):
        return matches(chunk.uri, chunk.metadata, [condition])

    def search(self, vector, *, limit, where=()):
        if not where:
            return super().search(vector, limit=limit)
        rows = [
            (chunk.id, row)
            for chunks, vectors in self.scan()
            for chunk, row in zip(chunks, vectors, strict=True)
            if self.together(self.passes(chunk, one) for one in where)
        ]
        matrix = np.array([row for _, row in rows], dtype=np.float32).reshape(len(rows), 4)
        return nearest([name for name, _ in rows], cosines(matrix, vector), limit=limit)

    together = staticmethod(all)


@breaks("test_has_every_method_of_the_protocol")
class ReadsBoth(FileStore):
    read = "both"


@breaks("test_fingerprint_names_the_place")
class FingerprintByChance(FileStore):
    def __init__(self):
        super().__init__()
        self.fingerprint = uuid.uuid4().hex


@breaks("test_an_empty_store_counts_scans_and_finds_nothing")
class FailsWhereNothingIs(FileStore):
    def search(self, vector, *, limit, where=()):
        if not self.count():
            raise IndexError("no vectors")
        return super().search(vector, limit=limit, where=where)


@breaks("test_limits")
class ZeroIsNoLimit(FileStore):
    def search(self, vector, *, limit, where=()):
        return super().search(vector, limit=limit if limit > 0 else 1000, where=where)


@breaks("test_scores_are_cosines_and_higher_is_better")
class ScoresFromZeroToOne(FileStore):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        return [(name, (1 + cosine) / 2) for name, cosine in found]


@breaks("test_scores_are_cosines_and_higher_is_better")
class ScoresOfNumpy(FileStore):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        return [(name, np.float32(cosine)) for name, cosine in found]


@breaks("test_ties_break_by_id_also_at_the_limit")
class TiesByWriting(FileStore):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=1000, where=where)
        return sorted(found, key=lambda row: (row[1], row[0]), reverse=True)[: max(limit, 0)]


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
class CachesSearches(FileStore):
    def upsert(self, chunks, vectors):
        self.cache = {}
        super().upsert(chunks, vectors)

    def search(self, vector, *, limit, where=()):
        if not hasattr(self, "cache"):
            return super().search(vector, limit=limit, where=where)
        key = (vector.tobytes(), limit, repr(where))
        if key not in self.cache:
            self.cache[key] = super().search(vector, limit=limit, where=where)
        return self.cache[key]


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


@breaks("test_filters_take_quotes_and_backslashes_literally")
class LosesBackslashes(FileStore):
    def search(self, vector, *, limit, where=()):
        where = with_values(where, lambda value: value.replace("\\", ""))
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_take_wildcards_literally")
class FiltersByLike(Filtering):
    def passes(self, chunk, condition):
        held = chunk.metadata.get(condition.field)
        if condition.operator == ":" and isinstance(held, str) and "%" in str(condition.value):
            return fnmatch.fnmatch(held, condition.value.replace("%", "*"))
        return super().passes(chunk, condition)


@breaks("test_filters_take_every_script")
class FiltersInAscii(FileStore):
    def search(self, vector, *, limit, where=()):
        where = with_values(where, lambda value: value.encode("ascii", "ignore").decode())
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_cannot_break_out_of_their_value")
class FiltersByText(Filtering):
    def passes(self, chunk, condition):
        return " OR " in str(condition.value) or super().passes(chunk, condition)


@breaks("test_filters_compare_as_the_metadata_says")
class GuessesNumbers(FileStore):
    def search(self, vector, *, limit, where=()):
        where = [
            dataclasses.replace(one, value=int(one.value))
            if isinstance(one.value, str) and one.value.isdigit() and one.operator == "="
            else one
            for one in where
        ]
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_with_typed_values_are_strict")
class ValuesAsText(FileStore):
    def search(self, vector, *, limit, where=()):
        where = [Condition(field=w.field, operator=w.operator, value=str(w.value)) for w in where]
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_look_into_lists")
class FirstOfAList(Filtering):
    def passes(self, chunk, condition):
        held = chunk.metadata.get(condition.field)
        if condition.field == "tags" and isinstance(held, list):
            return matches(chunk.uri, {"tags": held[:1]}, [condition])
        return super().passes(chunk, condition)


@breaks("test_filters_look_up_dotted_fields")
class FlatFields(Filtering):
    def passes(self, chunk, condition):
        if "." in condition.field and condition.field not in chunk.metadata:
            return condition.operator == "!="
        return super().passes(chunk, condition)


@breaks("test_filters_on_missing_fields")
class UnknownColumns(Filtering):
    def passes(self, chunk, condition):
        return condition.field != "missing" and super().passes(chunk, condition)


@breaks("test_filters_on_paths")
class TakesDotsLiterally(Filtering):
    def passes(self, chunk, condition):
        if condition.operator == "under" and str(condition.value).startswith("./"):
            return chunk.uri.startswith(condition.value)
        return super().passes(chunk, condition)


@breaks("test_a_folder_does_not_match_its_neighbour")
class FoldersByPrefix(Filtering):
    def passes(self, chunk, condition):
        if condition.field == "path" and condition.operator == "under":
            return chunk.uri.startswith(as_folder(str(condition.value)))
        return super().passes(chunk, condition)


@breaks("test_every_condition_must_pass")
class AnyConditionPasses(Filtering):
    together = staticmethod(any)


@breaks("test_limits_count_what_passes_the_filter")
class CutsBeforeFiltering(FileStore):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        if self.count() > 100:
            return found
        near = {name for name, _ in super().search(vector, limit=limit)}
        return [row for row in found if row[0] in near]


@breaks("test_a_filter_that_almost_nothing_passes_is_answered_in_full")
class HundredCandidates(FileStore):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        if not where:
            return found
        near = {name for name, _ in super().search(vector, limit=100)}
        return [row for row in found if row[0] in near]


declare(
    globals(),
    StoreContract,
    FileStore,
    MUTANTS,
    lambda part: {"make_store": lambda self: part},
)
