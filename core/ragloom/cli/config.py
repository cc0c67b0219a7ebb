"""``ragloom config``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.secrets.redaction import HIDDEN, hide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragloom.config.settings import Settings, SpaceSettings
    from ragloom.plugin.host import PluginHost
    from ragloom.types import Json

_Private: TypeAlias = Callable[[str, object], Collection[str]]
_PRIVATE = re.compile(
    r"(?:^|_)(?:token|passw(?:or)?d|secret|(?:api_?|access_?)?key|credentials?)$", re.IGNORECASE
)
"""Names of options that hold a secret, where a plugin does not declare it with ``field(repr=False)``."""


@click.command(
    "config",
    cls=Command,
    epilog="""\b
Examples:
  ragloom config
  RAGLOOM_TOP_K=10 ragloom config
  ragloom config --json | jq '.[] | select(.origin != "default")'""",
)
@json_option
@click.pass_obj
def command(session: Session, *, as_json: bool) -> None:
    """Show every effective setting and its origin.

    Options of a command override variables such as RAGLOOM_TOP_K, which override ragloom.yaml,
    which overrides the defaults. Passwords and tokens are shown as ***.
    """
    from ragloom.config.settings import load_settings

    root, host = Path(os.path.realpath(session.folder)), session.host()
    config = Path(session.config) if session.config else None
    settings = load_settings(root, config=config, sections=host.sections(), absent=host.absent)
    beside = f"{root}{os.sep}"
    private = partial(_private_options, host)
    values = [
        (key, value, origin.removeprefix(beside))
        for key, value, origin in _values(settings, private)
    ]
    if as_json:
        print_json(
            [{"key": key, "value": value, "origin": origin} for key, value, origin in values]
        )
        return
    print_table(
        ("setting", "value", "from"),
        [(key, _shown(value), origin) for key, value, origin in values],
    )


def _values(settings: Settings, private: _Private) -> Iterator[tuple[str, Json, str]]:
    yield from _of(settings.defaults, settings, "", private)
    for name in sorted(settings.spaces):
        yield from _of(settings.spaces[name], settings, f"spaces.{name}.", private)
    for name, section in sorted(settings.sections.items()):
        if not is_dataclass(section):  # a list of them
            yield name, _plain(section), settings.origin(name)
            continue
        for known in fields(section):
            key = f"{name}.{known.name}"
            value = _option(known.name, getattr(section, known.name), _declared(type(section)))
            yield key, value, settings.origin(key)


def _of(
    space: SpaceSettings, settings: Settings, prefix: str, private: _Private
) -> Iterator[tuple[str, Json, str]]:
    from ragloom.config.settings import SETTINGS

    for key in SETTINGS:
        origin = settings.origin(key)
        if not origin.startswith("RAGLOOM_"):  # a variable overrides the file, a space the defaults
            origin = settings.origins.get(prefix + key, origin)
        if options := settings.origins.get(f"{key}.options"):
            origin += f", {options}"
        value = getattr(space, key)
        yield prefix + key, _plain(value, private(f"{key}s", value)), origin


def _private_options(host: PluginHost, kind: str, component: object) -> Collection[str]:
    """The options of a component that its plugin declares to be secret."""
    from ragloom.config.component import Component
    from ragloom.plugin.registry import PROTOCOLS

    for known in PROTOCOLS:
        if known == kind and isinstance(component, Component):
            provider = host.providers(known).get(component.name.partition(":")[0])
            return _declared(provider.options) if provider else ()
    return ()


def _declared(options: type) -> Collection[str]:
    return (
        {known.name for known in fields(options) if not known.repr} if is_dataclass(options) else ()
    )


def _option(name: str, value: object, private: Collection[str]) -> Json:
    """The value of an option; ``***`` for a secret, of which a URL still tells where it leads."""
    is_url = isinstance(value, str) and "://" in value
    if value and not is_url and (name in private or _PRIVATE.search(name)):
        return HIDDEN
    return _plain(value)


def _plain(value: object, private: Collection[str] = ()) -> Json:
    from ragloom.config.component import Component

    if isinstance(value, Component):
        options = {key: _option(key, item, private) for key, item in value.options.items()}
        return {"name": value.name, **options} if options else value.name
    if isinstance(value, Mapping):
        return {key: _option(key, item, private) for key, item in value.items()}
    if is_dataclass(value):
        declared = _declared(type(value))
        return {
            known.name: _option(known.name, getattr(value, known.name), declared)
            for known in fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | Path):
        return hide(str(value))
    return cast("Json", value)


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
