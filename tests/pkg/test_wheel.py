import configparser
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser

import pytest


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def packages(root, project):
    listed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return [root / package for package in listed]


def shipped(package):
    return {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_holds_the_packages_and_nothing_else(wheel, packages):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    code = {name for name in names if ".dist-info/" not in name}

    assert set().union(*map(shipped, packages)) == code


def test_every_folder_of_a_package_is_listed(root, packages):
    found = {path.parent for path in (*root.glob("core/*/"), *root.glob("plugins/*/*/"))}
    assert {package.parent for package in packages} == found


def test_every_package_is_typed(wheel, packages):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [] == [p.name for p in packages if f"{p.name}/py.typed" not in names]


def test_wheel_holds_the_model(wheel):
    with zipfile.ZipFile(wheel) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    models = {n: s for n, s in sizes.items() if n.startswith("ragloom_onnx/model/")}

    assert [n for n, size in models.items() if n.endswith(".onnx") and size > 20_000_000]
    assert {"LICENSE", "README.md", "tokenizer.json"} <= {n.rsplit("/", 1)[1] for n in models}


def test_wheel_has_a_command_and_an_entry_point_for_every_plugin(wheel, packages):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/entry_points.txt"))
        points = configparser.ConfigParser()
        points.read_string(archive.read(name).decode())
    plugins = {p.name.removeprefix("ragloom_"): p.name for p in packages if p.name != "ragloom"}

    del plugins["langchain"]  # it has no hook: it is imported
    # That for llm is found by llm itself.
    plugins["audit"] = "ragloom.audit"  # of core
    assert plugins == dict(points["ragloom"]) | {"llm": points["llm"]["ragloom"]}
    assert {"ragloom": "ragloom.cli:main"} == dict(points["console_scripts"])


def test_metadata_names_licence_pythons_and_extras(wheel, project):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())

    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    extras = project["project"]["optional-dependencies"]
    assert sorted(extras) == sorted(metadata.get_all("Provides-Extra"))


def test_source_distribution_holds_no_tests(root, tmp_path):
    from hatchling.builders.sdist import SdistBuilder

    (built,) = SdistBuilder(str(root)).build(directory=str(tmp_path))
    with tarfile.open(built) as archive:
        top = {name.split("/")[1] for name in archive.getnames()}

    expected = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "core", "plugins"}
    assert expected | {"pyproject.toml", ".gitignore"} == top


def test_every_requirement_has_a_lower_bound_to_test_with(root, project, tmp_path):
    pins = tmp_path / "lowest.txt"
    script = root / "tests" / "pkg" / "lowest_pins.py"
    subprocess.run([sys.executable, str(script), str(pins)], check=True)

    names = {line.partition("==")[0] for line in pins.read_text("utf-8").split()}
    required = {line.partition(">=")[0] for line in project["project"]["dependencies"]}
    assert set() == required - names


def test_version_is_stated_once(project):
    import ragloom

    assert project["project"]["version"] == ragloom.__version__
