"""A library of templates: folders that are indexed, and searched for what fits a problem."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Self, Unpack, cast

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
from ragloom.stores import check_format, format_stamp, quarantine, replace_file
from ragloom.text import decode, parse_json, redact
from ragloom_templates.matching import Index
from ragloom_templates.parsing import parse
from ragloom_templates.settings import FALLBACK, TemplateSettings
from ragloom_templates.space import identify, template_space
from ragloom_templates.types import Filters, Template, TemplateMatch

FALLBACK_SCORE = 0.5
_FORMAT = 1
_CHANGES = "changes.json"
_log = logging.getLogger("ragloom")


class TemplateLibrary:
    """Folders of templates. A context manager: leaving it frees the model's memory.

    >>> library = TemplateLibrary(["data/templates"])
    >>> library.index()
    12
    >>> library.search("Prove that the square root of 2 is irrational")[0].name
    'Proof by Contradiction'

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

    def refresh(self, *, progress: Progress | None = None) -> IndexReport:
        """As :meth:`index`, with all that the run did."""
        self.set_sources()
        report = self.space.index(progress=progress)
        self.skipped = report.failed
        for failed in report.failed:
            _log.warning("%s: skipped: %s", failed.path, failed.error)
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
        back. A library that was never indexed is indexed first.

        Args:
            query: The problem, in words.
            top_k: Maximum number of templates; 3 unless the settings say otherwise.
            threshold: The least score, 0 to 1; 0.65 unless the settings say otherwise.
            filters: ``domain``, ``complexity`` and ``methodology`` that a template must have.
        """
        found: list[TemplateMatch] = []
        try:
            if not self.is_ready():
                self.index()
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
        for fit in index.fits(query, embedder, where=where):
            if fit.score < least or len(found) >= most:
                break
            template = self._load(names.get(fit.uri, ""))
            if template is not None:  # a file that is gone, or broken since, answers nothing
                found.append(_match(template, fit.score))
        return found

    def fallback(self) -> TemplateMatch:
        """What to use where nothing fits: the template of the settings, or the one that ships."""
        template = None
        try:
            template = self.get(self.settings.fallback)
        except (RagloomError, OSError) as error:
            _log.warning("templates: %s", error)
        if template is None:
            path = Path(str(files("ragloom_templates") / "fallback" / f"{FALLBACK}.md"))
            template = _template(FALLBACK, path)
        return _match(template, FALLBACK_SCORE, fallback=True)

    def add(self, path: str | os.PathLike[str]) -> Template:
        """Read and index one file. A file of the same id in the library is replaced by its new state.

        A file outside the folders stays where it is and belongs to the library from now on.

        Raises:
            SourceError: It does not exist or is no template; the library is as it was.
        """
        file = Path(os.path.realpath(path))
        if file.suffix.lower() != ".md":
            raise SourceError(f"{path}: only '.md' files are templates")
        try:
            _template("", file)
        except FileNotFoundError as error:
            raise SourceError(f"{path}: there is no such file") from error
        except (OSError, SourceError) as error:
            raise SourceError(f"{path}: {error}") from error
        uri = self._relative(file)
        with self._changing():
            self._removed.discard(uri)
            inside = any(
                folder == "." or PurePosixPath(uri).is_relative_to(folder) for folder in self.dirs
            )
            if not inside and uri not in self._added:
                self._added.append(uri)
            report = self.refresh()
            template = self.get(next((n for n, u in self._identified().items() if u == uri), ""))
            if template is None:
                said = [one for one in report.warnings if one.startswith(f"{uri}: ")]
                why = f"{path}: skipped: it belongs to the template of its folder"
                raise SourceError(said[0] if said else why)
        return template

    def remove(self, template_id: str) -> None:
        """Exclude a template from now on; its file stays.

        Args:
            template_id: Its id; or the path of a file that was added and is gone.

        Raises:
            SourceError: There is no such template.
        """
        uri = self._identified().get(template_id, template_id)
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
            self._index = Index(snapshot)
            self._ids = identify(list(snapshot.files), [*self.dirs, *self._added])
        return self._index

    def _load(self, template_id: str) -> Template | None:
        """Read a template from its file; None where it is gone or cannot be read any more."""
        uri = self._ids.get(template_id)
        if uri is None:
            return None
        try:
            return _template(template_id, Path(os.path.normpath(self.workspace.root / uri)))
        except (OSError, SourceError):
            return None

    def set_sources(self) -> None:
        """Walk the folders and files that exist now."""
        root = self.workspace.root
        for uri in self._added:
            if not (root / uri).is_file():
                message = (
                    "%s: was added to the templates and is gone: 'ragloom templates remove %s'"
                )
                _log.warning(message, uri, uri)
        sources = tuple(uri for uri in (*self.dirs, *self._added) if (root / uri).exists())
        self.space.settings = replace(self.space.settings, sources=sources)

    def _relative(self, path: str | os.PathLike[str]) -> str:
        """A place as uris name it: relative to the workspace, its links followed."""
        # Unlike Path's, it does not fail for an unknown user: that folder does not exist.
        absolute = os.path.realpath(self.workspace.root / os.path.expanduser(path))  # noqa: PTH111
        return os.path.relpath(absolute, self.workspace.root).replace(os.sep, "/")

    def _read_changes(self) -> None:
        """Take over what earlier calls added and removed."""
        file = self.space.directory / _CHANGES
        try:
            kept = cast("dict[str, Any]", parse_json(file.read_bytes()))
            check_format(kept.get("format", 1), _FORMAT, place=file, release=kept.get("release"))
            added, removed = [*map(str, kept["added"])], set(map(str, kept["left_out"]))
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            moved = quarantine(file)
            message = "%s is damaged (%s): moved to %s; add and remove again"
            _log.warning(message, file, error, moved)
            return
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
        added, removed = list(self._added), set(self._removed)
        try:
            yield
        except BaseException:
            self._added[:] = added
            self._removed.clear()
            self._removed |= removed
            raise
        path = self.space.directory / _CHANGES
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {**format_stamp(_FORMAT), "added": self._added, "left_out": sorted(self._removed)}
        replace_file(path, json.dumps(kept))
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


def _template(template_id: str, path: Path) -> Template:
    """Read a template.

    Raises:
        OSError: The file cannot be read.
        SourceError: It is no template.
    """
    text = redact(decode(path.read_bytes()).text)
    parsed = parse(text, PurePosixPath(path.as_posix()))
    metadata = parsed.metadata
    keywords = metadata["keywords"]
    return Template(
        id=template_id,
        name=str(metadata["name"]),
        domain=str(metadata["domain"]),
        complexity=str(metadata["complexity"]),
        methodology=str(metadata["methodology"]),
        keywords=[str(word) for word in keywords] if isinstance(keywords, Sequence) else [],
        description=str(metadata["description"]),
        content=text[parsed.start :].strip("\r\n"),
        file_path=path,
    )


def _match(template: Template, score: float, *, fallback: bool = False) -> TemplateMatch:
    return TemplateMatch(
        id=template.id,
        name=template.name,
        score=score,
        description=template.description,
        content=template.content,
        fallback=fallback,
    )
