"""Jupyter notebooks as Markdown: prose as it is, code in fences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragloom import Document, Metadata, Source, SourceError
from ragloom.text import decode, parse_json
from ragloom_text.installed import extracted

_BACKTICKS = re.compile(r"`{3,}")
_LINE = re.compile(r"[^\r\n]+")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_HTML = tuple(  # https://spec.commonmark.org/0.31.2/#html-blocks that no blank line ends
    (re.compile(rf" {{0,3}}{opening}", re.IGNORECASE), closing)
    for opening, closing in (
        *(
            (rf"<{name}(?:[\s>]|$)", f"</{name}>")
            for name in ("pre", "script", "style", "textarea")
        ),
        (r"<!--", "-->"),
        (r"<\?", "?>"),
        (r"<!\[CDATA\[", "]]>"),
        (r"<![a-z]", ">"),
    )
)


class NotebookLoader:
    """Reads notebooks. Spans, lines and bytes point into the Markdown made of one."""

    suffixes = frozenset({".ipynb"})
    fingerprint = "notebook-2"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`: the cells as Markdown; outputs are omitted."""
        decoded = decode(content)
        try:
            notebook = parse_json(decoded.text)
        except ValueError as error:
            raise SourceError(f"not a notebook: {error}") from error
        language = _language(notebook)
        text = "\n\n".join(_cells(notebook, language))
        metadata: Metadata = {"language": language} if language else {}
        return extracted(source, content, text, metadata=metadata, warnings=decoded.warnings)


def _language(notebook: object) -> str:
    about = notebook.get("metadata") if isinstance(notebook, dict) else None
    kernel = about.get("language_info") if isinstance(about, dict) else None
    name = kernel.get("name") if isinstance(kernel, dict) else None
    return name if isinstance(name, str) and name.isprintable() else ""


def _cells(notebook: object, language: str) -> Iterator[str]:
    """Each cell that says something, as Markdown."""
    if not isinstance(notebook, dict):
        raise SourceError("not a notebook: it is no JSON object")
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):  # format 3
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    if not isinstance(cells, list):
        raise SourceError("not a notebook: it has no cells")
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        text = cell.get("source", cell.get("input", ""))
        if isinstance(text, list):
            text = "".join(map(str, text))
        text = str(text).encode("utf-8", "replace").decode().strip("\r\n")
        if not text.strip():
            continue
        if cell.get("cell_type") == "code":
            longest = max(map(len, _BACKTICKS.findall(text)), default=2)
            fence = "`" * (longest + 1)
            yield f"{fence}{language}\n{text}\n{fence}"
        else:
            yield text + _closing(text)


def _closing(text: str) -> str:
    """What closes a fence or HTML that a cell leaves open: it is rendered by itself."""
    closing = ""
    fence = False
    for match in _LINE.finditer(text):
        line = match[0]
        if closing:
            ends = fence and line.strip(" \t")
            if (ends and set(ends) == {closing[0]} and len(ends) >= len(closing)) or (
                not fence and closing in line.lower()
            ):
                closing = ""
            continue
        opened = _FENCE.match(line)
        fence = opened is not None
        if opened is not None:
            closing = opened["fence"]
            continue
        for opening, end in _HTML:
            if (begun := opening.match(line)) is not None:
                closing = "" if end in line[begun.end() :].lower() else end
                break
    return f"\n{closing}" if closing else ""
