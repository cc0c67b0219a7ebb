"""Stores that break one rule of searching each."""

import dataclasses
import fnmatch
import json
from unicodedata import normalize

import numpy as np
from declaring import declare

from ragloom.stores import as_folder, matches, search_exactly
from ragloom.testing import SearchableStoreContract
from ragloom_local.file import FileStore

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


class Searching(FileStore):
    def open(self, *, space, dimension, directory):
        super().open(space=space, dimension=dimension, directory=directory)
        self.kept = directory / f"{space.encode().hex()}.records.json"

    def search(self, vector, *, limit, where=()):
        return search_exactly(self.scan(), vector, limit=limit, where=where)

    def put_records(self, records):
        known = self.records() | records
        self.kept.write_text(json.dumps({name: text for name, text in known.items() if text}))

    def get_records(self, names):
        return {name: text for name, text in self.records().items() if name in names}

    def records(self):
        return json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def drop(self):
        super().drop()
        self.kept.unlink(missing_ok=True)


@breaks("test_records_are_kept_beside_the_chunks")
class KeepsRecordsThatAreDropped(Searching):
    def drop(self):
        FileStore.drop(self)


@breaks("test_records_are_kept_beside_the_chunks")
class KeepsRecordsInMemory(Searching):
    def open(self, **where):
        super().open(**where)
        self.memory = {}

    def put_records(self, records):
        self.memory |= records

    def records(self):
        return {name: text for name, text in self.memory.items() if text}


@breaks("test_has_search")
class LearnsToSearch(Searching):
    """Has no search until it is opened."""

    search = None

    def open(self, **where):
        super().open(**where)
        self.search = lambda vector, **asked: search_exactly(self.scan(), vector, **asked)


def with_values(where, change):
    return [
        dataclasses.replace(one, value=change(one.value)) if isinstance(one.value, str) else one
        for one in where
    ]


class Filtering(Searching):
    """Finds by looking at every chunk; a mutant says what passes."""

    def passes(self, chunk, condition):
        return matches(chunk.uri, chunk.metadata, [condition])

    def search(self, vector, *, limit, where=()):
        passing = {
            one.id
            for chunks, _ in self.scan()
            for one in chunks
            if not where or self.together(self.passes(one, each) for each in where)
        }
        found = super().search(vector, limit=self.count())
        return [row for row in found if row[0] in passing][: max(limit, 0)]

    together = staticmethod(all)


@breaks("test_an_empty_store_finds_nothing")
class FailsWhereNothingIs(Searching):
    def search(self, vector, *, limit, where=()):
        if not self.count():
            raise IndexError("no vectors")
        return super().search(vector, limit=limit, where=where)


@breaks("test_limits")
class ZeroIsNoLimit(Searching):
    def search(self, vector, *, limit, where=()):
        return super().search(vector, limit=limit if limit > 0 else 1000, where=where)


@breaks("test_scores_are_cosines_and_higher_is_better")
class ScoresFromZeroToOne(Searching):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        return [(name, (1 + cosine) / 2) for name, cosine in found]


@breaks("test_scores_are_cosines_and_higher_is_better")
class ScoresOfNumpy(Searching):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        return [(name, np.float32(cosine)) for name, cosine in found]


@breaks("test_ties_break_by_id_also_at_the_limit")
class TiesByWriting(Searching):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=1000, where=where)
        return sorted(found, key=lambda row: (row[1], row[0]), reverse=True)[: max(limit, 0)]


@breaks("test_searches_follow_every_write")
class CachesSearches(Searching):
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


@breaks("test_filters_take_quotes_and_backslashes_literally")
class LosesBackslashes(Searching):
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
class FiltersInAscii(Searching):
    def search(self, vector, *, limit, where=()):
        where = with_values(where, lambda value: value.encode("ascii", "ignore").decode())
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_cannot_break_out_of_their_value")
class FiltersByText(Filtering):
    def passes(self, chunk, condition):
        return " OR " in str(condition.value) or super().passes(chunk, condition)


@breaks("test_filters_compare_as_the_metadata_says")
class GuessesNumbers(Searching):
    def search(self, vector, *, limit, where=()):
        where = [
            dataclasses.replace(one, value=int(one.value))
            if isinstance(one.value, str) and one.value.isdigit() and one.operator == "="
            else one
            for one in where
        ]
        return super().search(vector, limit=limit, where=where)


@breaks("test_filters_with_typed_values_are_strict")
class ValuesAsText(Searching):
    def search(self, vector, *, limit, where=()):
        where = [
            w if isinstance(w.value, tuple) else dataclasses.replace(w, value=str(w.value))
            for w in where
        ]
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


@breaks("test_filters_join_conditions")
class IgnoresUnequalBesideOr(Filtering):
    def passes(self, chunk, condition):
        if condition.operator == "or":
            parts = [one for one in condition.value if one.operator != "!="]
            return any(self.passes(chunk, one) for one in parts)
        return super().passes(chunk, condition)


@breaks("test_filters_pass_the_table")
class TakesLettersAsTheyAreWritten(Filtering):
    def passes(self, chunk, condition):
        value = condition.value
        if isinstance(value, str) and normalize("NFC", value) != value:
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
        alone = isinstance(condition.value, str)
        if alone and condition.field == "path" and condition.operator == "under":
            return chunk.uri.startswith(as_folder(condition.value))
        return super().passes(chunk, condition)


@breaks("test_every_condition_must_pass")
class AnyConditionPasses(Filtering):
    together = staticmethod(any)


@breaks("test_limits_count_what_passes_the_filter")
class CutsBeforeFiltering(Searching):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        if self.count() > 100:
            return found
        near = {name for name, _ in super().search(vector, limit=limit)}
        return [row for row in found if row[0] in near]


@breaks("test_a_filter_that_almost_nothing_passes_is_answered_in_full")
class HundredCandidates(Searching):
    def search(self, vector, *, limit, where=()):
        found = super().search(vector, limit=limit, where=where)
        if not where:
            return found
        near = {name for name, _ in super().search(vector, limit=100)}
        return [row for row in found if row[0] in near]


@breaks("test_a_search_does_not_change_what_it_is_given")
class NormalisesTheQuery(Searching):
    def search(self, vector, *, limit, where=()):
        if vector.flags.writeable:
            vector /= np.linalg.norm(vector)
        return super().search(vector, limit=limit, where=where)


declare(
    globals(),
    SearchableStoreContract,
    Searching,
    MUTANTS,
    lambda part: {"make_store": lambda self: part},
)
