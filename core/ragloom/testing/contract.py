"""What all contracts have in common: their rules cannot be overridden, and deviations are declared."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import ClassVar, cast

import pytest

__all__ = ["Contract", "rules_of"]


class Contract:
    """A class of tests that every component of a kind must pass.

    Attributes:
        deviations: Rules that the component knowingly breaks, by the name of the test, and why. A name
            may end in the parameter, as pytest shows it: ``test_limits[0]``. The test is then expected
            to fail, and fails the run when it passes.
    """

    deviations: ClassVar[Mapping[str, str]] = {}
    _is_contract: ClassVar[bool] = True

    def __init_subclass__(cls, *, contract: bool = False, **more: object) -> None:
        """Refuse a subclass that hides a rule; ``contract`` marks a class that adds rules."""
        super().__init_subclass__(**more)
        cls._is_contract = contract
        if not contract:
            _check(cls)

    @pytest.fixture(autouse=True)
    def _deviation(self, request: pytest.FixtureRequest) -> None:
        """Expect a declared deviation to fail, strictly."""
        _check(type(self))
        node = cast("pytest.Function", request.node)
        reason = self.deviations.get(node.name) or self.deviations.get(node.originalname)
        if reason:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def rules_of(contract: type[Contract]) -> dict[str, object]:
    """The tests of a contract by name, in their order: those of its bases first."""
    return {
        name: rule
        for base in reversed(contract.__mro__)
        if vars(base).get("_is_contract")
        for name, rule in vars(base).items()
        if name.startswith("test")
    }


def _check(cls: type[Contract]) -> None:
    for name, rule in rules_of(cls).items():
        if inspect.getattr_static(cls, name, None) is not rule:
            raise TypeError(
                f"{cls.__name__} overrides {name}, a rule of the contract; declare a known deviation: "
                f"deviations = {{{name!r}: 'the reason'}}"
            )
    for name, reason in cls.deviations.items():
        if name.partition("[")[0] not in rules_of(cls):
            raise TypeError(f"{cls.__name__} declares a deviation from the unknown rule {name!r}")
        if not reason.strip():
            raise TypeError(f"{cls.__name__} declares a deviation from {name} without a reason")
