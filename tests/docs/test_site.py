"""The manual: it builds strictly, has no dead link, loads nothing from elsewhere, and is complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")

from ragloom.cli import cli

needs_mkdocs = pytest.mark.skipif(find_spec("mkdocs") is None, reason="needs the group docs")


class Links(HTMLParser):
    """The places that a page leads to and loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.leads, self.loads, self.anchors = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.leads.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon"):
            self.loads.append(given["href"])
        elif tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        path.relative_to(folder).as_posix(): Links(path.read_text("utf-8"))
        for path in folder.rglob("*.html")
    }, folder


@pytest.mark.slow
@needs_mkdocs
def test_no_link_is_dead_and_nothing_is_loaded_from_elsewhere(site):
    pages, folder = site
    assert len(pages) > 30
    dead, outside, checked = [], [], 0
    for name, page in pages.items():
        if name == "404.html":  # its addresses begin at the root of a server
            continue
        for target in (*page.leads, *page.loads):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads:
                    outside.append((name, target))
                continue
            path = Path(os.path.normpath(folder / Path(name).parent / unquote(parts.path)))
            file = (
                folder / name if not parts.path else path / "index.html" if path.is_dir() else path
            )
            checked += 1
            found = file.relative_to(folder).as_posix()
            if not file.is_file() or (
                found in pages and unquote(parts.fragment) not in pages[found].anchors
            ):
                dead.append((name, target))
    assert [] == dead
    assert [] == outside
    assert checked > 2000


@pytest.mark.slow
@needs_mkdocs
def test_every_public_name_command_and_setting_is_in_the_reference(site):
    import ragloom
    from ragloom.config import SpaceSettings

    pages, folder = site
    api = (folder / "reference" / "api.html").read_text("utf-8")
    names = [name for name in ragloom.__all__ if not name.startswith("_")]
    assert [] == [name for name in names if name not in api]
    settings = (folder / "reference" / "settings.html").read_text("utf-8")
    assert [] == [key for key in SpaceSettings.__slots__ if f"<code>{key}</code>" not in settings]
    commands = pages["reference/commands.html"].anchors
    assert {"ragloom-search", "ragloom-ui", "ragloom-doctor", "ragloom-agents-index"} <= commands
    assert (folder / "reference" / "man" / "ragloom-search.1").is_file()


def leaves(command, context, words):
    yield "-".join(words)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            yield from leaves(found, click.Context(found, parent=context), (*words, name))


def test_every_command_has_a_manual_page(root, tmp_path):
    done = subprocess.run(
        [sys.executable, str(root / "docs" / "command_pages.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(leaves(cli, click.Context(cli), ("ragloom",)))
    assert f"{len(names)} manual pages in {tmp_path}\n" == done.stdout
    assert {f"{name}.1" for name in names} == {path.name for path in tmp_path.iterdir()}
    for path in tmp_path.iterdir():
        text = path.read_text("utf-8")
        assert text.startswith(f'.TH "{path.stem.upper()}" 1 ')
        requests = {line.split()[0] for line in text.splitlines() if line[:1] in (".", "'")}
        assert requests <= {".TH", ".SH", ".B", ".BR", ".TP", ".PP", ".nf", ".fi"}
    search = (tmp_path / "ragloom-search.1").read_text("utf-8")
    assert re.search(r"\.TP\n\.B \\-k, \\-\\-top\\-k N\nMaximum number of hits", search)
