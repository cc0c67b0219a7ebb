"""Queries for code search: the first sentence of a doc comment asks for the definition below it.

The comment is withheld from the indexed text, and so is the name of the definition from its query. A second
kind of query is the bare name of a definition. No grammar is used, so that what a chunker takes for a
definition does not choose the queries.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from random import Random

LANGUAGES: Mapping[str, str] = {
    "python": ".py",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .tsx",
    "rust": ".rs",
    "go": ".go",
}
_ENDINGS = {ending: name for name, all_of in LANGUAGES.items() for ending in all_of.split()}

_BLOCK = r"^[ \t]*/\*[*!](?!/)(?:[^*]|\*(?!/))*\*/[ \t]*\n"
_SLASHES = r"(?:^[ \t]*///(?!/)[^\n]*\n)+"
_COMMENTS = {
    "javascript": _BLOCK,
    "typescript": _BLOCK,
    "rust": _SLASHES,
    "go": r"(?<![^\n]\n)(?:^//(?!go:|nolint| \+build)[^\n]*\n)+",
}
_BETWEEN = re.compile(r"(?:[ \t]*(?:@[\w.]+(?:\([^\n]*\))?|#\[[^\n]*\])[ \t]*\n)*")
_NAME = r"(?P<name>[A-Za-z_$][\w$]*)"
_MODIFIERS = (
    r"(?:(?:export|default|declare|abstract|public|private|protected|internal|static|readonly|async|"
    r"override|get|set)\s+)*"
)
_SCRIPT = (
    rf"\s*{_MODIFIERS}(?:(?P<type>class|interface|enum|type)\s+{_NAME}"
    rf"|function\s*\*?\s*(?P<name2>[A-Za-z_$][\w$]*)"
    r"|(?:const|let|var)\s+(?P<name3>[A-Za-z_$][\w$]*)\s*(?::[^=\n]+)?="
    r"\s*(?:/\*#__PURE__\*/\s*)?(?:async\b|function\b|\(|_curry|[a-z]\w*\s*=>)"
    r"|(?!if|for|while|switch|return|catch)(?P<name4>[A-Za-z_$#][\w$]*)\s*(?:<[^\n(]*>)?\([^;]*\{\s*$"
    r"|(?:[\w$.]+\.)(?P<name5>[A-Za-z_$][\w$]*)\s*=\s*(?:async\s+)?function\b)"
)
_HEADERS = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "rust": r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern(?:\s+\"C\")?)\s+)*"
    rf"(?:(?P<type>struct|enum|trait|union)\s+{_NAME}|fn\s+(?P<name2>\w+))",
    "go": rf"(?:type\s+{_NAME}\s+(?P<type>struct|interface|\S+)|func\s+(?:\([^)]*\)\s*)?(?P<name2>\w+))",
}
_LEADER = re.compile(r"^[ \t]*(?:/\*[*!]+|\*+/?|//[/!]*)[ \t]?", re.MULTILINE)
_TAG = re.compile(r"^[@\\](?!brief\b)\w+|^\s*#|^```", re.MULTILINE)
_QUOTES = re.compile(r"^\s*[rRuU]?(?:\"{3}|'{3}|\"|')|(?:\"{3}|'{3}|\"|')\s*$")
_BRIEF = re.compile(r"[@\\]brief\s+|\*/")
_MARKUP = re.compile(r"\{@\w+\s+([^}]*)\}|:\w+:|[`*]+|<[^<>\n]*>|\[([^\[\]]*)\](?:\([^()]*\))?")
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?:;](?=\s|$)|\n[ \t]*\n")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
_SHORTEST, _LONGEST = 5, 40  # words of a query
_MOST_LINES = 400  # of a definition whose end is not found


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeQuery:
    """A query and the definition that answers it.

    Attributes:
        kind: ``comment`` or ``name``.
        text: As it is asked.
        uri: The file.
        name: The definition's.
        first: Its first line in the indexed file, from 1.
        last: Its last line; of a type the first, as what stands in it has comments of its own.
    """

    kind: str
    text: str
    uri: str
    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commented:
    """A definition with a doc comment: spans of characters, and the first sentence."""

    name: str
    sentence: str
    comment: tuple[int, int]
    start: int
    end: int
    replacement: str = ""


def language_of(uri: str) -> str:
    """The language of a file, empty where it is none of those that are asked about."""
    name = PurePosixPath(uri).name
    minified = name.endswith((".min.js", ".d.ts"))
    return "" if minified else _ENDINGS.get(PurePosixPath(name).suffix, "")


def code_queries(
    texts: Mapping[str, str], language: str, *, limit: int, seed: int = 0
) -> tuple[Sequence[CodeQuery], Mapping[str, str]]:
    """Queries of both kinds, and the files as they are indexed: without the comments that ask.

    A sentence that several definitions have, or that stands in the files once more, asks nothing.

    Args:
        texts: Files by name.
        language: What is asked about; other files are indexed only.
        limit: The most queries of a kind.
        seed: Of the choice.
    """
    found = [
        (uri, one)
        for uri, text in sorted(texts.items())
        if language_of(uri) == language
        for one in commented(text, language)
    ]
    counts = Counter(one.sentence.casefold() for _, one in found)
    found = [(uri, one) for uri, one in found if counts[one.sentence.casefold()] == 1]
    Random(f"{seed}").shuffle(found)  # noqa: S311 - a choice, no secret
    chosen: dict[str, list[Commented]] = {}
    for uri, one in found:
        if sum(map(len, chosen.values())) < limit:
            chosen.setdefault(uri, []).append(one)
    indexed = dict(texts)
    for uri, some in chosen.items():
        for one in sorted(some, key=lambda one: -one.comment[0]):
            text = indexed[uri]
            indexed[uri] = text[: one.comment[0]] + one.replacement + text[one.comment[1] :]
    squeezed = " ".join(
        " ".join(_LEADER.sub("", text).split()) for text in indexed.values()
    ).casefold()
    names = Counter(re.findall(r"[A-Za-z_$][\w$]*", " ".join(indexed.values())))
    every = Counter(one.name for uri, text in texts.items() for one in _named(uri, text))
    queries: list[CodeQuery] = []
    for uri, some in sorted(chosen.items()):
        for one in some:
            first, last = _lines(texts[uri], indexed[uri], one, some)
            place = {"uri": uri, "name": one.name, "first": first, "last": last}
            if one.sentence.casefold() not in squeezed:
                queries.append(CodeQuery(kind="comment", text=one.sentence, **place))
            if every[one.name] == 1 and names[one.name] > 2 and len(one.name) > 3:
                queries.append(CodeQuery(kind="name", text=one.name, **place))
    return queries, indexed


def _named(uri: str, text: str) -> Iterable[re.Match[str] | Commented]:
    language = language_of(uri)
    return definitions(text, language) if language else ()


def _lines(
    text: str, indexed: str, one: Commented, withheld: Sequence[Commented]
) -> tuple[int, int]:
    """The lines of a definition in the indexed text, from its lines in the whole text."""

    def line(at: int) -> int:
        removed = 0
        for other in withheld:
            start, end = other.comment
            if end <= at:
                removed += text.count("\n", start, end) - other.replacement.count("\n")
            elif start < at:
                removed += text.count("\n", start, at)
        return text.count("\n", 0, at) + 1 - removed

    first = line(one.start)
    return first, min(max(first, line(one.end)), indexed.count("\n") + 1)


def commented(text: str, language: str) -> Iterator[Commented]:
    """The definitions of a file that have a doc comment which asks something."""
    found = _python(text) if language == "python" else _others(text, language)
    for one in found:
        sentence = first_sentence(text[slice(*one.comment)], one.name)
        if sentence:
            yield Commented(
                name=one.name,
                sentence=sentence,
                comment=one.comment,
                start=one.start,
                end=one.end,
                replacement=one.replacement,
            )


def first_sentence(comment: str, name: str) -> str:
    """What a comment says first, on one line, without markup and the name; empty if too little."""
    plain = _QUOTES.sub("", _LEADER.sub("", comment)).strip()
    plain = _BRIEF.sub("", plain).strip()
    if tag := _TAG.search(plain):
        plain = plain[: tag.start()]
    if end := _SENTENCE_END.search(plain):
        plain = plain[: end.start()]
    plain = _MARKUP.sub(lambda match: match[1] or match[2] or " ", plain)
    word = re.escape(name)
    own = (
        rf"^{word}\b"
        if name.islower() and name.isalpha()
        else rf"(?<![\w$]){word}(?:\(\))?(?![\w$])"
    )
    plain = re.sub(own, " ", plain)
    plain = " ".join(plain.split()).strip(" -,")
    words = _WORD.findall(plain)
    letters = sum(char.isalpha() or char.isspace() for char in plain)
    asks = _SHORTEST <= len(words) <= _LONGEST and letters >= 0.8 * len(plain) and plain.isascii()
    lowered = plain.casefold()
    return "" if not asks or "todo" in lowered or "deprecated" in lowered else plain


def _python(text: str) -> Iterator[Commented]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    if not text.isascii():  # ast counts bytes
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node) is None or not node.end_lineno:
            continue
        doc = node.body[0]
        if doc.lineno == node.lineno or not doc.end_lineno:
            continue
        alone = len(node.body) == 1
        start, end = starts[doc.lineno - 1], starts[min(doc.end_lineno, len(starts) - 1)]
        header = starts[node.lineno - 1]
        last = header if isinstance(node, ast.ClassDef) else starts[node.end_lineno] - 1
        filler = f"{' ' * doc.col_offset}...\n" if alone else ""
        yield Commented(
            name=node.name,
            sentence="",
            comment=(start, end),
            start=header,
            end=last,
            replacement=filler,
        )


def definitions(text: str, language: str) -> Iterator[Commented]:
    """Every definition that a line begins, commented or not; of Python by its keyword."""
    header = r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)"
    pattern = header if language == "python" else _HEADERS[language].replace(r"\s*$", r"[ \t]*$")
    for found in re.compile(rf"^(?:{pattern})", re.MULTILINE).finditer(text):
        yield Commented(
            name=_name_of(found), sentence="", comment=(0, 0), start=found.start(), end=found.end()
        )


def _name_of(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return next(filter(None, (groups.get(f"name{n}") for n in ("", 2, 3, 4, 5))), "")


def _others(text: str, language: str) -> Iterator[Commented]:
    header = re.compile(_HEADERS[language], re.MULTILINE)
    for comment in re.finditer(_COMMENTS[language], text, re.MULTILINE):
        between = _BETWEEN.match(text, comment.end())
        found = header.match(text, between.end() if between else comment.end())
        if found is None:
            continue
        name = _name_of(found)
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        at = start if found.groupdict().get("type") else _end(text, start)
        yield Commented(name=name, sentence="", comment=comment.span(), start=start, end=at)


def _end(text: str, start: int) -> int:
    """Where the braces of a definition close; the end of the line where none open before a blank one."""
    opened, depth = text.find("{", start), 0
    blank = text.find("\n\n", start)
    if opened < 0 or 0 <= blank < opened:
        return blank if blank >= 0 else len(text)
    for found in re.compile(r"[{}]").finditer(text, opened):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.start()
        if text.count("\n", start, found.start()) > _MOST_LINES:
            break
    return opened
