"""What a team runs: the image's steps, the action, the hooks, and an index whose files are elsewhere."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105
NOBODY = 65534
PAGE = "# Rotating the keys\n\nThe signing keys are rotated on the first Monday of every month.\n"
QUESTION = "when are the signing keys rotated?"


def tool(name: str) -> str:
    """A program beside this Python; the test is skipped where it is not installed."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def ragloom(folder: Path, *arguments: str, program: Path | None = None, **variables: str) -> str:
    command = [str(program)] if program else [sys.executable, "-m", "ragloom"]
    done = subprocess.run(
        [*command, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=dict(os.environ) | variables,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "keys.md").write_text(PAGE, "utf-8")
    (folder / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-workflows", "examples/team/.github/workflows/ragloom.yml"),
        ("vendor.github-actions", "action.yml"),
        ("vendor.compose-spec", "compose.yaml"),
    ],
)
def test_files_follow_their_published_schemas(schema, path, root):
    checked = subprocess.run(
        [tool("check-jsonschema"), "--builtin-schema", schema, str(root / path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == checked.returncode, checked.stdout + checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("validate-manifest", ".pre-commit-hooks.yaml"),
        ("validate-config", "examples/team/.pre-commit-config.yaml"),
    ],
)
def test_the_hooks_are_what_pre_commit_reads(command, path, root):
    subprocess.run([tool("pre-commit"), command, str(root / path)], check=True)


@pytest.mark.slow
def test_the_image_is_what_hadolint_allows(root):
    checked = subprocess.run(
        [tool("hadolint"), str(root / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (0, "") == (checked.returncode, checked.stdout)


def test_an_index_is_searched_where_its_files_are_not(tmp_path):
    """What CI builds, a machine without the files asks."""
    built = project(tmp_path / "ci")
    ragloom(built, "index")
    away = tmp_path / "away"
    away.mkdir()
    shutil.copytree(built / ".ragloom", away / ".ragloom")
    shutil.copy(built / "ragloom.yaml", away)
    variables = {"RAGLOOM_CHECK_FILES": "false"}
    found = json.loads(ragloom(away, "search", QUESTION, "--json", **variables))
    from hashlib import sha256

    hash_of_file = sha256((built / "keys.md").read_bytes()).hexdigest()
    assert (False, "keys.md", hash_of_file) == (
        found["checked"],
        found["hits"][0]["path"],
        found["hits"][0]["content_hash"],
    )
    context = json.loads(ragloom(away, "context", QUESTION, "--json", **variables))
    assert (False, hash_of_file) == (context["checked"], context["citations"][0]["content_hash"])
    assert "first Monday" in context["text"]
    assert "keys.md:" in ragloom(away, "search", QUESTION, **variables)
    checked = json.loads(ragloom(built, "search", QUESTION, "--json"))
    assert (True, "") == (checked["checked"], checked["hits"][0]["content_hash"])


class Image:
    """The steps of a Dockerfile, taken with its folders below a fresh one.

    What is built is built by whoever runs this, as root does it in an image; what is run is run by nobody,
    where the one who runs this may choose that.
    """

    def __init__(self, dockerfile: Path, folder: Path, moved: dict[str, str]) -> None:
        self._root, self._folder, self._moved = dockerfile.parent, folder, moved
        self._source = folder / "src"
        self._source.mkdir()
        self._python = next(filter(_runs_for_nobody, ["/usr/bin/python3", sys.executable]))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
        self.environment |= {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
        self.health: list[str] = []
        self.command: list[str] = []
        parser = pytest.importorskip("dockerfile_parse")
        steps = parser.DockerfileParser(str(dockerfile)).structure
        self.users = [one["value"] for one in steps if one["instruction"] == "USER"]
        for step in steps:
            getattr(self, f"_{step['instruction'].lower()}", lambda _value: None)(step["value"])
        shutil.rmtree(self._source)

    def _here(self, text: str) -> str:
        for old, new in self._moved.items():
            text = text.replace(old, new)
        return text

    def _copy(self, value: str) -> None:
        if value.startswith("--from"):
            return
        *names, target = value.split()
        for name in names:
            if (self._root / name).is_dir():
                leaving = shutil.ignore_patterns("__pycache__")
                shutil.copytree(self._root / name, self._source / target, ignore=leaving)
            else:
                shutil.copy(self._root / name, self._source)

    def _run(self, value: str) -> None:
        if value.startswith("useradd"):
            return
        command = self._here(value).replace("python -m venv", f"{self._python} -m venv", 1)
        environment = self.environment | {"HOME": os.environ.get("HOME", "/")}
        subprocess.run(
            ["/bin/sh", "-ec", command], cwd=self._source, env=environment, check=True, timeout=900
        )

    def _env(self, value: str) -> None:
        for pair in shlex.split(self._here(value)):
            name, _, text = pair.partition("=")
            self.environment[name] = text.replace("$PATH", self.environment["PATH"])

    def _healthcheck(self, value: str) -> None:
        self.health = json.loads(self._here(value[value.index("[") :]))

    def _entrypoint(self, value: str) -> None:
        self.command += json.loads(self._here(value))

    _cmd = _entrypoint


def _runs_for_nobody(python: str) -> bool:
    code = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
    who = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY}
    try:
        return not subprocess.run([python, "-c", code], check=False, cwd="/", **who).returncode
    except OSError:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def folder_for_all():
    """A fresh folder that every user of the machine may read."""
    folder = Path(tempfile.mkdtemp(prefix="ragloom-image-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_steps_of_the_image_serve_an_index_as_nobody(root, folder_for_all):
    data, home = project(folder_for_all / "data"), folder_for_all / "home"
    token, port = folder_for_all / "ragloom-token", free_port()
    token.write_text(TOKEN + "\n", "utf-8")
    home.mkdir()
    moved = {"/opt/": f"{folder_for_all}/opt/", "/run/secrets/ragloom-token": str(token)}
    image = Image(root / "Dockerfile", folder_for_all, {**moved, "8765": str(port)})
    assert image.users
    assert not {"root", "0"} & {user.partition(":")[0] for user in image.users}
    if not os.geteuid():
        for path in (data, *data.iterdir(), home):
            os.chown(path, NOBODY, NOBODY)
    who = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    run = {"cwd": data, "env": image.environment, **who}
    program = folder_for_all / "opt" / "ragloom" / "bin" / "ragloom"
    subprocess.run([program, "index"], check=True, timeout=300, **run)
    with subprocess.Popen([program, *image.command[1:]], stderr=subprocess.PIPE, **run) as server:
        deadline = time.monotonic() + 60
        health = [str(program.with_name(image.health[0])), *image.health[1:]]
        while subprocess.run(health, check=False, capture_output=True, **run).returncode:
            assert time.monotonic() < deadline
            assert server.poll() is None, server.stderr.read()
            time.sleep(0.2)
        address = f"http://127.0.0.1:{port}/search?query=signing+keys"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address, timeout=30)
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        asked = urllib.request.Request(address, headers=bearer)
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
            assert "keys.md" == json.load(answer)["hits"][0]["path"]
        server.terminate()
    assert ("ragloom", 0) == (image.command[0], server.returncode)


@pytest.mark.slow
def test_the_steps_of_the_action_index_and_verify(root, tmp_path):
    import yaml

    repository = project(tmp_path / "repository")
    temp = tmp_path / "temp"
    temp.mkdir()
    action = yaml.safe_load((root / "action.yml").read_text("utf-8"))
    known = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}
    known |= {"github.action_path": str(root), "inputs.path": "."}
    for step in action["runs"]["steps"]:
        if "run" not in step:
            continue
        variables = dict(step.get("env", {}))
        for key, value in variables.items():
            variables[key] = known[value.removeprefix("${{").removesuffix("}}").strip()]
        subprocess.run(
            ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
            cwd=repository,
            env=dict(os.environ) | variables | {"RUNNER_TEMP": str(temp)},
            check=True,
            timeout=900,
        )
    program = temp / "ragloom" / "bin" / "ragloom"
    found = json.loads(ragloom(repository, "search", QUESTION, "--json", program=program))
    assert "keys.md" == found["hits"][0]["path"]


@pytest.mark.slow
def test_the_hooks_index_verify_and_refuse(root, tmp_path):
    """pre-commit installs the last commit of this repository and runs its hooks."""
    if not (root / ".git").exists():
        pytest.skip("pre-commit clones the repository")
    repository = project(tmp_path / "repository")
    own = ["-c", "user.email=a@example.org", "-c", "user.name=A"]

    def git(*arguments: str, cwd: Path = repository) -> str:
        done = subprocess.run(
            [shutil.which("git"), *arguments], cwd=cwd, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    example = (root / "examples/team/.pre-commit-config.yaml").read_text("utf-8")
    config = example.replace("https://github.com/OWNER/ragloom", str(root))
    config = config.replace("v0.1.0", git("rev-parse", "HEAD", cwd=root))
    (repository / ".pre-commit-config.yaml").write_text(config, "utf-8")
    (repository / ".gitignore").write_text(".ragloom/\n", "utf-8")
    git("init", "-q")
    git("add", "-A")
    git(*own, "commit", "-qm", "first")

    def hook(name: str) -> tuple[int, str]:
        done = subprocess.run(
            [tool("pre-commit"), "run", name, "--verbose"],
            cwd=repository,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=dict(os.environ) | {"PRE_COMMIT_HOME": str(tmp_path / "home")},
        )
        return done.returncode, done.stdout + done.stderr

    for name in ("ragloom-index", "ragloom-verify"):
        code, said = hook(name)
        assert 0 == code, said
    (repository / "keys.md").write_text("# Keys\n\nNothing of that.\n", "utf-8")
    git("add", "keys.md")  # what is not staged is not there while hooks run
    code, said = hook("ragloom-verify")
    assert 1 == code, said
    assert "keys.md" in said
    assert 0 == hook("ragloom-index")[0]
    assert 0 == hook("ragloom-verify")[0]
