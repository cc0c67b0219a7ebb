"""The page of the contract says what the classes and the tests of ragloom's own parts say."""

import ast
import importlib.util

import pytest


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "contract.md").read_text("utf-8")


def test_the_rules_are_up_to_date(root, page):
    path = root / "docs" / "generate_contract.py"
    spec = importlib.util.spec_from_file_location("generate_contract", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.render() == page, "run `python docs/generate_contract.py`"


def test_the_deviations_of_ragloom_s_own_parts_are_listed(root, page):
    declared = set()
    for path in (root / "tests" / "plugins").glob("*/test_contract*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "deviations":
                declared |= {ast.literal_eval(key).removeprefix("test_") for key in node.value.keys}
    listed = page.partition("## Deviations")[2].partition("## Rules")[0]
    names = {word for word in listed.split("`")[1::2] if "_" in word}
    assert declared == names
