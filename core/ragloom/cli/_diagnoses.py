"""What ``ragloom doctor`` looks at; each finding has a word on it, and the fix."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragloom.cli._output import size
from ragloom.cli._session import Session
from ragloom.config.spelling import counted
from ragloom.errors import MissingDependencyError, RagloomError, SourceError, StoreLockedError
from ragloom.protocols import SearchableStore
from ragloom.release import __version__

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.workspace import Workspace

State: TypeAlias = Literal["ok", "warning", "failed"]

_LITTLE_SPACE = 500_000_000  # bytes that are free on the disk of the index
_FEW_FILES = 256  # that a process may have open
_NO_SOURCE = "correct what the message names, or make it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One finding.

    Attributes:
        area: ``environment``, ``plugins``, ``settings``, ``permissions`` or ``space NAME``.
        name: What was looked at.
        state: ``failed`` keeps ragloom from working; a ``warning`` does not.
        said: What was found.
        fix: What to do; empty where there is nothing to do.
    """

    area: str
    name: str
    state: State
    said: str
    fix: str = ""


def diagnoses(session: Session, space_name: str | None = None) -> Iterator[Diagnosis]:
    """Look at everything, in an order in which a later finding may follow from an earlier one."""
    session.find()
    yield from _environment(Path(session.folder))
    yield from _plugins(session)
    try:
        workspace = _unchecked(session)
    except RagloomError as error:
        yield Diagnosis(
            area="settings",
            name="settings",
            state="failed",
            said=str(error),
            fix="correct the line; 'ragloom config' shows every setting and its origin",
        )
        return
    file = workspace.settings.file
    found = str(file.path) if file is not None else "no settings file: the defaults apply"
    yield Diagnosis(area="settings", name="settings", state="ok", said=found)
    trusted = True
    for one in _permissions(workspace):
        trusted &= one.state != "failed"
        yield one
    if not trusted:
        return
    try:
        names = [space_name] if space_name else workspace.spaces() or ["default"]
    except RagloomError as error:
        yield Diagnosis(
            area="permissions",
            name="indexes",
            state="failed",
            said=str(error),
            fix=f"make {workspace.state} a folder that you may read and write, with all that is in it",
        )
        return
    for name in names:
        yield from _space(workspace, name)


def _unchecked(session: Session) -> Workspace:
    from ragloom.workspace import Workspace

    return Workspace.unchecked(session.folder, config=session.config, host=session.host())


def _environment(folder: Path) -> Iterator[Diagnosis]:
    area = "environment"
    said = f"{platform.python_version()} in {sys.prefix}, {platform.system()} {platform.machine()}"
    yield Diagnosis(area=area, name="Python", state="ok", said=said)
    yield Diagnosis(area=area, name="ragloom", state="ok", said=__version__)
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield Diagnosis(
            area=area,
            name="disk",
            state="failed",
            said=f"{folder}: {error.strerror}",
            fix="name a folder that exists with --workspace",
        )
    else:
        yield Diagnosis(
            area=area,
            name="disk",
            state="ok" if free > _LITTLE_SPACE else "warning",
            said=f"{size(free)} free",
            fix=""
            if free > _LITTLE_SPACE
            else "make room: an index run needs space for one more index",
        )
    encoding = (sys.stdout.encoding or "").lower()
    utf8 = encoding.replace("-", "") == "utf8"
    yield Diagnosis(
        area=area,
        name="terminal",
        state="ok" if utf8 else "warning",
        said=f"writes {encoding or 'an unknown encoding'}",
        fix="" if utf8 else "set PYTHONUTF8=1 or LANG=C.UTF-8, so that every script can be shown",
    )
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        few = 0 <= most < _FEW_FILES
        yield Diagnosis(
            area=area,
            name="open files",
            state="warning" if few else "ok",
            said=f"{most} at once",
            fix="raise it: ulimit -n 1024" if few else "",
        )


def _plugins(session: Session) -> Iterator[Diagnosis]:
    area = "plugins"
    plugins = session.host().plugins()
    loaded = [one.name for one in plugins if one.status == "loaded"]
    yield Diagnosis(
        area=area,
        name="loaded",
        state="ok" if loaded else "failed",
        said=", ".join(loaded) or "none",
        fix="" if loaded else "pip install 'ragloom[standard]'",
    )
    for one in plugins:
        if one.status == "failed":
            yield Diagnosis(
                area=area,
                name=one.name,
                state="failed",
                said=one.error,
                fix=f"pip install --upgrade {one.distribution}, or RAGLOOM_DISABLED_PLUGINS={one.name}",
            )
        elif one.status == "disabled":
            yield Diagnosis(area=area, name=one.name, state="ok", said="disabled")
        for missing in one.missing:
            yield Diagnosis(
                area=area,
                name=one.name,
                state="ok",  # unless the settings use it, which the space says
                said=f"{missing.part} cannot be used: {', '.join(missing.modules)} not installed",
                fix=f"pip install '{missing.extra}', if you want it",
            )


def _permissions(workspace: Workspace) -> Iterator[Diagnosis]:
    area = "permissions"
    try:
        state = workspace.state
    except RagloomError as error:
        yield Diagnosis(
            area=area,
            name="state folder",
            state="failed",
            said=str(error),
            fix="replace it with a folder of its own: no link, and nothing that git tracks",
        )
        return
    place = state if state.exists() else workspace.root
    writable = os.access(place, os.W_OK | os.X_OK)
    yield Diagnosis(
        area=area,
        name="state folder",
        state="ok" if writable else "warning",
        said=f"{state} can be written"
        if writable
        else f"{state} is read-only: searches work, index runs do not",
        fix="" if writable else f"chown or chmod u+w {place}, or index a copy",
    )
    try:
        workspace.check_trust()
    except RagloomError as error:
        yield Diagnosis(
            area=area, name="trust", state="failed", said=str(error), fix="ragloom trust"
        )
    else:
        said = "the settings ask for nothing that is not granted"
        yield Diagnosis(area=area, name="trust", state="ok", said=said)


def _space(workspace: Workspace, name: str) -> Iterator[Diagnosis]:
    area = f"space {name}"
    try:
        space = workspace.space(name)
    except RagloomError as error:
        yield Diagnosis(area=area, name="space", state="failed", said=str(error))
        return
    with space:
        yield from _tried(area, "model", lambda: _model(space))
        yield from _tried(area, "index", lambda: _index(space))
        if space.generation:
            yield from _tried(area, "store", lambda: _store(space))


def _tried(area: str, name: str, look: Callable[[], tuple[State, str, str]]) -> Iterator[Diagnosis]:
    """A finding, or the error that it ended in, with the fix that this kind of error has."""
    try:
        state, said, fix = look()
    except StoreLockedError as error:
        state, said, fix = "warning", str(error), "wait for the other process, or end it"
    except MissingDependencyError as error:
        state, said, fix = "failed", str(error), f"pip install '{error.extra}'"
    except SourceError as error:
        state, said, fix = "failed", str(error), _NO_SOURCE
    except RagloomError as error:
        state, said = "failed", str(error)
        fix = (
            "ragloom repair" if name != "model" else "see what the message names; 'ragloom config'"
        )
    yield Diagnosis(area=area, name=name, state=state, said=said, fix=fix)


def _model(space: Space) -> tuple[State, str, str]:
    embedder = space.embedder
    started = time.perf_counter()
    embedder.embed_query("one text")
    taken = 1000 * (time.perf_counter() - started)
    name = space.settings.embedder.name
    reads = f"{embedder.dimension} dimensions, {counted(embedder.max_tokens, 'token')}"
    said = f"{name}, {reads}, {taken:.0f} ms a query"
    if embedder.calibration is None and space.calibration() is None:
        return "warning", f"{said}; no calibration", f"ragloom calibrate --space {space.name}"
    return "ok", said, ""


def _index(space: Space) -> tuple[State, str, str]:
    index = f"ragloom index --space {space.name}"
    files_are_here = space.settings.check_files and space.settings.read == "local"
    if not space.generation:
        if files_are_here:
            space.roots()  # raises where an index run would
        return "warning", "nothing is indexed yet", "ragloom index"
    snapshot = space.snapshot()
    snapshot.check()
    status = space.status(changes=files_are_here)
    held = f"{counted(status.chunks, 'chunk')} of {counted(status.files, 'file')}"
    said = f"{held}, {size(status.bytes)}, whole"
    if snapshot.meta.embedder != space.embedder.fingerprint:
        return "failed", f"{said}, of another model", index
    if len(snapshot.pending):
        return (
            "warning",
            f"{said}; {counted(len(snapshot.pending), 'chunk')} without a vector",
            index,
        )
    drift = status.drift
    if drift is not None and (drift.added or drift.changed or drift.removed):
        counts = f"{drift.added} not indexed, {drift.changed} changed, {drift.removed} deleted"
        why = "; the run names those that cannot be indexed" if drift.added else ""
        return "warning", f"{said}; files: {counts}{why}", index
    return "ok", f"{said}, up to date", ""


def _store(space: Space) -> tuple[State, str, str]:
    name, snapshot = space.settings.store.name, space.snapshot()
    files, repair = space.directory / "store", f"ragloom repair --space {space.name}"
    store = space.new_store()
    if not files.is_dir() and not isinstance(store, SearchableStore):
        return "warning", f"{name}: {files} is missing; searches need none", repair
    store.open(space=space.name, dimension=snapshot.meta.dimension, directory=files)
    try:
        held = store.count()
    finally:
        store.close()
    whole = len(snapshot)
    shared = isinstance(store, SearchableStore)  # other machines may write to it
    if held != whole and not shared:
        said = f"{name} holds {counted(held, 'chunk')}, the index {whole}"
        return "warning", said, repair
    return "ok", f"{name}, {counted(held, 'chunk')}", ""
