"""The layout of the packages: no import circle, no long module, few modules at the top."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

LONGEST = 400  # lines of a module
MOST_AT_THE_TOP = 20  # modules directly in core/ragloom


@pytest.fixture(scope="module")
def core(root):
    return root / "core" / "ragloom"


@pytest.fixture(scope="module")
def modules(core):
    """The syntax tree of every module of core by its dotted name."""
    return {
        ".".join(path.relative_to(core.parent).with_suffix("").parts).removesuffix(".__init__"): (
            ast.parse(path.read_text("utf-8"))
        )
        for path in sorted(core.rglob("*.py"))
    }


def imported(tree, modules):
    """Which of the modules a tree names, imports inside functions and TYPE_CHECKING included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, ast.unparse(node)
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module


def test_core_has_no_import_circle(modules):
    graph = {
        name: {other for other in imported(tree, modules) if other in modules} - {name}
        for name, tree in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_no_module_is_long(root):
    lines = {
        path.relative_to(root).as_posix(): len(path.read_text("utf-8").splitlines())
        for folder in ("core", "plugins")
        for path in (root / folder).rglob("*.py")
    }
    assert {} == {path: count for path, count in sorted(lines.items()) if count > LONGEST}


def test_few_modules_stand_at_the_top_of_core(core):
    assert len(list(core.glob("*.py"))) <= MOST_AT_THE_TOP
