"""``ragloom templates``."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import click

from ragloom import SourceError
from ragloom.cli import (
    SHARE,
    Group,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_table,
    print_text,
)
from ragloom.config import counted, did_you_mean
from ragloom_templates.options import (
    dirs_option,
    filter_options,
    id_argument,
    open_library,
    value_of,
)
from ragloom_templates.types import unheld

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_templates.library import TemplateLibrary
    from ragloom_templates.types import Filters, Template, TemplateMatch


def to_json(found: Template | TemplateMatch, *, content: bool = False) -> Json:
    """The fields of a template or match, with or without its content."""
    values = asdict(found)
    if "file_path" in values:
        values["path"] = str(values.pop("file_path"))
    if not content:
        del values["content"]
    return values


def to_line(*cells: str) -> str:
    """Cells with tabs between them, without line breaks or characters that steer a terminal."""
    return "\t".join(on_one_line(" ".join(cell.split())) for cell in cells)


@click.group(
    "templates",
    cls=Group,
    short_help="Find the reasoning template that fits a problem.",
    epilog="""\b
Examples:
  ragloom templates new proof-by-contradiction --description "Prove a claim by assuming the opposite"
  ragloom templates match "Prove that the square root of 2 is irrational"
  ragloom templates match "Prove that there is no largest prime" --format prompt | llm
  ragloom templates lint""",
)
def templates() -> None:
    """Find the way to reason that fits a problem, in folders of Markdown templates.

    The folders are data/bot-buffer and data/templates, or what the settings name under
    'templates: {dirs: […]}'. Read are Markdown files with front matter, skill folders (SKILL.md), pattern
    folders (system.md) and *.prompt.md, *.agent.md and *.instructions.md.
    """


@templates.command(
    "index",
    short_help="Bring the library up to date.",
    epilog="""\b
Examples:
  ragloom templates index
  ragloom templates index --dir prompts --json""",
)
@dirs_option
@json_option
@click.pass_obj
def index(session: Session, *, dirs: tuple[str, ...], as_json: bool) -> None:
    """Bring the library up to date; only what changed is read and embedded.

    A file that cannot be read as a template is named on stderr and skipped; the rest is indexed.
    """
    with open_library(session, dirs) as library:
        report = library.refresh()
    count = len(report.added) + len(report.updated) + report.unchanged
    if as_json:
        print_json(
            {
                "templates": count,
                "added": len(report.added),
                "updated": len(report.updated),
                "removed": len(report.removed),
                "skipped": [{"path": file.path, "error": file.error} for file in report.failed],
                "embedded": report.embedded,
                "seconds": round(report.seconds, 3),
            }
        )
    else:
        click.echo(
            f"{counted(count, 'template')}: {len(report.added)} added, {len(report.updated)} updated, "
            f"{len(report.removed)} removed, {len(report.failed)} skipped; "
            f"{counted(report.embedded, 'chunk')} embedded, {report.seconds:.1f} s"
        )
    for warning in report.warnings:
        session.warn(warning)
    if not count:
        session.note(f"no templates in {', '.join(library.dirs)}")


@templates.command(
    epilog="""\b
Examples:
  ragloom templates match "Prove that the square root of 2 is irrational"
  ragloom templates match "Why is this query slow?" --top-k 1 --json
  ragloom templates match "Summarise the talk" --format prompt --set language=German""",
)
@click.argument("problem")
@click.option(
    "-k", "--top-k", type=click.IntRange(1), help="Maximum number of templates; 3 by default."
)
@click.option("--threshold", type=SHARE, help="Minimum score, 0 to 1; 0.65 by default.")
@filter_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "prompt"]),
    default="table",
    show_default=True,
    help="'prompt' prints the best template, filled, ready to stand before the question.",
)
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of the placeholder {{NAME}} or ${NAME}; repeatable.",
)
@click.option("--no-refresh", is_flag=True, help="Search the index without updating it.")
@dirs_option
@json_option
@click.pass_obj
def match(
    session: Session,
    *,
    problem: str,
    top_k: int | None,
    threshold: float | None,
    form: str,
    values: tuple[str, ...],
    no_refresh: bool,
    dirs: tuple[str, ...],
    as_json: bool,
    **filters: Unpack[Filters],
) -> None:
    """Find the templates that fit PROBLEM, best first.

    Where none fits, it is the fallback. The score is a relevance, 0 to 1: it is no cosine and no
    probability, and that of the fallback, 0.5, says nothing.
    """
    from ragloom_templates.prompting import as_prompt

    given = dict(map(value_of, values))
    with open_library(session, dirs) as library:
        if not no_refresh:
            library.refresh()
        found = library.rank(problem, top_k, threshold, **filters) or [library.fallback()]
        why = (found[0].fallback and unheld(library.list, filters)) or "no template fits"
    best = found[0]
    if best.fallback:
        session.note(f"{why}: this is the fallback")
    if form == "prompt":
        prompt = as_prompt(best, given, problem=problem)
        print_text(prompt.text)
        if prompt.open:
            names = ", ".join(prompt.open)
            session.note(f"{best.id}: placeholders without a value stay as they are: {names}")
    elif as_json:
        print_json(
            [to_json(replace(one, score=round(one.score, 6)), content=True) for one in found]
        )
    else:
        for one in found:
            mark = "fallback" if one.fallback else f"{one.score:.2f}"
            click.echo(to_line(mark, one.id, one.name, one.description))


@templates.command(
    "list",
    short_help="List the templates.",
    epilog="""\b
Examples:
  ragloom templates list --domain mathematics
  ragloom templates list --json | jq '.[].id'""",
)
@filter_options
@dirs_option
@json_option
@click.pass_obj
def list_templates(
    session: Session, *, dirs: tuple[str, ...], as_json: bool, **filters: Unpack[Filters]
) -> None:
    """List the templates: id, name, domain, complexity, methodology and description."""
    with open_library(session, dirs) as library:
        library.refresh()
        found = library.list(**filters)
        why = "" if found else unheld(library.list, filters)
    if as_json:
        print_json([to_json(one) for one in found])
        return
    columns = ("id", "name", "domain", "complexity", "methodology", "description")
    rows = [[" ".join(getattr(one, column).split()) for column in columns] for one in found]
    print_table(columns, rows)
    if not found:
        some = "no template passes the filters" if any(filters.values()) else "no templates"
        session.note(why or some)


@templates.command(
    epilog="""\b
Examples:
  ragloom templates show bot-chain-of-thought
  ragloom templates show skills/mcp-builder --json | jq .keywords""",
)
@id_argument
@dirs_option
@json_option
@click.pass_obj
def show(session: Session, *, template_id: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Print a template: its content, and its fields on stderr."""
    with open_library(session, dirs) as library:
        library.refresh()
        template = library.get(template_id)
        if template is None and template_id == library.fallback().id:
            template = library.fallback_template()
        if template is None:
            raise _unknown(template_id, library)
    if as_json:
        print_json(to_json(template, content=True))
        return
    session.note(f"{template.name}: {template.description or 'no description'}")
    session.note(
        f"{template.domain}, {template.complexity}, {template.methodology}"
        f"{': ' if template.keywords else ''}{', '.join(template.keywords)}"
    )
    print_text(template.content)


def _unknown(template_id: str, library: TemplateLibrary) -> click.UsageError:
    names = [one.id for one in library.list()]
    hint = did_you_mean(template_id, names) or "; 'ragloom templates list' shows all"
    return click.UsageError(f"unknown template {template_id!r}{hint}", click.get_current_context())


@templates.command(
    short_help="Add a file or a folder to the library.",
    epilog="""\b
Examples:
  ragloom templates add ~/prompts/five-whys.md
  ragloom templates add ~/skills --json | jq length""",
)
@click.argument("path", metavar="PATH", type=click.Path(exists=True))
@dirs_option
@json_option
@click.pass_obj
def add(session: Session, *, path: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Read and index PATH, which stays where it is and belongs to the library from now on.

    Of a folder every template is read, now and whenever its files change; --json is a list then.
    """
    place = Path(os.path.realpath(path))
    with open_library(session, dirs) as library:
        found = library.add_folder(place) if place.is_dir() else [library.add(place)]
    if as_json:
        rows = [to_json(one) for one in found]
        print_json(rows if place.is_dir() else rows[0])
    else:
        for template in found:
            click.echo(to_line(template.id, template.name))


@templates.command(
    short_help="Exclude a template from the library.",
    epilog="""\b
Examples:
  ragloom templates remove five-whys
  ragloom templates remove skills/mcp-builder --json""",
)
@id_argument
@dirs_option
@json_option
@click.pass_obj
def remove(session: Session, *, template_id: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Exclude the template ID from the library from now on; its file stays, and 'add' brings it back.

    For a folder that was added, or a file that is gone, ID is its path.
    """
    with open_library(session, dirs) as library:
        library.refresh()
        try:
            library.remove(template_id)
        except SourceError as error:
            raise _unknown(template_id, library) from error
    print_json({"removed": template_id}) if as_json else click.echo(f"removed {template_id}")


@templates.command(
    short_help="Name every problem of a library.",
    epilog="""\b
Examples:
  ragloom templates lint
  ragloom templates lint --dir prompts --json | jq '.[] | select(.severity == "error")'""",
)
@dirs_option
@json_option
@click.pass_obj
def lint(session: Session, *, dirs: tuple[str, ...], as_json: bool) -> int:
    """Name every problem of the library's files with its line; exit with 1 if any file is unusable."""
    from ragloom_templates.linting import lint as find

    findings = find(open_library(session, dirs))
    errors = sum(finding.severity == "error" for finding in findings)
    counts = f"{counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}"
    if as_json:
        print_json([cast("Json", asdict(finding)) for finding in findings])
        session.note(counts)
        return 1 if errors else 0
    for finding in findings:
        place = f"{finding.path}:{finding.line}"
        click.echo(on_one_line(f"{place}: {finding.severity}: {finding.problem}"))
    if not session.quiet:
        click.echo(counts)
    return 1 if errors else 0


@templates.command(
    short_help="Write the skeleton of a template.",
    epilog="""\b
Examples:
  ragloom templates new five-whys
  ragloom templates new outage --description "Find the cause of an outage" --dir prompts""",
)
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="The folder to write to; the last one of the settings by default.",
)
@click.option("--description", help="What it is for, by which it is found.")
@click.pass_obj
def new(session: Session, *, name: str, folder: str | None, description: str | None) -> None:
    """Write NAME.md with every field of the front matter; an existing file is an error."""
    from ragloom_templates.skeleton import write_skeleton

    if folder is None:
        library = open_library(session)
        folder = str(library.workspace.root / library.dirs[-1])
    click.echo(str(write_skeleton(Path(folder), name, description)))
