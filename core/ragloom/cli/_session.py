"""The common options of one run, and what is made from them."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ragloom.plugin.host import PluginHost
    from ragloom.workspace import Workspace

__all__ = ["Session"]

_COLORS = {"warning": "yellow", "error": "red"}


@dataclass(slots=True, kw_only=True)
class Session:
    """One run of the program: ``ctx.obj`` of a command.

    Attributes:
        folder: The workspace: what the option or the variable names, or the nearest from here up.
        found: Whether it was found above the current folder, and has not been said yet.
        config: The settings file, if one is given.
        verbosity: -1 for errors only, 0, 1 for the log, 2 for all of it.
        colored: Whether a terminal shows colours.
        traceback: Whether an error shows its traceback.
        trace_hooks: Whether every hook call is logged.
        plugins: The host; found on first use.
        kept: What Ctrl-C leaves.
    """

    folder: str = ""
    found: bool = False
    config: str | None = None
    verbosity: int = 0
    colored: bool = True
    traceback: bool = False
    trace_hooks: bool = False
    plugins: PluginHost | None = None
    kept: str = "the last index stays in use"

    @property
    def quiet(self) -> bool:
        """Whether stderr shows only errors."""
        return self.verbosity < 0

    @property
    def color(self) -> bool | None:
        """For :func:`click.echo`: False for never, None for on a terminal."""
        dumb = os.environ.get("TERM") == "dumb"
        return None if self.colored and not os.environ.get("NO_COLOR") and not dumb else False

    def start(self, context: click.Context) -> None:
        """Set up colours and the log."""
        context.color = self.color
        handler = _StderrHandler(self)
        level = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}
        log = logging.getLogger("ragloom")
        log.handlers = [handler]
        log.setLevel(level.get(self.verbosity, logging.DEBUG))
        logging.getLogger("ragloom.hooks").setLevel(
            logging.INFO if self.trace_hooks else logging.WARNING
        )
        if isinstance(context.command, click.Group):
            return
        self.find()
        from ragloom.cli._variables import misspelt_variables, of_plugins

        # Loads plugins, which may know them, only then.
        if misspelt_variables(os.environ) or of_plugins(os.environ):
            names = [one.name for one in self.host().plugins()]
            sections = self.host().sections()
            for variable, meant in misspelt_variables(os.environ, names, sections).items():
                self.warn(f"unknown variable {variable} ignored; did you mean {meant}?")

    def find(self) -> None:
        """Find the workspace, where no option names it.

        Raises:
            ConfigError: The variable names no folder.
        """
        if not self.folder:
            from ragloom.config.project import workspace_folder

            self.folder = workspace_folder()
            self.found = self.folder != "."

    def name_workspace(self) -> None:
        """Say on stderr, once, which workspace is used, if it was found above the current folder."""
        self.find()
        if self.found:
            self.note(f"workspace {self.folder}", dim=True)
            self.found = False

    def host(self) -> PluginHost:
        """The plugins, found once; one that fails is a warning."""
        if self.plugins is None:
            from ragloom.plugin.host import PluginHost

            self.plugins = PluginHost.discover(trace_hooks=self.trace_hooks)
        return self.plugins

    def workspace(self) -> Workspace:
        """Open the workspace.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        from ragloom.workspace import Workspace

        self.name_workspace()
        return Workspace.open(self.folder, config=self.config, host=self.host())

    def note(self, message: str, *, dim: bool = False) -> None:
        """Print a note on stderr, unless ``quiet``."""
        if not self.quiet:
            text = on_one_line(message)
            click.echo(click.style(text, dim=True) if dim else text, err=True, color=self.color)

    def warn(self, message: str) -> None:
        """Print a warning on stderr, unless ``quiet``."""
        if not self.quiet:
            self._labelled("warning", message)

    def _labelled(self, label: str, message: str) -> None:
        from ragloom.secrets.redaction import hide

        message = hide(message)
        head = click.style(f"{label}:", fg=_COLORS.get(label), dim=label not in _COLORS)
        click.echo(f"{head} {on_one_line(message)}", err=True, color=self.color)


class _StderrHandler(logging.Handler):
    """Writes ``warning: …`` to the current stderr: above a progress bar, if any."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        label = "error" if record.levelno >= logging.ERROR else record.levelname.lower()
        try:
            self._session._labelled(label, record.getMessage())  # noqa: SLF001 - one module
        except OSError:
            self.handleError(record)


def printable(text: str) -> str:
    """``text`` with control characters made visible, so that it cannot steer a terminal."""
    return text.translate(_VISIBLE)


def on_one_line(text: str) -> str:
    """The same with line breaks and tabs, too: for paths, messages and lines of a result."""
    return text.translate(_VISIBLE | _BREAKS)


# C0 controls have pictures of their own; C1 controls and bidirectional overrides have none.
_VISIBLE = {
    code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"
} | dict.fromkeys([*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
_BREAKS = {ord(char): chr(0x2400 + ord(char)) for char in "\n\t"}


def is_terminal() -> bool:
    """Whether stdout is a terminal, and not a pipe or a file."""
    return sys.stdout.isatty()
