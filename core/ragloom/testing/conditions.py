"""What conditions let through: a table that holds for every store and for every way to ask."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ragloom.types import Metadata

__all__ = ["CONDITIONS", "FILES", "REFUSED"]

_DECOMPOSED: Final = "cafe\u0301"
_COMPOSED: Final = "caf\u00e9"

FILES: Final[Mapping[str, Metadata]] = MappingProxyType(
    {
        "a": {"status": "draft", "tags": ["draft", "sea"], "priority": 3, "date": "2025-03-01"},
        "b": {"status": "final", "tags": ["sea"], "priority": "10", "date": "1 Feb 2025"},
        "c": {
            "status": "final",
            "tags": [],
            "priority": "high",
            "date": "2024-12-31T23:30:00-01:00",
        },
        "d": {"tags": [_DECOMPOSED, 3, True], "priority": [1, 7], "date": "2025-03-01T12:00:00"},
        "e": {"title": _COMPOSED, "tags": [_COMPOSED], "date": "2024"},
        "f": {"title": "say and do (twice)", "status": None, "owner": {"team": "core"}},
        "g": {},
    }
)
"""Metadata by the name of a file, which lies in ``notes`` and ends in ``.md``."""

CONDITIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # a value, or an element of a list
        "status=final": "b c",
        "status!=final": "a d e f g",
        "tags=draft": "a",
        "tags!=draft": "b c d e f g",
        "tags=3": "d",
        "tags=true": "d",
        "status=null": "f",
        'status=""': "",
        # elements and parts of text
        "tags:sea": "a b",
        "not tags:sea": "c d e f g",
        "title:twice": "f",
        "status:fin": "b c",
        # numbers compare with numbers
        "priority>=3": "a b d",
        "priority>3": "b d",
        "priority<2": "d",
        "priority>high": "",
        "priority>=high": "c",
        "not priority>=3": "c e f g",
        # dates with dates
        "date<2025-01-01": "",
        "date<=2025-01-01": "c",
        "date>=2025-01-01": "a c d",
        "date<2026": "a c d e",
        "date>2025": "",
        "date>=2025-03": "a d",
        "date<=2025-03-01": "a c d",
        "date>2025-03-01": "",
        "date>2025-03-01T11:59": "d",
        "date<2025-03-01T14:00:00+03:00": "a c",
        "date=2025-03-01": "a",
        # letters
        f"tags:{_COMPOSED}": "d e",
        f"tags:{_DECOMPOSED}": "d e",
        f"title={_DECOMPOSED}": "e",
        f"tags!={_COMPOSED}": "a b c f g",
        # there, or not
        "exists status": "a b c",
        "not exists status": "d e f g",
        "exists tags": "a b d e",
        "tags exists": "a b d e",
        "exists owner.team": "f",
        "owner.team=core": "f",
        # joined
        "status=final and tags:sea": "b",
        "status=final or tags:sea": "a b c",
        "status=draft or status=final and tags:sea": "a b",
        "(status=draft or status=final) and tags:sea": "a b",
        "(status=draft or status=final) AND NOT (tags:sea)": "c",
        "not (status=draft or status=final)": "d e f g",
        "not not status=draft": "a",
        'title="say and do (twice)"': "f",
        "(title:do (twice))": "f",
        # paths
        "path under notes": "a b c d e f g",
        "path:notes/a.md or path=notes/b.md": "a b",
        "path under notes and not path=./notes/a.md and priority>=3": "b d",
        "not path under notes": "",
    }
)
"""The names of the files that pass, by condition."""

REFUSED: Final[Mapping[str, int]] = MappingProxyType(
    {
        "": 1,
        "status": 7,
        "priority>": 10,
        "priority>  ": 12,
        "priority> and status=draft": 11,
        "status=draft and": 17,
        "status=draft and priority": 26,
        "status=draft or or tags:sea": 17,
        "(status=draft": 1,
        "status=draft)": 13,
        "not": 4,
        "exists": 7,
        "=draft": 1,
        "status=>draft": 7,
        "status~draft": 13,
        "status=draft tags=sea": 13,
        "status=draft && tags:sea": 14,
        "date>=2025-01-01, status=final": 17,
        'title="open': 7,
        "path under": 11,
    }
)
"""What is refused, and the column, from 1, that the message names."""
