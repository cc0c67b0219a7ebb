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
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_origin, get_type_hints

from ragloom.config.component import COMPONENTS, ENVIRONMENT, NONE, Component
from ragloom.config.options import Legal, Place, parse
from ragloom.config.sections import read_section, unknown_setting
from ragloom.config.yaml_file import YamlFile, is_settings_file, read_yaml
from ragloom.errors import ConfigError
from ragloom.types import Json, Mode, Read

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

T = TypeVar("T")

CONFIG_NAME = "ragloom.yaml"
CONFIG_NAMES = (CONFIG_NAME, "ragloom.yml")
STATE_FOLDER = ".ragloom"
COMPARABLE = (
    *("chunker", "embedder", "reranker", "mode", "dense_weight"),
    *("rerank_depth", "rerank_weight", "min_relevance", "per_file"),
)
"""Settings whose values can be compared on the same documents."""
_DEFAULT = "default"
_LOG = logging.getLogger("ragloom")
_LONGEST_NAME = 80  # characters: a space names a folder, and its lock file beside it


def spec_of(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Lines of an ignore file, ready to match.

    Raises:
        ValueError: One of them says nothing.
    """
    import pathspec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of "[[a]", which means the same to git
        return pathspec.GitIgnoreSpec.from_lines(patterns)


def is_pattern(text: str) -> bool:
    """Whether a line of an ignore file says anything; ``!`` and ``[z-a]`` say nothing to git, too."""
    try:
        spec_of([text])
    except (ValueError, re.error):
        return False
    return True


def is_encoding(name: str) -> bool:
    """Whether Python reads text in a charset of this name; an empty one leaves it to be guessed."""
    try:
        "".encode(name or "utf-8")
    except (LookupError, ValueError):
        return False
    return True


_Count = Annotated[int, Legal("a whole number from 1", lambda number: number >= 1)]
_Limit = Annotated[int, Legal("a whole number from 0", lambda number: number >= 0)]
_Seconds = Annotated[
    float, Legal("a number of seconds from 0", lambda number: 0 <= number < float("inf"))
]
_Share = Annotated[float, Legal("a number from 0 to 1", lambda number: 0 <= number <= 1)]
_Patterns = Annotated[
    tuple[str, ...],
    Legal("a list of patterns as .gitignore has them", lambda lines: all(map(is_pattern, lines))),
]
_Encoding = Annotated[
    str,
    Legal("the name of a charset, such as koi8-r, iso8859-2, big5 or shift_jis", is_encoding),
]
_Spaces = Annotated[Mapping[str, object], Legal("a mapping of names to settings")]
_Space = Annotated[Mapping[str, object], Legal("a mapping such as {sources: [docs]}")]
_ByEnding = Annotated[
    Mapping[str, str], Legal("a mapping of file endings to names, such as {.sql: code}")
]
_Named = Annotated[
    Mapping[str, object],
    Legal(
        "a component's name, or a mapping with 'name' and its options",
        lambda given: isinstance(given.get("name"), str) and given["name"],
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSettings:
    """How one index is made and searched.

    Attributes:
        sources: Files, folders or globs, relative to the workspace.
        include: Gitignore-style patterns; a file must match one, if there are any.
        exclude: Gitignore-style patterns; a file must match none.
        allowlist: Gitignore-style patterns; a file that matches one is read though its name is that of a
            secret. What its content has of keys and tokens is redacted all the same.
        encoding: The charset of files that are not UTF-8, such as ``koi8-r``; guessed by default.
        loaders: The loader by file ending, where a plugin's own choice will not do.
        chunker: How documents are split.
        chunkers: The chunker by file ending, before that which the file's loader names, and ``chunker``.
        embedder: How texts become vectors.
        store: Where chunks are kept.
        reranker: What reorders the best candidates; ``none`` for their fused order.
        rerank_depth: Candidates that it reorders.
        rerank_weight: What its score weighs (0 to 1) beside the fused one.
        formatter: How a context is written.
        runner: Where an index run reads, splits and embeds files; ``local`` for its own process.
        mode: ``hybrid`` (by meaning and words, scores added), ``rrf`` (the same, by reciprocal ranks),
            ``dense`` (by meaning) or ``lexical`` (by words).
        top_k: Maximum number of hits.
        dense_weight: What the meaning weighs (0 to 1) in the score of ``hybrid``; words weigh the rest.
            It is half for a query whose words the model does not know.
        min_relevance: What is less relevant (0 to 1) is not shown.
        per_file: Maximum number of hits of one file in a row of results; 0 for no maximum.
        first_answer: Seconds that a search embeds the best chunks by words, while many have no vector.
        read: ``remote`` asks the store for everything, on a machine that has neither an index nor files;
            ``local`` searches the index of this workspace.
        check_files: Whether a search compares each hit with its file. False where the index came from
            another machine and the files did not: hits are as indexed, and name the hash of their file.
        max_file_bytes: A larger file is skipped, with a warning.
        max_file_characters: Of a longer text only the beginning is indexed, with a warning.
        max_file_seconds: Processor time to read a PDF, HTML or the like; one that takes more is skipped.
        places: Where each of ``sources`` was written, for messages; no setting of its own.
    """

    sources: tuple[str, ...] = (".",)
    include: _Patterns = ()
    exclude: _Patterns = ()
    allowlist: _Patterns = ()
    encoding: _Encoding = ""
    loaders: Mapping[str, Component] = field(default_factory=dict)
    chunker: Component = Component(name="heading")
    chunkers: Mapping[str, Component] = field(default_factory=dict)
    embedder: Component = Component(name="onnx")
    store: Component = Component(name="milvus")
    reranker: Component = Component(name=NONE)
    rerank_depth: _Count = 30
    rerank_weight: _Share = 0.3
    formatter: Component = Component(name="text")
    runner: Component = Component(name="local")
    mode: Mode = "hybrid"
    dense_weight: _Share = 0.6
    top_k: _Count = 5
    min_relevance: _Share = 0.3
    per_file: _Limit = 3
    first_answer: _Seconds = 2.0
    read: Read = "local"
    check_files: bool = True
    max_file_bytes: _Count = 100_000_000
    max_file_characters: _Count = 10_000_000
    max_file_seconds: _Count = 60
    places: Mapping[str, str] = field(default_factory=dict, compare=False)


SETTINGS = tuple(known.name for known in fields(SpaceSettings) if known.compare)
"""The keys that hold for every space, or for one."""


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
        config: The file to read; ``ragloom.yaml`` or ``ragloom.yml`` in ``root`` otherwise.
        environment: Variables; the process's own by default.
        sections: What plugins declare: names to dataclasses.
        absent: Says which plugin that did not load may have declared a section.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    path = config or settings_file(root)
    there = config is not None or is_settings_file(path)
    file = read_yaml(path) if there else YamlFile(path, {}, {})
    sections = sections or {}
    for key in file.content:
        if key not in {*SETTINGS, *sections, "spaces"}:
            if not (why := absent(key) if absent else ""):
                raise unknown_setting(file, (key,), [*SETTINGS, "spaces", *sections])
            _LOG.warning("%s: unknown setting %r ignored%s", file.place(key), key, why)
    variables = os.environ if environment is None else environment
    overriding = {key: variables[name] for key in SETTINGS if (name := _variable(key)) in variables}
    origins: dict[str, str] = {}

    def overridden(settings: SpaceSettings) -> SpaceSettings:
        settings = _read(settings, overriding, _variable, "", origins)
        return _with_options(settings, variables, origins)

    own = {key: value for key, value in file.content.items() if key in SETTINGS}
    defaults = _read(SpaceSettings(), own, file.place, "", origins)
    spaces: dict[str, SpaceSettings] = {}
    declared = file.content.get("spaces") or {}
    place = partial(file.place, "spaces")
    for name, said in _mapping(_Spaces, declared, part="spaces", place=place).items():
        place = partial(file.place, "spaces", name)
        check_space_name(name, place())
        values = _mapping(_Space, said, part=f"spaces.{name}", place=place)
        for key in values:
            if key not in SETTINGS:
                raise unknown_setting(file, ("spaces", name, key), SETTINGS)
        spaces[name] = overridden(_read(defaults, values, place, f"spaces.{name}.", origins))
    return Settings(
        defaults=overridden(defaults),
        spaces=spaces,
        sections={
            name: read_section(file, name, section, variables, origins)
            for name, section in sections.items()
        },
        origins=origins,
        file=file if there else None,
    )


def with_values(settings: SpaceSettings, values: Mapping[str, object], place: str) -> SpaceSettings:
    """``settings`` with some values, which ``place`` names.

    Raises:
        ConfigError: A value is of the wrong type or out of range.
    """
    return _read(settings, values, lambda *_: place, "", {})


def settings_file(root: Path) -> Path:
    """The settings file of a workspace, whether or not it is there.

    Raises:
        ConfigError: It is there in both spellings, or a folder or the like has its name.
    """
    there = [root / name for name in CONFIG_NAMES if is_settings_file(root / name)]
    if len(there) > 1:
        raise ConfigError(f"{there[0]}: there is {there[1].name}, too: keep one of them")
    return there[0] if there else root / CONFIG_NAME


def check_space_name(name: str, place: str = "") -> None:
    """Refuse a name that no folder can have; ``place`` says where it was written.

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


def _variable(key: str, *_keys: object) -> str:
    return ENVIRONMENT + key.upper()


def _read(
    settings: SpaceSettings,
    values: Mapping[str, object],
    place: Place,
    prefix: str,
    origins: dict[str, str],
) -> SpaceSettings:
    """``settings`` with what a file or variables say; ``prefix`` leads to the keys of ``values``."""
    hints = get_type_hints(SpaceSettings, include_extras=True)
    read: dict[str, Any] = {}
    for key, value in values.items():
        where, part = partial(place, key), f"{prefix}{key}"
        if key in COMPONENTS:
            read[key] = _component(value, part, where)
        elif key in ("loaders", "chunkers"):
            read[key] = {
                f".{ending.lstrip('.').lower()}": Component(name=name, places={"": where(ending)})
                for ending, name in _mapping(_ByEnding, value, part=part, place=where).items()
            }
        else:
            read[key] = parse(hints[key], value, part=part, place=where)
        if key == "sources":
            read["places"] = {source: where(at) for at, source in enumerate(read[key])}
        origins[part] = where()
    return replace(settings, **read)


def _component(value: object, part: str, place: Place) -> Component:
    if part.endswith("reranker") and (value is None or value is False):
        value = NONE
    given = {"name": value} if isinstance(value, str) else value
    named = dict(_mapping(_Named, given, part=part, place=place))
    name = cast("str", named.pop("name"))
    places = {"": place(), **{option: place(option) for option in named}}
    return Component(name=name, options=cast("Mapping[str, Json]", named), places=places)


def _with_options(
    settings: SpaceSettings, variables: Mapping[str, str], origins: dict[str, str]
) -> SpaceSettings:
    """``settings`` with the options of components that variables set."""
    for part in COMPONENTS:
        prefix = f"{_variable(part)}_"
        found = sorted(name for name in variables if name.startswith(prefix))
        if found:
            places = {name.removeprefix(prefix).lower(): name for name in found}
            options = {option: variables[name] for option, name in places.items()}
            old: Component = getattr(settings, part)
            merged = replace(
                old, options={**old.options, **options}, places={**old.places, **places}
            )
            settings = replace(settings, **{part: merged})  # type: ignore[arg-type]
            origins[f"{part}.options"] = ", ".join(found)
    return settings


def _mapping(hint: object, value: object, *, part: str, place: Place) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", parse(hint, value, part=part, place=place))
