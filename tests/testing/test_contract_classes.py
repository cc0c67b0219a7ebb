"""No rule is overridden quietly, and deviations are declared."""

import pytest

import ragloom.testing
from ragloom.testing import Contract, FormatterContract
from ragloom.testing.contract import rules_of

HEAD = """\
import pytest
from ragloom.context import TextFormatter
from ragloom.testing import FormatterContract

class Base(FormatterContract, contract=True):
    @pytest.fixture
    def formatter(self):
        return TextFormatter()
"""


@pytest.fixture
def run(run_pytest, tmp_path):
    def run(body):
        (tmp_path / "test_it.py").write_text(f"{HEAD}\n{body}", "utf-8")
        done = run_pytest("-q", "-rfExX", "test_it.py", cwd=tmp_path)
        return done.returncode, done.stdout

    return run


@pytest.mark.parametrize(
    "body",
    [
        "class TestIt(Base):\n    def test_no_citations_render(self):\n        pass",
        "class TestIt(Base):\n    test_no_citations_render = None",
        (
            "class Mixin:\n    def test_no_citations_render(self):\n        pass\n\n"
            "class TestIt(Mixin, Base):\n    pass"
        ),
    ],
    ids=["method", "none", "mixin"],
)
def test_overriding_a_rule_is_a_collection_error(run, body):
    code, said = run(body)
    assert code == 2
    assert "TestIt overrides test_no_citations_render, a rule of the contract" in said


def test_overriding_a_rule_later_fails(run):
    code, said = run(
        "class TestIt(Base):\n    pass\n\nTestIt.test_no_citations_render = lambda self: None"
    )
    assert code == 1
    assert "overrides test_no_citations_render" in said


def test_a_deviation_from_what_is_no_rule_or_without_a_reason_is_a_collection_error(run):
    for deviations, message in (
        ({"test_nothing": "why"}, "unknown rule 'test_nothing'"),
        ({"test_no_citations_render": " "}, "without a reason"),
    ):
        code, said = run(f"class TestIt(Base):\n    deviations = {deviations!r}")
        assert code == 2
        assert message in said


def test_a_deviation_that_does_not_happen_fails(run):
    code, said = run("class TestIt(Base):\n    deviations = {'test_no_citations_render': 'why'}")
    assert code == 1
    assert "[XPASS(strict)] why" in said


def test_a_deviation_is_expected_to_fail_and_its_reason_is_shown(run):
    code, said = run(
        "class Empty:\n    def render(self, context):\n        return ''\n\n"
        "class TestIt(Base):\n"
        "    deviations = {name: 'shows nothing' for name in dir(FormatterContract)\n"
        "        if name.startswith('test_every') or name.startswith('test_a_passage_cannot_close')\n"
        "        or name.startswith('test_odd')}\n"
        "    @pytest.fixture\n    def formatter(self):\n        return Empty()\n"
    )
    assert code == 0, said
    assert "shows nothing" in said


def test_failing_assertions_show_the_values(run):
    code, said = run(
        "class Empty:\n    def render(self, context):\n        return 3\n\n"
        "class TestIt(Base):\n    @pytest.fixture\n    def formatter(self):\n        return Empty()\n"
    )
    assert code == 1
    assert "isinstance(3, str)" in said


PUBLIC = (getattr(ragloom.testing, name) for name in ragloom.testing.__all__)
CONTRACTS = [one for one in PUBLIC if isinstance(one, type) and issubclass(one, Contract)]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_rule_says_what_it_asks_for(contract):
    for rule in rules_of(contract).values():
        assert rule.__doc__.strip().partition("\n")[0].endswith((".", ","))


def test_names_are_sorted():
    assert sorted(ragloom.testing.__all__) == ragloom.testing.__all__
    assert ragloom.testing.FormatterContract is FormatterContract
