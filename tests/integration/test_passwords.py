"""Passwords of URIs and tokens of options: no command, error, traceback, log or file shows them.

What the tests print and write is searched by the hook in ``tests/conftest.py``, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.conftest import files_with_the_password

from ragloom import ConfigError, RagloomError, Workspace
from ragloom.text import hide

pytest.importorskip("pyromark")

Run: TypeAlias = Callable[..., str]

COMMANDS = (
    ["config"],
    ["config", "--json"],
    ["index", "--verbose"],
    ["--traceback", "index"],
    ["search", "alpha"],
    ["--traceback", "search", "alpha", "--json"],
    ["context", "alpha"],
    ["status"],
    ["status", "--json"],
    ["verify"],
    ["--traceback", "repair"],
    ["explain", "alpha"],
    ["plugins"],
    ["audit"],
    ["--traceback", "knowledge", "list"],
    ["--traceback", "knowledge", "query", "alpha", "--json"],
)
"""Commands that read settings; most fail, as nothing answers at the addresses."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A command, as a process; what it writes to both streams."""
    (tmp_path / "a.md").write_text("# Alpha\n\nbeta\n", "utf-8")

    def run(*arguments: str, **variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ragloom", *arguments],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **variables},
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        print(done.stdout, done.stderr)  # for the hook
        return done.stdout + done.stderr

    return run


def addresses(planted: str) -> dict[str, dict[str, str]]:
    """Variables that name stores and databases at which nobody listens, each with the password."""
    return {
        "server": {"RAGLOOM_STORE_URI": f"http://root:{planted}@127.0.0.1:1"},
        "token": {
            "RAGLOOM_STORE_URI": "http://127.0.0.1:1",
            "RAGLOOM_STORE_TOKEN": f"root:{planted}",
        },
        "no store": {"RAGLOOM_STORE_URI": f"mysql://root:{planted}@127.0.0.1/x"},
        "bad port": {"RAGLOOM_STORE_URI": f"tcp://root:{planted}@127.0.0.1:port"},
        "wrong name": {"RAGLOOM_STORE_URL": f"http://root:{planted}@127.0.0.1:1"},
        "database": {"RAGLOOM_KNOWLEDGE_DATABASE": f"postgresql://me:{planted}@127.0.0.1:1/x"},
        "other database": {"RAGLOOM_KNOWLEDGE_DATABASE": f"mysql://me:{planted}@127.0.0.1:1/x"},
        "bad database": {
            "RAGLOOM_KNOWLEDGE_DATABASE": f"postgresql://me:{planted}@127.0.0.1:port/x"
        },
        "no setting": {"RAGLOOM_TOP_K": f"http://me:{planted}@127.0.0.1"},
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(addresses("")))
def test_no_command_shows_a_password(run: Run, planted: str, tmp_path: Path, name: str) -> None:
    variables = {"RAGLOOM_STORE_TIMEOUT": "1", **addresses(planted)[name]}
    for command in COMMANDS:
        assert planted not in run(*command, **variables), command
    assert list(files_with_the_password(tmp_path)) == []


def test_config_tells_where_a_uri_leads_and_hides_its_password(
    run: Run, planted: str, tmp_path: Path
) -> None:
    pytest.importorskip("pymilvus")
    (tmp_path / "ragloom.yaml").write_text(
        f"store: {{name: milvus, uri: 'http://root:{planted}@db:19530', token: 'root:{planted}'}}\n"
        f"knowledge: {{database: 'postgresql://me:{planted}@db/lessons'}}\n"
    )
    found = {row["key"]: row["value"] for row in json.loads(run("config", "--json"))}
    assert found["store"] == {"name": "milvus", "uri": "http://root:***@db:19530", "token": "***"}
    assert found["knowledge.database"] == "postgresql://me:***@db/lessons"


@pytest.mark.parametrize(
    "settings",
    [
        "store: {{name: milvus, token: [{0}]}}",
        "store: {{name: milvus, uri: {{a: '{0}'}}}}",
        "store: {{name: milvus, uri: 'mysql://a:{0}@h/x'}}",
        "store: {{name: milvus, 'http://a:{0}@h': 1}}",
        "store: 'http://a:{0}@h/x'",
        "store: [http://a:{0}@h/x]",
        "sources: 'postgres://a:{0}@h/x'",
        "knowledge: {{database: ['postgres://a:{0}@h/x']}}",
    ],
)
def test_an_error_about_a_setting_shows_no_password(
    planted: str, tmp_path: Path, settings: str
) -> None:
    (tmp_path / "ragloom.yaml").write_text(settings.format(planted))
    (tmp_path / "a.md").write_text("alpha")
    try:
        Workspace.open(tmp_path).space("notes").index()
    except RagloomError as error:
        assert planted not in "".join(traceback.format_exception(error))
    else:
        pytest.fail("the settings are wrong, and nothing is said")


def test_a_store_that_does_not_answer_is_named_without_its_password(
    planted: str, tmp_path: Path
) -> None:
    milvus = pytest.importorskip("ragloom_milvus")
    pytest.importorskip("pymilvus")
    options = milvus.MilvusOptions(
        uri=f"http://root:{planted}@127.0.0.1:1", token=planted, timeout=1.0
    )
    assert planted not in repr(options)
    store = milvus.ragloom_stores()[0].create(options)
    assert store.fingerprint == "milvus:http://root:***@127.0.0.1:1:ragloom"
    with pytest.raises(RagloomError, match=r"http://root:\*\*\*@127.0.0.1:1") as failed:
        store.open(space="notes", dimension=4, directory=tmp_path)
    assert planted not in "".join(traceback.format_exception(failed.value))


def test_any_error_of_ragloom_hides_secrets(planted: str) -> None:
    error = ConfigError(f"cannot reach http://me:{planted}@host, nor redis://:{planted}@host")
    assert str(error) == "cannot reach http://me:***@host, nor redis://:***@host"
    assert hide(f"password={planted};x") == "password=***;x"
