"""The loader ``template``: a Markdown file to a document whose metadata are a template's fields."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from ragloom import Document, Source
from ragloom.text import read_document
from ragloom_templates import TemplateOptions
from ragloom_templates.parsing import parse
from ragloom_templates.patterns import PatternDescriptions


class TemplateLoader:
    """Reads templates; see :func:`~ragloom_templates.parsing.parse`.

    It reads no file ending by itself, so that the Markdown of other spaces stays with the loader
    ``markdown``: a space of templates names it in its settings, ``loaders: {.md: template}``.
    """

    suffixes: frozenset[str] = frozenset()

    def __init__(self, options: TemplateOptions | None = None) -> None:
        self._descriptions = PatternDescriptions(options.descriptions if options else ())

    @property
    def fingerprint(self) -> str:
        """Changes with this code's rules, and with what describes the patterns."""
        return f"template-2 {self._descriptions.digest}".rstrip()

    def load(self, source: Source, content: bytes) -> Document:
        """Decode ``content``, take the front matter off and fill in what it does not say.

        Raises:
            SourceError: The content is binary, its front matter cannot be read, or nothing follows it.
        """
        document = read_document(source, content, media_type="text/markdown")
        # The workspace may itself be the folder of a skill, which only the path tells.
        parsed = parse(document.text, PurePosixPath(source.path.as_posix()), self._descriptions)
        said = () if parsed.front_matter is None else parsed.front_matter.warnings
        return replace(
            document,
            text=document.text[parsed.start :],
            prefix=document.text[: parsed.start],
            metadata=parsed.metadata,
            warnings=(*document.warnings, *said),
        )
