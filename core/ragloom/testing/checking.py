"""The contracts of an installed plugin as test classes, made from what it offers.

``ragloom plugins check`` writes a test module of one line, which calls :func:`contract_classes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest

from ragloom.config.options import build
from ragloom.config.spelling import did_you_mean
from ragloom.errors import ConfigError, PluginError, SourceError
from ragloom.hookspecs import PROJECT, Provider
from ragloom.plugin.host import PluginHost
from ragloom.plugin.registry import PROTOCOLS, Kind, missing_modules
from ragloom.protocols import Loader, SearchableStore
from ragloom.testing.agreement import StoreAgreement
from ragloom.testing.chunkers import ChunkerContract
from ragloom.testing.contract import Contract, rules_of
from ragloom.testing.embedders import EmbedderContract
from ragloom.testing.formatters import FormatterContract
from ragloom.testing.loaders import LoaderContract
from ragloom.testing.plugins import PluginContract
from ragloom.testing.rerankers import RerankerContract
from ragloom.testing.runners import RunnerContract
from ragloom.testing.searchable_stores import SearchRules
from ragloom.testing.store_fixtures import StoreFixtures
from ragloom.testing.stores import StoreContract
from ragloom.types import Source

__all__ = ["Check", "contract_classes", "refuse_unknown"]

_CONTRACTS: Mapping[Kind, tuple[type[Contract], ...]] = {
    "chunkers": (ChunkerContract,),
    "embedders": (EmbedderContract,),
    "formatters": (FormatterContract,),
    "loaders": (LoaderContract,),
    "rerankers": (RerankerContract,),
    "runners": (RunnerContract,),
    "stores": (StoreContract, SearchRules, StoreAgreement),
}

Options = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What to check.

    Attributes:
        distribution: The installed package.
        options: Settings by the name of the component.
        deviations: Reasons by ``COMPONENT:RULE``, or by ``RULE`` for every component.
        samples: Files for the loaders that read their suffix.
    """

    distribution: str
    options: Options = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    samples: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A plugin, where there is no provider, or a component, and the contract that it must pass."""

    name: str
    contract: type[Contract]
    fixtures: Mapping[str, object]
    provider: Provider[object] | None = None


def contract_classes(check: Check) -> dict[str, type[Contract]]:
    """A class of tests for each plugin of a distribution, and for each component that it offers."""
    made: dict[str, type[Contract]] = {}
    for case in _cases(check):
        label = case.contract.__name__.removesuffix("Contract")
        name = re.sub(r"\W", "_", case.name)
        made[f"Test{label}_{name}"] = _class(case, check)
    return made


def refuse_unknown(check: Check) -> None:
    """Refuse settings and deviations that match nothing in the distribution.

    Raises:
        ConfigError: A component, one of its options or a rule does not exist.
        PluginError: A component ships a deviation from what is no rule.
    """
    cases = list(_cases(check))
    for name, values in check.options.items():
        providers = [case.provider for case in cases if case.provider and case.name == name]
        if not providers:
            components = {case.name for case in cases if case.provider}
            raise ConfigError(f"--option {name}: {_unknown(check, name, components)}")
        problems: list[ConfigError] = []
        for provider in providers:
            try:
                build(provider.options, values, part=f"--option {name}")
            except ConfigError as error:
                problems.append(error)
        if len(problems) == len(providers):  # of several kinds, one that takes it is meant
            raise problems[0]
    known = {case.name for case in cases}
    for key in check.deviations:
        name, _, rule = key.rpartition(":")
        if name and name not in known:
            raise ConfigError(f"--deviation {key}: {_unknown(check, name, known)}")
        rules = {
            one for case in cases if name in ("", case.name) for one in rules_of(case.contract)
        }
        if rule.partition("[")[0] not in rules:
            raise ConfigError(
                f"--deviation {key}: unknown rule {rule!r}{did_you_mean(rule, rules)}"
            )


def _unknown(check: Check, name: str, known: Collection[str]) -> str:
    hint = did_you_mean(name, known) or f" (available: {', '.join(sorted(known))})"
    return f"unknown component {name!r} of {check.distribution}{hint}"


def _refuse_no_rules(kind: Kind, provider: Provider[object]) -> None:
    rules = {name for contract in _CONTRACTS[kind] for name in rules_of(contract)}
    for rule in provider.deviations:
        if rule.partition("[")[0] not in rules:
            raise PluginError(
                f"{provider.name!r} declares a deviation from the unknown rule {rule!r}"
                f"{did_you_mean(rule, rules)}"
            )


def _cases(check: Check) -> Iterator[_Case]:
    host = PluginHost.discover(disabled=())
    offered = {info.name: info.provides for info in host.plugins()}
    for point in _entry_points(check.distribution):
        plugin = {"plugin": _fixture(partial(str, point.module))}
        yield _Case(name=point.name, contract=PluginContract, fixtures=plugin)
        for kind in PROTOCOLS:
            for name in offered[point.name].get(kind, ()):
                provider = host.providers(kind)[name]
                _refuse_no_rules(kind, provider)
                for contract in _CONTRACTS[kind]:
                    fixtures = _fixtures(kind, name, contract, check)
                    yield _Case(name=name, contract=contract, fixtures=fixtures, provider=provider)


def made_component(kind: Kind, name: str, options: Options) -> object:
    """A component of an installed plugin; a function of a module, so that processes can name it."""
    make: Callable[..., object] = getattr(_host(), kind.removesuffix("s"))
    return make(name, options.get(name, {}))


@cache
def _host() -> PluginHost:
    """Of the process: a store is made a thousand times before a failing step is found."""
    return PluginHost.discover()


def _entry_points(name: str) -> list[EntryPoint]:
    return sorted(distribution(name).entry_points.select(group=PROJECT), key=lambda one: one.name)


def _class(case: _Case, check: Check) -> type[Contract]:
    declared = dict(case.provider.deviations) if case.provider is not None else {}
    for key, reason in check.deviations.items():
        named, _, rule = key.rpartition(":")
        if named in {"", case.name}:
            declared[rule] = reason
    rules = rules_of(case.contract)
    deviations = {
        rule: reason for rule, reason in declared.items() if rule.partition("[")[0] in rules
    }
    # No folder of a test need hold what a store of unknown kind writes.
    more = {"remote": True} if issubclass(case.contract, StoreFixtures) else {}
    body = {**case.fixtures, **more, "deviations": deviations, "__doc__": f"{case.name}."}
    return type(f"Test{case.name}", (case.contract,), body)


def _fixtures(kind: Kind, name: str, contract: type[Contract], check: Check) -> dict[str, object]:
    available = partial(_available, kind, name, check.options)
    if kind == "stores":

        def make_store() -> object:
            store = available()
            if contract is SearchRules and not isinstance(store, SearchableStore):
                pytest.skip("it does not search; the snapshot does")
            return partial(made_component, kind, name, check.options)

        return {"make_store": _fixture(make_store)}
    fixtures = {kind.removesuffix("s"): _fixture(available)}
    if kind == "loaders":

        @pytest.fixture
        def samples(self: object, loader: Loader) -> Mapping[str, bytes]:  # noqa: ARG001
            return _samples(loader, check.samples)

        fixtures["samples"] = samples
    return fixtures


def _available(kind: Kind, name: str, options: Options) -> object:
    """The component; or the test is skipped, with what it needs."""
    provider = _host().providers(kind).get(name)
    if provider is not None and (missing := missing_modules(provider)):
        pytest.skip(f"needs {', '.join(missing)}: pip install '{provider.extra}'")
    try:
        return made_component(kind, name, options)
    except ConfigError as error:
        if options.get(name):  # it was set up, and not as it must be
            raise
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


def _fixture(make: Callable[[], object]) -> object:
    @pytest.fixture
    def fixture(self: object) -> object:  # noqa: ARG001 - a method
        return make()

    return fixture
