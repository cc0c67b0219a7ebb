"""The page of the contract says what the classes and the tests of ragloom's own parts say."""

import importlib
import importlib.util
import re

import pytest

from ragloom import PluginHost
from ragloom.plugin.registry import PROTOCOLS

PUBLIC = {f"ragloom.{kit}" for kit in ("cli", "config", "context", "stores", "testing", "text")}


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "contract.md").read_text("utf-8")


def test_the_rules_are_up_to_date(root, page):
    path = root / "docs" / "generate_contract.py"
    spec = importlib.util.spec_from_file_location("generate_contract", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.render() == page, "run `python docs/generate_contract.py`"


def test_the_deviations_of_ragloom_s_own_parts_are_listed(page):
    host = PluginHost.discover(disabled=())
    declared = {
        (f"{kind.removesuffix('s')} `{part.name}`", rule.removeprefix("test_"), reason)
        for kind in PROTOCOLS
        for part in host.providers(kind).values()
        for rule, reason in part.deviations.items()
    }
    table = page.partition("## Deviations")[2].partition("\n\n## ")[0]
    listed = {
        (part, rule, reason)
        for part, rules, reason in re.findall(
            r"^\| (\w+ `\w+`) \| (.*) \| (.*) \|$", table, re.MULTILINE
        )
        for rule in rules.replace("`", "").split(", ")
    }
    assert declared == listed


def test_every_public_name_is_listed_and_no_other(page):
    table = dict(re.findall(r"^\| `(ragloom[.\w]*)` \| (.*) \|$", page, re.MULTILINE))
    stable = page.partition("## What is stable")[2].partition("| change |")[0]
    assert set(table) == set(re.findall(r"`(ragloom[.\w]*)`", stable)) == {"ragloom", *PUBLIC}
    for module, names in table.items():
        assert list(importlib.import_module(module).__all__) == re.findall(r"`(\w+)`", names)
