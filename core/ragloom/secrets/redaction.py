"""Find secrets in a text, and show the text without them.

A secret is replaced by as many characters of as many bytes, so that what follows stays where it is: spans, lines and bytes of a
redacted text are those of the file. It becomes ``REDACTED`` and blanks, or asterisks where it is shorter.

What a scanner calls a pragma excepts a line: ``pragma: allowlist secret`` (detect-secrets) or ``gitleaks:allow``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from ragloom.secrets.shapes import SHAPES, Shape

REDACTED = "REDACTED"
HIDDEN = "***"

_LONG, _TOKEN = 12, 18
"""Characters of a word that may hold an assigned password, and of one that may hold a token. Nearly all words are
shorter, so that all else is done for few of them."""
_VISIBLE_BYTES = bytes(ord("a") if 32 < byte < 127 else ord(" ") for byte in range(256))  # noqa: PLR2004 - ASCII

_ALLOWED = re.compile(r"pragma: ?(?:allow|white)list[ -]secret|gitleaks:allow")
_VISIBLE = re.compile("[!-~]+")

_BEGIN = re.compile(r"-{4,5} ?BEGIN (?P<kind>[A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?) ?-{4,5}")
_END = re.compile(r"-{4,5} ?END ")
_KEY_LENGTH = 40_000
"""Characters of a private key at most; an RSA key of 16,384 bits has 13,000."""
_BASE64 = re.compile("[A-Za-z0-9+/=]{16}")
_BASE64_LINES = re.compile(
    r"(?:[^\w\n]{0,8}[A-Za-z0-9+/=]{20,}[^\w\n]{0,4}\n?|[^\w\n]{0,8}[\w-]{3,20}: [^\n]{0,200}\n|[^\w\n]{0,8}\n)+"
)
_PUTTY = re.compile(r"Private-Lines: ?\d+\r?\n(?P<secret>(?:[A-Za-z0-9+/=]+(?:\r?\n|$))+)")

_URL = re.compile(
    r"://(?P<user>[^\s:/?#@\"'<>`|\[\]{}]{0,256}):(?P<secret>[^\s/?#\"'<>`|]{1,256})@(?=[A-Za-z0-9\[])"
)
"""RFC 3986, 3.2.1; a password may hold an ``@`` that should have been escaped."""
_ANY_URL = re.compile(
    r":/{1,2}[^\s:/?#@\"'<>`|]{0,256}:(?P<secret>(?!\d{1,5}/)[^\s\"'<>`]{1,512})@|://(?P<token>[^\s:/?#@\"'<>`|]{12,512})@"
)
_URL_TOKEN = re.compile(r"https?://(?P<secret>[A-Za-z0-9_-]{20,})@(?=[A-Za-z0-9\[])")
_PASSWORD_KEY = "(?:access_?token|api[_-]?key|auth_?token|password|passwd|pwd|(?:client_)?secret|private_token|token|key)"
_PARAMETER = re.compile(
    rf"[?&;](?P<key>{_PASSWORD_KEY})=(?P<secret>[^\s&#\"'<>`;)\]]{{8,}})", re.IGNORECASE
)
_ANY_PARAMETER = re.compile(
    rf"(?<![A-Za-z0-9]){_PASSWORD_KEY}=(?P<secret>(?!(?-i:VALUE)\b)[^\s&;\"'<>`,)\]]+)",
    re.IGNORECASE,
)
"""``KEY=VALUE`` is what a message asks for."""

_NAMES = ("pass", "pwd", "secret", "token", "key", "credential")
_ASSIGNED = re.compile(
    r"(?P<key>passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|api[_. -]?key|access[_. -]?key|auth[_.-]?key|private[_.-]?key|signing[_.-]?key"
    r"|encryption[_.-]?key|master[_.-]?key|account[_.-]?key|subscription[_.-]?key|license[_.-]?key|session[_.-]?key|credentials?|(?<=[a-z0-9][_.-])key)"
    r"(?P<rest>[\w.-]{0,20})[\"'`\]]{0,2}[ \t]{0,4}(?::=|=>|==?|:|,|\|)\s{0,4}(?P<open>[\"'`]{0,3})"
    r"(?P<secret>[!#-&(-+\--:=?-Z\\^_a-z~]{8,})",
    re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"(?:public[_-]?key|public|csrf|xsrf)[_-]?(?:token|key)$|(?:public|primary|foreign|sort|hash|range|partition|cache|object|map|row"
    r"|idempotency|dedup\w*|unique|index|shard|routing|group|config|ssh|host|storage|query)[_.-]?key$",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(
    r"(?:hash|sha\d*|digest|checksum|ids?|name|ur[li]|path|file|type|length|size|count|limit|version|arn|expir\w*|ttl|policy"
    r"|endpoint|env|var|ref|algorithm|pub|public|prefix|header|label|iz(?:er|ation|ed)\w*)$",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"x{4,}|\*{2,}|\.{3}|0{6,}|-{4,}|_{4,}|example|your[_-]|placeholder|redacted|change[_-]?(?:me|this)|replace[_-]?(?:me|with)|insert[_-]"
    r"|dummy|sample|<|\$\{|\{\{|\$\(|%\(|lorem|&(?:lt|#x?3c);",
    re.IGNORECASE,
)
_USUAL = re.compile(
    r"(?:user(?:name)?|pass(?:word|wd|wort)?|my[_-]?pass\w*|pwd?|secret|token|x+|\*+|\.+|\w*hidden\w*|[\$%{<\[(:].*|postgres|admin|root|guest|test|mysql|REDACTED)",
    re.IGNORECASE,
)
"""Passwords in the URLs of documentation."""
_DIGIT = re.compile("[0-9]")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_CODE = re.compile(
    r"[()\[\]]|::|->|://|^[./~$-]|^(?:sha\d+|md5)[:-]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|\\[nrt]"
)
_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", r"[!#$%&*+:;=?@^~|]")))
_SWITCH = re.compile(r"(?<=[0-9])[A-Za-z]|(?<=[A-Za-z])[0-9]")
_PASSWORD_CLASSES, _PASSWORD_LENGTH = 3, 4
_TOKEN_LENGTH, _TOKEN_SWITCHES, _DISTINCT = 16, 3, 7
_ASSIGN = re.compile("[=:|]")
_ASSIGNS = ("=", ":", ">", ",", "|", " is", "basic", "bearer", "token", "apikey")
_NAMED = 3  # secrets that a summary names
_NEAR = 60  # characters before a word in which its name is looked for


@dataclass(frozen=True, slots=True, order=True)
class Secret:
    """A part of a text that must not be shown.

    Attributes:
        start: The first character.
        end: Behind the last.
        what: As a message names it, such as ``a GitHub token``; never the value.
    """

    start: int
    end: int
    what: str


def find_secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order and apart from each other."""
    found = list(_keys(text))
    if words := _words(text):
        tokens = [text[start:end] for start, end in words if end - start >= _TOKEN]
        for shape in _present("\n".join(tokens)) if tokens else ():
            found += _shaped(text, shape, 0, len(text))
        found += _assigned(text, words)
    if "://" in text and "@" in text:
        found += (
            Secret(match.start("secret"), match.end("secret"), "a password in a URL")
            for match in _URL.finditer(text)
            if len(match["secret"]) >= _PASSWORD_LENGTH
            and not _USUAL.fullmatch(match["secret"])
            and not _PLACEHOLDER.search(match["secret"])
        )
        found += _in_group(_URL_TOKEN, text, "a token in a URL")
    return _apart(text, found)


def redact(text: str) -> str:
    """The text with every secret replaced by as many characters; the text itself where it holds none."""
    return blank_out(text, find_secrets(text))


def blank_out(text: str, secrets: Sequence[Secret]) -> str:
    """Replace what :func:`find_secrets` found in ``text``."""
    if not secrets:
        return text
    parts: list[str] = []
    end = 0
    for secret in secrets:
        parts += text[end : secret.start], _filled(text[secret.start : secret.end])
        end = secret.end
    return "".join([*parts, text[end:]])


def hide(text: str) -> str:
    """The text with ``***`` for every secret and for any password of a URL: for messages, logs and settings."""
    found = find_secrets(text) if len(text) >= _LONG else []
    return _hidden(text, [*found, *_in_urls(text)])


def hide_passwords(text: str) -> str:
    """The text, such as a URI, with ``***`` for the passwords of URLs, and for nothing else."""
    return _hidden(text, list(_in_urls(text)))


def _in_urls(text: str) -> Iterator[Secret]:
    """Any password of a URL or a connection string, whatever it looks like."""
    if ":/" in text and "@" in text:
        for match in _ANY_URL.finditer(text):
            group = "secret" if match["secret"] else "token"
            yield Secret(match.start(group), match.end(group), "a password in a URL")
    if "=" in text:
        yield from _in_group(_ANY_PARAMETER, text, "a password")


def _hidden(text: str, found: list[Secret]) -> str:
    parts: list[str] = []
    end = 0
    for secret in _merged(found):
        parts += text[end : secret.start], HIDDEN
        end = secret.end
    return "".join([*parts, text[end:]]) if parts else text


def summary(text: str, secrets: Sequence[Secret]) -> str:
    """What was found and where, without values: ``a GitHub token in line 3, a private key in line 7``."""
    lines = {secret: text.count("\n", 0, secret.start) + 1 for secret in secrets[:_NAMED]}
    named = ", ".join(f"{secret.what} in line {line}" for secret, line in lines.items())
    return f"{named} and {len(secrets) - _NAMED} more" if len(secrets) > _NAMED else named


def is_mostly_secret(text: str, secrets: Sequence[Secret]) -> bool:
    """Whether two thirds of what a text shows are secrets: a file of keys, not a page that has one."""
    hidden = sum(_visible(text[secret.start : secret.end]) for secret in secrets)
    return bool(secrets) and 3 * hidden >= 2 * _visible(text)


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _filled(secret: str) -> str:
    """``REDACTED`` once, and blanks for the rest; line ends, and what is not ASCII, stay."""
    written = False

    def fill(found: re.Match[str]) -> str:
        nonlocal written
        size = len(found[0])
        if written:
            return " " * size
        written = True
        return REDACTED.ljust(size) if size >= len(REDACTED) else "*" * size

    return _VISIBLE.sub(fill, secret)


def _keys(text: str) -> Iterator[Secret]:
    """Private keys: PEM, OpenSSH and PGP (RFC 7468, RFC 4716, RFC 9580), and PuTTY's."""
    begin = _BEGIN.search(text) if "PRIVATE KEY" in text else None
    while begin:
        at, begin = begin.end(), _BEGIN.search(text, begin.end())
        limit = begin.start() if begin else len(text)
        if end := _END.search(text, at, limit):
            stop = end.start()
        else:  # truncated
            lines = _BASE64_LINES.match(text, at, limit)
            stop = lines.end() if lines else at
        if stop - at < _KEY_LENGTH and _BASE64.search(text, at, stop):
            yield Secret(at, stop, "a private key")
    if "Private-Lines:" in text:
        yield from _in_group(_PUTTY, text, "a private key")


@cache
def fingerprint() -> str:
    """Changes with what is taken for a secret, so that an index run then reads every file again."""
    rules = [pattern.pattern for pattern in globals().values() if isinstance(pattern, re.Pattern)]
    return blake2b("\0".join([*rules, *map(repr, SHAPES)]).encode(), digest_size=8).hexdigest()


@cache
def _starts() -> tuple[re.Pattern[str], dict[str, list[Shape]], list[tuple[str, Shape]]]:
    """What begins tokens, as one expression; the shapes of each; and what stands elsewhere in tokens."""
    edges = {
        start: shape for shape in SHAPES if not (shape.bare or shape.near) for start in shape.starts
    }
    shapes = {
        start: [
            shape for shape in SHAPES if not shape.bare and any(map(start.startswith, shape.starts))
        ]
        for start in edges
    }
    bare = [(start, shape) for shape in SHAPES if shape.bare for start in shape.starts]
    return re.compile(rf"(?<![A-Za-z0-9])(?:{_trie(sorted(edges))})"), shapes, bare


def _trie(starts: Sequence[str]) -> str:
    """An expression for any of some texts, the longest that fits, in which each character is compared once."""
    by_first: dict[str, list[str]] = {}
    for start in starts:
        by_first.setdefault(start[:1], []).append(start[1:])
    optional = "" in by_first
    by_first.pop("", None)
    branches = [re.escape(first) + _trie(rests) for first, rests in by_first.items()]
    if not branches:
        return ""
    return (
        f"(?:{'|'.join(branches)}){'?' * optional}"
        if len(branches) > 1 or optional
        else branches[0]
    )


def _present(words: str) -> list[Shape]:
    """The shapes of which there is a token among ``words``."""
    expression, shapes, bare = _starts()
    present = {
        shape: None for start, shape in bare if start in words and shape.compiled.search(words)
    }
    for found in expression.finditer(words):
        for shape in shapes[found[0]]:
            if shape not in present and shape.compiled.match(words, found.start()):
                present[shape] = None
    return list(present)


def _words(text: str) -> list[tuple[int, int]]:
    """Where the long words of a text begin and end."""
    image = text.encode("ascii", "replace").translate(_VISIBLE_BYTES)
    found: list[tuple[int, int]] = []
    start = image.find(b"a" * _LONG)
    while start >= 0:
        end = image.find(b" ", start)
        end = len(image) if end < 0 else end
        found.append((start, end))
        start = image.find(b"a" * _LONG, end)
    return found


def _in_group(pattern: re.Pattern[str], text: str, what: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        yield Secret(match.start("secret"), match.end("secret"), what)


def _shaped(text: str, shape: Shape, start: int, end: int) -> Iterator[Secret]:
    pattern = shape.compiled
    group = "secret" if "secret" in pattern.groupindex else 0
    for match in pattern.finditer(text, start, end):
        if not _PLACEHOLDER.search(match[group]):
            yield Secret(match.start(group), match.end(group), shape.what)


def _assigned(text: str, words: Sequence[tuple[int, int]]) -> Iterator[Secret]:
    """Words that the name before them makes a secret: ``api_key = "…"``."""
    for start, end in words:
        if not _DIGIT.search(text, start, end):
            continue
        before = text[max(0, start - 9) : start].rstrip().lower()
        if not (before.endswith(_ASSIGNS) or _ASSIGN.search(text, start, end)):
            continue
        begin = max(0, start - _NEAR)
        name = text[begin:end].lower()
        if not _near_names().search(name):
            continue
        for shape in _near_shapes():
            if any(one in name for one in shape.starts):
                yield from _shaped(text, shape, begin, end)
        for pattern in (_ASSIGNED, _PARAMETER):
            for match in pattern.finditer(text, begin, end):
                value = match["secret"].rstrip(".;:|\\")
                if match.start("secret") + len(value) > start and _is_secret_value(match, value):
                    yield Secret(
                        match.start("secret"),
                        match.start("secret") + len(value),
                        "a password or key",
                    )


@cache
def _near_shapes() -> tuple[Shape, ...]:
    return tuple(shape for shape in SHAPES if shape.near)


@cache
def _near_names() -> re.Pattern[str]:
    """What any of the shapes, and any assignment of a password, has in its name."""
    names = {start for shape in _near_shapes() for start in shape.starts}
    return re.compile("|".join(map(re.escape, sorted({*names, *_NAMES}))))


def _is_secret_value(match: re.Match[str], value: str) -> bool:
    """Whether a value is one that a program made, or a password with characters of several kinds."""
    if "rest" in match.groupdict() and _PUBLIC.search(
        match.string, max(0, match.start() - _NEAR), match.start("rest")
    ):
        return False
    rest = match.groupdict().get("rest") or ""
    if _NO_SECRET.search(rest) or _PLACEHOLDER.search(value) or _CODE.search(value):
        return False
    key = match["key"].lower()
    if _UUID.fullmatch(value):
        return key.startswith(("passw", "pwd", "secret", "api"))
    kinds = sum(bool(kind.search(value)) for kind in _CLASSES)
    if key.startswith(("pass", "pwd")) and kinds >= _PASSWORD_CLASSES:
        return True
    switches = len(_SWITCH.findall(value))
    return (
        len(value) >= _TOKEN_LENGTH and switches >= _TOKEN_SWITCHES and len(set(value)) >= _DISTINCT
    )


def _apart(text: str, found: list[Secret]) -> list[Secret]:
    """Overlapping ones as one; without those whose line is excepted."""
    merged = _merged(found)
    if not merged or not _ALLOWED.search(text):
        return merged
    kept: list[Secret] = []
    end, excepted = -1, False
    for secret in merged:
        if secret.start >= end:
            start = text.rfind("\n", 0, secret.start) + 1
            end = text.find("\n", secret.start + 1)
            end = len(text) if end < 0 else end
            excepted = bool(_ALLOWED.search(text, start, end))
        if not excepted:
            kept.append(secret)
    return kept


def _merged(found: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in sorted(found):
        if merged and secret.start < merged[-1].end:
            last = merged.pop()
            secret = Secret(last.start, max(last.end, secret.end), last.what)  # noqa: PLW2901
        merged.append(secret)
    return merged
