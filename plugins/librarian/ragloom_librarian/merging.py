"""One text for the next step of a workflow: manual context first, then retrieved documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ragloom import ConfigError, SourceError
from ragloom.text import decode
from ragloom_librarian.documents import RetrievedDocument


def merge_context(
    manual: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    retrieved: Sequence[RetrievedDocument],
    *,
    root: str | os.PathLike[str] = ".",
) -> str:
    """Put documents into one text, each once, between delimiters that no document can close.

    Files given by hand come first, whole and in their order. A retrieved document whose path resolves
    to the same file as one before it is skipped.

    Args:
        manual: Files, or one.
        retrieved: What :func:`query_knowledge_base` found, by section.
        root: The folder that relative paths are relative to.

    Returns:
        The text; empty where there is no document at all.

    Raises:
        ConfigError: What was given by hand are no paths.
        SourceError: Files given by hand do not exist, or cannot be read as text; it names them.
    """
    base = Path(root)
    seen: set[Path] = set()
    blocks: list[tuple[str, str]] = []
    for given, path in manual_files(manual, base):
        if path not in seen:
            seen.add(path)
            blocks.append((f"source={quoteattr(given)}", _text_of(given, path)))
    for document in retrieved:
        path = (base / document["file_path"]).resolve()
        if path in seen:
            continue
        seen.add(path)
        lines = f"{document['start_line']}-{document['end_line']}"
        attributes = (
            f"source={quoteattr(document['file_path'])} section={quoteattr(document['section'])} "
            f'lines="{lines}" relevance="{document["score"]:.2f}"'
        )
        blocks.append((attributes, document["content"]))
    if not blocks:
        return ""
    name = f"document-{_absent_digest(text for block in blocks for text in block)}"
    return "\n\n".join(
        f"<{name} {attributes}>\n{text.rstrip()}\n</{name}>" for attributes, text in blocks
    )


def manual_files(
    manual: Iterable[str | os.PathLike[str]] | str | os.PathLike[str], root: Path
) -> list[tuple[str, Path]]:
    """What was given by hand, and its file; a ConfigError for no paths, a SourceError for missing files."""
    paths = [manual] if isinstance(manual, str | os.PathLike) else manual
    try:
        given = [os.fsdecode(path) for path in paths]
    except TypeError as error:
        raise ConfigError(f"manual context: expected a list of paths: {error}") from error
    missing = [path for path in given if not os.path.isfile(root / path)]  # noqa: PTH113 - never raises
    if missing:
        raise SourceError(f"manual context: there is no file {', '.join(missing)}")
    return [(path, (root / path).resolve()) for path in given]


def _text_of(given: str, path: Path) -> str:
    try:
        return decode(path.read_bytes()).text
    except (OSError, SourceError) as error:
        raise SourceError(f"manual context: {given} cannot be read as text: {error}") from error


def _absent_digest(texts: Iterable[str]) -> str:
    """8 hex digits that follow from the texts and stand in none of them."""
    whole = "\0".join(texts)
    content = whole.encode("utf-8", "surrogatepass")
    digests = (
        blake2b(content, digest_size=4, salt=attempt.to_bytes(8, "big")).hexdigest()
        for attempt in count()
    )
    return next(digest for digest in digests if digest not in whole)
