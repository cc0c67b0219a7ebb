"""The skeleton of a new template."""

from __future__ import annotations

import re
from pathlib import Path

from ragloom import SourceError

TO_BE_WRITTEN = "What kind of problem it is for, in the words in which people state such problems."
"""The description of a skeleton that nobody has filled in."""

_SKELETON = """\
---
name: "{title}"
domain: general
complexity: moderate
methodology: sequential
keywords: []
description: "{description}"
---

## Steps

1. **State the question.** …
2. **…**

## Check

- …
"""


def write_skeleton(folder: Path, name: str, description: str | None = None) -> Path:
    """Write ``name``, in lower case and with hyphens, as a template with every field of front matter.

    Without a description it says what a description is, which finds nothing.

    Raises:
        SourceError: The name holds no letter or digit, or there is such a file.
    """
    stem = re.sub(r"[^\w]+", "-", name.casefold()).strip("-_")
    if not stem:
        raise SourceError(f"{name!r} cannot name a file: it holds no letter or digit")
    path = folder / f"{stem}.md"
    title = _quotable(name.replace("-", " ").replace("_", " "))
    said = TO_BE_WRITTEN if description is None else _quotable(description)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(_SKELETON.format(title=title[:1].upper() + title[1:], description=said))
    except FileExistsError as error:
        raise SourceError(f"{path}: there is such a file already") from error
    return path


def _quotable(text: str) -> str:
    """A text on one line that can stand in quotation marks in YAML."""
    return " ".join(text.split()).replace('"', "'").replace("\\", "/")
