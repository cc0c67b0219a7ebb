"""Conditions as people write them: one grammar for the command line, settings, servers and Python.

::

    condition  = all-of ("or" all-of)*
    all-of     = one ("and" one)*
    one        = "not" one | "(" condition ")" | test
    test       = field operator value | "exists" field | field "exists" | "path under" value
    operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | ":"

``and``, ``or``, ``not`` and ``exists`` may be written in upper case. A value ends before ``and``, ``or``
and a closing parenthesis that was not opened in it; in double or single quotes it is taken as it
stands, with all of these. So may a field be.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn, cast

from ragloom.errors import ConfigError
from ragloom.types import Condition, Operator

PATH: Final = "path"

FORMS: Final = (
    "field=value, field!=value, field<value, field<=value, field>value, field>=value, "
    "field:value (a list has it, a string contains it), 'exists field' or 'path under folder', "
    "joined with and, or, not and parentheses"
)

_LONGEST: Final = 20_000  # characters
_DEEPEST: Final = 50  # parentheses and nots, one in another

_BLANKS: Final = re.compile(r"\s*+")
_FIELD: Final = re.compile(
    r"\"(?P<double>[^\"]++)\"|'(?P<single>[^']++)'|(?P<plain>[^\s=!<>:()\"'][^\s=!<>:()]*+)"
)
_OPERATOR: Final = re.compile(r"(?:==|!=|<=|>=|[=<>:])(?P<more>[=<>!~]*+)|[!~&|^]+")
_NEXT: Final = r"(?=\s*+(?:[^\s=!<>:)]|\Z))"
"""What follows a keyword: neither an operator, before which it is a field, nor nothing of the kind."""
_NOT: Final = re.compile(rf"not(?:\s++|(?=\()){_NEXT}", re.IGNORECASE)
_EXISTS: Final = re.compile(rf"exists\s++{_NEXT}", re.IGNORECASE)
_EXISTS_BEHIND: Final = re.compile(r"(?<!\s)\s++exists(?=\s|\)|\Z)", re.IGNORECASE)
_UNDER: Final = re.compile(r"path\s++under(?=\s|\)|\Z)\s*+", re.IGNORECASE)
_JOIN: Final = re.compile(r"(?P<word>and|or)(?=[\s(]|\Z)", re.IGNORECASE)
_VALUE_END: Final = re.compile(r"[()]|(?<!\s)\s++(?:and|or)(?=[\s(]|\Z)", re.IGNORECASE)
_BEHIND_QUOTES: Final = re.compile(r"\s*+(?:\Z|\)|(?<=\s)(?:and|or)(?=[\s(]|\Z))", re.IGNORECASE)
_SECOND: Final = re.compile(r"&&|\|\||(?<![\s,;&|])[\s,;&|]++[^\W\d][\w.-]*+\s*+(?:[!<>]=|=|<|>)")
"""What looks like another condition inside of a value that is not in quotes."""


def parse_condition(text: str) -> Condition:
    """Read a condition as it is written on a command line or in settings.

    The value stays a string, so that ``version=1.10`` is not taken for 1.1;
    :func:`~ragloom.stores.matches` compares it as a number where the metadata holds one.

    >>> parse_condition("tags:draft")
    Condition(field='tags', operator=':', value='draft')

    Returns:
        One test, or an ``and``, ``or`` or ``not`` of others.

    Raises:
        ConfigError: It does not follow the grammar; the message has the column, from 1, and the forms.
    """
    if len(text) > _LONGEST:
        raise ConfigError(f"a condition of {len(text):,} characters: {_LONGEST:,} at most")
    reader = _Reader(text)
    condition = reader.any_of(0)
    reader.skip_blanks()
    if reader.at < len(text):
        if text[reader.at] == ")":
            reader.refuse("this parenthesis was never opened: put a value that holds it in quotes")
        reader.refuse(f"'and' or 'or' is expected before {text[reader.at :][:20]!r}")
    return condition


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        column = (self.at if at is None else at) + 1
        raise ConfigError(
            f"cannot read the condition {self.text!r}, column {column}: {problem}; write {FORMS}"
        )

    def skip_blanks(self) -> None:
        self.at = cast("re.Match[str]", _BLANKS.match(self.text, self.at)).end()

    def takes(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def any_of(self, depth: int) -> Condition:
        parts = [self.all_of(depth)]
        while self.joined_by("or"):
            parts.append(self.all_of(depth))
        return _joined("or", parts)

    def all_of(self, depth: int) -> Condition:
        parts = [self.one(depth)]
        while self.joined_by("and"):
            parts.append(self.one(depth))
        return _joined("and", parts)

    def joined_by(self, word: str) -> bool:
        self.skip_blanks()
        found = _JOIN.match(self.text, self.at)
        if found is None or found["word"].lower() != word:
            return False
        self.at = found.end()
        return True

    def one(self, depth: int) -> Condition:
        self.skip_blanks()
        if depth > _DEEPEST:
            self.refuse(f"more than {_DEEPEST} parentheses and nots, one in another")
        if self.takes(_NOT):
            return Condition(field="", operator="not", value=(self.one(depth + 1),))
        if not self.text.startswith("(", self.at):
            return self.test()
        opened, self.at = self.at, self.at + 1
        inner = self.any_of(depth + 1)
        self.skip_blanks()
        if not self.text.startswith(")", self.at):
            self.refuse("this parenthesis is never closed", opened)
        self.at += 1
        return inner

    def test(self) -> Condition:
        if self.takes(_UNDER):
            return Condition(field=PATH, operator="under", value=self.value("'under'"))
        if self.takes(_EXISTS):
            return Condition(field=self.field(), operator="exists", value=None)
        name = self.field()
        if self.takes(_EXISTS_BEHIND):
            return Condition(field=name, operator="exists", value=None)
        self.skip_blanks()
        start = self.at
        sign = self.takes(_OPERATOR)
        if sign is None:
            self.refuse(f"an operator is expected after {name!r}")
        if sign["more"] != "":
            self.refuse(
                f"unknown operator {sign[0]!r}; a value that begins so goes in quotes", start
            )
        written = "=" if sign[0] == "==" else sign[0]
        if name == PATH and written == ":":
            written = "under"
        value = self.value(repr(sign[0]))
        if name == PATH:
            value = value.removeprefix("./")  # no uri begins so
        return Condition(field=name, operator=cast("Operator", written), value=value)

    def field(self) -> str:
        self.skip_blanks()
        found = None if _JOIN.match(self.text, self.at) else self.takes(_FIELD)
        if found is None:
            self.refuse("a field is expected")
        return str(found["double"] or found["single"] or found["plain"])

    def value(self, operator: str) -> str:
        self.skip_blanks()
        start = self.at
        missing = f'a value is expected after {operator}; write "" for an empty one'
        if self.text[start : start + 1] in ("", ")") or _JOIN.match(self.text, start):
            self.refuse(missing)
        if (quote := self.text[start]) in "\"'":
            return self.quoted(quote)
        opened = 0
        end = len(self.text)
        for found in _VALUE_END.finditer(self.text, start):
            if found[0] == "(":
                opened += 1
            elif found[0] == ")" and opened:
                opened -= 1
            elif not opened:
                end = found.start()
                break
        value = self.text[start:end].rstrip()
        if second := _SECOND.search(value):
            self.refuse(
                "this looks like a second condition: join the two with 'and' or 'or', "
                "or put the value in quotes",
                start + second.start(),
            )
        self.at = end
        return value

    def quoted(self, quote: str) -> str:
        """A value in quotes; it may hold the same ones, as long as the text goes on behind them."""
        start = self.at
        end = self.text.find(quote, start + 1)
        while end >= 0 and not _BEHIND_QUOTES.match(self.text, end + 1):
            end = self.text.find(quote, end + 1)
        if end < 0:
            other = "'" if quote == '"' else '"'
            self.refuse(
                f"the quotes are never closed: put a value that begins with {quote} in {other}"
            )
        self.at = end + 1
        return self.text[start + 1 : end]


def _joined(word: Operator, parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Condition(field="", operator=word, value=tuple(parts))
