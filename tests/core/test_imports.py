"""What an import may load: a process of its own says what it found in ``sys.modules``."""

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import ragloom

PROBE = """
import json, sys
before = set(sys.modules)
{statement}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""
STANDARD = sys.stdlib_module_names | {"_distutils_hack", "__main__"}
HOST = {"pluggy", "ragloom"}
COMMAND = HOST | {"click"}
# Settings are read; a table is printed.
PLUGINS_COMMAND = COMMAND | {"rich", "pygments", "yaml", "_yaml"}
PLUGINS = sorted(
    point.value
    for point in entry_points(group="ragloom")
    if point.dist is not None and point.dist.name == "ragloom"
    if point.value != "ragloom.audit"  # core's own
)
PUBLIC = {
    "ragloom",
    *(f"ragloom.{kit}" for kit in ("cli", "config", "context", "stores", "testing", "text")),
}
LLM_PLUGIN = "ragloom_llm"  # llm's entry points name it, not ours
ADAPTERS = ["ragloom_langchain"]  # without a hook: only imported
needs_cli = pytest.mark.skipif(
    importlib.util.find_spec("ragloom.cli") is None, reason="the command line is not there yet"
)


def loaded_by(statement):
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def run(*arguments):
    return (
        "from contextlib import redirect_stdout, suppress; import io\n"
        "from ragloom.cli import main\n"
        f"sys.argv = ['ragloom', *{arguments!r}]\n"
        "with redirect_stdout(io.StringIO()), suppress(SystemExit): main()"
    )


def test_ragloom_loads_pluggy_and_nothing_else():
    assert set() == loaded_by("import ragloom") - STANDARD - HOST


def test_the_host_loads_no_more_than_the_plugins_themselves():
    loaded = loaded_by("from ragloom import PluginHost; PluginHost.discover().plugins()")
    assert set() == loaded - STANDARD - HOST - set(PLUGINS)


@pytest.mark.parametrize("plugin", [*PLUGINS, *ADAPTERS])
def test_a_plugin_loads_only_ragloom(plugin):
    assert set() == loaded_by(f"import {plugin}") - STANDARD - HOST - {plugin}


@needs_cli
def test_help_loads_only_click():
    assert set() == loaded_by(run("--help")) - STANDARD - COMMAND - set(PLUGINS)


@needs_cli
def test_the_list_of_plugins_loads_nothing_heavy():
    loaded = loaded_by(run("plugins", "--json"))
    assert set() == loaded - STANDARD - PLUGINS_COMMAND - set(PLUGINS)


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "ragloom"
            )


def of_plugins(root):
    for folder in ("plugins", "examples/plugins"):
        yield from (root / folder).rglob("*.py")


def test_plugins_and_examples_import_only_public_modules(root):
    names = {f"ragloom.{name}" for name in ragloom.__all__} | PUBLIC
    private = [
        (path.relative_to(root).as_posix(), name)
        for path in of_plugins(root)
        for name in imports_of(path)
        if name.startswith("ragloom.")
        and name not in names
        # Tests of an example use the kit for tests, fakes and fixtures included.
        and not name.startswith("ragloom.testing")
    ]
    assert [] == private


def test_the_import_contract_forbids_all_that_is_not_public(root):
    tool = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]
    contracts = tool["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["name"].startswith("plugins import public"))
    folder = Path(ragloom.__file__).parent
    rooms = {
        f"ragloom.{path.stem}"
        for path in folder.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and path.stem[:2] != "__"
    }
    kits = {f"{kit}.*" for kit in PUBLIC - {"ragloom", "ragloom.testing"}}
    assert sorted(rooms - PUBLIC | kits) == contract["forbidden_modules"]


def test_the_import_contracts_list_every_plugin(root):
    tool = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]
    _, core, independence, public = tool["importlinter"]["contracts"]
    plugins = sorted([*PLUGINS, LLM_PLUGIN, *ADAPTERS])
    assert sorted(independence["modules"]) == plugins
    assert sorted(public["source_modules"]) == plugins
    assert set() == set(plugins) - set(core["forbidden_modules"])
