"""Fixtures for the tests of plugins and of whatever uses them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from ragloom.hookspecs import Provider, hookimpl
from ragloom.plugin.host import PluginHost
from ragloom.protocols import Chunker, Embedder, Formatter, Loader, Reranker, Store

__all__ = ["Finished", "MakePlugin", "RunCommand", "cli", "host", "make_plugin"]


class MakePlugin(Protocol):
    """Makes a plugin that offers what it is given, for ``PluginHost({"name": plugin})``."""

    def __call__(
        self,
        *,
        loaders: Iterable[Provider[Loader]] | None = None,
        chunkers: Iterable[Provider[Chunker]] | None = None,
        embedders: Iterable[Provider[Embedder]] | None = None,
        stores: Iterable[Provider[Store]] | None = None,
        rerankers: Iterable[Provider[Reranker]] | None = None,
        formatters: Iterable[Provider[Formatter]] | None = None,
    ) -> object:
        """A plugin that implements a hook for every argument that is not None."""


@pytest.fixture
def make_plugin() -> MakePlugin:
    """A function that makes a plugin from the providers of each kind."""
    return _make_plugin


def _make_plugin(**offered: Iterable[object] | None) -> object:
    hooks = {
        f"ragloom_{kind}": _hook(f"ragloom_{kind}", list(providers))
        for kind, providers in offered.items()
        if providers is not None
    }
    return type("Plugin", (), hooks)()


def _hook(name: str, providers: list[object]) -> object:
    def hook(self: object) -> list[object]:  # noqa: ARG001 - a method
        return providers

    hook.__name__ = hook.__qualname__ = name
    return hookimpl(hook)


@pytest.fixture
def host() -> PluginHost:
    """Every installed plugin, those left out by the environment included."""
    return PluginHost.discover(disabled=())


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
    from click.testing import CliRunner

    from ragloom.cli import Session
    from ragloom.cli import cli as program

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
