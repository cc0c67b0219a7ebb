"""What makes two lessons about the same problem: their texts with what differs from run to run folded.

Ids, paths, dates, pod names, addresses, durations and counts are folded. What names the problem is not:
status codes, exit codes, error codes, ports and versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("5b1f3a52-5c7b-5f0e-9d0e-68c3a1f2d468")

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_NAMES: Final = (
    "android|angular|debian|django|docker|elasticsearch|go|golang|gradle|helm|http|ios|java|jdk|jre|"
    "kafka|kubernetes|macos|maven|mongodb|mysql|nginx|node|node\\.js|nodejs|npm|openssl|oracle|php|"
    "postgres|postgresql|python|rails|react|redis|release|ruby|rust|spark|spring|sqlite|swift|terraform|"
    "tls|typescript|ubuntu|version|vue|windows|"
    "airflow|api|apollo|bazel|clang|cmake|cuda|cudnn|dart|dotnet|esp-idf|expo|flink|flutter|freertos|gcc|godot|"
    "hadoop|ipv|istio|jetpack|kotlin|llvm|ndk|numpy|pandas|protobuf|pytorch|qt|react native|scala|sdk|"
    "minsdk(?:version)?|targetsdk(?:version)?|compilesdk(?:version)?|tensorflow|torch|unity|unreal|utf|xcode|zephyr"
)
_REASONS: Final = (
    "bad gateway|bad request|conflict|created|forbidden|found|gateway time-?out|gone|"
    "internal server error|method not allowed|moved|no content|not acceptable|not found|"
    "not implemented|payload too large|precondition|request entity|service unavailable|"
    "too many requests|unauthori[sz]ed|unprocessable|unsupported media"
)
_OF_AN_ID: Final = (
    "batch|build|case|customer|id|inv|invoice|job|node|no|order|pod|req|request|run|session|task|"
    "ticket|tx|user|worker"
)
_ENDINGS: Final = (
    r"\.(?:c|cc|cpp|cs|css|go|h|html?|java|jsx?|json|kt|log|md|php|py|rb|rs|sh|sql|swift|tsx?|txt|vue|"
    r"ya?ml)"
)
_SOURCE: Final = re.compile(f"(?i){_ENDINGS}$")
_COLOUR: Final = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_KEPT: Final = "\ue000{}\ue001"  # private characters: what stands between them is not folded


def _keep(match: re.Match[str]) -> str:
    """The match with each number of its group ``code`` (or of all of it) marked."""
    code = match.group("code")
    start = match.start("code") - match.start()
    whole = match.group()
    return whole[:start] + _KEPT.format(code) + whole[start + len(code) :]


def _url(match: re.Match[str]) -> str:
    port = match.group("port")
    return "<url>" + (f":{_KEPT.format(port)}" if port else "")


def _port(match: re.Match[str]) -> str:
    """A host's port, which is kept; not the line of a file of code."""
    return match.group() if _SOURCE.search(match.group("host")) else _keep(match)


def _address(match: re.Match[str]) -> str:
    port = match.group("port")
    return "<address>" + (f":{_KEPT.format(port)}" if port else "")


# In this order: what stands first would otherwise be taken apart by what follows.
_FOLDS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    # Error codes, of letters and digits: ORA-12154, E11000, TS2304, CVE-2021-44228.
    (
        re.compile(
            rf"\b(?!(?i:{_OF_AN_ID})\b)"
            r"(?P<code>[A-Z]{2,10}[-_]?\d{2,7}(?:-\d+)?[A-Z]?|[A-Z]\d{3,6}|CVE-\d+-\d+)\b(?!-[a-z0-9])"
        ),
        _keep,
    ),
    (re.compile(r"\b(?P<code>0x8[0-9a-f]{7})\b", re.IGNORECASE), _keep),  # a Windows result code
    (
        re.compile(
            r"(?i)\b[a-z][a-z0-9+.-]{0,30}://(?:[^\s'\"<>)\]/:@]*(?::[^\s'\"<>)\]/@]*)?@)?"
            r"[^\s'\"<>)\]/:]*(?::(?P<port>\d{2,5}))?[^\s'\"<>)\]]*"
        ),
        _url,
    ),
    (
        re.compile(r"(?i)\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[a-z]{2,24}\b"),
        "<address>",
    ),
    (re.compile(rf"(?i)(?P<ending>{_ENDINGS}):\d+(?::\d+)?\b"), r"\g<ending>:<number>"),
    (re.compile(r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<hash>"),
    # Dates and times, with numbers or names of months.
    (
        re.compile(
            r"(?i)\b\d{4}-\d{2}-\d{2}(?:[t ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?"
        ),
        "<date>",
    ),
    (
        re.compile(
            rf"(?i)\b(?:{_DAY},? +)?\d{{1,2}}(?:[nr]d|st|th)?[ /-]+(?:of +)?{_MONTH}(?:[ /,:-]+\d{{4}})?\b"
        ),
        "<date>",
    ),
    (
        re.compile(
            rf"(?i)\b(?:{_DAY},? +)?{_MONTH} +\d{{1,2}}(?:[nr]d|st|th)?\b(?!:)(?:,? +\d{{4}})?"
        ),
        "<date>",
    ),
    (re.compile(rf"(?i)\b(?:in|on|since|until|of) {_MONTH} \d{{4}}\b"), "<date>"),
    (re.compile(r"\b\d{1,2}[./]\d{1,2}[./]\d{4}\b"), "<date>"),
    (re.compile(r"\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?i:[ap]m))?\b"), "<time>"),
    # Addresses; a port is no part of them.
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::(?P<port>\d{1,5}))?\b"), _address),
    (re.compile(r"(?i)\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b"), "<address>"),
    (
        re.compile(
            r"(?i)(?<![\w:])(?=[0-9a-f:]{0,39}\d)(?:[0-9a-f]{1,4}:){1,6}:"
            r"[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5}(?![\w:])"
        ),
        "<address>",
    ),
    (re.compile(r"(?i)\b0x[0-9a-f]+\b"), "<address>"),
    (re.compile(r"(?i)(?P<host>\b[a-z][\w.-]{0,60}|(?<!\S)):(?P<code>\d{2,5})\b(?!:)"), _port),
    (re.compile(r"(?<![\w<])[a-zA-Z]:\\[^\s'\"<>|:*?]+"), "<path>"),
    (re.compile(r"(?<![\w<])(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?"), "<path>"),
    # Pods: the name of a deployment with two runs of letters and digits, or of a stateful set.
    (
        re.compile(
            r"(?i)\b(?P<name>[a-z][a-z0-9]{0,40}(?:-[a-z][a-z0-9]{0,40}){0,6}?)"
            r"-(?=[a-z0-9]{0,9}\d|[a-z0-9]{1,10}-[a-z0-9]{0,4}\d)"
            r"[a-z0-9]{4,10}-[a-z0-9]{4,5}\b"
        ),
        r"\g<name>-<pod>",
    ),
    (re.compile(r"(?i)(?<![^\W_])(?=[a-f]*\d)[0-9a-f]{7,64}(?![^\W_]|\.)"), "<hash>"),
    # Status codes, exit codes, error numbers, signals, ports, versions.
    (
        re.compile(
            r"(?i)\b(?:rc|ret|retval|[a-z]{1,30}error|response(?: code)?|"
            r"status(?: code)?|exit(?:ed)?(?: with)?(?: code| status)?|(?:error|return|result)"
            r"(?: ?code| number)?|code|errno|http(?:/\d(?:\.\d)?)?|sqlstate|sqlcode|signal|port|"
            r"answer(?:s|ed)?(?: with)?|returns?|returned|responds?(?: with)?|got|an?)"
            r"(?:\s*[:=(\[#]\s*|\s+)(?P<code>-?\d[0-9A-Za-z]{0,6})\b(?![.,:]?\d)"
            r"(?!\s*(?:ms|s|sec|seconds?|min|minutes?|hours?|days?|%|rows?|times|items|entries|bytes|"
            r"kb|mb|gb)\b)"
        ),
        _keep,
    ),
    (re.compile(rf"(?i)\b(?P<code>[1-5]\d\d)(?= (?:{_REASONS})\b)"), _keep),
    (
        re.compile(
            r"(?i)\b(?:fail|error|reject|end|crash|exit|abort|terminate)(?:s|es|d|ed)? with "
            r"(?P<code>[1-5]\d\d)\b(?!\s+[a-z]+s\b)"
        ),
        _keep,
    ),
    (re.compile(r"(?i)\b(?P<code>[45]\d\d)(?= from\b)"), _keep),
    (re.compile(r"\b(?P<code>(?:8|16|32|64|128|256))(?=-bit\b)"), _keep),
    (re.compile(r"(?<=[\w\]])(?:[=<>~]=|\^)(?P<code>\d+\.\d+(?:\.\d+)*)"), _keep),  # numpy==1.26
    (re.compile(r"(?P<code>(?i:\bv)\d+(?:\.\d+)*\b)"), _keep),
    (re.compile(rf"(?i)\b(?:{_NAMES})[ /@-]*(?P<code>\d+(?:\.\d+)*)\b"), _keep),
    (re.compile(r"\b(?P<code>\d+\.\d+\.\d+(?:[-+][\w.]+)?)\b"), _keep),
    (re.compile(r"\d+(?:[.,:_-]\d+)*"), "<number>"),
)
_MARKED: Final = re.compile("\ue000([^\ue001]*)\ue001")
_APART: Final = re.compile("(\ue000[^\ue001]*\ue001)")


def uncoloured(text: str) -> str:
    """``text`` without the sequences by which programs colour what they print on a terminal."""
    return _COLOUR.sub("", text)


def _marked(text: str) -> str:
    plain = uncoloured(text).replace("\ue000", "").replace("\ue001", "")
    for pattern, kind in _FOLDS:
        parts = _APART.split(plain)
        plain = "".join(
            part if part.startswith("\ue000") else pattern.sub(kind, part) for part in parts
        )
    return " ".join(plain.casefold().split())


def folded(text: str) -> str:
    """``text`` in small letters, with what differs from run to run replaced by its kind."""
    return _MARKED.sub(r"\1", _marked(text))


def codes(text: str) -> frozenset[str]:
    """The status, exit and error codes, the ports and the versions that a text names."""
    return frozenset(_MARKED.findall(_marked(text)))


def signature(*parts: str | None) -> str:
    """32 hex digits that two lessons share when they are about the same thing."""
    joined = "\0".join(folded(part or "") for part in parts)
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def stable_id(kind: str, name: str, variant: int) -> str:
    """The UUID of the lesson with this signature: the same on every machine, in every database."""
    return str(uuid5(_NAMESPACE, f"{kind}\0{name}\0{variant}"))
