"""Settings: defaults < ``ragloom.yaml`` < environment < arguments, each value with its origin.

::

    # ragloom.yaml: these keys hold for every space …
    chunker: {name: heading, levels: [1, 2]}
    embedder: onnx
    store: milvus
    # … and a space may set any of them for itself
    spaces:
      docs: {sources: [docs]}
      decisions: {sources: [docs/adr], store: sqlite}

In the environment a setting ``top_k`` is ``RAGLOOM_TOP_K``, a component ``RAGLOOM_STORE=sqlite`` and an
option of a component ``RAGLOOM_STORE_PATH=/srv/index.db``. ``reranker: none``, the default, is no reranker;
its options are kept for whoever names one on the command line.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast, get_origin

from ragloom.config.component import COMPONENTS, ENVIRONMENT, NONE, Component
from ragloom.config.sections import read_section
from ragloom.config.spelling import did_you_mean
from ragloom.config.yaml_file import YamlFile, read_yaml
from ragloom.errors import ConfigError
from ragloom.types import MODES, Json, Mode

T = TypeVar("T")

CONFIG_NAME = "ragloom.yaml"
_DEFAULT = "default"
_LOG = logging.getLogger("ragloom")
_LONGEST_NAME = 80  # characters: a space names a folder, and its lock file beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSettings:
    """How one index is made and asked.

    Attributes:
        sources: Files, folders or globs, relative to the workspace.
        include: Gitignore-style patterns; a file must match one, if there are any.
        exclude: Gitignore-style patterns; a file must match none.
        loaders: The loader by file ending, where a plugin's own choice will not do.
        chunker: How documents are split.
        chunkers: The chunker by file ending, before that which the file's loader names, and ``chunker``.
        embedder: How texts become vectors.
        store: Where chunks are kept.
        reranker: What reorders the best candidates; ``none`` for their fused order.
        rerank_depth: Candidates that it reorders.
        formatter: How a context is written.
        mode: ``hybrid`` (by meaning and words, scores added), ``rrf`` (the same, by reciprocal ranks),
            ``dense`` (by meaning) or ``lexical`` (by words).
        top_k: Hits at the most.
        min_relevance: What is less relevant (0 to 1) is not shown.
    """

    sources: tuple[str, ...] = (".",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    loaders: Mapping[str, Component] = field(default_factory=dict)
    chunker: Component = Component(name="heading")
    chunkers: Mapping[str, Component] = field(default_factory=dict)
    embedder: Component = Component(name="onnx")
    store: Component = Component(name="milvus")
    reranker: Component = Component(name=NONE)
    rerank_depth: int = 30
    formatter: Component = Component(name="text")
    mode: Mode = "hybrid"
    top_k: int = 5
    min_relevance: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that was set, and where.

    Attributes:
        defaults: What holds for a space that does not say otherwise.
        spaces: The spaces that the file names.
        origins: ``default``, a file and line, or a variable, by dotted key; those of sections, too.
        sections: What plugins declare, by name.
        file: What was read, for a plugin that has layers of its own above it.
    """

    defaults: SpaceSettings = SpaceSettings()
    spaces: Mapping[str, SpaceSettings] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, object] = field(default_factory=dict)
    file: YamlFile | None = field(default=None, compare=False)

    def space(self, name: str) -> SpaceSettings:
        """The settings of a space; those that hold for every space, if it has none of its own."""
        return self.spaces.get(name, self.defaults)

    def section(self, name: str, section: type[T]) -> T:
        """What a plugin declares under ``name``; the defaults where it is not loaded."""
        found = self.sections.get(name)
        return found if isinstance(found, get_origin(section) or section) else section()

    def origin(self, key: str) -> str:
        """Where a value came from."""
        return self.origins.get(key, _DEFAULT)


def load_settings(
    root: Path,
    *,
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    sections: Mapping[str, type] | None = None,
    absent: Callable[[str], str] | None = None,
) -> Settings:
    """Read the settings of a workspace.

    Args:
        root: The workspace's folder.
        config: The file to read; ``ragloom.yaml`` in ``root``, if there is one, otherwise.
        environment: Variables; the process's own by default.
        sections: What plugins declare: names to dataclasses.
        absent: Says which plugin that did not load may have declared a section.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    path = config or root / CONFIG_NAME
    there = config is not None or path.is_file()
    file = read_yaml(path) if there else YamlFile(path, {}, {})
    sections = sections or {}
    legal = [known.name for known in fields(SpaceSettings)]
    for key in file.content:
        if key not in {*legal, *sections, "spaces"}:
            if not (why := absent(key) if absent else ""):
                raise _unknown(file, (key,), [*legal, "spaces", *sections])
            _LOG.warning("%s: unknown setting %r ignored%s", file.place(key), key, why)
    variables = os.environ if environment is None else environment
    origins: dict[str, str] = {}
    own = {key: value for key, value in file.content.items() if key in legal}
    defaults = _apply(SpaceSettings(), own, file, (), origins)
    spaces: dict[str, SpaceSettings] = {}
    declared = file.content.get("spaces") or {}
    if not isinstance(declared, Mapping):
        raise _wrong(file, ("spaces",), "a mapping of names to settings", declared)
    for name, values in declared.items():
        check_space_name(name, file.place("spaces", name))
        if not isinstance(values, Mapping):
            raise _wrong(file, ("spaces", name), "a mapping such as {sources: [docs]}", values)
        for key in values:
            if key not in legal:
                raise _unknown(file, ("spaces", name, key), legal)
        own_values = _apply(defaults, values, file, ("spaces", name), origins)
        spaces[name] = _from_environment(own_values, variables, origins)
    return Settings(
        defaults=_from_environment(defaults, variables, origins),
        spaces=spaces,
        sections={
            name: read_section(file, name, section, variables, origins)
            for name, section in sections.items()
        },
        origins=origins,
        file=file if there else None,
    )


def _unknown(file: YamlFile, keys: tuple[str, ...], legal: Sequence[str]) -> ConfigError:
    hint = f"{did_you_mean(keys[-1], legal)} (legal: {', '.join(legal)})"
    return ConfigError(f"{file.place(*keys)}: unknown setting {keys[-1]!r}{hint}")


def check_space_name(name: str, place: str = "") -> None:
    """Refuse a name that no folder can have.

    Args:
        name: Of a space.
        place: Where it was written, for the message.

    Raises:
        ConfigError: It holds a slash or the like.
    """
    if (
        not name
        or name.startswith(".")
        or any(c in name for c in '/\\:*?"<>|')
        or not name.isprintable()
        or name != name.strip()
        or len(name) > _LONGEST_NAME
    ):
        raise ConfigError(
            f"{place}{': ' if place else ''}{name!r} cannot name a space: it names a folder, so no "
            "slashes, colons, wildcards or control characters, no leading dot, no blanks around it, and at "
            f"most {_LONGEST_NAME} characters"
        )


def _apply(
    settings: SpaceSettings,
    values: Mapping[str, Json],
    file: YamlFile,
    at: tuple[str, ...],
    origins: dict[str, str],
) -> SpaceSettings:
    for key, value in values.items():
        try:
            parsed = _parsed(key, value, partial(file.place, *at, key))
        except ValueError as error:
            raise _wrong(file, (*at, key), str(error), value) from error
        settings = _set(settings, key, parsed)
        origins[".".join((*at, key))] = file.place(*at, key)
    return settings


def _from_environment(
    settings: SpaceSettings, environment: Mapping[str, str], origins: dict[str, str]
) -> SpaceSettings:
    for known in fields(SpaceSettings):
        name = ENVIRONMENT + known.name.upper()
        if name in environment:
            try:
                parsed = _parsed(known.name, environment[name], partial(_itself, name))
            except ValueError as error:
                raise ConfigError(f"{name}={environment[name]!r}: expected {error}") from error
            settings = _set(settings, known.name, parsed)
            origins[known.name] = name
    for part in COMPONENTS:
        prefix = f"{ENVIRONMENT}{part.upper()}_"
        options = {
            variable.removeprefix(prefix).lower(): cast("Json", value)
            for variable, value in sorted(environment.items())
            if variable.startswith(prefix)
        }
        if options:
            old = cast("Component", getattr(settings, part))
            places = {option: prefix + option.upper() for option in options}
            merged = Component(
                name=old.name,
                options={**old.options, **options},
                places={**old.places, **places},
            )
            settings = _set(settings, part, merged)
            origins[f"{part}.options"] = ", ".join(places.values())
    return settings


def _set(settings: SpaceSettings, key: str, value: object) -> SpaceSettings:
    """A copy with one field replaced; the parsers vouch for its type."""
    values = {known.name: getattr(settings, known.name) for known in fields(SpaceSettings)}
    return SpaceSettings(**{**values, key: value})


def _itself(place: str, *_keys: str) -> str:
    return place


def _parsed(key: str, value: Json, place: Callable[..., str]) -> object:
    """What a setting says; parts with their places. ``place`` is called with keys inside ``value``."""
    parsed = _PARSERS[key](value)
    if isinstance(parsed, Component):
        places = {option: place(option) for option in parsed.options}
        return replace(parsed, places={"": place(), **places})
    if key in ("loaders", "chunkers"):
        return {
            f".{ending.lstrip('.').lower()}": Component(name=name, places={"": place(ending)})
            for ending, name in cast("Mapping[str, str]", parsed).items()
        }
    return parsed


def _wrong(file: YamlFile, keys: tuple[str | int, ...], expected: str, value: Json) -> ConfigError:
    name = ".".join(map(str, keys))
    return ConfigError(f"{file.place(*keys)}: {name}: expected {expected}, found {value!r}")


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(cast("list[str]", value))
    raise ValueError("a list of strings")


def _patterns(value: Json) -> tuple[str, ...]:
    patterns = _strings(value)
    if not all(map(is_pattern, patterns)):
        raise ValueError("a list of patterns as .gitignore has them")
    return patterns


def is_pattern(text: str) -> bool:
    """Whether a line of an ignore file says anything; ``!`` and ``[z-a]`` say nothing to git, too."""
    import pathspec

    try:
        pathspec.GitIgnoreSpec.from_lines([text])
    except (ValueError, re.error):
        return False
    return True


def _part(value: Json) -> Component:
    if isinstance(value, str) and value:
        return Component(name=value)
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        options = {key: option for key, option in value.items() if key != "name"}
        return Component(name=cast("str", value["name"]), options=options)
    raise ValueError("a part's name, or a mapping with 'name' and its options")


def _part_or_none(value: Json) -> Component:
    if value is None or value is False:
        return Component(name=NONE)
    return _part(value)


def _by_ending(value: Json) -> Mapping[str, str]:
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value.values()):
        return cast("Mapping[str, str]", value)
    raise ValueError("a mapping of file endings to names, such as {.sql: code}")


def _mode(value: Json) -> Mode:
    for mode in MODES:
        if value == mode:
            return mode
    raise ValueError(f"one of {', '.join(MODES)}")


def _count(value: Json) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= sys.maxsize:
        return number
    raise ValueError("a whole number from 1")


def _share(value: Json) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else -1.0
    except (ValueError, OverflowError):
        number = -1.0
    if 0 <= number <= 1 and not isinstance(value, bool):
        return number
    raise ValueError("a number from 0 to 1")


_PARSERS: Mapping[str, Callable[[Json], object]] = {
    "sources": _strings,
    "include": _patterns,
    "exclude": _patterns,
    "loaders": _by_ending,
    "chunker": _part,
    "chunkers": _by_ending,
    "embedder": _part,
    "store": _part,
    "reranker": _part_or_none,
    "rerank_depth": _count,
    "formatter": _part,
    "mode": _mode,
    "top_k": _count,
    "min_relevance": _share,
}
