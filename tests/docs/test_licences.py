"""The table of licences in the first decision record is what the installed packages say of themselves."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

import pytest

Requirement = pytest.importorskip("packaging.requirements").Requirement
canonical = pytest.importorskip("packaging.utils").canonicalize_name

ROW = re.compile(
    r"^\| (?P<package>[^|]+) \| (?P<licence>[^|]+) \| (?P<needed>[^|]+) \|$", re.MULTILINE
)
BUNDLED = "all-MiniLM-L6-v2 (weights)"
FAMILIES = {
    "Apache": r"apache",
    "MIT": r"\bmit\b",
    "BSD": r"bsd",
    "MPL": r"\bmpl\b|mozilla public",
    "PSF": r"\bpsf|python software foundation",
    "ISC": r"\bisc\b",
    "public domain": r"public domain|\bcc0|unlicense",
    "CNRI": r"cnri",
    "Zlib": r"\bzlib\b",
    "AFL": r"academic free",
}
NOT_WANTED = re.compile(
    r"\b(A|L)?GPL|General Public|proprietary|commercial|SSPL|BUSL|CC-BY-NC", re.IGNORECASE
)


@pytest.fixture(scope="module")
def table(root):
    text = (root / "docs" / "adr" / "0001-store-model-and-chunking.md").read_text("utf-8")
    section = text.partition("## Licences")[2]
    rows = {row["package"]: row for row in ROW.finditer(section)}
    return {name: row for name, row in rows.items() if name not in ("package", "---")}


@pytest.fixture(scope="module")
def declared(root):
    """Canonical names of the packages that pyproject.toml names, and by which extras."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"core": project["dependencies"], **project["optional-dependencies"]}
    needed = {}
    for group, requirements in groups.items():
        for requirement in map(Requirement, requirements):
            if group != "testing" and requirement.name != "ragloom":
                needed.setdefault(canonical(requirement.name), set()).add(group)
    return needed


def said(name):
    """Everything that the metadata of an installed package says of its licence."""
    metadata = distribution(name).metadata
    classifiers = [c for c in metadata.get_all("Classifier") or () if c.startswith("License ::")]
    # Some put the whole text there; its first lines name it.
    stated = (metadata.get("License") or "")[:200]
    told = [metadata.get("License-Expression") or "", *classifiers, stated]
    if not any(told):  # only the file that it names
        files = [f for f in distribution(name).files or () if f.name.startswith("LICENSE")]
        told = [file.read_text("utf-8")[:200] for file in files if file.name == "LICENSE"]
    return "; ".join(told)


def families(text):
    return {name for name, pattern in FAMILIES.items() if re.search(pattern, text, re.IGNORECASE)}


def test_the_table_lists_exactly_what_is_needed_and_by_what(table, declared):
    listed = {
        canonical(name): {part.strip() for part in row["needed"].split(",")}
        for name, row in table.items()
        if name != BUNDLED
    }
    assert declared == listed


def test_every_installed_package_has_the_licence_of_the_table(table):
    wrong = {}
    for name, row in table.items():
        try:
            text = said(name) if name != BUNDLED else row["licence"]
        except PackageNotFoundError:
            continue
        if not families(row["licence"]) <= families(text):
            wrong[name] = (row["licence"], text)
    assert {} == wrong


def test_the_bundled_model_ships_its_licence(root, table):
    text = (root / "plugins" / "onnx" / "ragloom_onnx" / "model" / "LICENSE").read_text("utf-8")
    assert families(table[BUNDLED]["licence"]) <= families(text)


def test_what_they_need_in_turn_is_permissive_too(declared):
    seen, todo, wrong = set(), sorted(declared), {}
    while todo:
        name = canonical(todo.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:  # of another platform, or an extra that is not installed
            continue
        text = said(name)
        if not families(text) or NOT_WANTED.search(text):
            wrong[name] = text
        for requirement in map(Requirement, found.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(requirement.name)
    assert {} == wrong
