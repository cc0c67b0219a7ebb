"""What a space was indexed with that no settings file says: ``space.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ragloom.config.component import Component
from ragloom.config.settings import SpaceSettings
from ragloom.errors import ConfigError
from ragloom.stores.atomic import replace_file
from ragloom.text.parsing import parse_json

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
    """

    path: Path
    declared: SpaceSettings
    named: bool

    def settings(self, sources: Sequence[str] = ()) -> SpaceSettings:
        """What the settings say, and where they say nothing, what the space was indexed with.

        Args:
            sources: Those that it is indexed with from now on.

        Raises:
            ConfigError: The file cannot be read, and no ``sources`` are given.
        """
        settings = self.declared
        try:
            read = parse_json(self.path.read_bytes()) if self.path.is_file() else {}
            kept = cast("dict[str, Any]", read)
            known = tuple(map(str, kept.get("sources", settings.sources)))
            parts = {part: str(kept[part]) for part in RECORDED if part in kept}
        except (ValueError, TypeError, AttributeError) as error:
            if not sources:
                raise ConfigError(
                    f"{self.path}: cannot be read ({error}): index the PATHs of this space once more"
                ) from error
            known, parts = settings.sources, {}
        for part, name in parts.items():
            old: Component = getattr(settings, part)
            if "" not in old.places:  # neither the file nor a variable names one
                settings = replace(settings, **{part: old.instead(name, str(self.path))})  # type: ignore[arg-type]
        if sources:
            return replace(settings, sources=tuple(sources))
        return settings if self.named else replace(settings, sources=known)

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
        text = json.dumps(kept)
        if not self.path.is_file() or self.path.read_bytes() != text.encode():
            # Another run may be at the same place: the lock is not held yet.
            replace_file(self.path, text)
