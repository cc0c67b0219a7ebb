"""Names of files as the disk has them, for names as people write them.

A disk may keep ``é`` as one character or as two, and give either for what a program asks; and one that
takes ``Docs`` for ``docs`` still has one of them. An index holds the names that a walk finds.
"""

from __future__ import annotations

import os
from pathlib import Path
from unicodedata import normalize


def spelled(path: str | os.PathLike[str]) -> Path:
    """An absolute path with the names that the folders on the way list; unchanged where there is none.

    A name that a folder lists is taken first, then one that differs in how its letters are composed, and
    then, where the disk opens it all the same, one that differs in upper and lower case. Links are not
    followed, ``.`` and ``..`` are resolved by name.
    """
    given = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links
    found = Path(given.anchor)
    for name in given.parts[1:]:
        one = _listed(found, name)
        if one is None:
            return given
        found /= one
    return found


def _listed(folder: Path, name: str) -> str | None:
    """The name that a folder lists for ``name``; None where it lists none."""
    exists = os.path.lexists(folder / name)
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return name if exists else None  # a folder that may be entered, but not listed
    if name in names:
        return name
    composed = normalize("NFC", name)
    same = next((one for one in names if normalize("NFC", one) == composed), None)
    if same is not None or not exists:
        return same
    folded = normalize("NFC", composed.casefold())
    return next((one for one in names if normalize("NFC", one.casefold()) == folded), name)
