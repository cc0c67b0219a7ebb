"""``ragloom librarian``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import (
    SHARE,
    Group,
    Session,
    failures,
    json_option,
    on_one_line,
    print_json,
    progress,
)
from ragloom.config import build, counted
from ragloom.context import why_empty

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_librarian.knowledge_base import KnowledgeBase

sources_option = click.option(
    "--source",
    "sources",
    metavar="FOLDER",
    multiple=True,
    help="A folder of the knowledge base, instead of the settings' own; may be repeated.",
)


@click.group(
    "librarian",
    cls=Group,
    short_help="A project's decisions and standards for a workflow.",
    epilog="""\b
Examples:
  ragloom librarian rebuild
  ragloom librarian query "How do I log errors?"
  ragloom librarian query "error logging" --threshold 0.5 --top-n 5 --json""",
)
def librarian() -> None:
    """Rebuild and query the knowledge base: docs/adrs, docs/standards and docs/LLDs/done.

    The folders and the threshold stand under "librarian" in ragloom.yaml, or in variables such as
    RAGLOOM_LIBRARIAN_THRESHOLD.
    """


def _opened(session: Session, **options: Json) -> KnowledgeBase:
    from ragloom_librarian.knowledge_base import KnowledgeBase
    from ragloom_librarian.settings import LibrarianSettings

    workspace = session.workspace()
    settings = asdict(workspace.section("librarian", LibrarianSettings))
    given = {name: value for name, value in options.items() if value is not None}
    chosen = build(LibrarianSettings, settings | given, part="librarian")
    return KnowledgeBase(workspace, cast("LibrarianSettings", chosen))


@librarian.command(
    "rebuild",
    epilog="""\b
Examples:
  ragloom librarian rebuild
  ragloom librarian rebuild --full --source docs/adrs""",
)
@click.option(
    "--full", "full", is_flag=True, help="Read and split every file again, changed or not."
)
@click.option("--incremental", is_flag=True, help="Skip files that did not change (the default).")
@sources_option
@json_option
@click.pass_obj
def rebuild(
    session: Session, *, full: bool, incremental: bool, sources: tuple[str, ...], as_json: bool
) -> None:
    """Bring the knowledge base up to date with its Markdown files.

    Sections begin at headings of level 1 and 2. Unchanged files are skipped, and text that is known
    is not embedded again. A damaged knowledge base is quarantined and rebuilt.
    """
    if full and incremental:
        raise click.UsageError("--full and --incremental exclude each other")
    base = _opened(session, sources=list(sources) or None)
    with progress(session, "librarian") as meter:
        report = base.rebuild(full=full, may_empty=not sources, progress=meter)
    base.close()
    failures(session, report)
    indexed = len(report.added) + len(report.updated)
    created = report.embedded + report.reused
    if as_json:
        print_json(
            {
                "files": {
                    "indexed": indexed,
                    "skipped": report.unchanged,
                    "removed": len(report.removed),
                    "failed": [{"path": one.path, "error": one.error} for one in report.failed],
                },
                "chunks": {
                    "created": created,
                    "embedded": report.embedded,
                    "total": report.chunks,
                },
                "seconds": round(report.seconds, 3),
                "generation": report.generation,
            }
        )
    elif not session.quiet:
        failed = f"{len(report.failed)} failed, " if report.failed else ""
        click.echo(
            f"{counted(indexed, 'file')} indexed, {report.unchanged} skipped, "
            f"{len(report.removed)} removed, {failed}{counted(created, 'chunk')} created "
            f"({report.embedded} embedded), {report.seconds:.1f} s"
        )
    if report.failed and not (indexed or report.unchanged):
        click.get_current_context().exit(1)


@librarian.command(
    "query",
    epilog="""\b
Examples:
  ragloom librarian query "How do I log errors?"
  ragloom librarian query "error logging" --threshold 0.5 --top-n 5 --json
  ragloom librarian query "How do I log errors?" --context --manual docs/brief.md""",
)
@click.argument("query")
@click.option("-k", "k", metavar="N", type=int, help="Number of candidate documents.")
@click.option("--threshold", metavar="SHARE", type=SHARE, help="The least relevance, 0 to 1.")
@click.option("--top-n", "top_n", metavar="N", type=int, help="Maximum number of documents.")
@click.option(
    "--context",
    "as_context",
    is_flag=True,
    help="Print the documents as the one text that the node writes for the next step.",
)
@click.option(
    "--manual",
    "manual",
    metavar="FILE",
    multiple=True,
    help="With --context: a file that comes first, whole, as manual_context does; may be repeated.",
)
@json_option
@click.pass_obj
def query_command(
    session: Session,
    *,
    query: str,
    k: int | None,
    threshold: float | None,
    top_n: int | None,
    as_context: bool,
    manual: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the documents that a workflow would get for QUERY: score, file, lines and section.

    With --context, what it would put before its model; --json then has the keys that the node writes.
    """
    if manual and not as_context:
        raise click.UsageError("--manual goes with --context")
    base = _opened(session, k=k, threshold=threshold, top_n=top_n)
    found, result = base.retrieve(query)
    if result.searched_for:
        session.note(f"searched for: {result.searched_for}")
    if not found:
        session.note(f"no document: {why_empty(result, 'show it with --threshold 0')}")
    if as_context:
        from ragloom_librarian.merging import merge_context

        combined = merge_context(manual, found, root=base.workspace.root)
        if as_json:
            print_json(cast("Json", {"retrieved_context": found, "combined_context": combined}))
        elif combined:
            click.echo(combined)
        return
    if as_json:
        print_json(cast("Json", found))
        return
    for document in found:
        place = f"{document['file_path']}:{document['start_line']}-{document['end_line']}"
        line = (f"{document['score']:.2f}", place, document["section"])
        click.echo("\t".join(map(on_one_line, line)))
