"""A real environment that holds ragloom's wheel and core's own dependencies, and nothing else."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAVY = (
    "torch",
    "onnxruntime",
    "pymilvus",
    "milvus-lite",
    "tokenizers",
    "langgraph",
    "llama-index",
)


def needed(requirements, seen):
    """The distributions that these requirements bring, those of theirs included."""
    for text in requirements:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        seen[name] = found
        needed(found.requires or (), seen)
    return seen


@pytest.fixture(scope="module")
def core(tmp_path_factory, wheel):
    """The interpreter and the folder of packages of such an environment.

    Core's dependencies are linked from the environment that runs the tests: nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("core-only") / "venv"
    venv.create(folder, symlinks=True)
    places = {"base": str(folder), "platbase": str(folder)}
    packages = sysconfig.get_path("purelib", "venv", vars=places)
    scripts = sysconfig.get_path("scripts", "venv", vars=places)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", "--target", packages, str(wheel)],
        check=True,
    )
    for found in needed(distribution("ragloom").requires or (), {}).values():
        tops = {
            file.parts[0]
            for file in found.files or ()
            if file.parts[0] not in ("..", "__pycache__")
        }
        for top in sorted(tops):
            place = Path(packages, top)
            if not place.exists():
                place.symlink_to(str(found.locate_file(top)))
    return f"{scripts}/python", packages


@pytest.fixture(scope="module")
def run(core):
    def execute(*arguments, cwd):
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("RAGLOOM_", "PYTHON"))
        }
        return subprocess.run(
            [core[0], *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return execute


def test_100_core_brings_nothing_heavy(core):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format", "json", "--path", core[1]],
        capture_output=True,
        text=True,
        check=True,
    )
    names = {canonicalize_name(package["name"]) for package in json.loads(done.stdout)}

    assert "ragloom" in names
    assert {"click", "numpy", "pluggy", "tantivy"} <= names
    assert not [name for name in names if name.startswith(HEAVY)]


def test_050_the_node_goes_on_and_says_what_to_install(run, project):
    code = (
        "import json\n"
        "from ragloom_librarian import check_rag_available, librarian_node\n"
        "print(json.dumps([check_rag_available(), librarian_node({'issue_brief': 'errors'})]))\n"
    )
    done = run("-c", code, cwd=project)

    assert 0 == done.returncode, done.stderr
    (available, message), update = json.loads(done.stdout)
    assert not available
    assert "onnxruntime" in message
    assert "pip install 'ragloom[librarian]'" in message
    assert {"degraded_reason": message} == update
    lines = [line for line in done.stderr.splitlines() if "going on without" in line]
    assert 1 == len(lines)


def test_the_command_is_one_line_with_the_remedy(run, project):
    done = run("-m", "ragloom", "librarian", "rebuild", cwd=project)

    assert 1 == done.returncode
    assert "" == done.stdout
    assert 1 == len(done.stderr.splitlines())
    assert "pip install 'ragloom[librarian]'" in done.stderr


def test_llama_index_is_named_when_it_is_missing(run, project):
    done = run("-m", "ragloom", "index", "--chunker", "llamaindex:SentenceSplitter", cwd=project)

    assert 1 == done.returncode
    assert "pip install 'ragloom[" in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_110_the_extra_brings_all_that_is_needed(root):
    """Every requirement of the extra, those of its extras included, is met where the tests run."""
    import tomllib

    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    wanted, names = ["librarian"], set()
    while wanted:
        for text in extras[wanted.pop()]:
            requirement = Requirement(text)
            if requirement.name == "ragloom":
                wanted.extend(requirement.extras)
            else:
                names.add(requirement.name)
    assert {"langgraph", "onnxruntime", "pymilvus", "pyromark"} <= names
    assert all(distribution(name) for name in names)
