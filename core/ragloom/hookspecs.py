"""The contract between ragloom and its plugins: every hook, when it is called and what it returns.

A plugin is a module, or an object, under the entry-point group ``ragloom``. It implements the hooks
it wants, marked with :data:`hookimpl`, and nothing else is asked of it::

    from ragloom import Provider, hookimpl

    @hookimpl
    def ragloom_loaders():
        from ragloom_rst.loader import RstLoader
        return [Provider(name="rst", summary="reStructuredText", create=lambda _: RstLoader())]

Most hooks are called once, when a :class:`~ragloom.PluginHost` is built. They register; the work is done by
the objects that the providers make. Importing a plugin must load nothing heavy: import that in
``create`` or on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, overload

import pluggy

from ragloom.protocols import (
    Chunker,
    Embedder,
    Formatter,
    Loader,
    Reranker,
    Runner,
    Store,
    WorkspaceView,
)
from ragloom.reports import IndexFinished, SearchFinished
from ragloom.types import Permission

PROJECT = "ragloom"
"""The name under which pluggy knows the hooks, and the entry-point group of plugins."""

hookspec: pluggy.HookspecMarker = pluggy.HookspecMarker(PROJECT)
hookimpl: pluggy.HookimplMarker = pluggy.HookimplMarker(PROJECT)
"""Marks a function as the implementation of the hook of the same name."""

T_co = TypeVar("T_co", covariant=True)
Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOptions:
    """The options of a component that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Generic[T_co]):
    """A component that a plugin offers; a type checker sees whether ``create`` takes its ``options``.

    Attributes:
        name: How settings name it; unique among components of its kind. Where ``options`` has the fields
            ``part`` and ``options``, it stands for a family: ``name:X`` is ``name`` with ``part: X``, and
            settings that are no field of its own are in ``options``.
        summary: One line for ``ragloom plugins``.
        create: Makes the component from an instance of ``options``. Import what is heavy here.
        options: A frozen dataclass whose fields are the legal settings, with types and defaults.
        requires: Modules that ``create`` imports; where one is missing, ``ragloom plugins`` says so.
        extra: What to give to pip when one is missing, such as ``ragloom[onnx]``.
        endings: Of a loader that needs packages: the endings of the files that it reads, so that what to
            install can be said where one is missing.
        local: It keeps to this machine: without options it contacts no service, and reads and writes
            nothing outside the workspace and its state. An embedder, store or reranker that does not say
            so needs ``ragloom trust`` where a project's settings name it.
        deviations: Rules of :mod:`ragloom.testing` that the component knowingly breaks, by the name of the
            test, and why: ``ragloom plugins check`` expects them to fail then, and nothing else.
    """

    name: str
    summary: str
    create: Callable[..., T_co]
    options: type = NoOptions
    requires: tuple[str, ...] = ()
    extra: str = ""
    endings: tuple[str, ...] = ()
    local: bool = False
    deviations: Mapping[str, str] = field(default_factory=dict, hash=False)

    if TYPE_CHECKING:
        # Not a second parameter of the class: where the hook's return type leaves it open, as it must,
        # mypy would infer it from there and see no difference.
        @overload
        def __init__(
            self,
            *,
            name: str,
            summary: str,
            create: Callable[[NoOptions], T_co],
            requires: tuple[str, ...] = (),
            extra: str = "",
            endings: tuple[str, ...] = (),
            local: bool = False,
            deviations: Mapping[str, str] = ...,
        ) -> None: ...
        @overload
        def __init__(
            self,
            *,
            name: str,
            summary: str,
            create: Callable[[Options], T_co],
            options: type[Options],
            requires: tuple[str, ...] = (),
            extra: str = "",
            endings: tuple[str, ...] = (),
            local: bool = False,
            deviations: Mapping[str, str] = ...,
        ) -> None: ...
        def __init__(self, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command that need not be imported to be listed.

    Attributes:
        target: ``module:attribute`` of a :class:`click.Command`, imported only when it is run. Its
            ``ctx.obj`` is a :class:`ragloom.cli.Session`. A :class:`ragloom.cli.Command` or
            :class:`ragloom.cli.Group` takes the options that every command has after its name, too.
        summary: One line for the help of ``ragloom``.
    """

    target: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSpec:
    """How ``ragloom eval FOLDER`` measures a folder that holds a certain file.

    Attributes:
        target: ``module:function``, imported only when it is run. It is called with the
            :class:`~ragloom.Workspace`, the folder and ``progress=``, as :meth:`Space.index
            <ragloom.workspace.Space.index>` takes it, and returns a
            :class:`ragloom.Measurement`.
        summary: One line: what is measured.
        space: The name of the plugin's space, for ``ragloom calibrate --space``; empty for none.
        calibrated: ``module:function`` that is called with the workspace, and returns that space and the
            queries that it cannot answer.
    """

    target: str
    summary: str
    space: str = ""
    calibrated: str = ""


@hookspec
def ragloom_loaders() -> Iterable[Provider[Loader]]:  # type: ignore[empty-body]
    """Offer loaders: components that turn the bytes of a file into a document.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:  # type: ignore[empty-body]
    """Offer chunkers: components that split a document.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_embedders() -> Iterable[Provider[Embedder]]:  # type: ignore[empty-body]
    """Offer embedders: components that turn texts into vectors.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_stores() -> Iterable[Provider[Store]]:  # type: ignore[empty-body]
    """Offer stores: components that keep chunks and vectors.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_rerankers() -> Iterable[Provider[Reranker]]:  # type: ignore[empty-body]
    """Offer rerankers: components that read a query and a passage together and score them.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_runners() -> Iterable[Provider[Runner]]:  # type: ignore[empty-body]
    """Offer runners: components that work on the files of an index run, here or on other machines.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_formatters() -> Iterable[Provider[Formatter]]:  # type: ignore[empty-body]
    """Offer formatters: components that write a context as text.

    Called once when the host is built, without arguments. All results count. Since 0.1.
    """


@hookspec
def ragloom_commands() -> Mapping[str, CommandSpec]:  # type: ignore[empty-body]
    """Offer commands: ``ragloom NAME`` runs them. ``ragloom.cli`` has what they are made of.

    Called once when the host is built, without arguments. All results count; a name may be offered
    once, and no plugin replaces a command of ragloom's own. Since 0.1.
    """


@hookspec
def ragloom_evaluations() -> Mapping[str, EvaluationSpec]:  # type: ignore[empty-body]
    """Offer evaluations: the name of a file to what ``ragloom eval`` does with a folder that holds it.

    Called once when the host is built, without arguments. All results count; a name may be offered
    once, and a folder with a ``corpus.jsonl`` is ragloom's own. Since 0.1.
    """


@hookspec
def ragloom_settings() -> Mapping[str, type]:  # type: ignore[empty-body]
    """Declare sections of ``ragloom.yaml``: a top-level key to the frozen dataclass of its legal keys.

    Every field has a default; its type and a ``ValueError`` of ``__post_init__`` that names the field say
    what is legal. ``tuple[D, ...]`` of a dataclass ``D`` is a list of mappings. ``Workspace.section``
    returns the instance; variables such as ``RAGLOOM_MYPLUGIN_KEY`` go before the file, and
    ``ragloom config`` shows each value with its origin. All sections are checked when a workspace opens.

    Called once when the host is built, without arguments. All results count; a section has one owner, and
    none has the name of a setting of ragloom's own. Since 0.1.
    """


@hookspec
def ragloom_spaces(workspace: WorkspaceView) -> Mapping[str, object]:  # type: ignore[empty-body]
    """Offer spaces that the plugin keeps: a name to a :class:`~ragloom.Space`, for whoever serves spaces.

    Called with the :class:`~ragloom.Workspace` whenever somebody asks ``PluginHost.spaces``; a mapping may
    open a space when it is looked up. Every plugin's result stands under its name. What is raised is a
    warning that names the plugin. Since 0.1.
    """


@hookspec
def ragloom_permissions(workspace: WorkspaceView) -> Iterable[Permission]:  # type: ignore[empty-body]
    """Say what settings files of the plugin's own ask for beyond the workspace.

    Called with the :class:`~ragloom.Workspace` by ``ragloom trust``, which shows and grants it. A plugin
    that reads such a file passes the same permissions to ``Workspace.require`` before it uses them.
    Sections of ``ragloom.yaml`` need no hook: their fields declare what they name. All results count; what
    is raised is a warning that names the plugin. Since 0.1.
    """


@hookspec
def ragloom_index_finished(workspace: WorkspaceView, event: IndexFinished) -> None:
    """Follow index runs, repairs and verifications.

    Called with the :class:`~ragloom.Workspace` and the event after each that came to its end, changed or
    not. Nothing is returned; what is raised is a warning that names the plugin, and no run fails.
    Since 0.1.
    """


@hookspec
def ragloom_search_finished(workspace: WorkspaceView, event: SearchFinished) -> None:
    """Follow searches and contexts.

    Called with the :class:`~ragloom.Workspace` and the event after each, before it is returned. Nothing is
    returned; what is raised is a warning that names the plugin, and no search fails. Since 0.1.
    """
