"""Write the rules and the public names in docs/contract.md, from ragloom.testing and each `__all__`."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

from ragloom import testing
from ragloom.testing.contract import Contract, rules_of

PAGE = Path(__file__).with_name("contract.md")
MARK = "<!-- from here written by `python docs/generate_contract.py` -->\n"
KITS = ("", ".cli", ".config", ".context", ".stores", ".testing", ".text")


def render() -> str:
    """The page, with the rules and the public names as the code has them."""
    head, _, _ = PAGE.read_text("utf-8").partition(MARK)
    return "".join([head, MARK, "\n## Rules\n", *_rules(), *_names()])


def _rules() -> list[str]:
    public = {name: getattr(testing, name) for name in testing.__all__}
    contracts = {
        name: one
        for name, one in public.items()
        if isinstance(one, type) and issubclass(one, Contract)
    }
    parts: list[str] = []
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
    return parts


def _names() -> list[str]:
    parts = ["\n## Public names\n\n| import from | names |\n| --- | --- |\n"]
    for kit in KITS:
        names = ", ".join(f"`{name}`" for name in import_module(f"ragloom{kit}").__all__)
        parts.append(f"| `ragloom{kit}` | {names} |\n")
    return parts


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
