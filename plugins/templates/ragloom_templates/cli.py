"""``ragloom templates``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

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
from ragloom_templates._command import (
    dirs_option,
    filter_options,
    in_a_row,
    match_fields,
    open_library,
    placeholder_values,
    template_fields,
)

if TYPE_CHECKING:
    from ragloom_templates.library import TemplateLibrary
    from ragloom_templates.types import TemplateMatch

__all__ = ["templates"]


@click.group(
    "templates",
    cls=Group,
    short_help="Find the reasoning template that fits a problem.",
    epilog="""\b
Examples:
  ragloom templates new proof-by-contradiction
  ragloom templates match "Prove that the square root of 2 is irrational"
  ragloom templates match "Why is this query slow?" --format prompt | llm
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

    A file that cannot be read as a template is named on stderr and left out; the rest is indexed.
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
                f"{counted(report.embedded, 'part')} embedded, {report.seconds:.1f} s"
            )
        for warning in report.warnings:
            session.warn(warning)
        if not count:
            session.note(f"no templates in {', '.join(library.dirs)}")


@templates.command(
    "match",
    short_help="Find the templates that fit a problem.",
    epilog="""\b
Examples:
  ragloom templates match "Prove that the square root of 2 is irrational"
  ragloom templates match "Why is this query slow?" --top-k 1 --json
  ragloom templates match "Summarise the talk" --format prompt --set language=German""",
)
@click.argument("problem")
@click.option("-k", "--top-k", type=click.IntRange(1), help="Templates at the most; 3 by default.")
@click.option(
    "--threshold",
    type=SHARE,
    help="Leave out what scores less; 0.65 by default.",
)
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
    help="What the placeholder {{NAME}} or ${NAME} stands for; repeatable.",
)
@click.option("--no-refresh", is_flag=True, help="Ask the index as it is.")
@dirs_option
@json_option
@click.pass_obj
def match(  # noqa: PLR0913 - one parameter an option
    session: Session,
    *,
    problem: str,
    top_k: int | None,
    threshold: float | None,
    domain: str | None,
    complexity: str | None,
    methodology: str | None,
    form: str,
    values: tuple[str, ...],
    no_refresh: bool,
    dirs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find the templates that fit PROBLEM, best first; the fallback where none fits.

    The score is the calibrated chance, 0 to 1, that a template fits; that of the fallback is 0.5.
    """
    given = placeholder_values(values)
    with open_library(session, dirs) as library:
        if not no_refresh:
            library.refresh()
        found = library.rank(
            problem,
            top_k,
            threshold,
            domain=domain,
            complexity=complexity,
            methodology=methodology,
        ) or [library.fallback()]
    if found[0].fallback:
        session.note("no template fits: this is the fallback")
    if form == "prompt":
        _print_prompt(session, found[0], given, problem)
    elif as_json:
        print_json([match_fields(one) for one in found])
    else:
        for one in found:
            mark = "fallback" if one.fallback else f"{one.score:.2f}"
            fields = map(in_a_row, (mark, one.id, one.name, one.description))
            click.echo("\t".join(fields))


def _print_prompt(
    session: Session, found: TemplateMatch, values: dict[str, str], problem: str
) -> None:
    from ragloom_templates.prompting import fill

    prompt = fill(found.content, values, problem=problem)
    print_text(prompt.text)
    if prompt.open:
        names = ", ".join(prompt.open)
        session.note(f"{found.id}: placeholders without a value stay as they are: {names}")


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
    session: Session,
    *,
    domain: str | None,
    complexity: str | None,
    methodology: str | None,
    dirs: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the templates: id, name, domain, complexity, methodology and description."""
    with open_library(session, dirs) as library:
        library.refresh()
        found = library.list(domain=domain, complexity=complexity, methodology=methodology)
    if as_json:
        print_json([template_fields(one, content=False) for one in found])
        return
    columns = ("id", "name", "domain", "complexity", "methodology", "description")
    print_table(
        columns,
        [[in_a_row(str(getattr(one, column))) for column in columns] for one in found],
    )
    if not found:
        session.note("there are no such templates")


@templates.command(
    "show",
    short_help="Print a template.",
    epilog="""\b
Examples:
  ragloom templates show bot-chain-of-thought
  ragloom templates show skills/mcp-builder --json | jq .keywords""",
)
@click.argument("template_id", metavar="ID")
@dirs_option
@json_option
@click.pass_obj
def show(session: Session, *, template_id: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Print the template ID: its content, and its fields on stderr."""
    with open_library(session, dirs) as library:
        library.refresh()
        template = library.get(template_id)
        if template is None:
            raise _unknown(template_id, library)
    if as_json:
        print_json(template_fields(template, content=True))
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
    return click.UsageError(
        f"no template is called {template_id!r}{hint}", click.get_current_context()
    )


@templates.command(
    "add",
    short_help="Add a file to the library.",
    epilog="""\b
Examples:
  ragloom templates add ~/prompts/five-whys.md""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@dirs_option
@json_option
@click.pass_obj
def add(session: Session, *, file: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Read and index FILE, which stays where it is and belongs to the library from now on."""
    with open_library(session, dirs) as library:
        template = library.add(Path(os.path.realpath(file)))
    if as_json:
        print_json(template_fields(template, content=False))
    else:
        click.echo(f"{in_a_row(template.id)}\t{in_a_row(template.name)}")


@templates.command(
    "remove",
    short_help="Leave a template out of the library.",
    epilog="""\b
Examples:
  ragloom templates remove five-whys
  ragloom templates remove skills/mcp-builder --json""",
)
@click.argument("template_id", metavar="ID")
@dirs_option
@json_option
@click.pass_obj
def remove(session: Session, *, template_id: str, dirs: tuple[str, ...], as_json: bool) -> None:
    """Leave the template ID out of the library from now on; its file stays, and 'add' brings it back.

    For a file that was added and is gone, ID is its path as the warning says it.
    """
    with open_library(session, dirs) as library:
        library.refresh()
        try:
            library.remove(template_id)
        except SourceError as error:
            raise _unknown(template_id, library) from error
    print_json({"removed": template_id}) if as_json else click.echo(f"removed {template_id}")


@templates.command(
    "lint",
    short_help="Name every problem of a library.",
    epilog="""\b
Examples:
  ragloom templates lint
  ragloom templates lint --dir prompts --json | jq '.[] | select(.severity == "error")'""",
)
@dirs_option
@json_option
@click.pass_context
def lint(context: click.Context, *, dirs: tuple[str, ...], as_json: bool) -> None:
    """Name every problem of the library's files with its line; exit with 1 if any file is unusable."""
    from ragloom_templates.linting import lint as find

    session = cast("Session", context.obj)
    library = open_library(session, dirs)
    findings = find(library)
    if as_json:
        print_json(
            [
                {
                    "path": finding.path,
                    "line": finding.line,
                    "severity": finding.severity,
                    "problem": finding.problem,
                }
                for finding in findings
            ]
        )
    else:
        for finding in findings:
            place = f"{finding.path}:{finding.line}"
            click.echo(on_one_line(f"{place}: {finding.severity}: {finding.problem}"))
    errors = sum(finding.severity == "error" for finding in findings)
    session.note(f"{counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}")
    if errors:
        context.exit(1)


@templates.command(
    "new",
    short_help="Write the skeleton of a template.",
    epilog="""\b
Examples:
  ragloom templates new five-whys
  ragloom templates new five-whys --dir prompts""",
)
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="The folder to write to; the last one of the settings by default.",
)
@click.pass_obj
def new(session: Session, *, name: str, folder: str | None) -> None:
    """Write NAME.md with every field of the front matter; a file that exists is left alone."""
    from ragloom_templates.skeleton import write_skeleton

    if folder is None:
        library = open_library(session, ())
        target = library.workspace.root / library.dirs[-1]
    else:
        target = Path(folder)
    click.echo(str(write_skeleton(target, name)))
