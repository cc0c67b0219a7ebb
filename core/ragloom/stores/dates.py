"""Dates as metadata and conditions write them: ISO 8601's calendar dates, with a time or without."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

_DATE: Final = re.compile(
    r"""(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})
    (?:[Tt\ ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})
    (?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?
    \ ?(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?""",
    re.VERBOSE,
)
_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)


def as_moment(text: str) -> dt.datetime | None:
    """The beginning of a date with a month at least, in UTC where it names no zone; None for other text."""
    match = _DATE.fullmatch(text)
    if match is None or match["month"] is None:
        return None  # a bare year is a number, unless it is compared with a date
    period = _period(match)
    return period and period[0]


def as_period(text: str) -> tuple[dt.datetime, dt.datetime] | None:
    """The beginning and the end, which does not belong to it, of what a date stands for.

    That is a year, a month, a day, a minute or a second. None where ``text`` is no date.
    """
    match = _DATE.fullmatch(text)
    return match and _period(match)


def _period(match: re.Match[str]) -> tuple[dt.datetime, dt.datetime] | None:
    year, month, day = (int(match[name] or 1) for name in ("year", "month", "day"))
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    fraction = int((match["fraction"] or "")[:6].ljust(6, "0"))
    try:
        start = dt.datetime(
            year, month, day, hour, minute, second, fraction, tzinfo=_zone(match["zone"])
        ).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
    try:
        if match["month"] is None:
            end = start.replace(year=year + 1)
        elif match["day"] is None:
            end = start.replace(year=year + month // 12, month=month % 12 + 1)
        else:
            end = start + _length(match)
    except (ValueError, OverflowError):
        end = _LAST
    return start, end


def _length(match: re.Match[str]) -> dt.timedelta:
    if match["hour"] is None:
        return dt.timedelta(days=1)
    if match["second"] is None:
        return dt.timedelta(minutes=1)
    return dt.timedelta(seconds=1) if match["fraction"] is None else dt.timedelta(microseconds=1)


def _zone(text: str | None) -> dt.timezone:
    if text is None or text in "Zz":
        return dt.UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return dt.timezone(-offset if text[0] == "-" else offset)
