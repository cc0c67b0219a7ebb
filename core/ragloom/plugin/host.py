"""The plugin host: finds plugins, asks each what it offers, and makes the parts that are wanted.

A plugin that fails is set aside with its reason, and everything else goes on: this module and the
edge of the command line are the only places where any exception at all is caught.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import Distribution, entry_points
from typing import Literal, TypeAlias, TypeVar, cast

import pluggy

from ragloom import hookspecs
from ragloom.config.options import build
from ragloom.config.spelling import did_you_mean
from ragloom.errors import ConfigError, MissingDependencyError, PluginError, RagloomError
from ragloom.hookspecs import PROJECT, CommandSpec, EvaluationSpec, Provider
from ragloom.plugin.registry import (
    PROTOCOLS,
    Kind,
    Offer,
    Registry,
    lacking,
    missing_modules,
    offer_from,
)
from ragloom.protocols import Chunker, Embedder, Formatter, Loader, Reranker, Store

Status: TypeAlias = Literal["loaded", "failed", "disabled"]

DISABLED_PLUGINS = "RAGLOOM_DISABLED_PLUGINS"
"""The environment variable with the names of plugins to leave out, separated by commas."""

S = TypeVar("S", CommandSpec, EvaluationSpec)

_COMMANDS = "ragloom_commands"
_EVALUATIONS = "ragloom_evaluations"
_log = logging.getLogger("ragloom")
_trace = logging.getLogger("ragloom.hooks")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingExtra:
    """A part that is offered and cannot be made, because a package is not installed.

    Attributes:
        part: Such as ``embedder 'onnx'``.
        modules: What cannot be imported.
        extra: What to give to pip, such as ``ragloom[onnx]``.
    """

    part: str
    modules: tuple[str, ...]
    extra: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """One plugin, as ``ragloom plugins`` shows it.

    Attributes:
        name: Its entry point; what ``RAGLOOM_DISABLED_PLUGINS`` takes.
        distribution: The installed package that brought it; empty for one registered by hand.
        version: Of that package.
        status: ``loaded``, ``failed`` or ``disabled``.
        provides: Kind (``loaders``, ``embedders``, …) to the names of its parts, both sorted.
        error: Why it failed, in one line.
        missing: Parts that need a package which is not installed.
    """

    name: str
    distribution: str = ""
    version: str = ""
    status: Status = "loaded"
    provides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    error: str = ""
    missing: tuple[MissingExtra, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Plugin:
    name: str
    distribution: Distribution | None = None
    status: Status = "loaded"
    parts: tuple[Offer, ...] = ()
    commands: Mapping[str, CommandSpec] = field(default_factory=dict)
    evaluations: Mapping[str, EvaluationSpec] = field(default_factory=dict)
    cause: BaseException | None = None

    @property
    def owner(self) -> str:
        if self.distribution is None:
            return f"plugin {self.name!r}"
        return f"plugin {self.name!r} ({self.distribution.name} {self.distribution.version})"

    @property
    def error(self) -> str:
        return _reason(self.cause) if self.cause else ""


class PluginHost:
    """The plugins of one process, and every part that they offer.

    There is no global one: it is built once and passed to whatever needs it.

    Args:
        plugins: Name to module or object, registered in this order.
        trace_hooks: Log every hook call, its plugin and what came back, to the logger
            ``ragloom.hooks`` at level INFO.
    """

    def __init__(
        self, plugins: Mapping[str, object] | None = None, *, trace_hooks: bool = False
    ) -> None:
        self._pm = pluggy.PluginManager(PROJECT)
        self._pm.add_hookspecs(hookspecs)
        if trace_hooks:
            self._pm.add_hookcall_monitoring(_trace_call, _trace_result)
        self._registry = Registry()
        self._plugins: list[_Plugin] = []
        for name, plugin in (plugins or {}).items():
            self._admit(_Plugin(name=name), partial(_itself, plugin))

    @classmethod
    def discover(
        cls, *, disabled: Collection[str] | None = None, trace_hooks: bool = False
    ) -> PluginHost:
        """The host of every installed plugin: entry points of the group ``ragloom``, by name.

        A plugin that fails is one warning in the logger ``ragloom`` and an entry in
        :meth:`plugins`; it never raises here.

        Args:
            disabled: Names of plugins to leave out, without importing them; None for those in
                ``RAGLOOM_DISABLED_PLUGINS``.
            trace_hooks: As in the constructor.
        """
        if disabled is None:
            named = os.environ.get(DISABLED_PLUGINS, "").split(",")
            disabled = {name.strip() for name in named} - {""}
        host = cls(trace_hooks=trace_hooks)
        found = sorted(entry_points(group=PROJECT), key=lambda point: (point.name, point.value))
        for point in found:
            plugin = _Plugin(name=point.name, distribution=point.dist)
            if point.name in disabled:
                plugin.status = "disabled"
                host._plugins.append(plugin)
            else:
                host._admit(plugin, point.load)
        names = {point.name for point in found}
        for name in sorted(set(disabled) - names):
            _log.warning("no plugin is called %r%s", name, did_you_mean(name, names))
        return host

    def plugins(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, loaded or not, in the order of their names."""
        return tuple(_described(plugin) for plugin in self._plugins)

    def providers(self, kind: Kind) -> Mapping[str, Provider[object]]:
        """The providers of a kind by name, sorted. Makes none of the parts."""
        return {part.provider.name: part.provider for part in self._registry.parts(kind)}

    def loaders(
        self, options: Mapping[str, Mapping[str, object]] | None = None
    ) -> Mapping[str, Loader]:
        """Every loader that can be made, by name: those of other distributions first, then ours.

        So where two read the same ending, the one that somebody installed for it is taken.

        A loader that has no options here and cannot be made is left out: silently when a package
        is missing (``ragloom plugins`` says so) or it needs settings, with a warning when it fails.

        Args:
            options: Settings by the name of the loader.

        Raises:
            As :meth:`chunker`, for the loaders named in ``options``.
        """
        options = options or {}
        loaders = {name: self.loader(name, settings) for name, settings in options.items()}
        for name in self._registry.names("loaders"):
            if name not in loaders:
                try:
                    loaders[name] = self.loader(name)
                except (ConfigError, MissingDependencyError):
                    continue
                except RagloomError as error:
                    _log.warning("the loader %r is left out: %s", name, error)
        foreign = {
            part.provider.name
            for plugin in self._plugins
            if plugin.distribution is not None and plugin.distribution.name != PROJECT
            for part in plugin.parts
            if part.kind == "loaders"
        }
        return dict(sorted(loaders.items(), key=lambda item: (item[0] not in foreign, item[0])))

    def loader(self, name: str, options: Mapping[str, object] | None = None) -> Loader:
        """Make a loader; as :meth:`chunker`."""
        return cast("Loader", self._make("loaders", name, options))

    def chunker(self, name: str, options: Mapping[str, object] | None = None) -> Chunker:
        """Make a chunker.

        Args:
            name: As in settings.
            options: Its settings; strings, as they come from the environment, become numbers,
                booleans and lists as the provider's options say.

        Raises:
            ConfigError: A setting is unknown or of the wrong type.
            MissingDependencyError: A package that it needs is not installed.
            PluginError: Nobody provides the name, or its plugin failed.
        """
        return cast("Chunker", self._make("chunkers", name, options))

    def embedder(self, name: str, options: Mapping[str, object] | None = None) -> Embedder:
        """Make an embedder; as :meth:`chunker`."""
        return cast("Embedder", self._make("embedders", name, options))

    def store(self, name: str, options: Mapping[str, object] | None = None) -> Store:
        """Make a store; as :meth:`chunker`."""
        return cast("Store", self._make("stores", name, options))

    def reranker(self, name: str, options: Mapping[str, object] | None = None) -> Reranker:
        """Make a reranker; as :meth:`chunker`."""
        return cast("Reranker", self._make("rerankers", name, options))

    def formatter(self, name: str, options: Mapping[str, object] | None = None) -> Formatter:
        """Make a formatter; as :meth:`chunker`."""
        return cast("Formatter", self._make("formatters", name, options))

    def commands(self) -> Mapping[str, CommandSpec]:
        """The commands of all plugins by name, sorted. Imports none of them."""
        return _sorted(map(_commands, self._plugins))

    def evaluations(self) -> Mapping[str, EvaluationSpec]:
        """What plugins can measure, by the file that tells it, sorted. Imports none of it."""
        return _sorted(map(_evaluations, self._plugins))

    def _admit(self, plugin: _Plugin, load: Callable[[], object]) -> None:
        self._plugins.append(plugin)
        module: object = None
        try:
            self._refuse_namesake(plugin)
            module = load()
            self._register(module, plugin.name)
            plugin.parts = self._offered_by(module, plugin.owner)
            plugin.commands = self._specs_of(module, _COMMANDS, CommandSpec, _commands)
            plugin.evaluations = self._specs_of(module, _EVALUATIONS, EvaluationSpec, _evaluations)
            self._registry.add(plugin.parts)
        # A module that calls sys.exit() when imported must not end the program either.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            plugin.status, plugin.parts, plugin.cause = "failed", (), error
            plugin.commands, plugin.evaluations = {}, {}
            if module is not None and self._pm.get_plugin(plugin.name) is module:
                self._pm.unregister(module)
            _log.warning("%s failed and is skipped: %s", plugin.owner, plugin.error)

    def _refuse_namesake(self, plugin: _Plugin) -> None:
        for other in self._plugins:
            if other is not plugin and other.name == plugin.name:
                raise PluginError(f"{other.owner} has the same name")

    def _register(self, module: object, name: str) -> None:
        if self._pm.register(module, name) is None:
            raise PluginError("the entry point is None, not a module or an object")
        try:
            self._pm.check_pending()
        except pluggy.PluginValidationError as error:
            hooks = self._hooks_of(module)
            known = {_COMMANDS, _EVALUATIONS, *(f"ragloom_{kind}" for kind in PROTOCOLS)}
            wrong = next(hook for hook in hooks if hook not in known)
            raise PluginError(f"unknown hook {wrong!r}{did_you_mean(wrong, known)}") from error
        if not self._hooks_of(module):
            raise PluginError("it implements no hook; mark its functions with @ragloom.hookimpl")

    def _hooks_of(self, module: object) -> list[str]:
        return [caller.name for caller in self._pm.get_hookcallers(module) or ()]

    def _offered_by(self, module: object, owner: str) -> tuple[Offer, ...]:
        others = self._pm.get_plugins() - {module}
        hooks = self._hooks_of(module)
        parts: list[Offer] = []
        for kind in PROTOCOLS:
            hook = f"ragloom_{kind}"
            if hook not in hooks:
                continue
            # Of this plugin alone, so that a failure has an owner.
            results = self._pm.subset_hook_caller(hook, remove_plugins=others)()
            if not results:
                raise PluginError(f"{hook} returned None, not an iterable of Providers")
            for offered in cast("Iterable[Iterable[object]]", results):
                parts.extend(offer_from(kind, provider, owner) for provider in offered)
        return tuple(parts)

    def _specs_of(
        self,
        module: object,
        hook: str,
        spec_type: type[S],
        offered_by: Callable[[_Plugin], Mapping[str, S]],
    ) -> Mapping[str, S]:
        """What a hook offers by name; ``offered_by`` says what another plugin does."""
        if hook not in self._hooks_of(module):
            return {}
        others = self._pm.get_plugins() - {module}
        results = self._pm.subset_hook_caller(hook, remove_plugins=others)()
        offered = {name: spec for result in results for name, spec in result.items()}
        for name, spec in offered.items():
            if not isinstance(spec, spec_type):
                raise PluginError(
                    f"{hook} must map {name!r} to a {spec_type.__name__}, not {spec!r}"
                )
            for other in self._plugins:
                if name in offered_by(other):
                    kind = hook.removeprefix("ragloom_").removesuffix("s")
                    raise PluginError(f"the {kind} {name!r} belongs to {other.owner}")
        return offered

    def _make(self, kind: Kind, name: str, options: Mapping[str, object] | None) -> object:
        part, options = self._registry.find_member(kind, name, options or {})
        if part is None:
            raise self._unknown(kind, name)
        provider = part.provider
        arguments = build(provider.options, options, part=part.label)
        for module in missing_modules(provider):
            raise MissingDependencyError(module, provider.extra or module, f"the {part.label}")
        try:
            made = provider.create(arguments)
        except RagloomError:
            raise
        except Exception as error:
            raise PluginError(
                f"{part.owner} could not make the {part.label}: {_reason(error)}"
            ) from error
        if absent := lacking(part, made):
            raise PluginError(
                f"the {part.label} of {part.owner} lacks {absent}; "
                f"see ragloom.{PROTOCOLS[kind].__name__}"
            )
        return made

    def _unknown(self, kind: Kind, name: str) -> PluginError:
        absent = [plugin for plugin in self._plugins if plugin.status != "loaded"]
        namesake = [plugin for plugin in absent if plugin.name == name]
        message = self._registry.unknown(kind, name)
        # A plugin of that name is the likely cause, then a slip of the pen, then any of them.
        absent = namesake or ([] if message.endswith("?") else absent)
        for plugin in absent:
            why = f"failed: {plugin.error}" if plugin.error else "is disabled"
            message += f"; {plugin.owner}, which may provide it, {why}"
        error = PluginError(message)
        error.__cause__ = next((plugin.cause for plugin in absent if plugin.cause), None)
        return error


def _commands(plugin: _Plugin) -> Mapping[str, CommandSpec]:
    return plugin.commands


def _evaluations(plugin: _Plugin) -> Mapping[str, EvaluationSpec]:
    return plugin.evaluations


def _sorted(offered: Iterable[Mapping[str, S]]) -> Mapping[str, S]:
    together = {name: spec for specs in offered for name, spec in specs.items()}
    return {name: together[name] for name in sorted(together)}


def _itself(plugin: object) -> object:
    return plugin


def _described(plugin: _Plugin) -> PluginInfo:
    provides: dict[str, list[str]] = {}
    missing: list[MissingExtra] = []
    for part in plugin.parts:
        provides.setdefault(part.kind, []).append(part.provider.name)
        if modules := missing_modules(part.provider):
            extra = part.provider.extra or " ".join(modules)
            missing.append(MissingExtra(part=part.label, modules=modules, extra=extra))
    if plugin.commands:
        provides["commands"] = list(plugin.commands)
    if plugin.evaluations:
        provides["evaluations"] = list(plugin.evaluations)
    return PluginInfo(
        name=plugin.name,
        distribution=plugin.distribution.name if plugin.distribution else "",
        version=plugin.distribution.version if plugin.distribution else "",
        status=plugin.status,
        provides={kind: tuple(sorted(names)) for kind, names in sorted(provides.items())},
        error=plugin.error,
        missing=tuple(missing),
    )


def _reason(error: BaseException) -> str:
    said = " ".join(str(error).split())
    if isinstance(error, RagloomError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _trace_call(
    hook: str, impls: Iterable[pluggy.HookImpl], arguments: Mapping[str, object]
) -> None:
    plugins = ", ".join(impl.plugin_name for impl in impls)
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    _trace.info("%s(%s) -> %s", hook, given, plugins)


def _trace_result(
    outcome: pluggy.Result[object],
    hook: str,
    impls: Iterable[pluggy.HookImpl],  # noqa: ARG001 - pluggy's signature
    arguments: Mapping[str, object],  # noqa: ARG001
) -> None:
    if outcome.exception is not None:
        _trace.info("%s raised %s", hook, _reason(outcome.exception))
    else:
        _trace.info("%s returned %r", hook, outcome.get_result())
