"""The number of a file's format, which is read before anything else of it."""

from __future__ import annotations

import re

from ragloom.errors import StoreError
from ragloom.release import __version__

_RELEASE = re.compile(r"[0-9A-Za-z.+]{1,40}")


def format_stamp(number: int) -> dict[str, int | str]:
    """What a file of a format says of itself: its number, and the release that wrote it."""
    return {"format": number, "release": __version__}


def check_format(found: object, known: int, *, place: object, release: object = "") -> None:
    """Refuse a file that a newer ragloom wrote; it is left alone.

    Args:
        found: The number in the file.
        known: The newest that this release reads.
        place: The file, for the message.
        release: The one that wrote the file, if that is known.

    Raises:
        StoreError: A newer ragloom wrote it.
        ValueError: ``found`` is no number of a format.
    """
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise ValueError(f"{found!r} is no format")
    if found <= known:
        return
    by = f"release {release}, " if isinstance(release, str) and _RELEASE.fullmatch(release) else ""
    raise StoreError(
        f"{place}: a newer ragloom wrote it ({by}format {found}; this is {__version__}, which reads "
        f"{known}): upgrade ragloom"
    )
