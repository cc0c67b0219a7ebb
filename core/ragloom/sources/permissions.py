"""What settings ask for beyond the workspace: paths outside, services, code and models.

A field of a section, or of a component's options, declares what its text names by its metadata:
``field(default="", metadata={"names": "files"})``. Text that is not declared needs trust, unless it is the
default, one of a few choices, or a single word of letters, digits, ``_`` and ``-``.
"""

from __future__ import annotations

import os
import re
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args, get_origin, get_type_hints

from ragloom.config.component import COMPONENTS, ENVIRONMENT, NONE, Component
from ragloom.config.options import parse
from ragloom.config.settings import Settings, SpaceSettings
from ragloom.errors import ConfigError
from ragloom.hookspecs import Provider
from ragloom.plugin.host import PluginHost
from ragloom.sources.roots import fixed_part
from ragloom.sources.trust import Trust
from ragloom.types import Permission

Names: TypeAlias = Literal["nothing", "files", "output", "model", "service", "code"]
"""What a text names: nothing beyond itself; paths that are read, or a path that is written, relative to the
workspace; a model that is bundled, in a folder, or on a hub; a host or database; an object of Python."""

_WORD = re.compile(r"\w[\w-]*")
"""Undeclared text that names no path, address or command with arguments."""

_WITH_ARTICLE = {
    "embedder": "an embedder",
    "store": "a store",
    "reranker": "a reranker",
    "runner": "a runner",
}
"""The kinds of component that see every text of an index."""

_Found: TypeAlias = tuple[str, str, str, str]
"""A key, the text there, why it needs trust, and the path that it resolves to."""

_CLOSED = (bool, int, float, types.NoneType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Finds what the settings of one workspace ask for.

    Attributes:
        trust: What its user has granted.
        host: The plugins, which declare what settings name.
        output: The folder in which files may be written.
    """

    trust: Trust
    host: PluginHost
    output: Path

    def of_settings(self, settings: Settings) -> list[Permission]:
        """What ``ragloom.yaml`` asks for, and the links that stand at default paths."""
        found: dict[tuple[str, str, str], Permission] = {}
        spaces = {"": settings.defaults}
        spaces |= {f"spaces.{name}.": space for name, space in settings.spaces.items()}
        for prefix, space in spaces.items():
            for one in self._of_space(prefix, space, settings):
                found.setdefault((one.key, one.value, one.place), one)
        for name, section in settings.sections.items():
            for one in self._of_section(name, section, settings):
                found.setdefault((one.key, one.value, one.place), one)
        return list(found.values())

    def of_component(self, kind: str, component: Component, key: str) -> Iterator[Permission]:
        """What a component asks for: by its name, and by its options.

        Args:
            kind: Such as ``store``.
            component: As settings name it.
            key: That of the settings.
        """
        own = component.places.get("", "")
        provider, options = self.host.provider_of(kind, component.name, component.options)
        if provider is None and component.name != NONE:
            return  # nobody can make it
        if provider and kind in _WITH_ARTICLE and not provider.local:
            reason = f"{_WITH_ARTICLE[kind]} that may send texts to a service"
            yield Permission(key=key, value=component.name, place=own, reason=reason)
        found = self._asked(options) if provider is None else self._options(provider, options)
        for inner, text, reason, target in found:
            name, _, rest = inner.partition(".")
            name = rest.partition(".")[0] if name == "options" and rest else name  # of a family
            place = component.places.get(name, own)
            whole = _without_number(f"{key}.{inner}")
            yield Permission(key=whole, value=text, place=place, reason=reason, target=target)

    def of_files(
        self,
        key: str,
        paths: Sequence[str],
        place: str,
        *,
        base: Path | None = None,
    ) -> Iterator[Permission]:
        """Those of the files, folders and globs that lead outside.

        Args:
            key: That of the settings.
            paths: As they were written.
            place: Where.
            base: What they are relative to; the workspace's folder by default. One that lies outside of
                it has been asked for by itself.
        """
        root = self.trust.root
        base = root if base is None else Path(os.path.realpath(base))
        for path in paths:
            if found := _outside(path, base, root if base.is_relative_to(root) else base):
                reason, target = found
                yield Permission(key=key, value=path, place=place, reason=reason, target=target)

    def of_output(self, key: str, path: str, place: str) -> Iterator[Permission]:
        """The path, if it may not be written."""
        if path and (found := self._reason(path, "output")):
            reason, target = found
            yield Permission(key=key, value=path, place=place, reason=reason, target=target)

    def _of_space(
        self, prefix: str, space: SpaceSettings, settings: Settings
    ) -> Iterator[Permission]:
        def written(key: str) -> str:
            """The key under which a setting was written: a variable goes before a space's own."""
            own = f"{prefix}{key}"
            inherits = settings.origin(key).startswith(ENVIRONMENT) or own not in settings.origins
            return key if inherits else own

        key = written("sources")
        yield from self.of_files(key, space.sources, settings.origin(key))
        for kind in COMPONENTS:
            yield from self.of_component(kind, getattr(space, kind), written(kind))
        for kind in ("loader", "chunker"):
            by_ending: Mapping[str, Component] = getattr(space, f"{kind}s")
            for ending, component in by_ending.items():
                yield from self.of_component(kind, component, f"{written(f'{kind}s')}{ending}")

    def _of_section(self, name: str, section: object, settings: Settings) -> Iterator[Permission]:
        for inner, text, reason, target in self._asked(section):
            key = f"{name}.{inner}"
            place = settings.origin(f"{name}.{inner.partition('.')[0]}")
            if not place.startswith(ENVIRONMENT):
                place = _nearest(key, settings.origins)
            whole = _without_number(key)
            yield Permission(key=whole, value=text, place=place, reason=reason, target=target)

    def _options(
        self, provider: Provider[object], options: Mapping[str, object]
    ) -> Iterator[_Found]:
        """What those options ask for that the component can be made with; others are an error then."""
        hints = get_type_hints(provider.options, include_extras=True)
        for known in fields(provider.options):
            if known.name in options and not _is_closed(hints[known.name]):
                with suppress(ConfigError):
                    value = parse(hints[known.name], options[known.name], part=known.name)
                    yield from self._field(known, value, known.name)

    def _field(self, known: Field[object], value: object, key: str) -> Iterator[_Found]:
        names: Names | None = known.metadata.get("names")
        if value != _default_of(known) or names in ("files", "output"):  # which may be a link
            yield from self._texts(value, names, key)

    def _asked(self, value: object, key: str = "") -> Iterator[_Found]:
        """What the fields of a dataclass, or undeclared values, ask for."""
        if not (is_dataclass(value) and not isinstance(value, type)):
            yield from self._texts(value, None, key)
            return
        hints = get_type_hints(type(value), include_extras=True)
        for known in fields(value):
            if not _is_closed(hints[known.name]):
                inner = f"{key}.{known.name}".lstrip(".")
                yield from self._field(known, getattr(value, known.name), inner)

    def _texts(self, value: object, names: Names | None, key: str) -> Iterator[_Found]:
        if is_dataclass(value) and not isinstance(value, type):
            yield from self._asked(value, key)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                yield from self._texts(inner, names, f"{key}.{name}".lstrip("."))
        elif isinstance(value, str | Path):
            if str(value) and (found := self._reason(str(value), names)):
                yield (key, str(value), *found)
        elif isinstance(value, Collection) and not isinstance(value, bytes):
            for number, inner in enumerate(value):
                yield from self._texts(inner, names, f"{key}.{number}".lstrip("."))

    def _reason(self, text: str, names: Names | None) -> tuple[str, str] | None:
        """Why a text needs trust, and the path that it resolves to; None where it needs none."""
        root = self.trust.root
        if names == "nothing":
            return None
        if names == "files":
            return _outside(text, root, root)
        if names == "output":
            if ":" in text:
                return "a service", ""
            found = _outside(text, root, self.output, strictly=True)
            return found and (f"a path to write outside {self.output.name}/", found[1])
        if names == "model":
            target = os.path.realpath(root / os.path.expanduser(text))
            inside = os.path.isdir(target) and not _outside(text, root, root)
            return None if inside else ("a model of a hub or outside the workspace", target)
        if names == "service":
            return "a service or database", ""
        if names == "code":
            return "Python code by its name", ""
        return None if _WORD.fullmatch(text) else ("text that its plugin does not declare", "")


def _without_number(key: str) -> str:
    """A key without the position in a list at its end."""
    return re.sub(r"(\.\d+)+$", "", key)


def _nearest(key: str, origins: Mapping[str, str]) -> str:
    """Where a key was written, or the one around it."""
    while key and key not in origins:
        key = key.rpartition(".")[0]
    return origins.get(key, "default")


def _outside(
    path: str, base: Path, allowed: Path, *, strictly: bool = False
) -> tuple[str, str] | None:
    """Why a path needs trust, and what it resolves to; ``strictly`` where the folder itself is none."""
    whole = base / os.path.expanduser(path)
    # A glob is walked from its fixed part; where no glob is meant, the whole is the path.
    for real in (fixed_part(path, base)[0], Path(os.path.realpath(whole))):
        if not real.is_relative_to(allowed) or (strictly and real == allowed):
            linked = Path(os.path.abspath(whole)).is_relative_to(allowed)
            return ("a link to outside" if linked else "a path outside the workspace"), str(real)
    return None


def _default_of(known: Field[object]) -> object:
    if known.default is not MISSING:
        return known.default
    return known.default_factory() if known.default_factory is not MISSING else MISSING


def _is_closed(hint: object) -> bool:
    """Whether a type holds no text but that of a few choices."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_closed(arguments[0])
    if origin is Literal or hint is Ellipsis:
        return True
    if arguments:
        return all(_is_closed(argument) for argument in arguments)
    return hint in _CLOSED or (isinstance(hint, type) and issubclass(hint, Enum))
