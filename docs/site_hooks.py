"""What MkDocs needs for the manual: pages that are generated or stand elsewhere, and their links."""

from __future__ import annotations

import inspect
import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

from command_pages import manual_pages, markdown
from mkdocs.structure.files import File, Files

import ragloom
from ragloom import PluginHost
from ragloom.config import SpaceSettings

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FROM_ELSEWHERE = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
}
"""Pages of the site that stand elsewhere in the repository."""
_TITLES = {"benchmarks.md": "Figures"}
_LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_ATTRIBUTES = re.compile(r"^    Attributes:\n(.*?)(?=^    \w|\Z)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated, and what stands elsewhere."""
    made = {
        "glossary.md": glossary(),
        "reference/commands.md": markdown(),
        "reference/settings.md": settings(),
        "reference/api.md": api(),
        "reference/man.md": man(),
        **{name: (ROOT / path).read_text("utf-8") for name, path in FROM_ELSEWHERE.items()},
        **{f"reference/man/{name}": text for name, text in manual_pages().items()},
    }
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Lead links to pages of the site; what is no page, such as code, is named without a link."""
    source = FROM_ELSEWHERE.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    parts = _CODE.split(text)
    return "".join(
        part if number % 2 else _LINK.sub(lambda found: _led(found, source, page, files), part)
        for number, part in enumerate(_joined(parts))
    )


def _joined(parts: list[str]) -> list[str]:
    """Text and blocks of code by turns; code within a line belongs to its text, as links hold it."""
    found = [""]
    for number, part in enumerate(parts):
        if number % 2 and part.startswith("```"):
            found += [part, ""]
        else:
            found[-1] += part
    return found


def _led(found: re.Match[str], source: str, page: Page, files: Files) -> str:
    text, target = found[1], found[2]
    if re.match(r"\w+:|#", target):
        return found[0]
    path, _, anchor = target.partition("#")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    of_site = {original: name for name, original in FROM_ELSEWHERE.items()}
    if place == "README.md":
        name = "index.md"
        anchor = ""
    else:
        name = of_site.get(place, place.removeprefix("docs/"))
    if files.get_file_from_path(name) is None:
        return text
    link = posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".")
    return f"[{text}]({link}{'#' if anchor else ''}{anchor})"


def glossary() -> str:
    """The words of the project, which CONTRIBUTING.md holds."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("### Glossary\n")[2].partition("\n## ")[0]
    return f"# Glossary\n{section}"


def settings() -> str:
    """Every setting with its type and default, from the dataclasses that read them."""
    lines = [
        "# Settings",
        "",
        "Generated from the code. `ragloom config` shows every value and where it comes from; a key",
        "such as `top_k` is also the variable `RAGLOOM_TOP_K`. Each may stand at the top of",
        "`ragloom.yaml`, for every space, or in a space.",
        "",
        *_table(SpaceSettings),
    ]
    for name, section in sorted(PluginHost.discover().sections().items()):
        if hasattr(section, "__dataclass_fields__"):
            lines += ["", f"## {name}", "", _first_line(section), "", *_table(section)]
    return "\n".join(lines)


def _table(section: type) -> Iterator[str]:
    yield "| key | type | default | |"
    yield "| --- | --- | --- | --- |"
    told = _attributes(section)
    for one in fields(section):
        default = one.default if one.default is not MISSING else ""
        if one.default_factory is not MISSING:
            default = one.default_factory()
        shown = getattr(default, "name", default)  # of a component
        kind = str(one.type).replace("|", "\\|")
        value = f"`{shown!r}`".replace("|", "\\|") if default is not None and default != "" else ""
        text = told.get(one.name, "").replace("|", "\\|")
        yield f"| `{one.name}` | `{kind}` | {value} | {text} |"


def _attributes(section: type) -> Mapping[str, str]:
    """What the docstring says of each field."""
    found = _ATTRIBUTES.search(inspect.getdoc(section) and (section.__doc__ or ""))
    told: dict[str, str] = {}
    for entry in re.split(r"\n(?=        \w+:)", found[1] if found else ""):
        name, _, text = entry.strip().partition(":")
        told[name] = " ".join(text.split()).replace("``", "`")
    return told


def _first_line(section: type) -> str:
    return (inspect.getdoc(section) or "").partition("\n")[0]


def api() -> str:
    """The public names of ``ragloom``, each with its docstring."""
    lines = [
        "# Python API",
        "",
        "Generated from the docstrings: the names of `ragloom`.",
        "[The contract](../contract.md#public-names) lists those of the kits for plugins, too, and says",
        "what is stable.",
        "",
    ]
    names: list[tuple[str, Any]] = [
        (name, getattr(ragloom, name)) for name in ragloom.__all__ if not name.startswith("_")
    ]
    for name, value in names:
        if inspect.isclass(value) or inspect.isfunction(value):
            lines += [f"::: {value.__module__}.{value.__qualname__}", ""]
        else:
            lines += [f"## {name}", "", f"`{value!r}`".replace("ragloom.types.", ""), ""]
    return "\n".join(lines)


def man() -> str:
    """The list of manual pages."""
    lines = [
        "# Manual pages",
        "",
        "The commands for `man`: `python docs/command_pages.py ~/.local/share/man/man1` writes them.",
        "",
        *(f"- [{name}](man/{name})" for name in sorted(manual_pages())),
    ]
    return "\n".join(lines) + "\n"
