"""Every hook has a documented entry with its exact signature, and a test of its own."""

import ast
import importlib.util
import inspect
import re

import pytest

from ragloom import hookspecs
from ragloom.plugin.registry import PROTOCOLS

HOOKS = [name for name in vars(hookspecs) if name.startswith("ragloom_")]


@pytest.fixture(scope="module")
def generator(root):
    path = root / "docs" / "generate_hooks.py"
    spec = importlib.util.spec_from_file_location("generate_hooks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "hooks.md").read_text("utf-8")


def test_the_page_is_up_to_date(generator, page):
    assert generator.render() == page, "run `python docs/generate_hooks.py`"


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_with_its_exact_signature(hook, page):
    (spec,) = ast.parse(inspect.getsource(getattr(hookspecs, hook))).body
    signature = f"({ast.unparse(spec.args)}) -> {ast.unparse(spec.returns)}"
    assert f"## {hook}\n\n```python\ndef {hook}{signature}\n```" in page


def test_no_documented_hook_is_gone(page):
    assert re.findall("^## (.*)$", page, re.MULTILINE) == HOOKS


@pytest.mark.parametrize("hook", HOOKS)
def test_every_docstring_is_a_contract(hook):
    text = inspect.getdoc(getattr(hookspecs, hook))
    for part in ("Called ", "Since "):
        assert part in text


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_test(hook, root):
    tree = ast.parse((root / "tests" / "core" / "plugin" / "test_host.py").read_text("utf-8"))
    tests = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert f"test_hook_{hook}" in tests


def test_every_kind_of_part_has_a_hook():
    assert {f"ragloom_{kind}" for kind in PROTOCOLS} <= set(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_the_guide_names_every_hook(hook, root):
    assert f"`{hook}`" in (root / "docs" / "writing-plugins.md").read_text("utf-8")
