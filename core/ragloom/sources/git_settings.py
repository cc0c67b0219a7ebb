"""What git ignores beside ``.gitignore``: a repository's ``info/exclude`` and its user's own file.

git itself is not started, since it may run what a repository's settings name. Of these settings only
``core.ignoreCase`` counts, and ``core.excludesFile`` where it names a file of the repository: what a clone
brings names nothing outside. The settings of the user and of the machine may name any file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SECTION: Final = re.compile(r"\[\s*([\w.-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_ENTRY: Final = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?\Z", re.DOTALL)
_VALUE: Final = re.compile(
    r"\"((?:[^\"\\]|\\.)*)\"|[#;].*|(\s++)(?=[#;]|\Z)|\\(.)|(\s++|.)", re.DOTALL
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b"}
_TRUE: Final = frozenset({"", "true", "yes", "on", "1"})
_DEEPEST: Final = 10  # includes, one in another; git stops there, too
_LARGEST: Final = 1_000_000  # bytes of settings


@dataclass(frozen=True, slots=True, kw_only=True)
class GitExcludes:
    """What a repository ignores everywhere.

    Attributes:
        files: Ignore files, the weakest first; each may be missing.
        ignore_case: Upper and lower case are the same.
    """

    files: tuple[Path, ...] = ()
    ignore_case: bool = False


def git_excludes(top: Path, environment: Mapping[str, str] | None = None) -> GitExcludes:
    """The excludes of the repository whose root is ``top``; none where it has no ``.git``.

    Args:
        top: The folder with ``.git``.
        environment: Variables; the process's own by default.
    """
    variables = os.environ if environment is None else environment
    git = _git_folder(top)
    if git is None:
        return GitExcludes()
    named = _user_excludes(variables)
    own = dict(_settings(git / "config", Path(), None))
    if "core.excludesfile" in own:
        inside = Path(os.path.realpath(top / own["core.excludesfile"]))
        if inside.is_relative_to(os.path.realpath(top)):
            named = inside
    exclude = git / "info" / "exclude"
    outside = not Path(os.path.realpath(exclude)).is_relative_to(os.path.realpath(git))
    files = [] if named is None else [named]
    return GitExcludes(
        files=tuple(files if outside else [*files, exclude]),
        ignore_case=own.get("core.ignorecase", "false").lower() in _TRUE,
    )


def _git_folder(top: Path) -> Path | None:
    """The folder with a repository's settings: of a linked work tree, that of the main one."""
    git = top / ".git"
    if not git.is_file():
        return git if git.is_dir() and not git.is_symlink() else None
    try:
        place = Path(
            os.path.realpath(top / git.read_text("utf-8", "surrogateescape")[8:].strip("\r\n"))
        )
        outer = [up / ".git" for up in top.parents if (up / ".git").is_dir()]
        if any(place.is_relative_to(os.path.realpath(one)) for one in outer):
            return place  # a submodule's
        back = (place / "gitdir").read_text("utf-8", "surrogateescape").strip("\r\n")
        if os.path.realpath(back) != os.path.realpath(git):
            return None  # a file that a clone brought may name any folder, but none that names it
        common = (place / "commondir").read_text("utf-8", "surrogateescape").strip("\r\n")
        return Path(os.path.realpath(place / common))
    except (OSError, ValueError):
        return None


def _user_excludes(variables: Mapping[str, str]) -> Path | None:
    """The file that the user's or the machine's settings name, or git's default."""
    home = variables.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "win32":
        home = variables.get("HOME") or variables.get("USERPROFILE") or home
    folder = Path(variables.get("XDG_CONFIG_HOME") or Path(home, ".config")) / "git"
    files = [folder / "config", Path(home, ".gitconfig")]
    if (one := variables.get("GIT_CONFIG_GLOBAL")) is not None:
        files = [Path(one)] if one else []
    if variables.get("GIT_CONFIG_NOSYSTEM", "").lower() not in _TRUE - {""}:
        files.insert(0, Path(variables.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"))
    named: str | None = None
    for file in files:
        named = dict(_settings(file, Path(home), Path(home))).get("core.excludesfile", named)
    if named is None:
        return folder / "ignore"
    return _path(named, Path(home)) if named else None


def _path(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else Path(text)


def _settings(
    file: Path, home: Path, includes: Path | None, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The entries of a file of git's settings, ``section.key`` in lower case; the last of a key counts.

    Args:
        file: May be missing.
        home: For paths that begin with ``~/``.
        includes: Follow ``include.path``; None for not.
        depth: How many files include this one.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(_LARGEST).decode("utf-8-sig", "surrogateescape")
    except (OSError, ValueError):
        return
    section = ""
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        rest = line.strip()
        if match := _SECTION.match(rest):
            section = match[1].lower() + (f".{match[2]}" if match[2] is not None else "")
            rest = rest[match.end() :].strip()
        if not (entry := _ENTRY.match(rest)):
            continue
        name, value = f"{section}.{entry[1].lower()}", _value(entry[2] or "")
        if name == "include.path" and includes is not None and depth < _DEEPEST:
            inner = file.parent / _path(value, home)
            yield from _settings(inner, home, includes, depth + 1)
        yield name, value


def _value(text: str) -> str:
    """A value without quotes, escapes and comments."""
    parts: list[str] = []
    for match in _VALUE.finditer(text.strip()):
        if match[0][0] in "#;":
            break
        quoted, _, escaped, plain = match.groups()
        if quoted is not None:
            parts.append(re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), quoted))
        elif escaped is not None:
            parts.append(_ESCAPES.get(escaped, escaped))
        else:
            parts.append(plain or "")
    return "".join(parts)
