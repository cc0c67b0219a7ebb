"""The table of lessons, in SQLite or PostgreSQL: the record of what was learnt and how it has done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from threading import Lock
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from ragloom import Progress
from ragloom.stores import check_format, format_stamp
from ragloom_knowledge.bounded import Budget
from ragloom_knowledge.engine import REFUSED, TIMEOUT, failed, make_engine, named, place_of
from ragloom_knowledge.files import reported
from ragloom_knowledge.sameness import same_advice
from ragloom_knowledge.schema import FORMAT, checkpoints, learnt_again, lessons, metadata, written
from ragloom_knowledge.signature import stable_id
from ragloom_knowledge.types import (
    Captured,
    CheckpointKind,
    Kind,
    Lesson,
    LessonError,
    RedactedLesson,
)

_AT_ONCE: Final = 500  # ids in one statement; SQLite takes 32,766 variables, older ones 999
_ATTEMPTS: Final = 5
_LATEST: Final = 2000  # lessons among which one of the same problem is looked for
_CHAIN: Final = 20  # lessons that superseded each other
_MAKING_TABLES: Final = 0x7261676C6F6F6D  # a lock's number, as no other program has it
_COLUMN: Final = {"kind": "entry_type", "project": "project_id", "captured_at": "timestamp"}
_ALSO_IN: Final = "also_in"
_LINE: Final = "\n"  # names have none
_SELECT: Final = sa.select(
    lessons,
    sa.select(sa.func.aggregate_strings(learnt_again.c.project_id, _LINE))
    .where(learnt_again.c.lesson_id == lessons.c.id)
    .scalar_subquery()
    .label(_ALSO_IN),
)


class LessonTable:
    """A connection pool and the statements. Safe for threads and for many processes at once.

    Args:
        url: As SQLAlchemy has it: ``sqlite:///…`` or ``postgresql+pg8000://…``.
        timeout: Seconds within which a server has to be reached, and to say something whenever it is
            to answer; a file that is locked is waited for as long.
        make_folder: Makes the folder of the file, before it is opened for the first time.

    Raises:
        ConfigError: The URL cannot be read, or is for another database.
        LessonError: No lesson has the id (of every method that takes one).
        MissingDependencyError: The driver is not installed.
        StoreError: The database does not answer (of every method, too), or a newer ragloom made it.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = TIMEOUT,
        make_folder: Callable[[], None] | None = None,
    ) -> None:
        self._make_folder = make_folder
        self._made = make_engine(url, timeout)
        self._ready = False
        self._preparing = Lock()

    @property
    def _engine(self) -> sa.Engine:
        """The connections, once the tables are there: the database is not met before it is needed."""
        with self._preparing:
            if not self._ready:
                if self._make_folder is not None:
                    self._make_folder()
                with named(self._made), self._made.begin() as connection:
                    self._prepare(connection)
                self._ready = True
        return self._made

    def _prepare(self, connection: sa.Connection) -> None:
        """Make what is missing of the tables, unless a newer ragloom made them."""
        if self._made.dialect.name == "postgresql":  # where all but one would fail
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING_TABLES)))
        row = None
        if sa.inspect(connection).has_table(written.name):
            row = connection.execute(sa.select(written)).first()
        if row is not None:
            place = f"the database of lessons, {place_of(self._made)}"
            check_format(row.format, FORMAT, place=place, release=row.release)
        metadata.create_all(connection)
        if row is None:
            connection.execute(sa.insert(written).values(format_stamp(FORMAT)))

    def check(self, within: float | None = None) -> None:
        """Make sure that the database answers, within so many seconds if any are given."""
        if within is not None:
            Budget(within, self.place).run(self.check)
            return
        with named(self._engine), self._engine.connect() as connection:
            connection.execute(sa.select(sa.literal(1)))

    @property
    def place(self) -> str:
        """The URL, without a password."""
        return place_of(self._made)

    def close(self) -> None:
        """Close every connection."""
        self._made.dispose()

    def capture(self, given: Sequence[Lesson], progress: Progress | None = None) -> list[Captured]:
        """Keep lessons, or count those that are known, in one transaction; the known wording stays.

        A lesson is known where one of the same kind and signature gives the same advice. Where the advice
        differs, both are kept: whoever queries them weighs conflicting patterns.
        """
        # All lock in one order: two that wait for each other would never end.
        order = sorted(range(len(given)), key=lambda place: given[place].id)
        for attempt in range(_ATTEMPTS):
            captured: dict[int, Captured] = {}
            try:
                with self._engine.begin() as connection:
                    for place in reported(order, "staging", progress):
                        kept = _merge_or_insert(connection, given[place])
                        captured[place] = replace(kept, redacted=_redacted(given[place]))
            except IntegrityError as error:  # another process has just captured the same
                if attempt == _ATTEMPTS - 1 or "unique" not in str(error.orig).lower():
                    raise failed(self._engine, error) from error
            except REFUSED as error:
                raise failed(self._engine, error) from error
            else:
                return [captured[place] for place in range(len(given))]
        raise AssertionError("unreachable")

    def restore(self, given: Sequence[Lesson]) -> int:
        """Write lessons as they are, in one transaction, replacing those with the same id; how many."""
        with named(self._engine), self._engine.begin() as connection:
            _delete(connection, [lesson.id for lesson in given])
            if given:
                connection.execute(sa.insert(lessons), [_row(lesson) for lesson in given])
            again = [
                {"lesson_id": lesson.id, "project_id": project}
                for lesson in given
                for project in lesson.also_in
            ]
            if again:
                connection.execute(sa.insert(learnt_again), again)
        return len(given)

    def get(self, lesson_id: str) -> Lesson:
        """One lesson; a LessonError where there is none of that id."""
        found = self.by_ids([lesson_id])
        if lesson_id not in found:
            raise _unknown(lesson_id)
        return found[lesson_id]

    def by_ids(self, ids: Sequence[str]) -> Mapping[str, Lesson]:
        """Those of the lessons that exist."""
        found: dict[str, Lesson] = {}
        with named(self._engine), self._engine.connect() as connection:
            for batch in _batches(ids):
                rows = connection.execute(_SELECT.where(lessons.c.id.in_(batch)))
                found.update((row["id"], _lesson(row)) for row in rows.mappings())
        return found

    def given_instead(self, ids: Sequence[str]) -> Mapping[str, Lesson]:
        """By these ids, those of the lessons that exist, or that have superseded them and exist."""
        found = dict(self.by_ids(ids))
        later = {name: one.superseded_by for name, one in found.items() if one.superseded_by}
        for _ in range(_CHAIN):
            if not later:
                break
            instead = self.by_ids(sorted(set(later.values())))
            found |= {name: instead[by] for name, by in later.items() if by in instead}
            later = {
                name: after
                for name, by in later.items()
                if by in instead and (after := instead[by].superseded_by)
            }
        return found

    def supersede(self, lesson_id: str, by: str | None) -> Lesson:
        """Have one lesson given instead of another; a LessonError where it was superseded by that one."""
        if lesson_id == by:
            raise LessonError(f"{lesson_id}: a lesson does not supersede itself")
        later = self.get(by).superseded_by if by else None
        for _ in range(_CHAIN):
            if later == lesson_id:
                raise LessonError(f"{by}: was superseded by {lesson_id}")
            if later is None:
                break
            found = self.by_ids([later])
            later = found[later].superseded_by if later in found else None
        return self._change(lesson_id, superseded_by=by)

    def select(
        self,
        *,
        project: str | None = None,
        staged: bool | None = None,
        verified: bool | None = None,
    ) -> list[Lesson]:
        """Lessons that pass these filters, in the order of their ids."""
        query = _SELECT
        if project is not None:
            again = sa.select(learnt_again.c.lesson_id).where(learnt_again.c.project_id == project)
            query = query.where((lessons.c.project_id == project) | lessons.c.id.in_(again))
        if staged is not None:
            query = query.where(lessons.c.embedded == sa.literal(not staged))
        if verified is not None:
            query = query.where(lessons.c.success_verified == sa.literal(verified))
        with named(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return sorted((_lesson(row) for row in rows), key=lambda lesson: lesson.id)

    def latest(self, kind: Kind, technology: str | None) -> list[Lesson]:
        """The latest lessons of a kind that have this technology or none, two thousand of them."""
        query = _SELECT.where(lessons.c.entry_type == kind)
        if technology is not None:
            named_so = sa.func.lower(lessons.c.technology) == technology.lower()
            query = query.where(named_so | lessons.c.technology.is_(None))
        query = query.order_by(lessons.c.timestamp.desc(), lessons.c.id).limit(_LATEST)
        with named(self._engine), self._engine.connect() as connection:
            return [_lesson(row) for row in connection.execute(query).mappings()]

    def verify(self, lesson_id: str) -> Lesson:
        """Note that the solution of a lesson was seen to work; one that is verified stays as it is."""
        lesson = self.get(lesson_id)
        if lesson.success_verified:
            return lesson
        if not lesson.solution:
            raise LessonError(f"{lesson_id}: has no solution that could be verified")
        counts = {"uses": lessons.c.uses + 1, "successes": lessons.c.successes + 1}
        return self._change(lesson_id, success_verified=True, **counts)

    def ids(self) -> Mapping[str, bool]:
        """Of all lessons, and whether each is in the index."""
        query = sa.select(lessons.c.id, lessons.c.embedded)
        with named(self._engine), self._engine.connect() as connection:
            return {row.id: row.embedded for row in connection.execute(query)}

    def mark_processed(
        self, ids: Sequence[str], *, project: str, kind: CheckpointKind, now: datetime
    ) -> None:
        """Note, in one transaction, that a checkpoint brought these into the index."""
        with named(self._engine), self._engine.begin() as connection:
            for batch in _batches(ids):
                connection.execute(
                    sa.update(lessons)
                    .where(lessons.c.id.in_(batch), lessons.c.embedded == sa.false())
                    .values(embedded=True, embedded_at=now)
                )
            values = {"project_id": project, "checkpoint_type": kind, "lessons": len(ids)}
            connection.execute(sa.insert(checkpoints).values(**values, timestamp=now))

    def count_outcome(self, lesson_id: str, *, success: bool) -> Lesson:
        """Count one use, and whether it worked."""
        return self._change(
            lesson_id,
            uses=lessons.c.uses + 1,
            successes=lessons.c.successes + (1 if success else 0),
        )

    def pin(self, lesson_id: str, *, pinned: bool) -> Lesson:
        """Keep a lesson whatever its age, or no longer."""
        return self._change(lesson_id, pinned=pinned)

    def expired(self, before: datetime) -> list[str]:
        """Ids of lessons that are not pinned and were embedded, or else captured, earlier; sorted."""
        with named(self._engine), self._engine.connect() as connection:
            return sorted(connection.execute(_expired(before)).scalars())

    def remove_expired(self, before: datetime) -> list[str]:
        """Remove these, whatever is pinned or captured meanwhile; their ids, sorted."""
        with named(self._engine), self._engine.begin() as connection:
            ids = sorted(connection.execute(_expired(before).with_for_update()).scalars())
            _delete(connection, ids)
        return ids

    def delete(self, ids: Sequence[str]) -> None:
        """Remove lessons, in one transaction."""
        with named(self._engine), self._engine.begin() as connection:
            _delete(connection, ids)

    def _change(self, lesson_id: str, **values: object) -> Lesson:
        with named(self._engine), self._engine.begin() as connection:
            change = sa.update(lessons).where(lessons.c.id == lesson_id).values(**values)
            if connection.execute(change).rowcount == 0:
                raise _unknown(lesson_id)
        return self.get(lesson_id)


def _redacted(lesson: Lesson) -> tuple[str, ...]:
    return lesson.redacted if isinstance(lesson, RedactedLesson) else ()


def _merge_or_insert(connection: sa.Connection, lesson: Lesson) -> Captured:
    # Locked in the order in which they are pruned: what is counted here is not removed meanwhile.
    query = (
        _SELECT.where(lessons.c.entry_type == lesson.kind, lessons.c.signature == lesson.signature)
        .order_by(lessons.c.id)
        .with_for_update()
    )
    known = sorted(
        (_lesson(row) for row in connection.execute(query).mappings()), key=lambda one: one.variant
    )
    for one in known:
        # Without a solution there is no other advice to keep apart.
        if not lesson.solution or not one.solution or same_advice(one.solution, lesson.solution):
            # A staged lesson is as old as its last capture, or the next checkpoint might prune it.
            values: dict[str, object] = {} if one.embedded else {"timestamp": lesson.captured_at}
            if lesson.success_verified:
                values |= {"successes": lessons.c.successes + 1, "uses": lessons.c.uses + 1}
                if not one.success_verified:  # what is verified now is this wording of it
                    values |= {"success_verified": True, "solution_steps": lesson.solution_steps}
            if values:
                change = sa.update(lessons).where(lessons.c.id == one.id).values(**values)
                connection.execute(change)
            if lesson.project not in (one.project, *one.also_in):
                again = {"lesson_id": one.id, "project_id": lesson.project}
                connection.execute(sa.insert(learnt_again).values(**again))
            return Captured(id=one.id, merged=True)
    variant = known[-1].variant + 1 if known else 0
    lesson_id = stable_id(lesson.kind, lesson.signature, variant)
    connection.execute(
        sa.insert(lessons).values(_row(replace(lesson, id=lesson_id, variant=variant)))
    )
    return Captured(id=lesson_id, merged=False)


def _expired(before: datetime) -> sa.Select[str]:
    age = sa.func.coalesce(lessons.c.embedded_at, lessons.c.timestamp)
    chosen = sa.select(lessons.c.id).where(age < before, lessons.c.pinned == sa.false())
    return chosen.order_by(lessons.c.id)


def _delete(connection: sa.Connection, ids: Sequence[str]) -> None:
    for batch in _batches(ids):
        connection.execute(sa.delete(lessons).where(lessons.c.id.in_(batch)))
        connection.execute(sa.delete(learnt_again).where(learnt_again.c.lesson_id.in_(batch)))


def _row(lesson: Lesson) -> dict[str, object]:
    return {
        _COLUMN.get(known.name, known.name): getattr(lesson, known.name)
        for known in fields(Lesson)
        if known.name != _ALSO_IN
    }


def _lesson(row: sa.RowMapping) -> Lesson:
    values = {known.name: row[_COLUMN.get(known.name, known.name)] for known in fields(Lesson)}
    values[_ALSO_IN] = tuple(sorted(row[_ALSO_IN].split(_LINE))) if row[_ALSO_IN] else ()
    return Lesson(**values)  # as the columns are


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _unknown(lesson_id: str) -> LessonError:
    return LessonError(f"unknown lesson {lesson_id!r}: 'ragloom knowledge list' shows all")
