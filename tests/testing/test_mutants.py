"""The kit is tested with parts that are deliberately wrong: each is found by the rule it breaks."""

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from ragloom import testing
from ragloom.testing.contract import rules_of

MUTANTS = Path(__file__).parent / "mutants"
KINDS = sorted(path.stem.removeprefix("mutant_") for path in MUTANTS.glob("mutant_*.py"))
CONTRACTS = {
    f"{name.removesuffix('Contract').lower()}s": getattr(testing, name)
    for name in testing.__all__
    if name.endswith("Contract") and name != "Contract"
}
PROTOCOL = "test_has_every_method_of_the_protocol"
"""A part that lacks a method breaks other rules, too, and is tried by itself below."""
TABLE = "test_filters_pass_the_table"
"""It looks at every operator, so that what breaks a rule of filters may break it, too."""


@pytest.fixture(scope="module", params=KINDS)
def outcome(request, run_pytest, tmp_path_factory):
    """Kind, mutants by class name with the rule each breaks, and the rules that found each."""
    kind = request.param
    report = tmp_path_factory.mktemp("mutants") / "report.xml"
    arguments = (f"mutant_{kind}.py", "-q", "--tb=no", "-c", "pytest.ini", f"--junitxml={report}")
    done = run_pytest(*arguments, cwd=MUTANTS)
    assert done.returncode == 1, done.stdout + done.stderr
    failed, ran = defaultdict(set), defaultdict(set)
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - written by pytest
        name = case.get("classname").rpartition(".")[2]
        rule = case.get("name").partition("[")[0]
        ran[name].add(rule)
        if case.find("failure") is not None or case.find("error") is not None:
            failed[name].add(rule)
    return kind, {name: name.partition("__")[2] for name in ran}, failed


@pytest.mark.slow
def test_every_mutant_is_found_by_the_rule_it_breaks_and_by_no_other(outcome, capsys):
    kind, mutants, failed = outcome
    expected = {name: {rule} if rule else set() for name, rule in mutants.items()}
    found = {name: failed[name] - ({TABLE} - expected[name]) for name in mutants}

    assert expected == found
    with capsys.disabled():
        print(f"\n{kind}: {len(mutants) - 1} mutants found by {len({*mutants.values()}) - 1} rules")  # noqa: T201 - the count


@pytest.mark.slow
def test_every_rule_finds_a_mutant(outcome):
    kind, mutants, _ = outcome
    contract = CONTRACTS[kind]
    extended = [
        one for one in CONTRACTS.values() if one is not contract and issubclass(contract, one)
    ]
    rules = set(rules_of(contract)).difference(*map(rules_of, extended))

    assert set() == rules - set(mutants.values()) - {PROTOCOL}


def test_every_contract_has_mutants():
    assert sorted(CONTRACTS) == KINDS


@pytest.mark.parametrize("kind", sorted(set(CONTRACTS) - {"plugins"}))
def test_a_part_that_lacks_a_method_is_found(kind):
    part = object if kind.endswith("stores") else object()
    with pytest.raises(AssertionError):
        getattr(CONTRACTS[kind](), PROTOCOL)(part)
