"""The fixture ``cli``; ``ragloom.testing.fixtures`` brings it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragloom.cli import Session
from ragloom.cli import cli as program
from ragloom.plugin.host import PluginHost

__all__ = ["cli"]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """A function that runs a command line in this process, in the folder ``tmp_path``.

    Its arguments are those of ``ragloom``, and ``plugins``, the host, by default of all that are installed.
    """
    monkeypatch.chdir(tmp_path)
    try:
        runner = CliRunner(mix_stderr=False)  # type: ignore[call-arg, unused-ignore]
    except TypeError:  # click 8.2 separates them by default
        runner = CliRunner()
    log = logging.getLogger("ragloom")
    handlers, level = log.handlers, log.level

    def run(*arguments: str, plugins: PluginHost | None = None) -> Result:
        return runner.invoke(program, [*arguments], obj=Session(plugins=plugins))

    yield run
    log.handlers = handlers
    log.setLevel(level)
