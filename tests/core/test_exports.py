import ast
import importlib
import inspect
from pathlib import Path

import pytest

import ragloom
from ragloom import errors as error_tree
from ragloom import hookspecs, protocols, types

CORE = Path(ragloom.__file__).parent
MODULES = sorted(path.stem for path in CORE.glob("*.py") if not path.name.startswith("_"))


def defined_in(module):
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    }


def test_all_is_sorted_and_without_repetition():
    assert sorted(set(ragloom.__all__)) == ragloom.__all__


@pytest.mark.parametrize("name", ragloom.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ragloom, name) is not None
    assert name in dir(ragloom)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ragloom.nothing  # noqa: B018 - the access is what raises


@pytest.mark.parametrize("module", [error_tree, protocols, types])
def test_every_public_class_is_exported(module):
    assert set() == defined_in(module) - set(ragloom.__all__)


def test_every_error_is_a_ragloom_error():
    errors = [getattr(error_tree, name) for name in defined_in(error_tree)]
    assert [] == [error for error in errors if not issubclass(error, ragloom.RagloomError)]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_has_a_docstring_and_a_sorted_all(name):
    module = importlib.import_module(f"ragloom.{name}")
    assert inspect.getdoc(module)
    if hasattr(module, "__all__"):
        assert sorted(module.__all__) == list(module.__all__)


def test_data_types_are_frozen_slotted_and_keyword_only():
    classes = [getattr(types, name) for name in defined_in(types)]
    for cls in (cls for cls in classes if not issubclass(cls, tuple)):
        parameters = cls.__dataclass_params__
        assert parameters.frozen, cls
        assert "__slots__" in vars(cls), cls
        assert all(field.kw_only for field in cls.__dataclass_fields__.values()), cls


def test_every_hook_is_public_by_its_marker():
    assert hookspecs.hookimpl is ragloom.hookimpl
