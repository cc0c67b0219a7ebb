"""What the lines of an ignore file match, as git has them (https://git-scm.com/docs/gitignore).

pathspec, which reads the patterns of settings, matches a whole path at once; git looks at each folder on
the way and goes into none that is ignored. A walk does, too, so that a rule here matches the very entry
and nothing below it. Paths are bytes, as in git: ``?`` is one byte of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
_SPECIAL: Final = re.compile(rb"[*?\[\\]")
_CLASSES: Final = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb"\t ",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t\n\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One line.

    Attributes:
        ignores: False for a line that begins with ``!``.
        folders_only: It ends in ``/``.
        by_name: It holds no other slash, and is compared with the name alone.
        pattern: Of the name, or of the path below the file's folder.
    """

    ignores: bool
    folders_only: bool
    by_name: bool
    pattern: re.Pattern[bytes]


class IgnoreRules:
    """The rules of one ignore file, or of several that count for one folder, the last first.

    Args:
        content: The file.
        ignore_case: Upper and lower case are the same, as on the disks of Windows and macOS.
    """

    def __init__(self, content: bytes, *, ignore_case: bool = False) -> None:
        flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        rules = [rule for line in _lines(content) if (rule := _rule(line, flags))]
        self._rules: Sequence[_Rule] = rules[::-1]
        self._names = _any_of(rules, flags, by_name=True)
        self._paths = _any_of(rules, flags, by_name=False)

    def __bool__(self) -> bool:
        """Whether there is a rule."""
        return bool(self._rules)

    def verdict(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Whether the last rule that speaks of an entry ignores it; None where none does.

        Args:
            path: Of the entry, as seen from the folder that the rules count for, with slashes.
            is_folder: The entry is a folder, and not a link to one.
        """
        name = path[path.rfind(b"/") + 1 :]
        if not self._names.fullmatch(name) and not self._paths.fullmatch(path):
            return None  # as nearly always
        for rule in self._rules:
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(
                name if rule.by_name else path
            ):
                return rule.ignores
        return None


def _any_of(rules: Sequence[_Rule], flags: int, *, by_name: bool) -> re.Pattern[bytes]:
    each = [rb"(?:%b)" % rule.pattern.pattern for rule in rules if rule.by_name is by_name]
    return re.compile(rb"|".join(each) if each else rb"(?!)", flags)


def _lines(content: bytes) -> Iterator[bytes]:
    r"""The patterns, without comments, blanks behind them and ends of lines, which only ``\\n`` is."""
    for line in content.removeprefix(_BOM).split(b"\n"):
        if line and not line.startswith(b"#"):
            pattern, _, _ = line.removesuffix(b"\r").partition(b"\0")
            yield _without_blanks(pattern)


def _without_blanks(line: bytes) -> bytes:
    """A line without the spaces at its end, but for one behind a backslash."""
    at, end = 0, None
    while at < len(line):
        if line[at : at + 1] == b" ":
            end = at if end is None else end
        else:
            end = None
            at += line[at : at + 1] == b"\\"
        at += 1
    return line[:end]


def _rule(line: bytes, flags: int) -> _Rule | None:
    ignores = not line.startswith(b"!")
    pattern = line if ignores else line[1:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern.removesuffix(b"/")
    by_name = b"/" not in pattern
    if not pattern:
        return None
    if not by_name:
        pattern = pattern.removeprefix(b"/")
    # git compares what stands before the first wildcard by itself: "**" behind it stands at a beginning.
    special = _SPECIAL.search(pattern)
    fixed = pattern[: special.start()] if special else pattern
    expression = _expression(pattern[len(fixed) :], by_name=by_name)
    if expression is None:
        return None
    return _Rule(
        ignores=ignores,
        folders_only=folders_only,
        by_name=by_name,
        pattern=re.compile(re.escape(fixed) + expression, flags),
    )


def _expression(glob: bytes, *, by_name: bool) -> bytes | None:
    """A glob as a regular expression; None for one that matches nothing."""
    parts: list[bytes] = []
    at = 0
    while at < len(glob):
        sign = glob[at : at + 1]
        if sign == b"*":
            part, at = _stars(glob, at)
        elif sign == b"?":
            part, at = (rb"." if by_name else rb"[^/]"), at + 1
        elif sign == b"[":
            found = _set(glob, at + 1)
            if found is None:
                return None
            part, at = found
            part = part if by_name else rb"(?!/)" + part
        else:
            at += sign == b"\\"
            if at == len(glob):
                return None
            part, at = re.escape(glob[at : at + 1]), at + 1
        parts.append(part)
    return b"".join(parts)


def _stars(glob: bytes, at: int) -> tuple[bytes, int]:
    """Stars that begin at ``at``: two of them between slashes go through folders."""
    end = at
    while glob[end : end + 1] == b"*":
        end += 1
    opens = at == 0 or glob[at - 1 : at] == b"/"
    rest = glob[end:]
    if end - at == 1 or not opens or not (not rest or rest.startswith((b"/", b"\\/"))):
        return rb"[^/]*", end
    if rest.startswith(b"/"):
        return rb"(?:.*/)?", end + 1
    return rb".*", end


def _set(  # noqa: C901, PLR0912 - a branch for each form that git knows
    glob: bytes, at: int
) -> tuple[bytes, int] | None:
    """A set of bytes, from behind its ``[``, and where it ends; None where it is never closed."""
    negated = glob[at : at + 1] in (b"!", b"^")
    at += negated
    members: list[bytes] = []
    before = first = b""
    while True:
        sign = glob[at : at + 1]
        if not sign:
            return None
        if sign == b"]" and first:
            break
        first = b"x"
        if sign == b"\\":
            at += 1
            sign = glob[at : at + 1]
            if not sign:
                return None
            members.append(re.escape(sign))
        elif sign == b"-" and before and glob[at + 1 : at + 2] not in (b"", b"]"):
            at += 1
            if glob[at : at + 1] == b"\\":
                at += 1
            sign = glob[at : at + 1]
            if not sign:
                return None
            if before <= sign:
                members.append(re.escape(before) + b"-" + re.escape(sign))
            sign = b""
        elif glob.startswith(b"[:", at):
            end = glob.find(b"]", at + 2)
            if end < 0:
                return None
            name = glob[at + 2 : end]
            if name.endswith(b":"):
                if name[:-1] not in _CLASSES:
                    return None
                members.append(_CLASSES[name[:-1]])
                at, sign = end, b""
            else:
                members.append(rb"\[")
        else:
            members.append(re.escape(sign))
        before = sign
        at += 1
    if not members:
        return (rb"." if negated else rb"(?!)"), at + 1
    return b"[" + b"^" * negated + b"".join(members) + b"]", at + 1
