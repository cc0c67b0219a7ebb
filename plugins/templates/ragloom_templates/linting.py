"""Every problem of a library at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from ragloom import SourceError
from ragloom.text import FrontMatterError, decode
from ragloom_templates.library import TemplateLibrary
from ragloom_templates.parsing import PATTERN_FILE, Parsed, parse, path_without_ending
from ragloom_templates.skeleton import TO_BE_WRITTEN

Severity: TypeAlias = Literal["error", "warning"]

_SCALARS = ("name", "domain", "complexity", "methodology", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem of a template.

    Attributes:
        path: Relative to the workspace.
        line: 1-based.
        severity: ``error`` for a file that is skipped, ``warning`` for one that is read.
        problem: What is wrong, and what would be right.
    """

    path: str
    line: int
    severity: Severity
    problem: str


def lint(library: TemplateLibrary) -> list[Finding]:
    """Read every file of the library's folders; neither index nor model is needed.

    Raises:
        SourceError: A folder cannot be read.
    """
    findings: list[Finding] = []
    places: dict[str, list[str]] = {}
    library.set_sources()
    for found in library.space.walk():
        uri = found.source.uri
        if found.status is None:
            problem = found.problem or found.skipped
            findings.append(Finding(path=uri, line=1, severity="error", problem=problem))
            continue
        path = PurePosixPath(found.source.path.as_posix())
        try:
            parsed = parse(decode(found.source.path.read_bytes()).text, path)
        except (OSError, SourceError) as error:
            line, problem = 1, str(error)
            if isinstance(error, FrontMatterError):
                line, problem = error.line, f"front matter: {error.problem}"
            findings.append(Finding(path=uri, line=line, severity="error", problem=problem))
            continue
        findings += [
            Finding(path=uri, line=line, severity="warning", problem=problem)
            for line, problem in _warnings(parsed, path)
        ]
        places.setdefault(_name_below(library, uri), []).append(uri)
    for name, uris in places.items():
        findings += [
            Finding(
                path=uri,
                line=1,
                severity="warning",
                problem=f"{uris[0]} has the id {name!r} already; this one's is longer",
            )
            for uri in uris[1:]
        ]
    return sorted(findings, key=lambda finding: (finding.path, finding.line, finding.problem))


def _name_below(library: TemplateLibrary, uri: str) -> str:
    path = path_without_ending(PurePosixPath(uri))
    for folder in library.dirs:
        if path.is_relative_to(folder) and path != PurePosixPath(folder):
            return path.relative_to(folder).as_posix()
    return path.name


def _warnings(parsed: Parsed, path: PurePosixPath) -> Iterator[tuple[int, str]]:
    front_matter = parsed.front_matter
    if front_matter is None:
        if path.name != PATTERN_FILE:
            yield 1, "there is no front matter: it is found by its file name and its text alone"
        return
    lines, fields = front_matter.lines, front_matter.fields
    for key in front_matter.repeated:
        yield lines.get(key, 1), f"{key!r} is given twice; the last counts"
    for key in _SCALARS:
        value = fields.get(key)
        if isinstance(value, list | dict):
            kind = "list" if isinstance(value, list) else "mapping"
            yield lines.get(key, 1), f"{key!r} should be text, not a {kind}"
    if isinstance(fields.get("keywords"), dict):
        yield lines["keywords"], "'keywords' should be a list such as [proof, negation]"
    unfilled = fields.get("description") == TO_BE_WRITTEN
    if not parsed.metadata["description"] and not unfilled:
        yield lines.get("description", 1), "there is no 'description', by which it is found"
    if unfilled:
        yield lines["description"], "'description' is still that of the skeleton: fill it in"
    for key in fields:
        lower = key.lower()
        if key != lower and lower in (*_SCALARS, "keywords"):
            yield lines.get(key, 1), f"{key!r} is not read: write {lower!r}"
