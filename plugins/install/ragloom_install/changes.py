"""What ``install`` changes in files, kept so that ``uninstall`` takes back exactly that.

Of each change the record has where it is, what was inserted and what it replaced. While a file is as
``install`` left it, undoing them gives back its bytes; where somebody has changed it since, only the
server, the section or the skill is taken out.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from ragloom import Json, RagloomError
from ragloom.stores import check_format, format_stamp, replace_file

_FORMAT = 1
Edit: TypeAlias = "Callable[[str], str]"
"""The text of a file to what it should be; raises ValueError where it cannot be changed."""


class ChangeError(RagloomError):
    """A file cannot be changed as it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file, before and after; None where there is none."""

    path: Path
    before: str | None
    after: str | None

    def diff(self, shown: str) -> str:
        """As a unified diff; ``shown`` is the path to show."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            shown if self.before is not None else "/dev/null",
            shown if self.after is not None else "/dev/null",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of a file, so that it can be undone.

    Attributes:
        at: The character where it begins.
        inserted: How many characters were written there.
        replaced: What stood there.
        before: The SHA-256 of the file before; empty where there was none.
        after: The same after it.
        folders: How many folders were made for it.
    """

    at: int
    inserted: int
    replaced: str
    before: str
    after: str
    folders: int = 0


@dataclass(slots=True, kw_only=True)
class Record:
    """What was changed, by path relative to a root.

    Attributes:
        file: Where it is kept.
        steps: Of each file, oldest first.
    """

    file: Path
    steps: dict[str, list[Step]] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path, known: Collection[str]) -> Record:
        """What a file holds of some paths; nothing where there is none or it is damaged."""
        steps: dict[str, list[Step]] = {}
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(file.read_text("utf-8"))
            check_format(found["format"], _FORMAT, place=file, release=found.get("release"))
            steps = {path: [Step(**one) for one in some] for path, some in found["files"].items()}
            steps = {path: some for path, some in steps.items() if path in known}
        return cls(file=file, steps=steps)

    def save(self) -> None:
        """Write it; where nothing is left, its file is removed."""
        if not self.steps:
            self.file.unlink(missing_ok=True)
            return
        files = {path: [asdict(one) for one in steps] for path, steps in self.steps.items()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.file, json.dumps({**format_stamp(_FORMAT), "files": files}, indent=1))


def planned(edits: Mapping[Path, Sequence[Edit]]) -> Sequence[Change]:
    """What edits change; files that stay as they are, are omitted.

    Raises:
        ChangeError: A file cannot be read or changed; it is named.
    """
    found: list[Change] = []
    for path, some in edits.items():
        before = read(path)
        after = before or ""
        for edit in some:
            try:
                after = edit(after)
            except ValueError as error:
                raise ChangeError(f"{path}: {error}; nothing was written") from error
        if after != before:
            found.append(Change(path=path, before=before, after=after))
    return found


def check_inside(path: Path, root: Path) -> None:
    """Refuse a path that a link leads out of a project: a clone could have it changed.

    Raises:
        ChangeError: It does.
    """
    if not path.resolve().is_relative_to(root.resolve()):
        raise ChangeError(f"{path}: leads out of the project to {path.resolve()}; not changed")


def read(path: Path) -> str | None:
    """A file's text with its line ends as they are; None where there is none.

    Raises:
        ChangeError: It is no file, or no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ChangeError(f"{path}: cannot be read: {error}") from error


def apply(change: Change, root: Path, record: Record) -> None:
    """Write a change, and keep how to undo it.

    Raises:
        ChangeError: The file cannot be written, or has changed since it was read.
    """
    if read(change.path) != change.before:
        raise ChangeError(f"{change.path}: it has changed meanwhile; run the command again")
    before, after = change.before or "", change.after or ""
    at = _common(before, after)
    end = _common(before[at:][::-1], after[at:][::-1])
    missing = [folder for folder in change.path.parents if not folder.exists()]
    step = Step(
        at=at,
        inserted=len(after) - at - end,
        replaced=before[at : len(before) - end],
        before="" if change.before is None else _hash(before),
        after=_hash(after),
        folders=len(missing),
    )
    name = _name(change.path, root)
    record.steps.setdefault(name, []).append(step)
    record.save()  # killed between the two, the file is not as the record says, and is left alone
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        _write(change.path, after)
    except OSError as error:
        record.steps[name].pop()
        if not record.steps[name]:
            del record.steps[name]
        record.save()
        raise ChangeError(f"{change.path}: cannot be written: {error.strerror or error}") from error


def undone(root: Path, record: Record, removers: Mapping[str, Edit]) -> Sequence[Change]:
    """What takes back every recorded change.

    Args:
        root: What the record's paths are relative to.
        record: What was changed.
        removers: By path: takes what ``install`` wrote out of a file that was changed since.

    Raises:
        ChangeError: A file cannot be read or changed.
    """
    found: list[Change] = []
    for name, steps in record.steps.items():
        path = root / name
        now = read(path)
        if now is None:
            continue
        text: str | None = now
        for step in reversed(steps):
            if text is None or _hash(text) != step.after:
                break
            text = _back(text, step)
        else:
            found.append(Change(path=path, before=now, after=text))
            continue
        try:
            after = removers[name](now) if name in removers else now
        except ValueError as error:
            raise ChangeError(f"{path}: {error}; take 'ragloom' out of it by hand") from error
        if after != now:
            found.append(Change(path=path, before=now, after=after))
    return found


def take_back(change: Change, root: Path, record: Record) -> None:
    """Write an undone change; a file that was not there is removed, with the folders made for it.

    Raises:
        ChangeError: The file cannot be written.
    """
    name = _name(change.path, root)
    try:
        if change.after is None:
            change.path.unlink()
            for folder in list(change.path.parents)[
                : max(one.folders for one in record.steps[name])
            ]:
                with suppress(OSError):  # something else is in it
                    folder.rmdir()
        else:
            _write(change.path, change.after)
    except OSError as error:
        raise ChangeError(f"{change.path}: cannot be written: {error.strerror or error}") from error
    record.steps.pop(name, None)
    record.save()


def forget(names: Iterable[str], record: Record) -> None:
    """Drop what is known of files that are gone or hold nothing of it any more."""
    for name in names:
        record.steps.pop(name, None)
    record.save()


def _back(text: str, step: Step) -> str | None:
    before = text[: step.at] + step.replaced + text[step.at + step.inserted :]
    if not step.before:
        return None
    return before if _hash(before) == step.before else text


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _write(path: Path, text: str) -> None:
    """Replace a file at once, through a link to it, if it is one; its mode stays."""
    real = path.resolve()
    mode = real.stat().st_mode if real.exists() else None
    replace_file(real, text)
    if mode is not None:
        real.chmod(mode)


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def json_of(change: Change, root: Path) -> dict[str, Json]:
    """A change as ``--json`` prints it."""
    action = "create" if change.before is None else "delete" if change.after is None else "change"
    return {"path": _name(change.path, root), "action": action}
