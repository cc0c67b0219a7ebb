"""Plugins of strangers, built as wheels and installed into a fresh virtual environment."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("onnxruntime") is None, reason="needs the extra [standard]"
    ),
]

GUIDE = """\
Rotating the keys
=================

The signing keys are rotated on the first Monday of every month by the duty engineer.

Feeding the parrot
==================

The office parrot eats sunflower seeds and a slice of apple at noon.
"""


def scaffold(folder):
    """Write the package ``ragloom-wiki`` with a loader, a chunker and a section of settings."""
    kinds = ("--kind", "loader", "--kind", "chunker", "--kind", "settings")
    command = (sys.executable, "-m", "ragloom", "plugins", "new", "wiki", *kinds)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheel, root, build_wheel):
    """The interpreter of a fresh environment with ragloom's wheel, both plugins, and a scaffold.

    Dependencies come from the environment that runs the tests, behind the fresh one's own packages,
    so that nothing is downloaded; ragloom itself is the wheel.
    """
    folder = tmp_path_factory.mktemp("third-party")
    for project in ("rst", "broken"):
        build_wheel(root / "tests" / "data" / "third_party" / project, folder)
    scaffold(folder)
    build_wheel(folder / "ragloom-wiki", folder)
    venv.create(folder / "venv", symlinks=True)
    places = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    packages = sysconfig.get_path("purelib", "venv", vars=places)
    scripts = sysconfig.get_path("scripts", "venv", vars=places)
    wheels = [str(wheel), *map(str, sorted(folder.glob("*.whl")))]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--disable-pip-version-check", "--target", packages, *wheels),
        ],
        check=True,
    )
    borrowed = [place for place in sys.path if place.endswith("-packages")]
    Path(packages, "dependencies.pth").write_text("\n".join([*borrowed, ""]), "utf-8")
    return f"{scripts}/python"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "guide.rst").write_text(GUIDE, "utf-8")
    return tmp_path


@pytest.fixture
def ragloom(python, project):
    def run(*arguments, check=True):
        return subprocess.run(
            [python, "-m", "ragloom", *arguments],
            cwd=project,
            check=check,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )

    return run


def test_the_wheel_is_what_runs(python):
    code = "import ragloom, ragloom_markdown; print(ragloom.__file__, ragloom_markdown.__file__)"
    done = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.count("third-party") == 2


def test_both_are_listed_with_what_they_bring(ragloom):
    done = ragloom("plugins", "--json")
    plugins = {plugin["name"]: plugin for plugin in json.loads(done.stdout)}

    assert plugins["rst"]["distribution"] == "ragloom-rst-example"
    assert plugins["rst"]["version"] == "0.3.0"
    assert plugins["rst"]["status"] == "loaded"
    assert plugins["rst"]["provides"] == {"loaders": ["rst"]}
    assert plugins["broken"]["distribution"] == "ragloom-broken-example"
    assert plugins["broken"]["status"] == "failed"
    assert plugins["broken"]["error"] == "RuntimeError: this plugin was made to fail"
    assert {plugin["name"] for plugin in plugins.values() if plugin["status"] == "failed"} == {
        "broken"
    }


def test_the_loader_is_used_without_a_setting(ragloom):
    done = ragloom("index", "--json")

    files = json.loads(done.stdout)["files"]
    assert files["added"] == 1
    assert files["failed"] == []
    # The one that fails is named in one line, and the run goes on.
    lines = [line for line in done.stderr.splitlines() if "ragloom-broken-example" in line]
    assert len(lines) == 1
    assert "RuntimeError: this plugin was made to fail" in lines[0]


def test_what_it_loaded_is_found(ragloom):
    done = ragloom("search", "when are the signing keys rotated?", "--json")
    hit = json.loads(done.stdout)["hits"][0]

    assert hit["path"] == "guide.rst"
    assert "first Monday" in hit["text"]
    assert hit["metadata"] == {"loaded_by": "ragloom-rst-example"}


WIKI = """\
Status: accepted

= Keys

== Rotation

The signing keys are rotated on the first Monday of every month by the duty engineer.
"""
SETTINGS = """\
embedder: onnx
store: sqlite
chunkers: {.sql: wiki}
wiki:
  dialect: strict
"""
SQL = "\n\n".join(f"INSERT INTO parrots\nVALUES ({number});" for number in range(90))


@pytest.fixture
def wiki(ragloom, project):
    """An index with files of the scaffold's own format, and of one that its chunker splits."""
    (project / "ragloom.yaml").write_text(SETTINGS, "utf-8")
    (project / "keys.wiki").write_text(WIKI, "utf-8")
    (project / "parrots.sql").write_text(SQL, "utf-8")
    ragloom("index")
    return project


def test_a_scaffold_hands_over_sections(ragloom, wiki):
    done = ragloom("search", "when are the signing keys rotated?", "--json")
    hit = next(hit for hit in json.loads(done.stdout)["hits"] if hit["path"] == "keys.wiki")

    assert hit["headings"] == ["Keys", "Rotation"]
    assert hit["metadata"] == {"status": "accepted"}


def test_a_scaffold_splits_one_ending(ragloom, wiki):
    done = ragloom("chunks", "parrots.sql", "--json")
    texts = [json.loads(line)["text"] for line in done.stdout.splitlines()]
    assert len(texts) > 1
    assert "\n\n".join(texts) == SQL  # whole paragraphs

    unset = SETTINGS.replace("chunkers: {.sql: wiki}\n", "")
    (wiki / "ragloom.yaml").write_text(unset, "utf-8")
    files = json.loads(ragloom("index", "--json").stdout)["files"]
    assert (files["updated"], files["unchanged"]) == (1, 2)  # only that ending goes back


def test_a_scaffold_has_a_section_of_settings(ragloom, wiki):
    listed = {one["key"]: one for one in json.loads(ragloom("config", "--json").stdout)}
    assert listed["chunkers"]["value"] == {".sql": "wiki"}
    assert listed["chunkers"]["origin"].endswith("ragloom.yaml:3")
    assert listed["wiki.dialect"]["value"] == "strict"
    assert listed["wiki.dialect"]["origin"].endswith("ragloom.yaml:5")

    (wiki / "ragloom.yaml").write_text(SETTINGS.replace("dialect", "dialct"), "utf-8")
    done = ragloom("config", check=False)
    place = f"error: {wiki / 'ragloom.yaml'}:5: wiki: unknown option 'dialct'"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == f"{place}; did you mean 'dialect'? (legal: dialect)"


def test_a_scaffold_passes_its_contract_tests(python, tmp_path):
    scaffold(tmp_path)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path / "ragloom-wiki",
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-4000:]
