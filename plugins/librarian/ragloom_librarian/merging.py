"""One text for the next step of a workflow: manual context first, then retrieved documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragloom import ConfigError, SourceError
from ragloom.context import absent_digest, attribute, quote_tags
from ragloom.text import decode, is_secret, redact
from ragloom_librarian.documents import RetrievedDocument


def merge_context(
    manual: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    retrieved: Sequence[RetrievedDocument],
    *,
    root: str | os.PathLike[str] = ".",
) -> str:
    """Put documents into one text, each once, between delimiters that no document can close.

    Files given by hand come first, whole but for secrets, and in their order. A retrieved document whose
    path resolves to the same file as one before it is skipped.

    Args:
        manual: Files, or one.
        retrieved: What :func:`query_knowledge_base` found, by section.
        root: The folder that relative paths are relative to.

    Returns:
        The text; empty where there is no document at all.

    Raises:
        ConfigError: What was given by hand are no paths.
        SourceError: Files given by hand do not exist, or cannot be read as text; it names them. Or one is a
            secret by its name.
    """
    base = Path(root)
    seen: set[Path] = set()
    blocks: list[tuple[str, str]] = []
    for given, path in manual_files(manual, base):
        if path not in seen:
            seen.add(path)
            blocks.append((f'source="{attribute(given)}"', _text_of(given, path)))
    for document in retrieved:
        path = (base / document["file_path"]).resolve()
        if path in seen:
            continue
        seen.add(path)
        lines = f"{document['start_line']}-{document['end_line']}"
        attributes = (
            f'source="{attribute(document["file_path"])}" section="{attribute(document["section"])}" '
            f'lines="{lines}" relevance="{document["score"]:.2f}"'
        )
        blocks.append((attributes, document["content"]))
    if not blocks:
        return ""
    name = f"document-{absent_digest((text for block in blocks for text in block), size=4)}"
    return "\n\n".join(
        f"<{name} {attributes}>\n{quote_tags(text.rstrip(), 'document')}\n</{name}>"
        for attributes, text in blocks
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
    if is_secret(str(path)):
        raise SourceError(f"manual context: {given} looks like a secret, which is never read")
    try:
        return redact(decode(path.read_bytes()).text)
    except (OSError, SourceError) as error:
        raise SourceError(f"manual context: {given} cannot be read as text: {error}") from error
