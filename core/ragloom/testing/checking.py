"""The contracts of an installed plugin as test classes, made from what it offers.

``ragloom plugins check`` writes a test module of one line, which calls :func:`contract_classes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest

from ragloom._host import PluginHost
from ragloom._registry import PROTOCOLS, Kind, missing_modules
from ragloom.errors import ConfigError, SourceError
from ragloom.hookspecs import PROJECT
from ragloom.protocols import Loader
from ragloom.testing.agreement import StoreAgreement
from ragloom.testing.chunkers import ChunkerContract
from ragloom.testing.contract import Contract, rules_of
from ragloom.testing.embedders import EmbedderContract
from ragloom.testing.formatters import FormatterContract
from ragloom.testing.loaders import LoaderContract
from ragloom.testing.plugins import PluginContract
from ragloom.testing.rerankers import RerankerContract
from ragloom.testing.stores import StoreContract
from ragloom.types import Source

__all__ = ["Check", "contract_classes"]

_CONTRACTS: Mapping[Kind, tuple[type[Contract], ...]] = {
    "chunkers": (ChunkerContract,),
    "embedders": (EmbedderContract,),
    "formatters": (FormatterContract,),
    "loaders": (LoaderContract,),
    "rerankers": (RerankerContract,),
    "stores": (StoreContract, StoreAgreement),
}

Options = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What to check.

    Attributes:
        distribution: The installed package.
        options: Settings by the name of the part.
        deviations: Reasons by ``PART:RULE``, or by ``RULE`` for every part.
        samples: Files for the loaders that read their suffix.
    """

    distribution: str
    options: Options = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    samples: Sequence[str] = ()


def contract_classes(check: Check) -> dict[str, type[Contract]]:
    """A class of tests for each plugin of a distribution, and for each part that it offers."""
    found = PluginHost.discover(disabled=()).plugins()
    made: dict[str, type[Contract]] = {}
    for point in _entry_points(check.distribution):
        plugin = {"plugin": _fixture(point.module)}
        made[f"TestPlugin_{_plain(point.name)}"] = _class(PluginContract, plugin, check, point.name)
        offered = next((info.provides for info in found if info.name == point.name), {})
        for kind in PROTOCOLS:
            for name in offered.get(kind, ()):
                for contract in _CONTRACTS[kind]:
                    label = contract.__name__.removesuffix("Contract")
                    title = f"Test{label}_{_plain(name)}"
                    made[title] = _class(contract, _fixtures(kind, name, check), check, name)
    return made


def made_part(kind: Kind, name: str, options: Options) -> object:
    """A part of an installed plugin; a function of a module, so that processes can name it."""
    make: Callable[..., object] = getattr(PluginHost.discover(), kind.removesuffix("s"))
    return make(name, options.get(name, {}))


def _entry_points(name: str) -> list[EntryPoint]:
    return sorted(distribution(name).entry_points.select(group=PROJECT), key=lambda one: one.name)


def _class(
    contract: type[Contract], fixtures: Mapping[str, object], check: Check, part: str
) -> type[Contract]:
    deviations = {}
    for key, reason in check.deviations.items():
        named, _, rule = key.rpartition(":")
        if rule.partition("[")[0] in rules_of(contract) and named in {"", part}:
            deviations[rule] = reason
    # No folder of a test need hold what a store of unknown kind writes.
    more = {"remote": True} if issubclass(contract, StoreContract) else {}
    body = {**fixtures, **more, "deviations": deviations, "__doc__": f"{part}."}
    return type(f"Test{part}", (contract,), body)


def _fixtures(kind: Kind, name: str, check: Check) -> dict[str, object]:
    make = partial(made_part, kind, name, check.options)
    if kind == "stores":
        return {"make_store": _fixture(make, check=partial(_available, kind, name, make))}

    @pytest.fixture(name=kind.removesuffix("s"))
    def part(self: object) -> object:  # noqa: ARG001 - a method
        return _available(kind, name, make)

    fixtures: dict[str, object] = {kind.removesuffix("s"): part}
    if kind == "loaders":

        @pytest.fixture
        def samples(self: object, loader: Loader) -> Mapping[str, bytes]:  # noqa: ARG001
            return _samples(loader, check.samples)

        fixtures["samples"] = samples
    return fixtures


def _available(kind: Kind, name: str, make: Callable[[], object]) -> object:
    """The part; or the test is skipped, with what it needs."""
    provider = PluginHost.discover().providers(kind).get(name)
    if provider is not None and (missing := missing_modules(provider)):
        pytest.skip(f"needs {', '.join(missing)}: pip install '{provider.extra}'")
    try:
        return make()
    except ConfigError as error:
        pytest.skip(f"give its settings with --option {name}.KEY=VALUE: {error}")


def _samples(loader: Loader, given: Sequence[str]) -> Mapping[str, bytes]:
    paths = [path for path in map(Path, given) if path.suffix.lower() in loader.suffixes]
    if paths:
        return {path.name: path.read_bytes() for path in paths}
    name = f"sample{min(loader.suffixes, default='.txt')}"
    content = "Title\n=====\n\nSome words, na\u00efve \u65e5\u672c \U0001f9f5.\n".encode()
    try:
        loader.load(Source(uri=name, path=Path(name)), content)
    except SourceError as error:
        pytest.skip(f"give a file of its format with --sample FILE: {error}")
    return {name: content}


def _fixture(value: object, check: Callable[[], object] | None = None) -> object:
    @pytest.fixture
    def fixture(self: object) -> object:  # noqa: ARG001 - a method
        if check is not None:
            check()
        return value

    return fixture


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)
