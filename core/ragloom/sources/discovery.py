"""Find the files of a space: a sorted walk that keeps out what must not be read.

Skipped silently: what ``.gitignore`` and ``.ragloomignore`` name (nested files count for their
own folder, as in git), and what git ignores everywhere, hidden files and folders, files that no loader
reads, what tools write for tools
(lock files, ``*.min.js``), data files such as JSON of more than 100,000 bytes that describe no API, and
files without an ending
that are as long or no text. A file that is named itself is read all the same, whatever its ending, if
it is text. Skipped and named: secrets, links that lead outside the roots, what is no regular file,
folders that cannot be listed, and globs that match nothing.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ragloom.config.settings import is_pattern, spec_of
from ragloom.secrets.names import is_secret
from ragloom.sources.git_settings import GitExcludes, git_excludes
from ragloom.sources.ignore_rules import IgnoreRules
from ragloom.sources.roots import Root, of_the_system
from ragloom.sources.screening import (
    DATA_ENDINGS,
    LARGEST_DATA,
    describes_api,
    ending_of,
    head_of,
    holds_a_key,
    is_generated,
    is_text,
)
from ragloom.sources.unread import UnreadFiles
from ragloom.text.decoding import NO_FILE, read_regular
from ragloom.types import Source

if TYPE_CHECKING:
    import pathspec

_Rules: TypeAlias = "list[tuple[str, IgnoreRules]]"
"""Folders and what their ignore files say, the weakest first."""

_HIDING = (errno.EACCES, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
IGNORE_FILES = (".gitignore", ".ragloomignore")

_UNDECODED = re.compile("[\ud800-\udfff]")  # bytes of a name that is not UTF-8; no JSON holds them


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file to index, with its status; or a place that was skipped, and why.

    Attributes:
        uri: Names the file, or the folder that could not be listed.
        path: Where it is.
        status: Of the file; None where there is nothing to read.
        problem: Why it could not be read.
        skipped: Why it is not indexed, on purpose.
    """

    uri: str
    path: str
    status: os.stat_result | None = None
    problem: str = ""
    skipped: str = ""

    @property
    def source(self) -> Source:
        """What a loader is given; a walk over thousands of files that stay as they are makes none."""
        modified = 0.0 if self.status is None else self.status.st_mtime_ns / 1e9
        return Source(uri=self.uri, path=Path(self.path), modified=modified)


def matches_any(uri: str, patterns: Sequence[str]) -> bool:
    """Whether a file matches one of some gitignore-style patterns."""
    return bool(patterns) and _spec(patterns).match_file(uri)


def walk(
    roots: Sequence[Root],
    *,
    base: Path,
    endings: Collection[str],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    allowlist: Sequence[str] = (),
    within: Sequence[Path] = (),
    unread: UnreadFiles | None = None,
) -> Iterator[Found]:
    """Every file below ``roots`` once, sorted by uri within a root.

    Links to folders are not followed: what they lead to inside the roots is walked under its own name,
    and what lies outside is not ours to read. So no link can make a loop.

    Args:
        roots: Where to look.
        base: The folder that uris are relative to.
        endings: Of the files that loaders read, in lower case and with the dot. One that is empty stands
            for files without one, and for every file that is a root itself.
        include: Gitignore-style patterns relative to ``base``; a file must match one, if there are any.
        exclude: The same; a file must match none.
        allowlist: The same; a file that matches one is no secret, whatever its name is.
        within: Only these files, and those below these folders; all where there are none.
        unread: Counts the files that no loader reads.
    """
    seen: set[str] = set()
    chosen = _Choice(
        base=base,
        below=os.path.join(base, ""),
        endings=endings,
        include=_spec(include) if include else None,
        exclude=_spec(exclude) if exclude else None,
        allowlist=_spec(allowlist) if allowlist else None,
        within=tuple(map(str, within)),
        unread=unread,
    )
    for root in roots:
        empty = True
        for found in _walk_root(root, [other.path for other in roots], chosen):
            empty = False
            if found.uri not in seen:
                seen.add(found.uri)
                yield found
        for pattern in root.patterns if empty and not within else ():
            yield _skipped(str(root.path / pattern), chosen, "no file to index matches")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Which names are wanted."""

    base: Path
    below: str
    endings: Collection[str]
    include: pathspec.GitIgnoreSpec | None
    exclude: pathspec.GitIgnoreSpec | None
    allowlist: pathspec.GitIgnoreSpec | None
    within: tuple[str, ...] = ()
    unread: UnreadFiles | None = None

    def uri(self, path: str) -> str:
        """A path as seen from the base, with slashes."""
        if path.startswith(self.below):  # as in a walk, a fifth of whose time relpath took
            return path[len(self.below) :].replace(os.sep, "/")
        return os.path.relpath(path, self.base).replace(os.sep, "/")

    def covers(self, path: str, *, is_folder: bool) -> bool:
        """Whether a path lies within what is walked or, as a folder, leads there."""
        return not self.within or any(
            f"{path}/".startswith(f"{one}/") or (is_folder and one.startswith(f"{path}/"))
            for one in self.within
        )

    def takes(self, uri: str) -> bool:
        if self.include is not None and not self.include.match_file(uri):
            return False
        return self.exclude is None or not self.exclude.match_file(uri)

    def is_secret(self, path: str) -> bool:
        """Whether a file is taken for a secret by its name."""
        if not is_secret(path):
            return False
        return self.allowlist is None or not self.allowlist.match_file(self.uri(path))


def _spec(patterns: Sequence[str]) -> pathspec.GitIgnoreSpec:
    """The patterns that can be understood."""
    try:
        return spec_of(patterns)
    except (ValueError, re.error):
        return spec_of([one for one in patterns if is_pattern(one)])


def _walk_root(root: Root, allowed: Sequence[Path], choice: _Choice) -> Iterator[Found]:
    if os.path.exists(root.path) and not os.path.isdir(root.path):
        if choice.covers(str(root.path), is_folder=False):
            yield from _named_file(root.path, choice)
        return
    pattern = _spec([f"/{glob.lstrip('/')}" for glob in root.patterns]) if root.patterns else None
    stack: list[tuple[str, _Rules]] = []
    excludes = git_excludes(repository_of(root.path))
    ignore_case = excludes.ignore_case
    try:
        stack.append((str(root.path), _rules_above(root.path, choice.base, excludes)))
    except OSError as error:
        yield _unlisted(str(root.path), choice, error)
    while stack:
        folder, rules = stack.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
            own = _own_rules(folder, [entry.name for entry in entries], ignore_case=ignore_case)
        except OSError as error:
            yield _unlisted(folder, choice, error)
            continue
        if own:
            rules = [*rules, (folder, own)]
        folders, files = _sorted_out(entries, rules, choice)
        inner = [entry for entry in folders if not of_the_system(entry.path, choice.base)]
        stack.extend((entry.path, rules) for entry in reversed(inner))
        for entry in files:
            if (
                pattern is None
                or _is_dir(entry)
                or pattern.match_file(os.path.relpath(entry.path, root.path).replace(os.sep, "/"))
            ):
                yield from _visit(entry, choice, allowed)


def _unlisted(folder: str, choice: _Choice, error: OSError) -> Found:
    return Found(uri=choice.uri(folder), path=folder, problem=f"cannot be listed: {error.strerror}")


def _sorted_out(
    entries: Sequence[os.DirEntry[str]], rules: _Rules, choice: _Choice
) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
    """The folders to walk, and what else is worth a look, among the entries that no rule ignores."""
    folders: list[os.DirEntry[str]] = []
    others: list[os.DirEntry[str]] = []
    for entry in entries:
        is_folder = _is_dir(entry)
        if entry.name.startswith(".") and (is_folder or not choice.is_secret(entry.path)):
            continue
        if not choice.covers(entry.path, is_folder=is_folder):
            continue
        if _ignored(entry.path, rules, is_folder=is_folder and not entry.is_symlink()):
            continue
        (folders if is_folder and not entry.is_symlink() else others).append(entry)
    return folders, others


def _visit(entry: os.DirEntry[str], choice: _Choice, allowed: Sequence[Path]) -> Iterator[Found]:
    """A file, or a link to a folder."""
    if _is_dir(entry):
        if not _inside(entry.path, allowed):
            yield _skipped(entry.path, choice, "a link to outside the roots")
        return
    ending = ending_of(entry.name)
    wanted = ending in choice.endings and not is_generated(entry.name)
    if wanted or choice.is_secret(entry.path):
        uri = choice.uri(entry.path)
        if choice.takes(uri):
            linked = entry.is_symlink()
            for found in _file(entry.path, uri, ending, allowed, choice, linked=linked):
                if found.status is None or _is_worth_reading(
                    found.path, ending, found.status.st_size
                ):
                    yield found
    elif (
        choice.unread is not None
        and entry.is_file()
        and not is_generated(entry.name)
        and choice.takes(choice.uri(entry.path))
    ):
        choice.unread.add(entry.path)


def _named_file(path: Path, choice: _Choice) -> Iterator[Found]:
    """A file that the user named: taken whatever is ignored, but never a secret."""
    if not {ending_of(path.name), ""} & set(choice.endings):
        yield _skipped(str(path), choice, "no loader reads this kind of file")
    else:
        uri, ending, linked = choice.uri(str(path)), ending_of(path), path.is_symlink()
        yield from _file(str(path), uri, ending, [path], choice, linked=linked)


def _file(
    path: str, uri: str, ending: str, allowed: Sequence[Path], choice: _Choice, *, linked: bool
) -> Iterator[Found]:
    if _UNDECODED.search(uri):
        problem = "its name is not valid UTF-8: rename it to index it"
        yield Found(uri=uri, path=path, problem=problem)
        return
    if choice.is_secret(path):
        yield Found(uri=uri, path=path, skipped="looks like a secret")
        return
    try:
        if linked:
            if not os.path.exists(path):
                yield Found(uri=uri, path=path, skipped="a link that leads nowhere")
            elif not _inside(path, allowed):
                yield Found(uri=uri, path=path, skipped="a link to outside the roots")
            return  # inside, it is indexed under its own name
        status = os.stat(path)
    except OSError as error:
        yield Found(uri=uri, path=path, problem=f"cannot be read: {error.strerror}")
        return
    if not stat.S_ISREG(status.st_mode):
        yield Found(uri=uri, path=path, skipped=f"{NO_FILE}")
    elif not ending and holds_a_key(head_of(path)):
        yield Found(uri=uri, path=path, skipped="looks like a secret")
    else:
        yield Found(uri=uri, path=path, status=status)


def _is_worth_reading(path: str, ending: str, size: int) -> bool:
    """Whether a regular file that the walk found, not named, holds what people read."""
    if ending not in DATA_ENDINGS:
        return True
    if size > LARGEST_DATA:
        return ending != "" and describes_api(head_of(path))
    return ending != "" or is_text(head_of(path))


def _skipped(path: str, choice: _Choice, why: str) -> Found:
    return Found(uri=choice.uri(path), path=path, skipped=why)


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _inside(path: str, allowed: Sequence[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real == root or root in real.parents for root in allowed)


def _own_rules(
    folder: str, names: Sequence[str] = IGNORE_FILES, *, ignore_case: bool = False
) -> IgnoreRules | None:
    contents: list[bytes] = []
    for name in sorted(set(names) & set(IGNORE_FILES)):
        content = _content(Path(folder, name))
        if content is not None:
            contents.append(content.removeprefix(codecs.BOM_UTF8))
    return IgnoreRules(b"\n".join(contents), ignore_case=ignore_case) if contents else None


def _content(path: Path, *, linked: bool = False) -> bytes | None:
    """An ignore file; None where there is none, or where it is a link, which git does not follow."""
    if not linked and path.is_symlink():
        return None
    try:
        return read_regular(path)
    except OSError as error:
        if error.errno in _HIDING:
            raise  # or what it ignores would be indexed
        return None


def _rules_above(root: Path, base: Path, excludes: GitExcludes) -> _Rules:
    """The rules of the folders above the root, as git has them: from its repository's root down.

    Outside of a repository they begin at ``base``. Where they ignore the root itself, they do not
    count: it was named all the same.
    """
    tops = {base, repository_of(base), repository_of(root)} & {root, *root.parents}
    top = min(tops, key=lambda folder: len(folder.parts), default=root)
    rules: _Rules = [
        (str(repository_of(root)), IgnoreRules(content, ignore_case=excludes.ignore_case))
        for file in excludes.files
        if (content := _content(file, linked=True)) is not None
    ]
    above = [folder for folder in reversed(root.parents) if folder.is_relative_to(top)]
    for number, folder in enumerate(above, 1):
        if own := _own_rules(str(folder), ignore_case=excludes.ignore_case):
            rules.append((str(folder), own))
        inner = above[number] if number < len(above) else root
        if _ignored(str(inner), rules, is_folder=True):
            return []
    return rules


def repository_of(path: Path) -> Path:
    """The root of the git repository that ``path`` lies in; ``path`` itself where there is none."""
    return next((up for up in (path, *path.parents) if os.path.lexists(up / ".git")), path)


def _ignored(path: str, rules: _Rules, *, is_folder: bool) -> bool:
    """Whether the strongest rule that speaks of ``path`` ignores it."""
    for folder, own in reversed(rules):
        relative = path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")
        verdict = own.verdict(os.fsencode(relative), is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False
