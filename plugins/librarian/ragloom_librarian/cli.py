"""``ragloom librarian``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Protocol, cast

import click

if TYPE_CHECKING:
    from ragloom import IndexReport, Json, Workspace
    from ragloom_librarian.knowledge_base import KnowledgeBase

__all__ = ["librarian"]


class _Session(Protocol):
    """What ``ragloom`` hands to its commands."""

    config: str | None

    @property
    def quiet(self) -> bool: ...

    @property
    def color(self) -> bool | None: ...

    def start(self, context: click.Context) -> None: ...

    def workspace(self) -> Workspace: ...

    def note(self, message: str) -> None: ...

    def warn(self, message: str) -> None: ...


json_option = click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")
sources_option = click.option(
    "--source",
    "sources",
    metavar="FOLDER",
    multiple=True,
    help="A folder of the knowledge base, instead of the settings' own; may be repeated.",
)


@click.group(
    "librarian",
    short_help="A project's decisions and standards for a workflow.",
    invoke_without_command=True,
    epilog="""\b
Examples:
  ragloom librarian rebuild
  ragloom librarian query "How do I log errors?"
  ragloom librarian query "error logging" --threshold 0.5 --top-n 5 --json""",
)
@click.pass_context
def librarian(context: click.Context) -> None:
    """Rebuild and ask the knowledge base: docs/adrs, docs/standards and docs/LLDs/done.

    The folders and the threshold stand under "librarian" in ragloom.yaml, or in variables such as
    RAGLOOM_LIBRARIAN_THRESHOLD.
    """
    context.obj.start(context)  # colours and the log, as the options before this command say
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


def _opened(session: _Session, **options: Json) -> KnowledgeBase:
    from ragloom_librarian.knowledge_base import KnowledgeBase
    from ragloom_librarian.settings import load_librarian_settings, with_options

    workspace = session.workspace()
    settings = load_librarian_settings(workspace.root, config=session.config)
    return KnowledgeBase(workspace, with_options(settings, options))


def _print_json(value: Json) -> None:
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode, allow_nan=False))


@librarian.command("rebuild")
@click.option("--full", "full", is_flag=True, help="Read and cut every file again, changed or not.")
@click.option("--incremental", is_flag=True, help="Skip files that did not change (the default).")
@sources_option
@json_option
@click.pass_obj
def rebuild(
    session: _Session, *, full: bool, incremental: bool, sources: tuple[str, ...], as_json: bool
) -> None:
    """Bring the knowledge base up to date with its Markdown files.

    Sections begin at headings of level 1 and 2. Unchanged files are skipped, and text that is known
    is not embedded again. A damaged knowledge base is kept aside and made again.
    """
    if full and incremental:
        raise click.UsageError("--full and --incremental exclude each other")
    from ragloom_librarian.progress import progress_bar

    base = _opened(session, sources=list(sources) or None)
    with progress_bar(quiet=session.quiet, colored=session.color is not False) as progress:
        report = base.rebuild(full=full, progress=progress)
    base.close()
    for failed in report.failed:
        session.warn(f"{failed.path}: not indexed: {failed.error}")
    for warning in report.warnings:
        session.warn(warning)
    if as_json:
        _print_json(_as_json(report))
    elif not session.quiet:
        click.echo(_summary(report))
    if report.failed and not (report.added or report.updated or report.unchanged):
        click.get_current_context().exit(1)


def _summary(report: IndexReport) -> str:
    indexed = len(report.added) + len(report.updated)
    created = report.embedded + report.reused
    counts = [
        f"{indexed} {'file' if indexed == 1 else 'files'} indexed",
        f"{report.unchanged} skipped",
        f"{len(report.removed)} removed",
    ]
    if report.failed:
        counts.append(f"{len(report.failed)} failed")
    counts.append(f"{created} {'chunk' if created == 1 else 'chunks'} created")
    return f"{', '.join(counts)} ({report.embedded} embedded), {report.seconds:.1f} s"


def _as_json(report: IndexReport) -> Json:
    return {
        "files": {
            "indexed": len(report.added) + len(report.updated),
            "skipped": report.unchanged,
            "removed": len(report.removed),
            "failed": [{"path": failed.path, "error": failed.error} for failed in report.failed],
        },
        "chunks": {
            "created": report.embedded + report.reused,
            "embedded": report.embedded,
            "total": report.chunks,
        },
        "seconds": round(report.seconds, 3),
        "generation": report.generation,
    }


@librarian.command("query")
@click.argument("query")
@click.option("-k", "k", metavar="N", type=int, help="Documents to choose from.")
@click.option("--threshold", metavar="X", type=float, help="The least relevance, 0 to 1.")
@click.option("--top-n", "top_n", metavar="N", type=int, help="Documents at the most.")
@json_option
@click.pass_obj
def query_command(
    session: _Session,
    *,
    query: str,
    k: int | None,
    threshold: float | None,
    top_n: int | None,
    as_json: bool,
) -> None:
    """Show the documents that a workflow would get for QUERY: score, file, lines and section."""
    base = _opened(session, k=k, threshold=threshold, top_n=top_n)
    found = base.query(query)
    if as_json:
        _print_json(cast("Json", found))
        return
    if not found:
        session.note(
            f"no document has a relevance of {base.settings.threshold:.2f} or more: "
            "--threshold lets others through"
        )
    for document in found:
        place = f"{document['file_path']}:{document['start_line']}-{document['end_line']}"
        click.echo(f"{document['score']:.2f}\t{place}\t{document['section']}")
