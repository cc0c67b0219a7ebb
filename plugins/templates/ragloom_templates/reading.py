"""A template as its file is now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path, PurePosixPath

from ragloom import SourceError
from ragloom.text import decode, redact
from ragloom_templates.parsing import parse
from ragloom_templates.patterns import PatternDescriptions
from ragloom_templates.types import Template, TemplateMatch


def read_template(
    template_id: str,
    path: Path,
    descriptions: PatternDescriptions | None = None,
    *,
    content_hash: str = "",
) -> Template:
    """Read a template.

    Args:
        template_id: Its id.
        path: Its file.
        descriptions: Of patterns.
        content_hash: What the file held when it was indexed; any by default.

    Raises:
        OSError: The file cannot be read.
        SourceError: It is no template, or not the one that was indexed.
    """
    content = path.read_bytes()
    if content_hash and sha256(content).hexdigest() != content_hash:
        raise SourceError("it has changed since it was indexed")
    text = redact(decode(content).text)
    parsed = parse(text, PurePosixPath(path.as_posix()), descriptions)
    metadata = parsed.metadata
    keywords = metadata["keywords"]
    return Template(
        id=template_id,
        name=str(metadata["name"]),
        domain=str(metadata["domain"]),
        complexity=str(metadata["complexity"]),
        methodology=str(metadata["methodology"]),
        keywords=[str(word) for word in keywords] if isinstance(keywords, Sequence) else [],
        description=str(metadata["description"]),
        content=text[parsed.start :].strip("\r\n"),
        file_path=path,
        front_matter={} if parsed.front_matter is None else dict(parsed.front_matter.fields),
    )


def match_of(template: Template, score: float, *, fallback: bool = False) -> TemplateMatch:
    """A template that was found."""
    return TemplateMatch(
        id=template.id,
        name=template.name,
        score=score,
        description=template.description,
        content=template.content,
        file_path=template.file_path,
        front_matter=template.front_matter,
        fallback=fallback,
    )


def read_all(
    root: Path, ids: Mapping[str, str], descriptions: PatternDescriptions
) -> Sequence[Template]:
    """The templates by their ids and uris, in that order; those that cannot be read are omitted."""
    found: list[Template] = []
    for name, uri in ids.items():
        with suppress(OSError, SourceError):
            path = Path(os.path.normpath(root / uri))
            found.append(read_template(name, path, descriptions))
    return found


def shipped(name: str) -> Template:
    """The template that ships with the plugin."""
    return read_template(name, Path(str(files("ragloom_templates") / "fallback" / f"{name}.md")))
