"""The knowledge base: a space of a project's decisions and standards.

It lies in ``.ragloom/librarian``, apart from the spaces of ``ragloom index``, which would split it as the
workspace's settings say and would read more than Markdown.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from ragloom import (
    ConfigError,
    IndexReport,
    NotIndexedError,
    PluginHost,
    Progress,
    SearchResult,
    Snapshot,
    SourceError,
    Space,
    StoreDamagedError,
    Workspace,
)
from ragloom.config import CONFIG_NAME, Component
from ragloom.context import why_empty
from ragloom_librarian.availability import missing_components
from ragloom_librarian.documents import RetrievedDocument, best_sections
from ragloom_librarian.settings import LibrarianSettings
from ragloom_librarian.waiting import spinner

NAME = "librarian"
REBUILD = "ragloom librarian rebuild"
LOG = logging.getLogger("ragloom.librarian")
_HOW = "librarian.threshold lowers the minimum, or read {path}"
_SECTIONS = 4  # hits to look at for each document wanted: several may be of one file


class KnowledgeBase:
    """What a project has decided and agreed on, by section.

    Made once and kept: the model stays in memory from the first query on. Threads may share it.

    Args:
        workspace: The project; its settings name the embedder and the store.
        settings: Which folders, and how they are searched.
    """

    def __init__(self, workspace: Workspace, settings: LibrarianSettings) -> None:
        self.workspace = workspace
        self.settings = settings
        self._lock = threading.RLock()
        self._warm = False
        self._complete = False

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        settings: LibrarianSettings | None = None,
        host: PluginHost | None = None,
    ) -> KnowledgeBase:
        """The knowledge base of the project at ``path``; nothing is created.

        Args as for :meth:`ragloom.Workspace.open`; ``settings`` replace those of the file and the
        environment.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        workspace = Workspace.open(path, config=config, host=host)
        return cls(workspace, settings or workspace.section(NAME, LibrarianSettings))

    @cached_property
    def space(self) -> Space:
        """The index of Markdown, split at headings of level 1 and 2; of the folders that exist now."""
        root = self.workspace.root
        if self.settings == self.workspace.section(NAME, LibrarianSettings):  # no caller's own
            key, sources = f"{NAME}.sources", self.settings.sources
            self.workspace.require(self.workspace.files_outside(key, sources))
        markdown = self.workspace.host.loader("markdown")
        settings = replace(
            self.workspace.settings.space(NAME),
            sources=tuple(source for source in self.settings.sources if (root / source).exists()),
            chunker=Component(name="heading", options={"levels": [1, 2]}),
            loaders={ending: Component(name="markdown") for ending in sorted(markdown.suffixes)},
            include=tuple(f"*{ending}" for ending in sorted(markdown.suffixes)),
            exclude=(),
        )
        return self.workspace.private_space(
            NAME,
            settings,
            directory=NAME,
            hint=f"there is no knowledge base yet: run '{REBUILD}'",
        )

    def rebuild(
        self, *, full: bool = False, may_empty: bool = True, progress: Progress | None = None
    ) -> IndexReport:
        """Bring the knowledge base up to date with the files.

        A damaged one is quarantined and rebuilt.

        Args:
            full: Read and split every file again, changed or not. Texts that are known letter for
                letter are not embedded again.
            may_empty: Folders without a Markdown file empty it; an error otherwise.
            progress: Called with a stage, how much of it is done, and of how much.

        Raises:
            MissingDependencyError: An extra is not installed.
            SourceError: None of the folders exists; or they hold nothing, without ``may_empty``.
            StoreError: The store failed; the last knowledge base keeps answering.
            ModelError: The model failed; nothing was written.
        """
        with self._lock:
            self.__dict__.pop("space", None)  # folders may have come and gone
            if not self.space.settings.sources:
                folders = ", ".join(self.settings.sources)
                raise SourceError(
                    f"none of {folders} exists in {self.workspace.root}: name the folders in "
                    f"{NAME}.sources of {CONFIG_NAME}"
                )
            self._require_components()
            if not may_empty and all(found.skipped for found in self.space.walk()):
                folders = ", ".join(self.settings.sources)
                raise SourceError(
                    f"{folders}: there is no Markdown file; the knowledge base stays as it is"
                )
            return self.space.index(full=full, progress=progress)

    def query(
        self,
        query: str,
        *,
        k: int | None = None,
        threshold: float | None = None,
        top_n: int | None = None,
    ) -> list[RetrievedDocument]:
        """The documents that answer, best first; see :func:`query_knowledge_base`."""
        return self.retrieve(query, k=k, threshold=threshold, top_n=top_n)[0]

    def retrieve(
        self,
        query: str,
        *,
        k: int | None = None,
        threshold: float | None = None,
        top_n: int | None = None,
    ) -> tuple[list[RetrievedDocument], SearchResult]:
        """As :meth:`query`, and the search, which says why there is no document where there is none."""
        chosen = self.settings
        k = chosen.k if k is None else k
        threshold = chosen.threshold if threshold is None else threshold
        top_n = chosen.top_n if top_n is None else top_n
        if k < 1 or top_n < 1 or not 0 <= threshold <= 1:
            raise ConfigError("k and top_n must be 1 or more, and threshold 0 to 1")
        with self._lock:
            self._require_components()
            self._snapshot()
            with nullcontext() if self._warm else spinner("loading the embedding model"):
                result = self.space.search(
                    query, top_k=k * _SECTIONS, min_relevance=threshold, per_file=0
                )
            self._warm = True
            if not result.hits:
                why = why_empty(result, _HOW)
                LOG.info("no document for %r: %s", shorten(query, 80), why)
                return [], result
            candidates = list(dict.fromkeys(hit.chunk.uri for hit in result.hits))
            snapshot = self._snapshot()  # a rebuild may have published another one just now
            considered = snapshot.files.keys() & candidates[:k]
            hits = [hit for hit in result.hits if hit.chunk.uri in considered]
            found = best_sections(hits, snapshot, self.workspace.root, limit=top_n)
        for document in found:
            place, section = document["file_path"], document["section"]
            LOG.info("retrieved %.2f %s: %s", document["score"], place, section)
        return found, result

    def close(self) -> None:
        """Free the model's memory; the next query loads it again."""
        with self._lock:
            self._warm = False
            self.space.close()

    def _require_components(self) -> None:
        if self._complete:
            return
        settings = self.workspace.settings.space(NAME)
        if (problem := missing_components(self.workspace.host, settings)) is not None:
            raise problem
        self._complete = True

    def _snapshot(self) -> Snapshot:
        """The generation that answers, whole and not empty."""
        try:
            snapshot = self.space.snapshot()
        except StoreDamagedError as error:
            what = str(error).partition(": index again")[0]
            message = f"the knowledge base {what}: run '{REBUILD}'"
            raise StoreDamagedError(message) from error
        if not len(snapshot):
            folders = ", ".join(self.settings.sources)
            raise NotIndexedError(
                f"the knowledge base is empty: fill {folders} and run '{REBUILD}'"
            )
        return snapshot


def query_knowledge_base(
    query: str,
    k: int | None = None,
    threshold: float | None = None,
    top_n: int | None = None,
    *,
    workspace: str | os.PathLike[str] = ".",
    host: PluginHost | None = None,
) -> list[RetrievedDocument]:
    """Query the knowledge base of a project; it is opened once in a process and then kept.

    Args:
        query: In words, such as the brief of an issue.
        k: Number of candidate documents; the setting ``librarian.k``, 5, by default.
        threshold: The least relevance, 0 to 1; the setting ``librarian.threshold``, 0.7, by default.
        top_n: Maximum number of documents; the setting ``librarian.top_n``, 3, by default.
        workspace: The project's folder.
        host: The plugins; those that are installed, by default.

    Returns:
        Documents, best first; none where nothing is relevant enough, which the log explains.

    Raises:
        MissingDependencyError: An extra is not installed.
        NotIndexedError: There is no knowledge base yet, or it is empty.
        StoreDamagedError: It does not open.
        ModelError: The model cannot be loaded.
        ConfigError: A setting is wrong.
    """
    return opened(workspace, host).query(query, k=k, threshold=threshold, top_n=top_n)


_OPEN: dict[tuple[Path, LibrarianSettings | None], KnowledgeBase] = {}
_OPENING = threading.Lock()


def opened(
    workspace: str | os.PathLike[str],
    host: PluginHost | None = None,
    settings: LibrarianSettings | None = None,
) -> KnowledgeBase:
    """The knowledge base of a project: the same object until a setting or the host changes."""
    try:
        root = Path(workspace).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # the current folder may be gone
        raise ConfigError(f"{workspace}: there is no such folder: {error}") from error
    key = (root, settings)
    with _OPENING:
        known = _OPEN.get(key)
        plugins = host or (known.workspace.host if known else None)
        fresh = KnowledgeBase.open(root, settings=settings, host=plugins)
        if (
            known is not None
            and fresh.workspace.host is known.workspace.host
            and fresh.workspace.settings == known.workspace.settings
            and fresh.settings == known.settings
        ):
            return known
        _OPEN[key] = fresh
        return fresh


def named_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """The knowledge base by its name, where it was built."""
    base = KnowledgeBase(workspace, workspace.section(NAME, LibrarianSettings))
    return {NAME: base.space} if base.space.generation else {}
