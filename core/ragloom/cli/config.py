"""``ragloom config``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragloom.config.settings import Settings, SpaceSettings
    from ragloom.types import Json

_PASSWORD = re.compile(r"(\w://[^/@:\s]*:)[^/@\s]*@")  # of a database's URL


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
    which overrides the defaults.
    """
    from ragloom.config.settings import load_settings

    root, host = Path(os.path.realpath(session.folder)), session.host()
    config = Path(session.config) if session.config else None
    settings = load_settings(root, config=config, sections=host.sections(), absent=host.absent)
    beside = f"{root}{os.sep}"
    values = [(key, value, origin.removeprefix(beside)) for key, value, origin in _values(settings)]
    if as_json:
        print_json(
            [{"key": key, "value": value, "origin": origin} for key, value, origin in values]
        )
        return
    print_table(
        ("setting", "value", "from"),
        [(key, _shown(value), origin) for key, value, origin in values],
    )


def _values(settings: Settings) -> Iterator[tuple[str, Json, str]]:
    yield from _of(settings.defaults, settings, "")
    for name in sorted(settings.spaces):
        yield from _of(settings.spaces[name], settings, f"spaces.{name}.")
    for name, section in sorted(settings.sections.items()):
        if not is_dataclass(section):  # a list of them
            yield name, _plain(section), settings.origin(name)
            continue
        for known in fields(section):
            key = f"{name}.{known.name}"
            yield key, _plain(getattr(section, known.name)), settings.origin(key)


def _of(space: SpaceSettings, settings: Settings, prefix: str) -> Iterator[tuple[str, Json, str]]:
    for key in (known.name for known in fields(space)):
        origin = settings.origin(key)
        if not origin.startswith("RAGLOOM_"):  # a variable overrides the file, a space the defaults
            origin = settings.origins.get(prefix + key, origin)
        if options := settings.origins.get(f"{key}.options"):
            origin += f", {options}"
        yield prefix + key, _plain(getattr(space, key)), origin


def _plain(value: object) -> Json:
    from ragloom.config.component import Component

    if isinstance(value, Component):
        return {"name": value.name, **value.options} if value.options else value.name
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {known.name: _plain(getattr(value, known.name)) for known in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | Path):
        return _PASSWORD.sub(r"\1***@", str(value))
    return cast("Json", value)


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
