"""Makes the files of the model while a wheel is built, or an editable installation."""

from __future__ import annotations

import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ModelHook(BuildHookInterface):  # type: ignore[type-arg]  # generic for type checkers only
    """Runs ``build_model.py`` where the model is not there yet."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:  # noqa: ARG002
        """Called before the files of a wheel are collected."""
        if self.target_name == "wheel":
            sys.path.insert(0, str(Path(self.root)))
            from build_model import build

            build()
