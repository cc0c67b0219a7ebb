"""What is known of a plugin: what it offers, and why it does not load."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import Distribution
from typing import Literal, TypeAlias

from ragloom.errors import RagloomError
from ragloom.plugin.registry import Offer, missing_modules

Status: TypeAlias = Literal["loaded", "failed", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingExtra:
    """A component that is offered and cannot be made, because a package is not installed.

    Attributes:
        part: The component, such as ``embedder 'onnx'``.
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
        provides: Kind (``loaders``, ``embedders``, ``settings``, …) to names, both sorted. A plugin that
            keeps spaces has its own name under ``spaces``, one that follows events theirs under ``events``.
        error: Why it failed, in one line.
        missing: Components that need a package which is not installed.
    """

    name: str
    distribution: str = ""
    version: str = ""
    status: Status = "loaded"
    provides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    error: str = ""
    missing: tuple[MissingExtra, ...] = ()


@dataclass(slots=True, kw_only=True)
class Plugin:
    """One plugin that was found, as the host keeps it.

    Attributes:
        name: Its entry point.
        distribution: The package that brought it.
        status: Whether it is loaded.
        module: What was registered.
        hooks: Those that it implements.
        offers: Its components.
        named: Kind (``commands``, ``evaluations``, ``settings``) to what it offers by name.
        sections: Names of its sections, of a plugin that failed, too.
        declared: Its hook ``ragloom_settings`` was called.
        cause: Why it failed.
    """

    name: str
    distribution: Distribution | None = None
    status: Status = "loaded"
    module: object = None
    hooks: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    named: dict[str, Mapping[str, object]] = field(default_factory=dict)
    sections: frozenset[str] = frozenset()
    declared: bool = False
    cause: BaseException | None = None

    @property
    def brought_by(self) -> tuple[str, str]:
        """Name and version of its distribution; empty where it was registered by hand."""
        return _name_and_version(self.distribution) if self.distribution else ("", "")

    @property
    def owner(self) -> str:
        """``plugin 'onnx' (ragloom 0.1.0)``."""
        if self.distribution is None:
            return f"plugin {self.name!r}"
        return f"plugin {self.name!r} ({' '.join(self.brought_by)})"

    @property
    def error(self) -> str:
        """Why it failed, in one line."""
        return reason(self.cause) if self.cause else ""

    def fail(self, error: BaseException) -> None:
        """Take back all that it offers."""
        self.sections = frozenset(self.named.get("settings", ()))
        self.status, self.cause = "failed", error
        self.hooks, self.offers, self.named = (), (), {}

    def info(self) -> PluginInfo:
        """What ``ragloom plugins`` shows."""
        provides: dict[str, list[str]] = {
            kind: list(one) for kind, one in self.named.items() if one
        }
        missing: list[MissingExtra] = []
        for offer in self.offers:
            provides.setdefault(offer.kind, []).append(offer.provider.name)
            if modules := missing_modules(offer.provider):
                extra = offer.provider.extra or " ".join(modules)
                missing.append(MissingExtra(part=offer.label, modules=modules, extra=extra))
        if "ragloom_spaces" in self.hooks:
            provides["spaces"] = [self.name]
        if events := [hook for hook in self.hooks if hook.endswith("_finished")]:
            provides["events"] = [hook.removeprefix("ragloom_") for hook in events]
        distribution, version = self.brought_by
        return PluginInfo(
            name=self.name,
            distribution=distribution,
            version=version,
            status=self.status,
            provides={kind: tuple(sorted(names)) for kind, names in sorted(provides.items())},
            error=self.error,
            missing=tuple(missing),
        )


@cache
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    """Each property of a distribution parses all of its metadata, of which a README is a part."""
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


def reason(error: BaseException) -> str:
    """What went wrong, in one line; of any error but ragloom's own with its type."""
    said = " ".join(str(error).split())
    if isinstance(error, RagloomError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def told(absent: Iterable[Plugin]) -> str:
    """Which plugins that are not loaded may provide something, to end a message."""
    return "".join(
        f"; {one.owner}, which may provide it, {f'failed: {one.error}' if one.error else 'is disabled'}"
        for one in absent
    )


@contextmanager
def isolated(plugin: Plugin, hook: str) -> Iterator[None]:
    """Make a warning of whatever a hook raises: a plugin breaks no run and no search."""
    try:
        yield
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        logging.getLogger("ragloom").warning("%s: %s failed: %s", plugin.owner, hook, reason(error))
