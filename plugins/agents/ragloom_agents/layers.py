"""Reading ``agents.yaml``: built-in < project < user < environment, each value with its origin.

The project's settings are the sections ``rag``, ``defaults`` and ``agents`` of ``ragloom.yaml``, then
those of ``agents.yaml`` beside it; the user's stand in that file of the platform's configuration folder.
Each file is checked alone. Layers are then merged key by key, agents by their id, before an agent takes
what it does not say itself from ``defaults``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast, get_type_hints

from ragloom import ConfigError, Json, Permission, UntrustedError, Workspace
from ragloom.config import (
    Component,
    Settings,
    YamlFile,
    build,
    is_settings_file,
    read_sections,
    read_yaml,
    section_variables,
    user_folder,
)
from ragloom_agents.settings import SECTIONS, AgentSettings, AgentsSettings, RagSettings

AGENTS_FILE = "agents.yaml"

_Key: TypeAlias = tuple[str, ...]
_Values: TypeAlias = dict[_Key, tuple[Json, str]]
"""By path of keys, the value and where it was written."""

_ENVIRONMENT = "environment"
_VARIABLES = {
    **{variable: ("rag", key) for key, variable in section_variables("rag", RagSettings).items()},
    "RAGLOOM_TOOLS_RAG": ("tools", "rag"),
    "RAGLOOM_DOCS_BASE_DIR": ("docs", "base_dir"),
}
"""Those that go before what a single agent says, too, and the key that each sets."""


def user_file(environment: Mapping[str, str]) -> Path:
    """The user's own ``agents.yaml``, whether or not it exists; see :func:`ragloom.config.user_folder`."""
    return user_folder("config", environment) / AGENTS_FILE


def agents_of(workspace: Workspace, environment: Mapping[str, str] | None = None) -> AgentsSettings:
    """As :func:`load_agents`, of an open workspace; what a project's files ask for needs trust.

    An agent that asks for what its user has not granted is refused, and no other.
    """
    stores = workspace.host.providers("stores")
    settings = load_agents(
        workspace.root, workspace.settings, environment=environment, stores=stores
    )
    refused: dict[str, str] = {}
    for agent_id in settings.agents:
        try:
            workspace.require(permissions_of(agent_id, settings, workspace))
        except UntrustedError as error:
            refused[agent_id] = str(error)
    return replace(settings, refused=refused)


def permissions_of(
    agent_id: str, settings: AgentsSettings, workspace: Workspace
) -> list[Permission]:
    """What an agent asks for beyond the workspace: a store, and documents outside of it."""
    agent, key = settings.agents[agent_id], f"agents.{agent_id}"
    at = {name: f"{key}.{name}" for name in ("rag.store", "docs.base_dir", "docs.sources")}
    place = {name: settings.origin(one) for name, one in at.items()}
    store = Component(name=agent.rag.store, places={"": place["rag.store"]})
    found = list(workspace.component_permissions("store", store, key=at["rag.store"]))
    found += workspace.output_outside(
        f"{key}.rag.path", agent.rag.path, place=settings.origin(f"{key}.rag.path")
    )
    base = at["docs.base_dir"], [agent.docs.base_dir]
    found += workspace.files_outside(*base, place=place["docs.base_dir"])
    if agent.docs.sources:
        found += workspace.files_outside(
            at["docs.sources"],
            agent.docs.sources,
            place=place["docs.sources"],
            base=workspace.root / os.path.expanduser(agent.docs.base_dir),  # noqa: PTH111
        )
    return found


def load_agents(
    root: Path,
    settings: Settings,
    *,
    environment: Mapping[str, str] | None = None,
    stores: Collection[str] = (),
) -> AgentsSettings:
    """Read the agents of a workspace.

    Args:
        root: The workspace's folder.
        settings: Of the workspace; the sections of its file are the lowest layer.
        environment: Variables; the process's own by default.
        stores: The names of all stores; any name passes when there are none.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    variables = os.environ if environment is None else environment
    files = [settings.file] if settings.file else []
    for path in (root / AGENTS_FILE, user_file(variables)):
        if is_settings_file(path):
            files.append(read_yaml(path))
            read_sections(files[-1], SECTIONS)
    values: _Values = {}
    for file in files:
        _add(file, values)
    for variable, key in _VARIABLES.items():
        if text := variables.get(variable):
            values[_ENVIRONMENT, *key] = (text, variable)
    origins: dict[str, str] = {}
    general = _made(values, (), stores, origins)
    ids = sorted({key[1] for key in values if key[0] == "agents"})
    return AgentsSettings(
        rag=general.rag,
        agents={one: _made(values, ("agents", one), stores, origins) for one in ids},
        origins=origins,
        files=tuple(file.path for file in files),
    )


def _add(file: YamlFile, values: _Values) -> None:
    """Put what a file says above what is there."""
    content = file.content
    values.update(_leaves(file, content.get("rag"), ("rag",), ("rag",)))
    values.update(_leaves(file, content.get("defaults"), ("defaults",), ()))
    agents = cast("Sequence[Mapping[str, Json]]", content.get("agents") or ())
    seen: set[str] = set()
    for number, agent in enumerate(agents):
        agent_id, at = cast("str", agent["id"]), ("agents", number)
        if agent_id in seen:
            place = file.place(*at, "id")
            raise ConfigError(f"{place}: the agent {agent_id!r} is there twice")
        seen.add(agent_id)
        values.update(_leaves(file, agent, at, ("agents", agent_id)))


def _leaves(
    file: YamlFile, value: Json, at: tuple[str | int, ...], key: _Key
) -> Iterator[tuple[_Key, tuple[Json, str]]]:
    """Every value inside ``value``, which stands at ``at``, by its path of keys below ``key``."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(file, inner, (*at, name), (*key, name))
    elif value is not None:
        yield key, (value, file.place(*at))


def _made(
    values: _Values, own: _Key, stores: Collection[str], origins: dict[str, str]
) -> AgentSettings:
    """The settings of the agent at ``own``, or without one what holds for all."""
    found: _Values = {} if own else {("id",): ("defaults", AGENTS_FILE)}
    nested: dict[str, Any] = {}
    for key in _paths(AgentSettings):
        ways = ((_ENVIRONMENT, *key), (*own, *key), key)
        for way in (way for way in ways if way in values):
            found.setdefault(key, values[way])
    for key, (value, place) in found.items():
        origins[".".join((*own, *key))] = place
        inside = nested
        for name in key[:-1]:
            inside = inside.setdefault(name, {})
        inside[key[-1]] = value

    def place_of(*keys: str) -> str:
        return next((one for key, (_, one) in found.items() if key[: len(keys)] == keys), "")

    name = ".".join(own) or "defaults"
    made = cast("AgentSettings", build(AgentSettings, nested, part=name, place=place_of))
    rag = made.rag
    if ("rag", "store") in found and stores and rag.store not in stores:
        raise ConfigError(
            f"{place_of('rag', 'store')}: rag.store must be one of {', '.join(sorted(stores))}, "
            f"not {rag.store[:60]!r}"
        )
    if rag.chunk_overlap >= rag.chunk_size:
        place = place_of("rag", "chunk_overlap") or place_of("rag", "chunk_size")
        raise ConfigError(
            f"{place}: rag.chunk_overlap must be less than rag.chunk_size, "
            f"not {rag.chunk_overlap} of {rag.chunk_size}"
        )
    if own and made.docs.strategy == "rag" and not made.docs.sources:
        raise ConfigError(
            f"{place_of('docs', 'strategy')}: agent {made.id!r}: the strategy 'rag' needs "
            "docs.sources, a list of paths or globs"
        )
    return made


def _paths(section: type) -> Iterator[_Key]:
    """The path of keys of every value that a section has."""
    for name, hint in get_type_hints(section).items():
        if is_dataclass(hint):
            yield from ((name, *key) for key in _paths(cast("type", hint)))
        else:
            yield (name,)
