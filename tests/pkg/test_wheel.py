import configparser
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import version

import pytest
import yaml
from packaging.requirements import Requirement

GIT = shutil.which("git") or ""


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
    found -= {path.parent for path in root.glob("plugins/*/pyproject.toml")}  # apart
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


BROKE = {  # a release of this kind changed what ragloom calls
    *("numpy", "numkong", "mcp", "pymilvus", "sqlalchemy"),  # a major one
    *("langgraph", "langchain-core", "llama-index-core"),
    "tree-sitter-language-pack",
}


def test_what_broke_before_has_an_upper_limit(project):
    lines = [
        *project["project"]["dependencies"],
        *(line for lines in project["project"]["optional-dependencies"].values() for line in lines),
    ]
    requirements = list(map(Requirement, lines))
    limited = {
        one.name
        for one in requirements
        if any(bound.operator in {"<", "<=", "=="} for bound in one.specifier)
    }
    assert set() == BROKE - {one.name for one in requirements}
    assert set() == BROKE - limited


def test_version_is_stated_once(project, root):
    import ragloom

    stated = project["tool"]["hatch"]["version"]["fallback-version"]
    assert "version" in project["project"]["dynamic"]
    assert ragloom.__version__ == version("ragloom")
    released = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert stated == released[1].rstrip(",")


@pytest.fixture(scope="module")
def copy(root, tmp_path_factory):
    """A repository of its own with the files of this one, without tags."""
    if not GIT:
        pytest.skip("needs git")
    folder = tmp_path_factory.mktemp("repository")
    for name in ("core", "plugins", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml"):
        place = root / name
        if place.is_dir():  # what is large has no part in a version
            ignore = shutil.ignore_patterns("*.onnx", "__pycache__")
            shutil.copytree(place, folder / name, ignore=ignore)
        else:
            shutil.copy(place, folder / name)
    for name in (".git_archival.txt", ".gitattributes", ".gitignore"):
        shutil.copy(root / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")
    return folder


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run([GIT, *who, *arguments], cwd=folder, check=True)


def built_version(folder):
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "version"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def archived(repository, folder):
    """The source archive of the newest commit, as a forge makes it."""
    folder.mkdir()
    made = subprocess.run([GIT, "archive", "HEAD"], cwd=repository, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_the_version_is_that_of_the_tag_or_stated_where_there_is_none(copy, tmp_path, project):
    stated = project["tool"]["hatch"]["version"]["fallback-version"]
    assert stated == built_version(copy)  # a clone without tags
    assert stated == built_version(archived(copy, tmp_path / "without"))
    shutil.copytree(copy, tmp_path / "plain", ignore=shutil.ignore_patterns(".git*"))
    assert stated == built_version(tmp_path / "plain")  # no trace of git

    git(copy, "tag", "v9.8.7")
    assert "9.8.7" == built_version(copy)
    assert "9.8.7" == built_version(archived(copy, tmp_path / "with"))
    git(copy, "commit", "--quiet", "--allow-empty", "--message", "more")
    assert "9.8.7" == built_version(copy)  # between two tags that of the last


def test_the_version_of_a_source_distribution_stays_without_git(copy, tmp_path):
    command = ["-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([sys.executable, *command, str(copy)], check=True, capture_output=True)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert f"ragloom-{built_version(copy)}" == unpacked.name
    assert built_version(copy) == built_version(unpacked)


@pytest.mark.slow
def test_the_workflow_of_a_release_is_one_and_tries_the_oldest_and_the_newest(root, project):
    checked = pytest.importorskip("check_jsonschema", reason="needs check-jsonschema")
    path = root / ".github" / "workflows" / "release.yml"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            checked.__name__,
            "--builtin-schema",
            "vendor.github-workflows",
            path,
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert 0 == done.returncode, done.stdout
    pythons = [
        line.rpartition(" :: ")[2]
        for line in project["project"]["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)
    ]
    workflow = yaml.safe_load(path.read_text("utf-8"))
    tried = workflow["jobs"]["wheel"]["strategy"]["matrix"]["python"]
    assert [pythons[0], pythons[-1]] == tried
    assert f">={pythons[0]}" == project["project"]["requires-python"]
