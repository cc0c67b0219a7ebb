"""``ragloom chunks``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, on_one_line, print_json, print_text
from ragloom.cli._options import component_options
from ragloom.config.spelling import counted

if TYPE_CHECKING:
    from ragloom.types import Chunk, Document, Json


@click.command(
    "chunks",
    cls=Command,
    epilog="""\b
Examples:
  ragloom chunks README.md
  ragloom chunks docs/*.md --chunker sentence --json
  ragloom chunks docs/guide.md --documents --json""",
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--documents", is_flag=True, help="Show the document that the loader returns instead."
)
@component_options("store", "embedder", "chunker")
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    files: tuple[Path, ...],
    documents: bool,
    components: Mapping[str, str | None],
    as_json: bool,
) -> None:
    """Show the chunks of FILES, and what is odd about a file, without indexing them.

    With --json each chunk is one line: path, span, lines, bytes, headings, tokens, text.
    """
    from ragloom.cli._spaces import with_components

    space = with_components(session.workspace().space_for(files), components)
    for document, chunks in space.chunks(files):
        for warning in document.warnings:
            session.warn(f"{document.uri}: {warning}")
        if as_json:
            for value in [_document(document)] if documents else map(_chunk, chunks):
                print_json(value)
        elif documents:
            print_text(document.text, nl=not document.text.endswith("\n"))
        else:
            for chunk in chunks:
                path = " > ".join(chunk.headings)
                head = f"{chunk.uri}:{chunk.lines.start}-{chunk.lines.end} {counted(chunk.tokens, 'token')}"
                click.echo(on_one_line(f"{head} {path}".rstrip()))


def _document(document: Document) -> Json:
    return {
        "path": document.uri,
        "metadata": document.metadata,
        "text": document.text,
        "warnings": list(document.warnings),
    }


def _chunk(chunk: Chunk) -> Json:
    return {
        "path": chunk.uri,
        "span": list(chunk.span),
        "lines": list(chunk.lines),
        "bytes": list(chunk.bytes),
        "headings": list(chunk.headings),
        "tokens": chunk.tokens,
        "text": chunk.text,
        "context": chunk.context,
        "id": chunk.id,
    }
