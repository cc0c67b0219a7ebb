"""Write the rules in docs/contract.md from ragloom.testing."""

from __future__ import annotations

import inspect
from pathlib import Path

from ragloom import testing
from ragloom.testing.contract import Contract, rules_of

PAGE = Path(__file__).with_name("contract.md")
MARK = "<!-- rules: written by `python docs/generate_contract.py` -->\n"


def render() -> str:
    """The page, with its rules as the classes have them."""
    head, _, _ = PAGE.read_text("utf-8").partition(MARK)
    parts = [head + MARK]
    public = {name: getattr(testing, name) for name in testing.__all__}
    contracts = {
        name: one
        for name, one in public.items()
        if isinstance(one, type) and issubclass(one, Contract)
    }
    for name, contract in contracts.items():
        rules = rules_of(contract)
        for other in contracts.values():
            if other is not contract and issubclass(contract, other):  # stands under its own name
                rules = {rule: one for rule, one in rules.items() if rule not in rules_of(other)}
        if not rules:
            continue
        parts.append(f"\n### {name}\n\n| rule | |\n| --- | --- |\n")
        for rule, function in rules.items():
            said = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            said = said.replace("``", "`").replace("|", "\\|")
            parts.append(f"| `{rule.removeprefix('test_')}` | {said} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
