"""What every plugin promises, whatever it offers."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, TypeAlias, get_args, get_origin

import pytest

from ragloom.errors import PluginError, RagloomError
from ragloom.hookspecs import PROJECT, Provider
from ragloom.plugin.host import PluginHost
from ragloom.plugin.registry import PROTOCOLS, Kind
from ragloom.testing.contract import Contract

__all__ = ["PluginContract"]

Providers: TypeAlias = list[tuple[Kind, Provider[object]]]

_PROBE: Final = """
import json, sys
sys.path[:] = {path!r}
import ragloom
before = set(sys.modules)
import {module}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""
_ALLOWED: Final = sys.stdlib_module_names | {"ragloom", "pluggy", "_distutils_hack"}
_KITS: Final = (
    "ragloom",
    *(f"ragloom.{kit}" for kit in ("cli", "config", "context", "stores", "testing", "text")),
)


class PluginContract(Contract, contract=True):
    """Every plugin passes these tests. The author writes the fixture ``plugin``."""

    @pytest.fixture
    def plugin(self) -> str:
        """Written by the author: the module that the entry point names, such as ``ragloom_rst``."""
        raise NotImplementedError("write a fixture plugin that returns the name of your module")

    @pytest.fixture
    def host(self, plugin: str) -> PluginHost:
        """A host with this plugin alone."""
        return PluginHost({plugin: importlib.import_module(plugin)})

    @pytest.fixture
    def providers(self, host: PluginHost) -> Providers:
        """Every component that the plugin offers."""
        return [(kind, one) for kind in PROTOCOLS for one in host.providers(kind).values()]

    @pytest.fixture
    def sections(self, host: PluginHost) -> Mapping[str, type]:
        """The dataclass of each section of ``ragloom.yaml`` that the plugin declares."""
        return {
            name: get_args(one)[0] if get_origin(one) is tuple else one
            for name, one in host.sections().items()
        }

    def test_an_entry_point_names_it(self, plugin: str) -> None:
        """The distribution has an entry point in the group ``ragloom``: see ``pyproject.toml``."""
        assert _entry_point(plugin) is not None

    def test_its_distribution_requires_ragloom(self, plugin: str) -> None:
        """``dependencies`` names ragloom, so that whoever installs the plugin can use it."""
        point = _entry_point(plugin)
        if point is None or point.dist is None:
            pytest.skip("no distribution")
        required = [
            re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in point.dist.requires or ()
        ]
        assert "ragloom" in {*required, point.dist.name.lower()}

    def test_importing_it_loads_nothing_heavy(self, plugin: str) -> None:
        """The module imports ragloom and the standard library: import the rest in ``create``."""
        code = _PROBE.format(path=sys.path, module=plugin)
        done = subprocess.run(  # noqa: S603 - this Python, and nothing from outside
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        loaded = set(json.loads(done.stdout.splitlines()[-1]))
        assert sorted(loaded - _ALLOWED - {plugin.partition(".")[0]}) == []

    def test_its_hooks_are_valid(self, host: PluginHost) -> None:
        """Hooks have known names and arguments and return Providers: the error says what is wrong."""
        (info,) = host.plugins()
        assert info.error == ""
        assert info.status == "loaded"

    def test_its_hooks_answer_every_time(self, plugin: str) -> None:
        """Every host gets the same answer: look for a generator that is used up."""
        module = importlib.import_module(plugin)
        first, second = (PluginHost({plugin: module}).plugins()[0].provides for _ in range(2))
        assert first == second

    def test_its_names_are_free(self, plugin: str) -> None:
        """No other installed plugin has its name or offers a component of the same name."""
        point = _entry_point(plugin)
        if point is None:
            pytest.skip("no entry point, so that it is not installed")
        found = PluginHost.discover(disabled=()).plugins()
        errors = [info.error for info in found if info.name == point.name]
        taken = [error for error in errors if "twice" in error or "same name" in error]
        assert taken == []

    def test_it_imports_only_public_names(self, plugin: str) -> None:
        """Import what ``ragloom`` and its kits, as ``ragloom.text``, name in ``__all__``: no module."""
        public = {
            name
            for kit in _KITS
            for name in (kit, *(f"{kit}:{one}" for one in importlib.import_module(kit).__all__))
        }
        private = [
            (path.name, name)
            for path in _modules(plugin)
            for name in _imports(path)
            if re.match(r"ragloom[.:]", name) and name not in public
        ]
        assert private == []

    def test_components_have_a_summary_of_one_line(self, providers: Providers) -> None:
        """``ragloom plugins`` and shells show it."""
        wrong = [one.name for _, one in providers if len(one.summary.strip().splitlines()) != 1]
        assert wrong == []

    def test_names_are_plain(self, providers: Providers, sections: Mapping[str, type]) -> None:
        """Names stand in settings, environment variables and commands: ``[a-z0-9][a-z0-9._-]*``.

        A section is ``[a-z][a-z0-9_]*``, as no shell sets a variable with a hyphen.
        """
        names = [one.name for _, one in providers]
        assert [name for name in names if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)] == []
        assert [name for name in sections if not re.fullmatch(r"[a-z][a-z0-9_]*", name)] == []

    def test_options_are_frozen(self, providers: Providers, sections: Mapping[str, type]) -> None:
        """Options and sections are frozen dataclasses: nothing may change what was read."""
        declared = {**{one.name: one.options for _, one in providers}, **sections}
        thawed = [
            name
            for name, one in declared.items()
            if not getattr(one, "__dataclass_params__").frozen  # noqa: B009 - not typed
        ]
        assert thawed == []

    def test_sections_describe_their_keys(self, sections: Mapping[str, type]) -> None:
        """The docstring of a section has a line ``key: what it says`` for every field."""
        missing = [
            f"{name}.{known.name}"
            for name, section in sections.items()
            for known in fields(section)
            if not re.search(rf"^\s*{known.name}: \S", section.__doc__ or "", re.MULTILINE)
        ]
        assert missing == []

    def test_what_a_component_requires_can_be_installed(self, providers: Providers) -> None:
        """``requires`` without ``extra`` leaves whoever lacks a package without the pip line."""
        assert [one.name for _, one in providers if one.requires and not one.extra] == []

    def test_components_are_made_from_default_options(
        self, host: PluginHost, providers: Providers
    ) -> None:
        """``create`` makes a whole component, or says in an error of ragloom which setting it needs.

        ``PluginError`` is none of them: it says that ``create`` failed, or that a method is missing.
        """
        for kind, provider in providers:
            make = getattr(host, kind.removesuffix("s"))
            try:
                make(provider.name)
            except PluginError:
                raise
            except RagloomError as error:
                assert str(error)


def _entry_point(plugin: str) -> EntryPoint | None:
    return next((one for one in entry_points(group=PROJECT) if one.module == plugin), None)


def _modules(plugin: str) -> list[Path]:
    spec = importlib.util.find_spec(plugin)
    if spec is None or spec.origin is None:
        return []
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


def _imports(path: Path) -> Iterator[str]:
    """Modules, and ``module:name`` for what is imported from one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}:{alias.name}" for alias in node.names)
