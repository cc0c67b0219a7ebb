"""The lessons of a workspace: capture, checkpoint, query, outcome, context, retention."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from ragloom import (
    ConfigError,
    MissingDependencyError,
    PluginHost,
    Progress,
    RagloomError,
    Space,
    Workspace,
)
from ragloom.text import counter
from ragloom_knowledge.asynchronous import Asynchronous
from ragloom_knowledge.block import AT_MOST, fitting, pattern_block
from ragloom_knowledge.bounded import Budget
from ragloom_knowledge.captures import Captures
from ragloom_knowledge.capturing import now, storable
from ragloom_knowledge.exported import read_export, write_export
from ragloom_knowledge.index import LessonIndex, named_files
from ragloom_knowledge.matching import TASK_PREFIX
from ragloom_knowledge.patterns import most_fitting
from ragloom_knowledge.settings import KnowledgeSettings
from ragloom_knowledge.signature import uncoloured
from ragloom_knowledge.space import NAME
from ragloom_knowledge.types import (
    CHECKPOINTS,
    Checkpoint,
    CheckpointKind,
    Lesson,
    LessonError,
    Patterns,
    Pruned,
    Task,
    TaskContext,
)

if TYPE_CHECKING:
    from ragloom_knowledge.database import LessonTable

_LOG: Final = logging.getLogger("ragloom")
_ENTERING: Final = 5  # lessons of a failure that are ranked, as Decision 68 has it


class KnowledgeBase(Captures, Asynchronous):
    """The lessons of a workspace, for its orchestrator alone: agents get text, never this object.

    A context manager; leaving it closes the database and frees the model's memory. Every method that
    takes a lesson's id raises a LessonError for an unknown one.

    >>> with KnowledgeBase.open() as knowledge:
    ...     text = knowledge.build_context_for_task(Task(description="Add a login form"))
    """

    settings: KnowledgeSettings

    def __init__(
        self, workspace: Workspace, settings: KnowledgeSettings, *, home: str = NAME
    ) -> None:
        self.settings = settings
        self._index = LessonIndex(workspace, home)
        default = f"sqlite:///{workspace.state / home / 'lessons.db'}"
        folder = None if settings.database else self._index.make_folder
        self.table = _table(settings.database or default, folder)

    @property
    def space(self) -> Space:
        """The index of lessons."""
        return self._index.space

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
    ) -> Self:
        """Open the lessons of the workspace at ``path``; see :meth:`ragloom.Workspace.open`.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
            MissingDependencyError: The database's driver is not installed.
        """
        return cls.of(Workspace.open(path, config=config, host=host))

    @classmethod
    def of(cls, workspace: Workspace) -> Self:
        """The lessons of an open workspace; raises as :meth:`open` does."""
        return cls(workspace, workspace.section("knowledge", KnowledgeSettings))

    def __enter__(self) -> Self:
        """The knowledge base itself."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the database, and free the model's memory."""
        self.table.close()
        self.space.close()

    def process_checkpoint(
        self, project: str, kind: CheckpointKind = "manual", *, progress: Progress | None = None
    ) -> Checkpoint:
        """Bring what a project has learnt since its last checkpoint into the index, each lesson once.

        However often it is run, and wherever it was killed: a lesson's file has the name of its id, the
        index holds what the files say, and only then is the lesson marked.

        Args:
            project: Whose lessons, those included that another project had learnt before.
            kind: Why now: one of :data:`~ragloom_knowledge.types.CHECKPOINTS`.
            progress: Called with a stage, how much of it is done, and of how much.

        Raises:
            ConfigError: There is no such kind.
            LessonError: The project has no name, or one that is too long.
            RagloomError: Database, model or index failed; the next run resumes.
        """
        project = _name("project", project)
        if not project:
            raise LessonError("project: missing; a checkpoint needs it")
        if kind not in CHECKPOINTS:
            available = ", ".join(CHECKPOINTS)
            raise ConfigError(f"unknown checkpoint kind {kind!r} (available: {available})")
        pruned = self.table.remove_expired(self._earliest(None))
        staged = self.table.select(project=project, staged=True, verified=True)
        embedded, failed = self._bring_up_to_date(staged, progress)
        done = [lesson.id for lesson in staged if lesson.id not in failed]
        self.table.mark_processed(done, project=project, kind=kind, now=now())
        return Checkpoint(
            project=project,
            kind=kind,
            processed=len(done),
            embedded=embedded,
            pruned=len(pruned),
            failed=tuple(lesson.id for lesson in staged if lesson.id in failed),
        )

    def query_for_task(
        self,
        description: str,
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
        max_results: int = 5,
    ) -> Patterns:
        """What is known for a task, best first; nothing, and why, where nothing is relevant enough.

        Relevance decides which lessons enter. Among those, the lower bound of the share of successes
        orders, then human judgement before verified fixes; age never does.

        Args:
            description: In words.
            agent_type: Only lessons of this agent, unless None.
            task_type: Likewise.
            technology: Likewise.
            max_results: Maximum number of patterns.

        Raises:
            RagloomError: Database, model or index failed.
        """
        labels = {"agent_type": agent_type, "task_type": task_type, "technology": technology}
        query = f"{TASK_PREFIX}{description}" if description.strip() else ""
        return self._query(query, labels, self.settings.task_relevance, max_results)

    def query_for_failure(
        self,
        description: str,
        error: str = "",
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
    ) -> Patterns:
        """At most three verified fixes of the like of a failure; see :meth:`query_for_task`."""
        labels = {
            "kind": "failure_solution",
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
        }
        query = "\n".join(text for text in (description, error) if text)
        found = self._query(
            query, labels, self.settings.failure_relevance, _ENTERING, error or description
        )
        chosen = most_fitting(found, AT_MOST)
        return Patterns(chosen, reason=found.reason, avoid=found.avoid)

    def report_outcome(self, pattern_id: str, success: bool) -> Lesson:  # noqa: FBT001 - the contract
        """Count what came of a pattern that was handed out."""
        return self.table.count_outcome(pattern_id, success=success)

    def build_context_for_task(self, task: Task) -> str:
        """A task's description and, where something is known, the block of up to three patterns.

        It never fails: without database, model or index, the description comes back as it is, and the
        reason is logged.
        """
        try:
            return self._context(task, None).text
        except RagloomError as error:
            _LOG.warning("no lessons: %s", error)
            return task.description

    def context_for_task(self, task: Task, *, max_tokens: int | None = None) -> TaskContext:
        """The same, with the patterns, and the reason where there are none.

        Args:
            task: What an agent is about to be given.
            max_tokens: Maximum number of tokens of the block; the settings' own by default.
        """
        try:
            return self._context(task, max_tokens)
        except RagloomError as error:
            return TaskContext(text=task.description, reason=str(error))

    def _context(self, task: Task, max_tokens: int | None) -> TaskContext:
        labels = task.agent_type, task.task_type, task.technology
        patterns = self.query_for_task(task.description, *labels)
        if not patterns and not patterns.avoid:
            return TaskContext(text=task.description, reason=patterns.reason)
        limit = self.settings.max_tokens if max_tokens is None else max_tokens
        tokens = counter()
        shown, avoid = fitting(patterns, tokens, limit, patterns.avoid)
        if not shown and not avoid:
            reason = f"no pattern fits in {limit} tokens"
            return TaskContext(text=task.description, reason=reason)
        block = pattern_block(shown, avoid)
        text = f"{task.description}\n\n{block}"
        return TaskContext(text=text, patterns=shown, tokens=tokens.count(block), avoid=avoid)

    def lesson(self, lesson_id: str) -> Lesson:
        """One lesson by its id."""
        return self.table.get(lesson_id)

    def lessons(self, *, project: str | None = None) -> list[Lesson]:
        """All lessons, or those of one project, in the order of their ids."""
        return self.table.select(project=project if project is None else _name("project", project))

    def supersede(self, lesson_id: str, by: str | None) -> Lesson:
        """Give one lesson instead of another from now on; what finds the old one finds the new one.

        With None, it is given again.

        Raises:
            LessonError: An id is unknown, or the one was superseded by the other.
        """
        return self.table.supersede(lesson_id, by)

    def verify(self, lesson_id: str) -> Lesson:
        """Note that somebody saw the solution of a lesson work; the next checkpoint indexes it.

        Raises:
            LessonError: It has no solution.
        """
        return self.table.verify(lesson_id)

    def pin(self, lesson_id: str, *, pinned: bool = True) -> Lesson:
        """Keep a lesson whatever its age, or no longer."""
        return self.table.pin(lesson_id, pinned=pinned)

    def remove(self, lesson_id: str, *, progress: Progress | None = None) -> Lesson:
        """Remove a lesson, pinned or not, from table and index.

        Raises:
            RagloomError: The index failed; the next checkpoint resumes.
        """
        lesson = self.table.get(lesson_id)
        self.table.delete([lesson_id])
        if self._remove_unknown(self._index.ids()):
            self._index.update(progress)
        return lesson

    def prune(
        self,
        older_than: timedelta | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Pruned:
        """Remove every expired lesson that is not pinned, and from the index whatever the table has not.

        Args:
            older_than: Age, from when it was embedded or else captured; the settings' own by default.
            dry_run: Only say which.
            progress: As for :meth:`process_checkpoint`.

        Raises:
            RagloomError: Database or index failed; the next run resumes.
        """
        earliest = self._earliest(older_than)
        if dry_run:
            return Pruned(ids=tuple(self.table.expired(earliest)), dry_run=True)
        ids = self.table.remove_expired(earliest)
        if self._remove_unknown(self._index.ids()):
            self._index.update(progress)
        return Pruned(ids=tuple(ids), dry_run=False)

    def export_lessons(self, folder: Path, *, progress: Progress | None = None) -> int:
        """Write every lesson, with its counts, as a Markdown file with front matter; gives how many.

        An earlier export in the folder is replaced as a whole.

        Raises:
            LessonError: The folder holds something else, or a file cannot be written.
        """
        exported = self.table.select()
        with named_files():
            write_export(folder, exported, progress)
        return len(exported)

    def import_lessons(self, folder: Path, *, progress: Progress | None = None) -> int:
        """Import every lesson in a folder as it was exported, counts and all; gives how many.

        A lesson with a known id is replaced. What was in the index there is in the index here.

        Raises:
            LessonError: A file is not an exported lesson; then nothing is imported.
        """
        with named_files():
            given = read_export(folder, progress)
        count = self.table.restore(given)
        self._index.remove(lesson.id for lesson in given if not lesson.embedded)
        self._bring_up_to_date([], progress, {lesson.id for lesson in given if lesson.embedded})
        return count

    def _query(
        self,
        text: str,
        labels: Mapping[str, str | None],
        relevance: float,
        entering: int,
        error: str = "",
    ) -> Patterns:
        named = {name: label and _name(name, label) for name, label in labels.items()}

        budget = Budget(self.settings.timeout, self.table.place)
        budget.run(self.table.check)  # before a model is loaded

        def known(ids: Sequence[str]) -> Mapping[str, Lesson]:
            found = budget.run(lambda: self.table.given_instead(ids))
            return {name: lesson for name, lesson in found.items() if lesson.embedded}

        return self._index.search(uncoloured(text), named, relevance, entering, known, error)

    def _bring_up_to_date(
        self,
        staged: Sequence[Lesson],
        progress: Progress | None,
        renewed: AbstractSet[str] = frozenset(),
    ) -> tuple[int, set[str]]:
        """Write the files of these lessons and of those that lack one, remove others, update the index."""
        there = self._index.ids()
        there -= self._remove_unknown(there)
        embedded = {name for name, in_index in self.table.ids().items() if in_index}
        wanted = sorted((embedded & renewed) | (embedded - there))
        self._index.write([*staged, *self.table.by_ids(wanted).values()], progress)
        return self._index.update(progress)

    def _remove_unknown(self, there: AbstractSet[str]) -> AbstractSet[str]:
        """Remove those of the files that the table does not have."""
        gone = there - self.table.ids().keys()
        self._index.remove(gone)
        return gone

    def _earliest(self, age: timedelta | None) -> datetime:
        """From when on lessons of that age or less are; no age reaches beyond what a date can be."""
        if age is None:
            age = timedelta(days=min(self.settings.retention_days, timedelta.max.days))
        first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
        moment = datetime.now(UTC)
        return (moment - max(min(age, moment - first), moment - last)).replace(tzinfo=None)


def _name(key: str, text: str) -> str:
    """As captured lessons have it."""
    return storable(key, text) or ""


def _table(url: str, make_folder: Callable[[], None] | None) -> LessonTable:
    try:
        from ragloom_knowledge.database import LessonTable
    except ModuleNotFoundError as error:
        if error.name != "sqlalchemy":
            raise
        raise MissingDependencyError("sqlalchemy", "ragloom[knowledge]", "lessons") from error
    return LessonTable(url, make_folder=make_folder)
