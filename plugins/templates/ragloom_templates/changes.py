"""What was added to a library and removed from it, kept beside its index."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast

from ragloom.stores import check_format, format_stamp, quarantine, replace_file
from ragloom.text import parse_json

_FORMAT = 1
_log = logging.getLogger("ragloom")


def read_changes(file: Path) -> tuple[list[str], set[str]]:
    """The uris that were added, and those that were removed.

    A damaged file is quarantined.
    """
    try:
        kept = cast("dict[str, Any]", parse_json(file.read_bytes()))
        check_format(kept.get("format", 1), _FORMAT, place=file, release=kept.get("release"))
        return [*map(str, kept["added"])], set(map(str, kept["left_out"]))
    except FileNotFoundError:
        return [], set()
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        moved = quarantine(file)
        message = "%s is damaged (%s): moved to %s; add and remove again"
        _log.warning(message, file, error, moved)
        return [], set()


def write_changes(file: Path, added: Sequence[str], removed: Collection[str]) -> None:
    """Keep them for good."""
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = {**format_stamp(_FORMAT), "added": [*added], "left_out": sorted(removed)}
    replace_file(file, json.dumps(kept))
