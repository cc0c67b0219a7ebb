"""The components of a worker: made from the settings, in another process than the run's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragloom.components import Components
from ragloom.config.settings import SpaceSettings
from ragloom.errors import ConfigError
from ragloom.indexing.plan import PartsOf, PlannedFile
from ragloom.plugin.host import PluginHost


class ComponentsOfWorker:
    """Components, and whether they are those of the run.

    Args:
        settings: Of the space.
        root: The folder that paths of models count from.
    """

    def __init__(self, settings: SpaceSettings, root: Path) -> None:
        self.components: Components = Components(PluginHost.discover(), settings, root)
        self._parts_of = PartsOf(self.components)

    def check(self, files: Iterable[PlannedFile]) -> None:
        """Raise ConfigError for a file that the run would read with others."""
        for file in files:
            if self._parts_of(file.uri) != file.parts:
                raise ConfigError(
                    f"a worker reads {file.uri} with other components than this process: "
                    "install the same releases of ragloom, plugins and models there"
                )
