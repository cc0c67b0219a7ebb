"""Sections: what plugins declare beside the settings of spaces, each one dataclass.

A section ``myplugin`` with a field ``dialect`` is ``myplugin: {dialect: pg}`` in ``ragloom.yaml``, and
above the file the variable ``RAGLOOM_MYPLUGIN_DIALECT``, or what the field's metadata names as
``variable``. An empty variable says nothing. A ``tuple`` of a dataclass is a list of mappings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass

from ragloom.config.component import ENVIRONMENT
from ragloom.config.options import parse
from ragloom.config.spelling import did_you_mean
from ragloom.config.yaml_file import YamlFile
from ragloom.errors import ConfigError


def section_variables(name: str, section: type) -> Mapping[str, str]:
    """The variable of each field of a section."""
    if not is_dataclass(section):
        return {}
    return {
        known.name: known.metadata.get("variable", f"{ENVIRONMENT}{name}_{known.name}".upper())
        for known in fields(section)
    }


def read_sections(file: YamlFile, sections: Mapping[str, type]) -> Mapping[str, object]:
    """Every section of a file that holds nothing else.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    for key in file.content:
        if key not in sections:
            raise unknown_setting(file, (key,), sections)
    return {name: read_section(file, name, section, {}, {}) for name, section in sections.items()}


def unknown_setting(file: YamlFile, keys: tuple[str, ...], legal: Collection[str]) -> ConfigError:
    """The error for a key of a file that is none of the legal ones."""
    hint = f"{did_you_mean(keys[-1], legal)} (legal: {', '.join(legal)})"
    return ConfigError(f"{file.place(*keys)}: unknown setting {keys[-1]!r}{hint}")


def read_section(
    file: YamlFile,
    name: str,
    section: type,
    environment: Mapping[str, str],
    origins: dict[str, str],
) -> object:
    """What a file and the environment say under ``name``, or the defaults.

    Args:
        file: The settings.
        name: The top-level key.
        section: A dataclass whose fields are the legal keys, or a tuple of one.
        environment: Variables.
        origins: Where each value was found, by dotted key, is added here.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    variables = {
        field: variable
        for field, variable in section_variables(name, section).items()
        if environment.get(variable)
    }

    def place(*keys: str | int) -> str:
        variable = variables.get(str(keys[0])) if keys else None
        return variable or file.place(name, *keys)

    for keys in file.lines:
        if keys and keys[0] == name:
            origins[".".join(map(str, keys))] = file.place(*keys)
    origins.update({f"{name}.{field}": variable for field, variable in variables.items()})
    value = file.content.get(name)
    if value is None and not variables:
        return section()
    if value is None or isinstance(value, Mapping):
        given = {field: environment[variable] for field, variable in variables.items()}
        value = {**(value or {}), **given}
    return parse(section, value, part=name, place=place)
