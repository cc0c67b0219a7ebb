"""Reading ``agents.yaml``: built-in < project < user < environment, each value with its origin.

The project's settings are the keys ``rag``, ``defaults`` and ``agents`` of ``ragloom.yaml``, then those of
``agents.yaml`` beside it; the user's stand in ``agents.yaml`` in the configuration folder of the platform.
Layers are merged key by key, agents by their id, before an agent takes what it does not say
itself from ``defaults``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeAlias, cast

from ragloom import ConfigError, Json
from ragloom.config import CONFIG_NAME, YamlFile, did_you_mean, read_yaml
from ragloom_agents import schema
from ragloom_agents.settings import AgentSettings, AgentsSettings, DocsSettings, RagSettings

__all__ = ["AGENTS_FILE", "load_agents", "user_file"]

AGENTS_FILE = "agents.yaml"

_Key: TypeAlias = tuple[str, ...]
_FILE_KEYS = tuple(schema.TOP)


@dataclass(slots=True)
class _Layers:
    """What the layers read so far say, by path of keys: the value and where it stands."""

    values: dict[_Key, tuple[Json, str]] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)  # id to the place that named it last

    def find(self, *keys: _Key) -> tuple[Json, str] | None:
        """The value of the first of ``keys`` that any layer gives."""
        return next((self.values[key] for key in keys if key in self.values), None)


def user_file(environment: Mapping[str, str]) -> Path:
    """The user's own ``agents.yaml``, whether or not it exists.

    ``$XDG_CONFIG_HOME/ragloom/agents.yaml`` where that variable holds an absolute path (others are
    ignored: https://specifications.freedesktop.org/basedir-spec), else below ``~/.config``, on macOS
    ``~/Library/Application Support`` and on Windows ``%APPDATA%``.
    """
    # Unlike Path's, it does not fail for a user without a home folder, such as in a container.
    home = Path(os.path.expanduser(environment.get("HOME") or "~"))  # noqa: PTH111
    folder = home / ".config"
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(environment.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    named = Path(environment.get("XDG_CONFIG_HOME", ""))
    return (named if named.is_absolute() else folder) / "ragloom" / AGENTS_FILE


def load_agents(
    root: Path,
    *,
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stores: Collection[str] = (),
) -> AgentsSettings:
    """Read the agents of a workspace.

    Args:
        root: The workspace's folder.
        config: The settings file that stands for ``ragloom.yaml``.
        environment: Variables; the process's own by default.
        stores: The names of the stores that there are; any name passes when there are none.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range: one line with the
            file, the line and what is legal.
    """
    variables = os.environ if environment is None else environment
    layers = _Layers()
    read: list[Path] = []
    for path, whole in (
        (config or root / CONFIG_NAME, False),
        (root / AGENTS_FILE, True),
        (user_file(variables), True),
    ):
        if path.is_file():
            read.append(path)
            _Reading(read_yaml(path), stores).into(layers, whole=whole)
    _read_environment(layers, variables, stores)
    return _settle(layers, tuple(read))


class _Reading:
    """One file on its way into the layers."""

    def __init__(self, file: YamlFile, stores: Collection[str]) -> None:
        self._file = file
        rag = {**schema.RAG, "store": schema.store_reader(stores)}
        self._rag = rag
        self._agent_readers = {**schema.AGENT, "rag": rag}

    def into(self, layers: _Layers, *, whole: bool) -> None:
        """Add what the file says.

        Args:
            layers: What the layers below it said.
            whole: Every key of the file must be one of ours.
        """
        content = self._file.content
        if whole:
            self._refuse_unknown(content, _FILE_KEYS, ())
        self._section(layers, content.get("rag"), self._rag, ("rag",), ("rag",))
        defaults = self._mapping(content.get("defaults"), ("defaults",))
        self._refuse_unknown(defaults, schema.DEFAULTS, ("defaults",))
        for name, readers in schema.DEFAULTS.items():
            self._section(layers, defaults.get(name), readers, ("defaults", name), (name,))
        agents = content.get("agents")
        if agents is None:
            return
        if not isinstance(agents, list):
            raise self._wrong(("agents",), "a list of agents, each with an id", agents)
        seen: set[str] = set()
        for number, agent in enumerate(agents):
            self._agent(layers, agent, ("agents", number), seen)

    def _agent(
        self, layers: _Layers, agent: Json, at: tuple[str | int, ...], seen: set[str]
    ) -> None:
        if not isinstance(agent, Mapping):
            raise self._wrong(at, "a mapping with an id", agent)
        self._refuse_unknown(agent, schema.AGENT, at)
        if "id" not in agent:
            raise ConfigError(f"{self._file.place(*at)}: an agent has no id")
        agent_id = cast("str", self._value(agent["id"], schema.AGENT["id"], (*at, "id")))
        if agent_id in seen:
            place = self._file.place(*at, "id")
            raise ConfigError(f"{place}: the agent {agent_id!r} is there twice")
        seen.add(agent_id)
        layers.agents[agent_id] = self._file.place(*at, "id")
        for key, readers in self._agent_readers.items():
            if key == "id" or key not in agent:
                continue
            target = ("agents", agent_id, key)
            if isinstance(readers, Mapping):
                self._section(layers, agent[key], readers, (*at, key), target)
            else:
                value = self._value(agent[key], readers, (*at, key))
                layers.values[target] = (value, self._file.place(*at, key))

    def _section(
        self,
        layers: _Layers,
        section: Json,
        readers: Mapping[str, schema.Reader],
        at: tuple[str | int, ...],
        target: _Key,
    ) -> None:
        mapping = self._mapping(section, at)
        self._refuse_unknown(mapping, readers, at)
        for key, value in mapping.items():
            read = self._value(value, readers[key], (*at, key))
            layers.values[*target, key] = (read, self._file.place(*at, key))

    def _mapping(self, value: Json, at: tuple[str | int, ...]) -> Mapping[str, Json]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        raise self._wrong(at, "a mapping of settings", value)

    def _value(self, value: Json, read: object, at: tuple[str | int, ...]) -> Json:
        try:
            return cast("schema.Reader", read)(value)
        except ValueError as error:
            raise self._wrong(at, str(error), value) from error

    def _refuse_unknown(
        self, mapping: Mapping[str, Json], legal: Collection[str], at: tuple[str | int, ...]
    ) -> None:
        for key in mapping:
            if key not in legal:
                hint = did_you_mean(key, legal)
                where = f"{_dotted(at)}: " if at else ""
                raise ConfigError(
                    f"{self._file.place(*at, key)}: {where}unknown key {key!r}{hint} "
                    f"(legal: {', '.join(legal)})"
                )

    def _wrong(self, at: tuple[str | int, ...], expected: str, found: Json) -> ConfigError:
        place = self._file.place(*at)
        return ConfigError(f"{place}: {_dotted(at)}: expected {expected}, found {_short(found)}")


def _dotted(keys: tuple[str | int, ...]) -> str:
    """``agents[0].docs.top_k``."""
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return "".join(parts).lstrip(".")


def _short(value: Json) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004 - one line


def _read_environment(
    layers: _Layers, variables: Mapping[str, str], stores: Collection[str]
) -> None:
    """Put the variables above every file; an empty one says nothing."""
    for name, (key, read) in schema.VARIABLES.items():
        if not (text := variables.get(name, "")):
            continue
        reader = schema.store_reader(stores) if key == "rag.store" else read
        try:
            value = reader(text)
        except ValueError as error:
            raise ConfigError(f"{name}={_short(text)}: expected {error}") from error
        layers.values["environment", *key.split(".")] = (value, name)


def _settle(layers: _Layers, files: tuple[Path, ...]) -> AgentsSettings:
    """From layers to settings: each agent with every value that holds for it."""
    origins: dict[str, str] = {}
    rag = _rag(layers, (), "", origins)
    agents = {agent_id: _agent(layers, agent_id, origins) for agent_id in sorted(layers.agents)}
    return AgentsSettings(rag=rag, agents=agents, origins=origins, files=files)


def _rag(layers: _Layers, own: _Key, prefix: str, origins: dict[str, str]) -> RagSettings:
    """The settings of an index: of one agent, or of those that do not say otherwise."""
    values: dict[str, Json] = {}
    for known in fields(RagSettings):
        key = ("rag", known.name)
        found = layers.find(("environment", *key), (*own, *key), key)
        if found is not None:
            values[known.name], origins[f"{prefix}rag.{known.name}"] = found
    rag = RagSettings(**values)  # type: ignore[arg-type]  # each was read by its reader
    if rag.chunk_overlap >= rag.chunk_size:
        given = (origins.get(f"{prefix}rag.chunk_{name}") for name in ("overlap", "size"))
        place = next(origin for origin in given if origin is not None)
        raise ConfigError(
            f"{place}: rag.chunk_overlap: expected less than rag.chunk_size, "
            f"found {rag.chunk_overlap} of {rag.chunk_size}"
        )
    return rag


def _agent(layers: _Layers, agent_id: str, origins: dict[str, str]) -> AgentSettings:
    own = ("agents", agent_id)
    prefix = f"agents.{agent_id}."
    origins[f"{prefix}id"] = layers.agents[agent_id]

    def take(found: tuple[Json, str] | None, name: str) -> Iterator[tuple[str, Json]]:
        if found is not None:
            origins[prefix + name] = found[1]
            yield name.rpartition(".")[2], found[0]

    docs_values: dict[str, Json] = {}
    for known in fields(DocsSettings):
        key = ("docs", known.name)
        found = layers.find(("environment", *key), (*own, *key), key)
        docs_values.update(take(found, ".".join(key)))
    if "sources" in docs_values:
        docs_values["sources"] = tuple(cast("list[str]", docs_values["sources"]))
    docs = DocsSettings(**docs_values)  # type: ignore[arg-type]  # as above
    if docs.strategy == "rag" and not docs.sources:
        raise ConfigError(
            f"{origins[f'{prefix}docs.strategy']}: agent {agent_id!r}: the strategy 'rag' needs "
            "docs.sources, a list of paths or globs"
        )
    values: dict[str, Json] = {}
    for name in ("description", "system_prompt"):
        values.update(take(layers.find((*own, name)), name))
    tool = layers.find(("environment", "tools", "rag"), (*own, "tools", "rag"), ("tools", "rag"))
    values.update(("tool", value) for _, value in take(tool, "tools.rag"))
    rag = _rag(layers, own, prefix, origins)
    return AgentSettings(id=agent_id, docs=docs, rag=rag, **values)  # type: ignore[arg-type]  # as above
