"""The plugin host: finds plugins, registers what each offers, and makes components.

A plugin that fails is skipped with its reason, and everything else works: this module and the edge of the
command line are the only places where any exception at all is caught.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from itertools import chain
from typing import cast

import pluggy

from ragloom import hookspecs
from ragloom.config.options import build
from ragloom.config.spelling import did_you_mean, unknown
from ragloom.errors import ConfigError, MissingDependencyError, PluginError, RagloomError
from ragloom.hookspecs import PROJECT, CommandSpec, EvaluationSpec, Provider
from ragloom.plugin.info import Plugin, PluginInfo, isolated, reason, told
from ragloom.plugin.output import stdout_kept
from ragloom.plugin.registry import (
    OWN_SETTINGS,
    PROTOCOLS,
    Kind,
    Offer,
    Registry,
    check_section,
    lacking,
    missing_modules,
    offer_from,
)
from ragloom.plugin.tracing import trace_call, trace_result
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

DISABLED_PLUGINS = "RAGLOOM_DISABLED_PLUGINS"
"""The environment variable with the names of plugins to disable, separated by commas."""

_NAMED: Mapping[str, type] = {
    "commands": CommandSpec,
    "evaluations": EvaluationSpec,
}
"""Kinds of what a hook ``ragloom_<kind>`` offers by name, and what stands under the name."""

_HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("ragloom_"))
_log = logging.getLogger("ragloom")


class PluginHost:
    """The plugins of one process, and every component that they offer.

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
            self._pm.add_hookcall_monitoring(trace_call, trace_result)
        self._registry = Registry()
        self._plugins: list[Plugin] = []
        for name, plugin in (plugins or {}).items():
            self._admit(Plugin(name=name, module=plugin))

    @classmethod
    def discover(
        cls, *, disabled: Collection[str] | None = None, trace_hooks: bool = False
    ) -> PluginHost:
        """The host of every installed plugin: entry points of the group ``ragloom``, by name.

        A plugin that fails is one warning in the logger ``ragloom`` and an entry in :meth:`plugins`.

        Args:
            disabled: Names of plugins to skip, without importing them; None for those in
                ``RAGLOOM_DISABLED_PLUGINS``.
            trace_hooks: As in the constructor.
        """
        if disabled is None:
            named = os.environ.get(DISABLED_PLUGINS, "").split(",")
            disabled = {name.strip() for name in named} - {""}
        host = cls(trace_hooks=trace_hooks)
        found = sorted(entry_points(group=PROJECT), key=lambda point: (point.name, point.value))
        for point in found:
            plugin = Plugin(name=point.name, distribution=point.dist)
            if point.name in disabled:
                plugin.status = "disabled"
                host._plugins.append(plugin)
            else:
                host._admit(plugin, point.load)
        names = {point.name for point in found}
        for name in sorted(set(disabled) - names):
            _log.warning("%s: %s", DISABLED_PLUGINS, unknown("plugin", name, sorted(names)))
        return host

    def plugins(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, loaded or not, in the order of their names."""
        self._declare_sections()
        return tuple(plugin.info() for plugin in self._plugins)

    def providers(self, kind: Kind) -> Mapping[str, Provider[object]]:
        """The providers of a kind by name, sorted. Makes none of them."""
        return {one.provider.name: one.provider for one in self._registry.offers(kind)}

    def provider_of(
        self, kind: str, name: str, options: Mapping[str, object] | None = None
    ) -> tuple[Provider[object] | None, Mapping[str, object]]:
        """Who makes a ``store`` or the like, or None; and its options as that provider takes them."""
        offer, known = self._registry.find_member(cast("Kind", f"{kind}s"), name, options or {})
        return offer.provider if offer else None, known

    def loaders(
        self, options: Mapping[str, Mapping[str, object]] | None = None
    ) -> Mapping[str, Loader]:
        """Every loader that can be made, by name: those of other distributions first, then ours.

        So where two read the same ending, the one that somebody installed for it is taken.

        A loader that has no options here and cannot be made is skipped: silently when a package
        is missing (``ragloom plugins`` says so) or it needs settings, with a warning when it fails.

        Args:
            options: Settings by the name of the loader.

        Raises:
            As :meth:`chunker`, for the loaders named in ``options``.
        """
        loaders = {name: self.loader(name, chosen) for name, chosen in (options or {}).items()}
        for name in self._registry.names("loaders"):
            if name not in loaders:
                try:
                    loaders[name] = self.loader(name)
                except (ConfigError, MissingDependencyError):
                    continue
                except RagloomError as error:
                    _log.warning("loader %r skipped: %s", name, error)
        foreign = {
            part.provider.name
            for plugin in self._plugins
            if plugin.distribution is not None and plugin.brought_by[0] != PROJECT
            for part in plugin.offers
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
            options: Its settings; strings become numbers, booleans and lists as its options say.

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

    def runner(self, name: str, options: Mapping[str, object] | None = None) -> Runner:
        """Make a runner; as :meth:`chunker`."""
        return cast("Runner", self._make("runners", name, options))

    def formatter(self, name: str, options: Mapping[str, object] | None = None) -> Formatter:
        """Make a formatter; as :meth:`chunker`."""
        return cast("Formatter", self._make("formatters", name, options))

    def commands(self) -> Mapping[str, CommandSpec]:
        """The commands of all plugins by name, sorted. Imports none of them."""
        return cast("Mapping[str, CommandSpec]", self._all_named("commands"))

    def evaluations(self) -> Mapping[str, EvaluationSpec]:
        """What plugins can measure, by the file that tells it, sorted. Imports none of it."""
        return cast("Mapping[str, EvaluationSpec]", self._all_named("evaluations"))

    def sections(self) -> Mapping[str, type]:
        """The sections of settings that plugins declare, by top-level key, sorted."""
        self._declare_sections()
        return cast("Mapping[str, type]", self._all_named("settings"))

    def absent(self, name: str) -> str:
        """Which plugin that is not loaded may declare a section, to end a message; or nothing."""
        return told(
            self._absent(name, slip=bool(did_you_mean(name, {*OWN_SETTINGS, *self.sections()})))
        )

    def spaces(self, workspace: WorkspaceView) -> Mapping[str, Mapping[str, object]]:
        """The named spaces that plugins keep: plugin to name to space. One that fails is a warning."""
        found: dict[str, Mapping[str, object]] = {}
        for plugin in self._implementing("ragloom_spaces"):
            with isolated(plugin, "ragloom_spaces"):
                found[plugin.name] = self._spaces_of(plugin, workspace)
        return found

    def spaces_of(self, plugin: str, workspace: WorkspaceView) -> Mapping[str, object] | None:
        """The named spaces that one plugin keeps; None where it is not loaded.

        Raises:
            RagloomError: As raised by the plugin; any other error as a PluginError.
        """
        for one in self._implementing("ragloom_spaces"):
            if one.name == plugin:
                try:
                    return self._spaces_of(one, workspace)
                except RagloomError:
                    raise
                except Exception as error:
                    said = f"{one.owner}: ragloom_spaces failed: {reason(error)}"
                    raise PluginError(said) from error
        return None

    def permissions(self, workspace: WorkspaceView) -> list[Permission]:
        """What settings files of plugins' own ask for. A plugin that fails is a warning."""
        found: list[Permission] = []
        for plugin in self._implementing("ragloom_permissions"):
            with isolated(plugin, "ragloom_permissions"):
                for asked in self._call(plugin, "ragloom_permissions", workspace=workspace):
                    found += cast("Iterable[Permission]", asked)
        return found

    def finished(self, workspace: WorkspaceView, event: IndexFinished | SearchFinished) -> None:
        """Tell every plugin of a run or a search. One that fails is a warning."""
        searched = isinstance(event, SearchFinished)
        hook = "ragloom_search_finished" if searched else "ragloom_index_finished"
        for plugin in self._implementing(hook):
            with isolated(plugin, hook):
                self._call(plugin, hook, workspace=workspace, event=event)

    def _spaces_of(self, plugin: Plugin, workspace: WorkspaceView) -> Mapping[str, object]:
        (found,) = self._call(plugin, "ragloom_spaces", workspace=workspace) or [None]
        if not isinstance(found, Mapping):
            raise PluginError(f"{plugin.owner} returned no mapping of spaces")
        return found

    def _implementing(self, hook: str) -> Sequence[Plugin]:
        return [plugin for plugin in self._plugins if hook in plugin.hooks]

    def _call(self, plugin: Plugin, hook: str, **arguments: object) -> list[object]:
        """What a hook of this plugin alone returns, so that a failure has an owner."""
        if hook not in plugin.hooks:
            return []
        others = self._pm.get_plugins() - {plugin.module}
        return list(self._pm.subset_hook_caller(hook, remove_plugins=others)(**arguments))

    def _all_named(self, kind: str) -> Mapping[str, object]:
        offered = (plugin.named.get(kind, {}).items() for plugin in self._plugins)
        every = dict(chain.from_iterable(offered))
        return {name: every[name] for name in sorted(every)}

    def _refuse_namesake(self, plugin: Plugin) -> None:
        for other in self._plugins[:-1]:
            if other.name == plugin.name:
                raise PluginError(f"{other.owner} has the same name")

    def _admit(self, plugin: Plugin, load: Callable[[], object] | None = None) -> None:
        self._plugins.append(plugin)
        try:
            self._refuse_namesake(plugin)
            if load is not None:
                with stdout_kept():
                    plugin.module = load()
            self._register(plugin)
            for kind, wanted in _NAMED.items():
                self._take_named(plugin, kind, wanted)
            plugin.offers = self._offered_by(plugin)
            self._registry.add(plugin.offers)
        # A module that calls sys.exit() when imported must not end the program either.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            self._reject(plugin, error)

    def _reject(self, plugin: Plugin, error: BaseException) -> None:
        self._registry.remove(plugin.offers)
        plugin.fail(error)
        if plugin.module is not None and self._pm.get_plugin(plugin.name) is plugin.module:
            self._pm.unregister(plugin.module)
        _log.warning("%s failed and is skipped: %s", plugin.owner, plugin.error)

    def _declare_sections(self) -> None:
        """Call ``ragloom_settings`` once: it imports modules that ``--help`` does without."""
        undeclared = [one for one in self._implementing("ragloom_settings") if not one.declared]
        for plugin in undeclared:
            plugin.declared = True
            try:
                self._take_named(plugin, "settings", type)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - as when it is admitted
                self._reject(plugin, error)

    def _register(self, plugin: Plugin) -> None:
        if self._pm.register(plugin.module, plugin.name) is None:
            raise PluginError("the entry point is None, not a module or an object")
        hooks = tuple(one.name for one in self._pm.get_hookcallers(plugin.module) or ())
        try:
            self._pm.check_pending()
        except pluggy.PluginValidationError as error:
            wrong = next(hook for hook in hooks if hook not in _HOOKS)
            raise PluginError(f"unknown hook {wrong!r}{did_you_mean(wrong, _HOOKS)}") from error
        if not hooks:
            raise PluginError("it implements no hook; mark its functions with @ragloom.hookimpl")
        plugin.hooks = hooks

    def _offered_by(self, plugin: Plugin) -> tuple[Offer, ...]:
        offers: list[Offer] = []
        owner = plugin.owner  # parses the metadata of its distribution
        for kind in PROTOCOLS:
            hook = f"ragloom_{kind}"
            results = self._call(plugin, hook)
            if hook in plugin.hooks and not results:
                raise PluginError(f"{hook} returned None, not an iterable of Providers")
            for offered in cast("Iterable[Iterable[object]]", results):
                offers.extend(offer_from(kind, one, owner) for one in offered)
        return tuple(offers)

    def _take_named(self, plugin: Plugin, kind: str, wanted: type) -> None:
        """Note what a hook offers by name; no other plugin offers it yet."""
        results = cast("list[Mapping[str, object]]", self._call(plugin, f"ragloom_{kind}"))
        offered = {name: one for result in results for name, one in result.items()}
        for name, one in offered.items():
            if kind == "settings":
                check_section(name, one)
            elif not isinstance(one, wanted):
                must = f"ragloom_{kind} must map {name!r} to a {wanted.__name__}"
                raise PluginError(f"{must}, not {one!r}")
            for other in self._plugins:
                if name in other.named.get(kind, {}):
                    what = "section" if kind == "settings" else kind.removesuffix("s")
                    raise PluginError(f"the {what} {name!r} belongs to {other.owner}")
        plugin.named[kind] = offered

    def _make(self, kind: Kind, name: str, options: Mapping[str, object] | None) -> object:
        part, options = self._registry.find_member(kind, name, options or {})
        if part is None:
            raise self._unknown(kind, name)
        provider = part.provider
        arguments = build(provider.options, options, part=part.label)
        for module in missing_modules(provider):
            raise MissingDependencyError(module, provider.extra or module, f"the {part.label}")
        try:
            with stdout_kept():
                made = provider.create(arguments)
        except RagloomError:
            raise
        except Exception as error:
            why = f"{part.owner} could not make the {part.label}: {reason(error)}"
            raise PluginError(why) from error
        if absent := lacking(part, made):
            raise PluginError(
                f"the {part.label} of {part.owner} lacks {absent}; "
                f"see ragloom.{PROTOCOLS[kind].__name__}"
            )
        return made

    def _unknown(self, kind: Kind, name: str) -> PluginError:
        message = self._registry.unknown(kind, name)
        # A plugin of that name is the likely cause, then a slip of the pen, then any of them.
        absent = self._absent(name, slip=message.endswith("?"))
        error = PluginError(message + told(absent))
        error.__cause__ = next((plugin.cause for plugin in absent if plugin.cause), None)
        return error

    def _absent(self, name: str, *, slip: bool) -> list[Plugin]:
        """Plugins that are not loaded and may offer ``name``: of that name, or all but for a ``slip``."""
        absent = [plugin for plugin in self._plugins if plugin.status != "loaded"]
        namesake = [one for one in absent if name == one.name or name in one.sections]
        return namesake or ([] if slip else absent)
