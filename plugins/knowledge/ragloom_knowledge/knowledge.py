"""What an orchestrator holds: capture, checkpoint, query, outcome, context, retention."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ragloom import Condition, ConfigError, NotIndexedError, PluginHost, RagloomError, Workspace
from ragloom.counting import counter
from ragloom.indexing import Progress
from ragloom.protocols import TokenCounter
from ragloom.workspace import Space
from ragloom_knowledge.block import AT_MOST, pattern_block
from ragloom_knowledge.capturing import new_lesson, now
from ragloom_knowledge.database import LessonTable
from ragloom_knowledge.files import (
    exported_text,
    file_name,
    indexed_text,
    parse_exported,
    write_atomically,
)
from ragloom_knowledge.settings import KnowledgeSettings, read_settings
from ragloom_knowledge.space import KnowledgeWorkspace, knowledge_space
from ragloom_knowledge.types import (
    CHECKPOINTS,
    Captured,
    Checkpoint,
    CheckpointKind,
    Kind,
    Lesson,
    LessonError,
    Pattern,
    Pruned,
    Task,
    TaskContext,
    wilson_lower_bound,
)

__all__ = ["KnowledgeBase"]

_LOG: Final = logging.getLogger("ragloom")
_ENTERING: Final = 5  # lessons of a failure that are ranked, as Decision 68 has it
_CHUNKS: Final = 4  # of one lesson, that may stand before another one's
_KIND_ORDER: Final[dict[Kind, int]] = {
    "gate_rejection": 0,
    "gate_approval": 0,
    "failure_solution": 1,
}


class KnowledgeBase:
    """The lessons of a workspace, for its orchestrator alone: agents get text, never this object.

    A context manager; leaving it closes the database and gives the model's memory back.

    >>> with KnowledgeBase.open() as knowledge:
    ...     text = knowledge.build_context_for_task(Task(description="Add a login form"))
    """

    def __init__(self, workspace: Workspace, settings: KnowledgeSettings) -> None:
        self.settings = settings
        self._workspace = KnowledgeWorkspace(workspace)
        self._workspace.prepare()
        default = f"sqlite:///{self._workspace.state / 'lessons.db'}"
        self.table = LessonTable(settings.database or default)
        self.space: Space = knowledge_space(self._workspace)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
    ) -> Self:
        """Open the lessons of the workspace at ``path``.

        Args:
            path: The folder whose ``.ragloom`` holds them.
            config: The settings file; ``ragloom.yaml`` in the folder, if there is one, otherwise.
            host: The plugins; those that are installed, by default.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
            MissingDependencyError: The database's driver is not installed.
            StoreError: The database does not answer.
        """
        return cls.of(Workspace.open(path, config=config, host=host))

    @classmethod
    def of(cls, workspace: Workspace) -> Self:
        """The lessons of an open workspace; raises as :meth:`open` does."""
        return cls(workspace, read_settings(workspace.settings.extensions.get("knowledge")))

    def __enter__(self) -> Self:
        """The knowledge base itself."""
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
        """Close the database, and give the model's memory back."""
        self.table.close()
        self.space.close()

    def capture_failure_solution(
        self,
        project: str,
        agent_type: str,
        failure_description: str,
        *,
        solution_steps: str | None = None,
        error_message: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
        success_verified: bool = True,
    ) -> Captured:
        """Stage a failed test or task with its solution; without proof that it works, it stays there.

        Raises:
            LessonError: What a lesson needs is missing, or was recalled from another one.
            StoreError: The database refused it.
        """
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "failure_description": failure_description,
            "error_message": error_message,
            "solution_steps": solution_steps,
        }
        return self.capture(new_lesson("failure_solution", texts, verified=success_verified))

    def capture_gate_rejection(
        self,
        project: str,
        agent_type: str,
        gate_type: str,
        *,
        human_feedback: str,
        revision_approach: str,
        task_type: str | None = None,
        technology: str | None = None,
    ) -> Captured:
        """Stage why a human rejected something, and what was approved instead.

        Raises:
            LessonError: What a lesson needs is missing, or was recalled from another one.
            StoreError: The database refused it.
        """
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "gate_type": gate_type,
            "human_feedback": human_feedback,
            "revision_approach": revision_approach,
        }
        return self.capture(new_lesson("gate_rejection", texts, verified=True))

    def capture_gate_approval(
        self,
        project: str,
        agent_type: str,
        gate_type: str,
        *,
        approved_approach: str,
        task_type: str | None = None,
        technology: str | None = None,
    ) -> Captured:
        """Stage what a human approved at the first attempt.

        Raises:
            LessonError: What a lesson needs is missing, or was recalled from another one.
            StoreError: The database refused it.
        """
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "gate_type": gate_type,
            "approved_approach": approved_approach,
        }
        return self.capture(new_lesson("gate_approval", texts, verified=True))

    def capture(self, lesson: Lesson) -> Captured:
        """Stage a lesson, or count it where it is known. Nothing is embedded.

        Raises:
            StoreError: The database refused it.
        """
        return self.table.capture(lesson)

    def process_checkpoint(
        self, project: str, kind: CheckpointKind = "manual", *, progress: Progress | None = None
    ) -> Checkpoint:
        """Bring what a project has learnt since its last checkpoint into the index, each lesson once.

        However often it is run, and wherever it was killed: a lesson's file has the name of its id, the
        index holds what the files say, and only then is the lesson marked.

        Args:
            project: Whose lessons.
            kind: Why now: one of :data:`~ragloom_knowledge.types.CHECKPOINTS`.
            progress: Called with a stage, how much of it is done, and of how much.

        Raises:
            ConfigError: There is no such kind.
            RagloomError: Database, model or index failed; the next run goes on from there.
        """
        if kind not in CHECKPOINTS:
            raise ConfigError(f"no checkpoint is called {kind!r}; there are {', '.join(CHECKPOINTS)}")
        pruned = self.prune(progress=progress)
        staged = self.table.select(project=project, staged=True, verified=True)
        embedded, failed = self._bring_up_to_date(staged, progress)
        done = [lesson.id for lesson in staged if lesson.id not in failed]
        self.table.mark_processed(done, project=project, kind=kind, now=now())
        return Checkpoint(
            project=project,
            kind=kind,
            processed=len(done),
            embedded=embedded,
            pruned=len(pruned.ids),
            failed=tuple(lesson.id for lesson in staged if lesson.id in failed),
        )

    def query_for_task(
        self,
        description: str,
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
        max_results: int = 5,
    ) -> tuple[Pattern, ...]:
        """What is known for a task, best first; nothing where nothing is relevant enough.

        Relevance decides which lessons enter. Among those, the lower bound of the share of successes
        orders, then human judgement before verified fixes; age never does.

        Args:
            description: In words.
            agent_type: Only lessons of this agent, unless None.
            task_type: Likewise.
            technology: Likewise.
            max_results: Patterns at the most.

        Raises:
            RagloomError: Database, model or index failed.
        """
        labels = {"agent_type": agent_type, "task_type": task_type, "technology": technology}
        return self._query(description, labels, self.settings.task_relevance, max_results)

    def query_for_failure(
        self,
        description: str,
        error: str = "",
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
    ) -> tuple[Pattern, ...]:
        """At most three verified fixes of the like of a failure; see :meth:`query_for_task`."""
        labels = {
            "kind": "failure_solution",
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
        }
        asked = "\n".join(
            f"{title}: {text}" for title, text in (("Failure", description), ("Error", error)) if text
        )
        return self._query(asked, labels, self.settings.failure_relevance, _ENTERING)[:AT_MOST]

    def report_outcome(self, pattern_id: str, success: bool) -> Lesson:  # noqa: FBT001 - the contract
        """Count what came of a pattern that was handed out.

        Raises:
            LessonError: There is none of that id.
        """
        return self.table.count_outcome(pattern_id, success=success)

    def build_context_for_task(self, task: Task) -> str:
        """A task's description and, where something is known, the block of up to three patterns.

        It never fails: without database, model or index, the description comes back as it is.
        """
        return self.context_for_task(task).text

    def context_for_task(self, task: Task, *, max_tokens: int | None = None) -> TaskContext:
        """The same, with the patterns, and the reason where there are none.

        Args:
            task: What an agent is about to be given.
            max_tokens: What the block may have at the most; the settings' own by default.
        """
        try:
            patterns = self.query_for_task(
                task.description, task.agent_type, task.task_type, task.technology
            )
        except RagloomError as error:
            _LOG.warning("no lessons: %s", error)
            return TaskContext(text=task.description, reason=str(error))
        if not patterns:
            return TaskContext(text=task.description, reason="no lesson is relevant enough")
        limit = self.settings.max_tokens if max_tokens is None else max_tokens
        tokens = counter()
        shown = _fitting(patterns, tokens, limit)
        if not shown:
            reason = f"no pattern fits in {limit} tokens"
            return TaskContext(text=task.description, reason=reason)
        block = pattern_block(shown)
        text = f"{task.description}\n\n{block}"
        return TaskContext(text=text, patterns=shown, tokens=tokens.count(block))

    def pin(self, lesson_id: str, *, pinned: bool = True) -> Lesson:
        """Keep a lesson whatever its age, or no longer.

        Raises:
            LessonError: There is none of that id.
        """
        return self.table.pin(lesson_id, pinned=pinned)

    def prune(
        self,
        older_than: timedelta | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Pruned:
        """Remove every expired lesson that is not pinned, from the index first and then the table.

        Args:
            older_than: Age, from when it was embedded or else captured; the settings' own by default.
            dry_run: Only say which.
            progress: Called with a stage, how much of it is done, and of how much.

        Raises:
            RagloomError: Database or index failed; the next run goes on from there.
        """
        age = timedelta(days=self.settings.retention_days) if older_than is None else older_than
        ids = self.table.expired(now() - age)
        if ids and not dry_run:
            for lesson_id in ids:
                (self._workspace.root / file_name(lesson_id)).unlink(missing_ok=True)
            self._index(progress)
            self.table.delete(ids)
        return Pruned(ids=tuple(ids), dry_run=dry_run)

    def export_lessons(self, folder: Path) -> int:
        """Write every lesson, with its counts, as a Markdown file with front matter; gives how many."""
        with _files():
            folder.mkdir(parents=True, exist_ok=True)
            exported = self.table.select()
            for lesson in exported:
                write_atomically(folder / file_name(lesson.id), exported_text(lesson))
        return len(exported)

    def import_lessons(self, folder: Path, *, progress: Progress | None = None) -> int:
        """Take over every lesson in a folder as it was exported, counts and all; gives how many.

        A lesson with a known id is replaced. What was in the index there is in the index here.

        Raises:
            LessonError: A file is not an exported lesson; then nothing is imported.
        """
        with _files():
            given = [
                parse_exported(path.read_text("utf-8"), path.name)
                for path in sorted(folder.glob("*.md"))
            ]
        count = self.table.restore(given)
        self._bring_up_to_date([], progress, {lesson.id for lesson in given if lesson.embedded})
        return count

    def _query(
        self, asked: str, labels: dict[str, str | None], relevance: float, entering: int
    ) -> tuple[Pattern, ...]:
        where = [
            Condition(field=name, operator="=", value=value)
            for name, value in labels.items()
            if value is not None
        ]
        try:
            result = self.space.search(
                asked, top_k=entering * _CHUNKS, min_relevance=relevance, where=where
            )
        except NotIndexedError:
            return ()
        best: dict[str, float] = {}
        for hit in result.hits:
            lesson_id = Path(hit.chunk.uri).stem
            best[lesson_id] = max(best.get(lesson_id, 0.0), hit.relevance)
        known = self.table.by_ids(list(best))
        entered = [(known[name], best[name]) for name in best if name in known][:entering]
        entered.sort(key=lambda one: _order(*one))
        return tuple(_pattern(lesson, found) for lesson, found in entered)

    def _bring_up_to_date(
        self,
        staged: Sequence[Lesson],
        progress: Progress | None,
        renewed: set[str] | frozenset[str] = frozenset(),
    ) -> tuple[int, set[str]]:
        """Write the files of these lessons and of those that lack one; embed what is new.

        Returns:
            Chunks that were embedded, and the ids of lessons whose files could not be indexed.
        """
        with _files():
            there = {path.stem for path in self._workspace.root.glob("*.md")}
            ids = [one for one in self.table.embedded_ids() if one in renewed or one not in there]
            for lesson in [*staged, *self.table.by_ids(ids).values()]:
                path = self._workspace.root / file_name(lesson.id)
                write_atomically(path, indexed_text(lesson))
        return self._index(progress)

    def _index(self, progress: Progress | None) -> tuple[int, set[str]]:
        report = self.space.index(progress=progress)
        for file in report.failed:
            _LOG.warning("lesson %s: not indexed: %s", Path(file.path).stem, file.error)
        return report.embedded, {Path(file.path).stem for file in report.failed}


def _order(lesson: Lesson, relevance: float) -> tuple[float, int, float, str]:
    """The best first; relevance and id only part those that are otherwise alike."""
    proven = wilson_lower_bound(lesson.successes, lesson.uses)
    return (-proven, _KIND_ORDER[lesson.kind], -relevance, lesson.id)


def _pattern(lesson: Lesson, relevance: float) -> Pattern:
    return Pattern(
        id=lesson.id,
        kind=lesson.kind,
        problem=lesson.problem,
        solution=lesson.solution,
        when_to_try=lesson.when_to_try,
        successes=lesson.successes,
        uses=lesson.uses,
        relevance=relevance,
    )


def _fitting(
    patterns: Sequence[Pattern], tokens: TokenCounter, limit: int
) -> tuple[Pattern, ...]:
    """The best that fit together; one that does not leaves its place to the next."""
    shown: list[Pattern] = []
    for pattern in patterns:
        if len(shown) < AT_MOST and tokens.count(pattern_block([*shown, pattern])) <= limit:
            shown.append(pattern)
    return tuple(shown)


@contextmanager
def _files() -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(f"a file of lessons cannot be read or written: {error}") from error
