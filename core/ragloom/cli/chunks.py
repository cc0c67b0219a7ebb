"""``ragloom chunks``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, on_one_line, print_json, print_text
from ragloom.cli._options import part_options
from ragloom.config.spelling import counted

if TYPE_CHECKING:
    from ragloom.types import Chunk, Document, Json

__all__ = ["command"]


@click.command(
    "chunks",
    cls=Command,
    short_help="Show how files are cut.",
    epilog="""\b
Examples:
  ragloom chunks README.md
  ragloom chunks docs/*.md --chunker sentence --json
  ragloom chunks docs/guide.md --documents --json""",
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--documents", is_flag=True, help="Show what the loader made of each file instead.")
@part_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    files: tuple[Path, ...],
    documents: bool,
    store: str | None,
    embedder: str | None,
    chunker: str | None,
    as_json: bool,
) -> None:
    """Show how FILES are cut into chunks; nothing is indexed.

    With --json a line for each chunk: path, span, lines, bytes, headings, tokens, text.
    """
    from ragloom.cli._spaces import with_parts

    session: Session = context.obj
    workspace = session.workspace()
    space = with_parts(workspace.space_for(files), store=store, embedder=embedder, chunker=chunker)
    for document, chunks in space.chunks(files):
        if documents:
            shown: list[Json] = [_document(document)]
        else:
            shown = [_chunk(chunk) for chunk in chunks]
        if as_json:
            for value in shown:
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
