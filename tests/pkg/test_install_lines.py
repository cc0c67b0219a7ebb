"""Every line of the pages that installs ragloom, against a local index, with what its extras bring.

The index has the wheel of this tree alone. What the extras require is linked from the environment that
runs the tests: that and nothing else, so that an extra that brings too little is found out, and nothing
is downloaded.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import re
import shlex
import subprocess
import sysconfig
import threading
import venv
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LINE = re.compile(
    r"(?:pip|uv tool|pipx|uv pip) install [^`\n|]*'ragloom(?:\[[^]]*])?'|pip install ragloom\b"
)
INSTALLED = re.compile(r"'?(ragloom(?:\[[^]]*])?)'?(?![\w-])")


def lines() -> dict[str, list[str]]:
    """What is installed, and the pages that say so."""
    found: dict[str, list[str]] = {}
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for line in LINE.findall(page.read_text("utf-8")):
            for wanted in INSTALLED.findall(line):
                found.setdefault(wanted, []).append(page.relative_to(ROOT).as_posix())
    return found


def required(requirement: Requirement, seen: dict[str, set[str]]) -> None:
    """Note all that a requirement needs of what is installed, with the extras of each."""
    name = canonicalize_name(requirement.name)
    fresh = {"", *requirement.extras} - seen.setdefault(name, set())
    if not fresh:
        return
    seen[name] |= fresh
    for line in distribution(name).requires or ():
        inner = Requirement(line)
        environment = default_environment()
        if any(
            inner.marker is None or inner.marker.evaluate({**environment, "extra": extra})
            for extra in fresh
        ):
            try:
                required(inner, seen)
            except PackageNotFoundError as error:  # for the one who reads the failure
                if inner.name.startswith("ragloom-"):
                    pytest.skip(f"{inner.name} is a distribution of its own and not built here")
                raise AssertionError(f"{line}, of {name}, is not installed here") from error


@functools.cache
def owners() -> Counter[str]:
    """How many distributions have something at each place of the folder of packages."""
    files = (one.files or () for one in distributions())
    return Counter(top for listed in files for top in {file.parts[0] for file in listed})


def linked(names: list[str], packages: Path) -> None:
    """Link distributions into a folder of packages: each folder whole, unless another shares it.

    A whole folder brings what is compiled already.
    """
    for name in names:
        installed = distribution(name)
        places = {
            Path(top if owners()[top := file.parts[0]] == 1 else file)
            for file in installed.files or ()
            if ".." not in file.parts and file.suffix not in {".pyc", ".pth"}
        }
        for place in places:
            source, target = Path(str(installed.locate_file(place))).resolve(), packages / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.exists() and not target.exists():
                target.symlink_to(source)


@pytest.fixture(scope="module")
def index(wheel, tmp_path_factory):
    """The address of a package index, as of PEP 503, that has ragloom and nothing else."""
    folder = tmp_path_factory.mktemp("index")
    project = folder / "simple" / "ragloom"
    project.mkdir(parents=True)
    content = wheel.read_bytes()
    (project / wheel.name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    page = f'<!DOCTYPE html><a href="{wheel.name}#sha256={digest}">{wheel.name}</a>'
    (project / "index.html").write_text(page, "utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.shutdown()
    server.server_close()


@pytest.fixture
def environment(tmp_path, index):
    """Installs a requirement into a fresh environment as the pages say; runs Python there."""
    folder = tmp_path / ".venv"  # hidden: not searched
    venv.create(folder, symlinks=True)
    bases = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=bases))
    python = Path(sysconfig.get_path("scripts", "venv", vars=bases)) / "python"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_", "PYTHON"))}
    variables = {
        **kept,
        "PIP_INDEX_URL": index,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_COMPILE": "0",  # that is: do not; each environment is used once
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }

    def run(*arguments, check=True):
        return subprocess.run(
            [python, "-m", *arguments],
            cwd=tmp_path,
            env=variables,
            check=check,
            capture_output=True,
            text=True,
        )

    def install(wanted):
        needed: dict[str, set[str]] = {}
        required(Requirement(wanted), needed)
        linked(sorted({*needed, "pip"} - {"ragloom"}), packages)
        return run("pip", *shlex.split(f"install '{wanted}'"), check=False)

    return install, run


def test_the_pages_have_such_lines():
    found = lines()
    assert {"ragloom", "ragloom[standard]", "ragloom[standard,mcp]", "ragloom[all]"} <= set(found)


@pytest.mark.parametrize("wanted", sorted(lines()))
def test_each_line_installs_what_its_extras_need(wanted, environment, tmp_path):
    install, run = environment
    done = install(wanted)
    assert 0 == done.returncode, done.stderr
    assert "does not provide the extra" not in done.stderr, lines()[wanted]
    assert "Successfully installed ragloom-" in done.stdout

    extras = distribution_extras(wanted)
    plugins = json.loads(run("ragloom", "plugins", "--json").stdout)
    assert [] == [one["error"] for one in plugins if one["status"] == "failed"]
    lacking = [
        missing
        for one in plugins
        for missing in one["missing"]
        if set(re.findall(r"\w+", missing["extra"].partition("[")[2])) <= extras
    ]
    assert [] == lacking, lines()[wanted]
    if "standard" in extras:
        (tmp_path / "pumps.md").write_text("# Pumps\n\nA pump is oiled in May.\n")
        found = run("ragloom", "search", "when is a pump oiled?").stdout
        assert "pumps.md:" in found


def test_every_extra_that_code_names_exists():
    declared = set(distribution("ragloom").metadata.get_all("Provides-Extra"))
    named = {
        extra.strip()
        for folder in ("core", "plugins")
        for path in (ROOT / folder).rglob("*.py")
        for group in re.findall(r"ragloom\[([a-z, ]+)\]", path.read_text("utf-8"))
        for extra in group.split(",")
    }
    assert {"langchain", "standard"} <= named
    assert set() == named - declared


def distribution_extras(wanted: str) -> set[str]:
    """The extras of a requirement, and those that they bring."""
    needed: dict[str, set[str]] = {}
    required(Requirement(wanted), needed)
    return needed["ragloom"] - {""}
