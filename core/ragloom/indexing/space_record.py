"""What a space was indexed with that no settings file says: ``space.json``.

It is data, as a clone may bring it: what it asks for beyond the workspace counts where this user's own run
wrote it, or ``ragloom trust`` granted it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ragloom.config.component import Component
from ragloom.config.settings import SpaceSettings
from ragloom.config.yaml_file import read_settings_file
from ragloom.errors import ConfigError
from ragloom.sources.permissions import Permissions
from ragloom.stores.atomic import replace_file
from ragloom.stores.formats import check_format, format_stamp
from ragloom.text.parsing import parse_json
from ragloom.types import Permission

_FORMAT = 1
RECORD_NAME = "space.json"
RECORDED = ("store", "embedder", "chunker")
"""The components that an index is made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRecord:
    """The record of one space.

    Attributes:
        path: The file.
        declared: What the settings say of the space, or of every space.
        named: The settings name the space.
        permissions: Judges what the file asks for.
    """

    path: Path
    declared: SpaceSettings
    named: bool
    permissions: Permissions

    def settings(self, sources: Sequence[str] = ()) -> SpaceSettings:
        """What the settings say, and where they say nothing, what the space was indexed with.

        Args:
            sources: Those that it is indexed with from now on.

        Raises:
            ConfigError: The file cannot be read, and no ``sources`` are given.
            StoreError: A newer ragloom wrote it.
            UntrustedError: It asks for what this user has not granted.
        """
        try:
            kept = self._kept()
        except ValueError as error:
            if not sources:
                raise ConfigError(
                    f"{self.path}: cannot be read ({error}): index the PATHs of this space once more"
                ) from error
            kept = {}
        if sources:
            kept.pop("sources", None)
        self.permissions.trust.require(self._asked(kept))
        settings = self._with(kept)
        return replace(settings, sources=tuple(sources), places={}) if sources else settings

    def asked(self) -> list[Permission]:
        """What the file asks for beyond the workspace; nothing where it cannot be read."""
        try:
            return self._asked(self._kept())
        except ValueError:
            return []

    def usual(self) -> SpaceSettings:
        """The settings of a run that names no sources and no components."""
        try:
            return self.settings()
        except ConfigError:  # the next run writes it again
            return self.declared

    def write(self, settings: SpaceSettings) -> None:
        """Keep what differs between ``settings`` and what is declared."""
        kept: dict[str, object] = {}
        if settings.sources != self.declared.sources:
            kept["sources"] = settings.sources
        for name in RECORDED:
            part, usual = getattr(settings, name), getattr(self.declared, name)
            if part.name != usual.name and "" not in usual.places:
                kept[name] = part.name
        if not kept:
            self.path.unlink(missing_ok=True)
            return
        text = json.dumps(format_stamp(_FORMAT) | kept)
        if not self.path.is_file() or self.path.read_bytes() != text.encode():
            # Another run may be at the same place: the lock is not held yet.
            replace_file(self.path, text)
        self.permissions.trust.vouch(self._asked(kept))

    def _kept(self) -> dict[str, Any]:
        """What the file says.

        Raises:
            ValueError: It cannot be read.
            StoreError: A newer ragloom wrote it.
        """
        try:
            read = parse_json(read_settings_file(self.path)) if self.path.is_file() else {}
            given = dict(cast("dict[str, Any]", read).items())
            release = given.get("release")
            check_format(given.get("format", 1), _FORMAT, place=self.path, release=release)
            kept: dict[str, Any] = {part: str(given[part]) for part in RECORDED if part in given}
            if "sources" in given:
                kept["sources"] = tuple(map(str, given["sources"]))
        except (ConfigError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error
        return kept

    def _with(self, kept: Mapping[str, Any]) -> SpaceSettings:
        """The settings, and what the file says where they say nothing."""
        settings = self.declared
        for part in RECORDED:
            old: Component = getattr(settings, part)
            if part in kept and "" not in old.places:  # neither the file nor a variable names one
                named = old.instead(kept[part], self._place)
                settings = replace(settings, **{part: named})  # type: ignore[arg-type]
        if "sources" in kept and not self.named:
            settings = replace(settings, sources=kept["sources"], places={})
        return settings

    def _asked(self, kept: Mapping[str, Any]) -> list[Permission]:
        settings, asked = self._with(kept), list[Permission]()
        if "sources" in kept and not self.named:
            asked += self.permissions.of_files("sources", settings.sources, self._place)
        for part in RECORDED:
            asked += self.permissions.of_component(part, getattr(settings, part), part)
        return [one for one in asked if one.place == self._place]

    @property
    def _place(self) -> str:
        return f"{self.path}:1"
