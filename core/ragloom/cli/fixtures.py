"""The fixture ``cli``; ``ragloom.testing.fixtures`` brings it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import CliRunner

from ragloom.cli import Session
from ragloom.cli import cli as program
from ragloom.plugin.host import PluginHost

__all__ = ["Finished", "RunCommand", "cli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command did.

    Attributes:
        exit_code: 0 for success.
        stdout: Its results.
        stderr: Progress, warnings and errors.
    """

    exit_code: int
    stdout: str
    stderr: str


class RunCommand(Protocol):
    """Runs ``ragloom`` with arguments, as if they were typed in the test's folder."""

    def __call__(self, *arguments: str, plugins: PluginHost | None = None) -> Finished:
        """What it did; ``plugins`` are all that are installed where none are given."""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunCommand]:
    """A function that runs a command in this process, in the folder ``tmp_path``."""
    monkeypatch.chdir(tmp_path)
    try:
        runner = CliRunner(mix_stderr=False)  # type: ignore[call-arg, unused-ignore]
    except TypeError:  # click 8.2 keeps them apart by itself
        runner = CliRunner()
    log = logging.getLogger("ragloom")
    handlers, level = log.handlers, log.level

    def run(*arguments: str, plugins: PluginHost | None = None) -> Finished:
        done = runner.invoke(program, [*arguments], obj=Session(plugins=plugins))
        return Finished(exit_code=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    yield run
    log.handlers = handlers
    log.setLevel(level)
