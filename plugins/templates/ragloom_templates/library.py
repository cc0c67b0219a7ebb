"""A library of templates: folders that are indexed, and searched for what fits a problem."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Self, Unpack

from ragloom import (
    Condition,
    FailedFile,
    IndexReport,
    NotIndexedError,
    Permission,
    Progress,
    Query,
    RagloomError,
    SourceError,
    Workspace,
)
from ragloom_templates.changes import read_changes, write_changes
from ragloom_templates.matching import Index
from ragloom_templates.patterns import PatternDescriptions, all_description_files
from ragloom_templates.reading import match_of, read_all, read_template, shipped
from ragloom_templates.settings import FALLBACK, TemplateSettings
from ragloom_templates.space import below, identify, loaders, template_space
from ragloom_templates.types import Filters, Template, TemplateMatch
from ragloom_templates.vocabulary_file import open_vocabulary

FALLBACK_SCORE = 0.5
_PATIENT = 600.0  # seconds
_SHORT = 1.0
_CHANGES = "changes.json"
_log = logging.getLogger("ragloom")


class TemplateLibrary:
    """Folders of templates. A context manager: leaving it frees the model's memory.

    Args:
        dirs: The folders, relative to the workspace; those of the settings by default. One that does
            not exist holds no templates.
        workspace: Where the index is kept; the current folder by default.
        settings: What ``ragloom.yaml`` says under ``templates``, by default.

    Raises:
        ConfigError: A setting is wrong.
    """

    def __init__(
        self,
        dirs: Sequence[str | os.PathLike[str]] | None = None,
        *,
        workspace: Workspace | None = None,
        settings: TemplateSettings | None = None,
    ) -> None:
        self.workspace = workspace or Workspace.open()
        self.settings = settings or self.workspace.section("templates", TemplateSettings)
        if dirs is None and settings is None:
            found = self.workspace.files_outside("templates.dirs", self.settings.dirs)
            self.workspace.require(found)
        self.dirs = tuple(self._relative(folder) for folder in dirs or self.settings.dirs)
        self.skipped: Sequence[FailedFile] = ()
        """The files that the last run could not read, and why."""
        self._removed: set[str] = set()
        digest = blake2b("\0".join(self.dirs).encode(), digest_size=4).hexdigest()
        self.space = template_space(
            self.workspace, f"library-{digest}", asdict(self.settings.weights), self._removed
        )
        self._descriptions = PatternDescriptions(())
        self._added: list[str] = []
        self._read_changes()
        self._index: Index | None = None
        self._ids: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        """The library itself."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Free the model's memory; the next search loads it again."""
        self.space.close()

    def index(self) -> int:
        """Bring the index up to date with the folders; only what changed is read and embedded.

        Returns:
            Templates in the library. Files that cannot be read are in :attr:`skipped`.

        Raises:
            StoreError: The store failed; the last index keeps answering.
            ModelError: The model failed; nothing was written.
        """
        report = self.refresh()
        return len(report.added) + len(report.updated) + report.unchanged

    def refresh(
        self, *, progress: Progress | None = None, timeout: float = _PATIENT
    ) -> IndexReport:
        """As :meth:`index`, with all that the run did; ``timeout`` seconds are waited for another run.

        A file that cannot be read is logged once for each fault that it has.
        """
        self.set_sources()
        report = self.space.index(progress=progress, timeout=timeout)
        for failed in report.failed:
            if failed not in self.skipped:
                _log.warning("%s: skipped: %s", failed.path, failed.error)
        self.skipped = report.failed
        return report

    def search(
        self,
        query: str,
        top_k: int | None = None,
        threshold: float | None = None,
        **filters: Unpack[Filters],
    ) -> list[TemplateMatch]:
        """The templates that fit a problem, best first; the fallback where none does.

        It never raises and never returns nothing: what goes wrong is logged, and the fallback comes
        back. The library follows its files first, as :meth:`index` does; where that fails, as while another
        process indexes, the last index answers, without the files that have changed since.

        Args:
            query: The problem, in words.
            top_k: Maximum number of templates; 3 unless the settings say otherwise.
            threshold: The minimum score, 0 to 1; 0.65 unless the settings say otherwise.
            filters: ``domain``, ``complexity`` and ``methodology`` that a template must have.
        """
        found: list[TemplateMatch] = []
        try:
            self._follow()
            found = self.rank(query, top_k, threshold, **filters)
        except (RagloomError, OSError) as error:
            _log.warning("templates: %s; the fallback is used", error)
        return found or [self.fallback()]

    def rank(
        self,
        query: str,
        top_k: int | None = None,
        threshold: float | None = None,
        **filters: Unpack[Filters],
    ) -> list[TemplateMatch]:
        """As :meth:`search`, without the fallback: empty where no template fits.

        Raises:
            NotIndexedError: Nothing is indexed yet, or another model did it.
            ModelError: The model cannot be loaded or does not answer.
        """
        where = [
            Condition(field=field, operator="=", value=value)
            for field, value in filters.items()
            if isinstance(value, str)
        ]
        index = self._current()
        embedder = self.space.embedder
        if index.snapshot.meta.embedder != embedder.fingerprint:
            raise NotIndexedError(
                "the templates were indexed with another model: run 'ragloom templates index'"
            )
        if not query.strip():
            return []
        Query(query, min_relevance=threshold)  # refuses what is no threshold
        least = self.settings.threshold if threshold is None else threshold
        most = self.settings.top_k if top_k is None else top_k
        names = {uri: name for name, uri in self._ids.items()}
        found: list[TemplateMatch] = []
        entries = index.snapshot.files
        for fit in index.fits(query, embedder, where=where):
            if fit.score < least or len(found) >= most:
                break
            template = self._load(names.get(fit.uri, ""), entries[fit.uri].content_hash)
            if template is not None:  # a file that is gone, or changed since, answers nothing
                found.append(match_of(template, fit.score))
        return found

    def fallback(self) -> TemplateMatch:
        """What to use where nothing fits: the template of the settings, or the one that ships."""
        return match_of(self.fallback_template(), FALLBACK_SCORE, fallback=True)

    def fallback_template(self) -> Template:
        """The template of :meth:`fallback`."""
        template = None
        try:
            template = self.get(self.settings.fallback)
        except (RagloomError, OSError) as error:
            _log.warning("templates: %s", error)
        if template is None:
            template = shipped(FALLBACK)
        return template

    def add(self, path: str | os.PathLike[str]) -> Template:
        """Read and index one file. A file of the same id in the library is replaced by its new state.

        One outside the folders stays where it is and belongs to the library from now on.

        Raises:
            SourceError: It does not exist or is no template; the library is as it was.
        """
        file = Path(os.path.realpath(path))
        if file.suffix.lower() != ".md":
            raise SourceError(f"{path}: only '.md' files are templates")
        try:
            read_template("", file)
        except FileNotFoundError as error:
            raise SourceError(f"{path}: there is no such file") from error
        except (OSError, SourceError) as error:
            raise SourceError(f"{path}: {error}") from error
        (template,) = self._add(path, file)
        return template

    def add_folder(self, path: str | os.PathLike[str]) -> Sequence[Template]:
        """Read and index a folder, which stays where it is and belongs to the library from now on.

        Returns its templates, in the order of the ids; a file that cannot be read is in :attr:`skipped`.

        Raises:
            SourceError: It does not exist or holds no template; the library is as it was.
        """
        folder = Path(os.path.realpath(path))
        if not folder.is_dir():
            raise SourceError(f"{path}: there is no such folder")
        return self._add(path, folder)

    def _add(self, path: str | os.PathLike[str], place: Path) -> Sequence[Template]:
        uri = self._relative(place)
        with self._changing():
            self._removed -= {one for one in self._removed if below(one, [uri])}
            if not below(uri, self.dirs) and uri not in self._added:
                self._added.append(uri)
            report = self.refresh()
            names = [name for name, one in self._identified().items() if below(one, [uri])]
            templates = [one for name in names if (one := self.get(name)) is not None]
            if not templates:
                said = [one for one in report.warnings if below(one.partition(": ")[0], [uri])]
                belongs = "skipped: it belongs to the template of its folder"
                why = f"{path}: {'no template in it' if place.is_dir() else belongs}"
                raise SourceError(said[0] if said else why)
        return templates

    def remove(self, template_id: str) -> None:
        """Exclude a template from now on; its file stays.

        Args:
            template_id: Its id; or the path of a folder that was added, or of a file that is gone.

        Raises:
            SourceError: There is no such template.
        """
        uri = self._identified().get(template_id, template_id)
        if (place := self._relative(template_id)) in self._added:
            uri = place
        if uri not in (*self._identified().values(), *self._added):
            raise SourceError(f"there is no template {template_id!r}")
        with self._changing():
            if uri in self._added:
                self._added.remove(uri)
            else:
                self._removed.add(uri)
            self.refresh()

    def get(self, template_id: str) -> Template | None:
        """An indexed template by its id; None where there is none."""
        return self._load(template_id) if template_id in self._identified() else None

    def is_ready(self) -> bool:
        """Whether templates are indexed."""
        return self.space.generation > 0 and bool(self._identified())

    def _identified(self) -> Mapping[str, str]:
        """Ids to uris; nothing where nothing is indexed."""
        try:
            self._current()
        except NotIndexedError:
            return {}
        return self._ids

    def _current(self) -> Index:
        """The index as it is now; loaded again when a newer generation was published."""
        snapshot = self.space.snapshot()
        if self._index is None or self._index.snapshot is not snapshot:
            space = self.space
            self._index = Index(
                snapshot, partial(open_vocabulary, space.directory, snapshot, space.embedder)
            )
            self._ids = identify(list(snapshot.files), [*self.dirs, *self._added])
        return self._index

    def _follow(self) -> None:
        """Follow the files; where that fails an older index answers."""
        try:
            self.refresh(timeout=_SHORT)
            if self.is_ready():
                self._current().prepare()
        except (RagloomError, OSError) as error:
            if not self.is_ready():
                raise
            _log.warning("templates: not up to date: %s", error)

    def _load(self, template_id: str, content_hash: str = "") -> Template | None:
        """Read a template from its file; None where it is gone, cannot be read or has changed."""
        uri = self._ids.get(template_id)
        if uri is None:
            return None
        try:
            path = Path(os.path.normpath(self.workspace.root / uri))
            return read_template(template_id, path, self._descriptions, content_hash=content_hash)
        except (OSError, SourceError):
            return None

    def read_files(self) -> Sequence[Template]:
        """Every template as its file is now, in the order of the ids; neither index nor model is needed.

        Raises:
            SourceError: A folder cannot be read.
        """
        self.set_sources()
        found = [item.source.uri for item in self.space.walk() if item.status is not None]
        ids = identify(found, [*self.dirs, *self._added])
        return read_all(self.workspace.root, ids, self._descriptions)

    def has_sources(self) -> bool:
        """Whether a folder of the library exists, or a template was added."""
        return any((self.workspace.root / uri).exists() for uri in (*self.dirs, *self._added))

    def set_sources(self) -> None:
        """Walk the folders and files that exist now."""
        root = self.workspace.root
        for uri in self._added:
            if not (root / uri).exists():
                message = (
                    "%s: was added to the templates and is gone: 'ragloom templates remove %s'"
                )
                _log.warning(message, uri, uri)
        sources = tuple(uri for uri in (*self.dirs, *self._added) if (root / uri).exists())
        found = all_description_files([root / uri for uri in sources], root)
        read_by = loaders(found)
        settings = replace(self.space.settings, sources=sources, loaders=read_by)
        if read_by == self.space.settings.loaders:
            self.space.settings = settings
            return
        self.space.close()
        self.space = self.space.with_settings(settings)
        self._descriptions = PatternDescriptions(found)

    def _relative(self, path: str | os.PathLike[str]) -> str:
        """A place as uris name it: relative to the workspace, its links followed."""
        # Unlike Path's, it does not fail for an unknown user: that folder does not exist.
        absolute = os.path.realpath(self.workspace.root / os.path.expanduser(path))  # noqa: PTH111
        return os.path.relpath(absolute, self.workspace.root).replace(os.sep, "/")

    def _read_changes(self) -> None:
        """Take over what earlier calls added and removed."""
        added, removed = read_changes(self.space.directory / _CHANGES)
        self.workspace.require(self._outside(added))
        self._added.extend(added)
        self._removed |= removed

    def _outside(self, added: Sequence[str]) -> Sequence[Permission]:
        """What a file of changes asks for: templates that were added from outside the workspace."""
        place = f"{self.space.directory / _CHANGES}:1"
        return self.workspace.files_outside("templates.added", added, place=place)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep for good what the block adds and removes; nothing of it where the block fails."""
        before = list(self._added), set(self._removed)
        try:
            yield
        except BaseException:
            self._added[:] = before[0]
            self._removed.intersection_update(before[1])
            self._removed |= before[1]
            raise
        write_changes(self.space.directory / _CHANGES, self._added, self._removed)
        self.workspace.vouch(self._outside(self._added))

    # Last in the class: below it, `list` would be this method in every annotation.
    def list(self, **filters: Unpack[Filters]) -> list[Template]:
        """Every indexed template that passes the filters, in the order of the ids."""
        loaded = (self._load(name) for name in self._identified())
        return [
            template
            for template in loaded
            if template is not None
            and all(value in (None, getattr(template, field)) for field, value in filters.items())
        ]
