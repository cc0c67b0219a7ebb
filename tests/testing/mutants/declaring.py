"""How a mutant is declared: a class that breaks one rule, which its contract must find."""

import pytest

from ragloom.testing.contract import rules_of

SEPARATOR = "__"


def declare(names, contract, right, mutants, fixtures):
    """Put a test class for the part that is right, and one for each mutant, into a module.

    Args:
        names: The module's globals.
        contract: The contract class.
        right: A part that breaks no rule.
        mutants: Pairs of a rule and a part that breaks it.
        fixtures: Makes the fixtures, by name, from a part.
    """
    unknown = {rule for rule, _ in mutants} - set(rules_of(contract))
    assert unknown == set()
    for rule, part in [("", right), *mutants]:
        name = f"Test{part.__name__}{SEPARATOR}{rule}"
        assert name not in names
        body = {key: pytest.fixture(value) for key, value in fixtures(part).items()}
        names[name] = type(name, (contract,), body)
