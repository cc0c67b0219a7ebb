"""Fixtures for the tests of plugins and of whatever uses them: ``make_plugin``, ``host`` and ``cli``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pytest

from ragloom.hookspecs import Provider, hookimpl
from ragloom.plugin.host import PluginHost
from ragloom.protocols import Chunker, Embedder, Formatter, Loader, Reranker, Runner, Store

__all__ = ["MakePlugin", "host", "make_plugin"]

pytest_plugins: tuple[str, ...] = ("ragloom.cli.fixtures",)


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
        runners: Iterable[Provider[Runner]] | None = None,
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
    """Every installed plugin, those disabled by the environment included."""
    return PluginHost.discover(disabled=())
