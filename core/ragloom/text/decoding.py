"""Bytes of a file to text, so that every character can be traced back to its bytes.

UTF-8 comes first, a byte order mark decides where there is one, and only then is the charset guessed,
with a warning that names it. Nothing is ever replaced by U+FFFD.
"""

from __future__ import annotations

import codecs
import errno
import re
import stat
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ragloom.errors import MissingDependencyError, SourceError
from ragloom.text.charsets import vote
from ragloom.types import Document, Source

NO_FILE = "not a regular file"

_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# A slice of these cannot be decoded by itself: shift states, or code points that combine.
_STATEFUL = re.compile(r"iso2022|hz|utf_?7|hkscs|jisx?_?0213|jis_?2004|utf_16$|utf_32$|utf_8_sig")

# Controls that no text holds: C0 without backspace, tab, line ends, form feed and escape.
_BINARY = bytes(set(range(32)) - {8, 9, 10, 11, 12, 13, 27})
_BINARY_SHARE = 0.1
_BINARY_LEAST = 8

_MOST_DAMAGED = 100
"""Wrong bytes up to which a file is damaged UTF-8; each costs a pass over the rest of the file."""

_ASCII = bytes(range(128))
_CP1252_PUNCTUATION = b"\x85\x91\x92\x93\x94\x95\x96\x97\xa0\xab\xbb"
_TOO_FEW = 3
"""Bytes above 0x7F that say nothing about the charset: cp1252, the commonest, is taken for them
(https://encoding.spec.whatwg.org/#names-and-labels reads Latin-1 as cp1252, too)."""

_PLAINER = {
    "euc_jis_2004": "euc_jp",
    "euc_jisx0213": "euc_jp",
    "shift_jis_2004": "cp932",
    "shift_jisx0213": "cp932",
    "big5hkscs": "big5",
}
"""Supersets in which code points combine, and the charset that nearly every file really has."""

_ISO2022_JP = re.compile(rb"\x1b\$[@B]")

_VOTED_PREFIX = 1 << 14
"""Bytes that the vote of languages sees; it is for short files, and ends at the end of a line."""

_GUESSED_PREFIX = 1 << 20
"""Bytes shown to the charset detection; the whole file must still decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text, and how its bytes are found again.

    Attributes:
        text: Without the byte order mark; line ends as in the file.
        encoding: The codec. ``content[bom:] == text.encode(encoding)`` where ``exact``.
        bom: Bytes of the byte order mark.
        exact: Every slice of ``text`` encodes to the matching slice of the bytes. False for charsets
            with shift states, such as ISO-2022-JP: spans can then only point into the text.
        warnings: What was odd, a line each.
    """

    text: str
    encoding: str = "utf-8"
    bom: int = 0
    exact: bool = True
    warnings: tuple[str, ...] = ()


def read_regular(path: Path) -> bytes:
    """The content of a file; a pipe or device is refused, because reading it may never end.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, NO_FILE)
    return path.read_bytes()


def decode(content: bytes, *, encoding: str = "") -> Decoded:
    """Decode the bytes of a text file.

    Args:
        content: The file.
        encoding: Its charset, where it is neither UTF-8 nor has a byte order mark; guessed by default.

    Raises:
        SourceError: The content is binary, contradicts its byte order mark, or fits no charset.
        MissingDependencyError: The charset must be guessed and charset-normalizer is not installed.
    """
    for mark, marked in _BOMS:
        if content.startswith(mark):
            try:
                text = content[len(mark) :].decode(marked)
            except UnicodeDecodeError as error:
                if marked == "utf-32-le":
                    continue  # It is the mark of UTF-16 and a NUL.
                message = f"its byte order mark says {marked}, but {_where(error, len(mark))}"
                raise SourceError(message) from error
            _refuse_binary(text[:65536].encode())
            return Decoded(text=text, encoding=marked, bom=len(mark))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guess(content, error) if not encoding else _named(content, error, encoding)
    _refuse_binary(content)
    if _ISO2022_JP.search(content) is not None and text.isascii():
        try:
            return _guessed(content, "iso2022_jp")
        except UnicodeDecodeError:
            pass  # The escape sequences mean something else here: it is ASCII.
    if "\0" in text:
        if (unmarked := _unmarked_utf16(content)) is not None:
            return _guessed(content, unmarked)
        return Decoded(text=text, warnings=("holds NUL characters; kept as they are",))
    return Decoded(text=text)


def read_document(source: Source, content: bytes, *, media_type: str) -> Document:
    """The document that a text file is, all of it text, for loaders to build upon.

    Raises:
        SourceError: As :func:`decode`.
    """
    decoded = decode(content, encoding=source.encoding)
    return Document(
        uri=source.uri,
        text=decoded.text,
        media_type=media_type,
        encoding=decoded.encoding if decoded.exact else "utf-8",
        bom=decoded.bom if decoded.exact else 0,
        extracted=not decoded.exact,
        modified=source.modified,
        content_hash=sha256(content).hexdigest(),
        warnings=decoded.warnings,
    )


def _where(error: UnicodeDecodeError, base: int = 0) -> str:
    return f"byte 0x{error.object[error.start]:02X} at offset {base + error.start}: {error.reason}"


def _refuse_binary(content: bytes) -> None:
    """Raise for content in which control characters are more than chance."""
    head = content[:65536]
    controls = len(head) - len(head.translate(None, _BINARY))
    too_many = controls > max(len(head) * _BINARY_SHARE, _BINARY_LEAST)
    if too_many and _unmarked_utf16(content) is None:
        raise SourceError(
            f"binary content: {controls} of its first {len(head)} bytes are control characters"
        )


def _unmarked_utf16(content: bytes) -> str | None:
    """UTF-16 without a mark: half of the bytes are NUL, and all on the same side."""
    head = content[:65536]
    if len(content) % 2 or len(head) < 8:  # noqa: PLR2004 - four characters say too little
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > half * 0.7 and others < half * 0.05:
            try:
                content.decode(encoding)
            except UnicodeDecodeError:
                return None
            return encoding
    return None


def _guess(content: bytes, error: UnicodeDecodeError) -> Decoded:
    """Read content that is not UTF-8."""
    if (encoding := _unmarked_utf16(content)) is not None:
        return _guessed(content, encoding)
    if b"\0" in content:
        raise SourceError(f"binary content: not UTF-8 ({_where(error)}) and holds NUL bytes")
    _refuse_binary(content)
    if (damaged := _damaged_utf8(content, error)) is not None:
        return damaged
    for encoding in _candidates(content):
        try:
            return _guessed(content, encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise SourceError(f"not UTF-8 ({_where(error)}), and no other charset fits")


def _named(content: bytes, error: UnicodeDecodeError, encoding: str) -> Decoded:
    """Read content that is not UTF-8 in the charset that the settings name, or else in a guessed one."""
    try:
        return replace(_guessed(content, encoding), warnings=())
    except UnicodeDecodeError:
        guessed = _guess(content, error)
    named = codecs.lookup(encoding).name
    warning = f"the setting 'encoding' says {named}, which it is not"
    return replace(guessed, warnings=(warning, *guessed.warnings))


def _damaged_utf8(content: bytes, error: UnicodeDecodeError) -> Decoded | None:
    """UTF-8 in which a few bytes are wrong; None where it looks like another charset.

    Two or more well-formed sequences for every wrong byte do not happen by chance in single-byte
    charsets: each is a capital letter followed by a symbol or a control character there.
    """
    parts: list[str] = []
    broken = position = 0
    fault: UnicodeDecodeError | None = error
    while fault is not None:
        wrong = content[position + fault.start : position + fault.end]
        parts.append(content[position : position + fault.start].decode("utf-8"))
        parts.extend(_single(byte) for byte in wrong)
        broken += len(wrong)
        position += fault.end
        if broken > _MOST_DAMAGED:
            return None
        try:
            parts.append(content[position:].decode("utf-8"))
            fault = None
        except UnicodeDecodeError as next_fault:
            fault = next_fault
    text = "".join(parts)
    well_formed = sum(character > "\x7f" for character in text) - broken
    if well_formed < 2 * broken:
        return None
    warning = f"damaged UTF-8: {broken} bytes read as cp1252, the first is {_where(error)}"
    return Decoded(text=text, exact=False, warnings=(warning,))


def _single(byte: int) -> str:
    """One byte in cp1252, in which five are undefined: those as in Latin-1."""
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def _candidates(content: bytes) -> list[str]:
    """Charsets to try, most likely first."""
    try:
        from charset_normalizer import from_bytes
    except ImportError as missing:
        needed_for = "a file that is not UTF-8"
        raise MissingDependencyError("charset-normalizer", "ragloom", needed_for) from missing
    matches = sorted(
        from_bytes(content[:_GUESSED_PREFIX]), key=lambda match: (match.chaos, -match.coherence)
    )
    found = [name for match in matches for name in (match.encoding, *match.could_be_from_charset)]
    for match in matches:
        # The charsets of Central Europe and the Baltic differ from it in few letters.
        is_western = "cp1252" in (match.encoding, *match.could_be_from_charset)
        near = match.chaos <= matches[0].chaos + 0.15 and match.coherence >= matches[0].coherence
        if is_western and near and matches[0].encoding.startswith(("cp125", "iso8859")):
            found.insert(0, "cp1252")
    high = content.translate(None, _ASCII)
    if (voted := vote(_head(content))) is not None:
        found.insert(0, voted)
    if len(high) <= _TOO_FEW or not high.translate(None, _CP1252_PUNCTUATION):
        found.insert(0, "cp1252")
    plain = [_PLAINER.get(encoding, encoding) for encoding in found]
    return list(dict.fromkeys([*plain, *found, "cp1252", "latin-1"]))


def _head(content: bytes) -> bytes:
    """The first lines, so that no character is divided."""
    head = content[:_VOTED_PREFIX]
    return head if len(head) == len(content) else head[: head.rfind(b"\n") + 1] or content


def _guessed(content: bytes, encoding: str) -> Decoded:
    """Decode with a guessed charset and say so."""
    encoding = codecs.lookup(encoding).name
    text = content.decode(encoding)
    exact = _STATEFUL.search(encoding.lower().replace("-", "_")) is None
    try:
        exact = exact and text.encode(encoding) == content
    except UnicodeEncodeError:
        exact = False
    warning = (
        f"not UTF-8: read as {encoding}, a guess; save it as UTF-8, or name its charset in the "
        "setting 'encoding'"
    )
    return Decoded(text=text, encoding=encoding, exact=exact, warnings=(warning,))
