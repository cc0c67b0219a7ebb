"""What can be set for a library of templates: the key ``templates`` of ``ragloom.yaml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TypeVar

from ragloom import ConfigError, Json
from ragloom.config import Settings, did_you_mean, user_path

__all__ = ["DEFAULT_DIRS", "FALLBACK", "TemplateSettings", "read_settings"]

DEFAULT_DIRS = ("data/bot-buffer", "data/templates")
FALLBACK = "bot-chain-of-thought"
_KEY = "templates"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSettings:
    """How a library is made and asked.

    Attributes:
        dirs: The folders, relative to the workspace; those that do not exist hold nothing.
        fallback: The id of the template to use where none fits.
        top_k: Templates at the most.
        threshold: What scores less, 0 to 1, does not fit.
        weights: How often each field stands in the head: :class:`ragloom_templates.HeadOptions`.
    """

    dirs: tuple[str, ...] = DEFAULT_DIRS
    fallback: str = FALLBACK
    top_k: int = 3
    threshold: float = 0.65
    weights: Mapping[str, Json] = field(default_factory=dict)


def read_settings(workspace: Settings) -> TemplateSettings:
    """What the settings say under ``templates``.

    Raises:
        ConfigError: A key is unknown, or a value of the wrong type.
    """
    value = workspace.extensions.get(_KEY)
    if value is None:
        return TemplateSettings()
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{workspace.named(_KEY)}: expected a mapping of settings, found {value!r}"
        )
    legal = [known.name for known in fields(TemplateSettings)]
    for key in value:
        if key not in legal:
            hint = did_you_mean(key, legal)
            named = workspace.named(f"{_KEY}.{key}")
            raise ConfigError(f"{named}: unknown setting {key!r}{hint} (legal: {', '.join(legal)})")
    declared, default = value, TemplateSettings()

    def read(key: str, parse: Callable[[Json], T], expected: str, default: T) -> T:
        if key not in declared:
            return default
        try:
            return parse(declared[key])
        except (TypeError, ValueError) as error:
            place, wanted = workspace.named(f"{_KEY}.{key}"), str(error) or expected
            raise ConfigError(f"{place}: expected {wanted}, found {declared[key]!r}") from error

    return TemplateSettings(
        dirs=read("dirs", _strings, "a list of folders", default.dirs),
        fallback=read("fallback", _string, "the id of a template", default.fallback),
        top_k=read("top_k", _count, "a whole number from 1", default.top_k),
        threshold=read("threshold", _share, "a number from 0 to 1", default.threshold),
        weights=read("weights", _mapping, "a mapping such as {keywords: 2}", default.weights),
    )


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise TypeError
    for item in value:
        user_path(str(item))
    return tuple(str(item) for item in value)


def _string(value: Json) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


def _count(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _share(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value
