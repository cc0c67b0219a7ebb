"""The views Lessons and Audit: what other plugins and searches have left."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from ragloom import Json, RagloomError, Workspace

_ENTRIES = 300
_QUERIES = 200
_LONGEST = 4000  # characters of a template


def lessons(workspace: Workspace) -> dict[str, Json]:
    """The lessons of a workspace, conflicts named; a note where there are none."""
    if not _loaded(workspace, "knowledge"):
        return {"lessons": [], "note": "the plugin 'knowledge' is not loaded here"}
    section = workspace.settings.sections.get("knowledge")
    kept = workspace.state / "knowledge" / "lessons.db"
    if not getattr(section, "database", None) and not kept.exists():  # opening it would make it
        return {
            "lessons": [],
            "note": "no lessons yet: 'ragloom knowledge capture' stages the first",
        }
    try:
        with resolve_name("ragloom_knowledge:KnowledgeBase").of(workspace) as base:
            base.table.check(within=base.settings.timeout)  # a page waits
            found = base.lessons()
    except RagloomError as error:
        return {"lessons": [], "note": str(error)}
    by_problem: dict[tuple[str, str], list[str]] = {}
    for one in found:
        by_problem.setdefault((one.kind, one.signature), []).append(one.id)
    return {
        "note": "" if found else "no lessons yet",
        "lessons": [
            {
                **{name: getattr(one, name) for name in _OF_A_LESSON},
                "also_in": list(one.also_in),
                "captured_at": one.captured_at.isoformat(timespec="seconds"),
                "conflicts": [
                    other for other in by_problem[one.kind, one.signature] if other != one.id
                ],
            }
            for one in found
        ],
    }


_OF_A_LESSON = (
    *("id", "kind", "project", "agent_type", "task_type", "technology", "applies_to"),
    *("failure_description", "error_message", "solution_steps"),
    *("gate_type", "human_feedback", "revision_approach", "approved_approach"),
    *("success_verified", "successes", "uses", "pinned", "embedded", "superseded_by"),
)


def templates(workspace: Workspace) -> dict[str, Json]:
    """The templates of a workspace; a note where there are none."""
    if not _loaded(workspace, "templates"):
        return {"templates": [], "note": "the plugin 'templates' is not loaded here"}
    make = cast("Callable[..., Any]", resolve_name("ragloom_templates:TemplateLibrary"))
    try:
        with make(workspace=workspace) as library:
            found = library.read_files() if library.has_sources() else []
    except RagloomError as error:
        return {"templates": [], "note": str(error)}
    return {
        "note": "" if found else "no templates: 'ragloom templates new' makes the first",
        "templates": [
            {
                **{name: getattr(one, name) for name in _OF_A_TEMPLATE},
                "keywords": list(one.keywords),
                "content": one.content[:_LONGEST],
            }
            for one in found
        ],
    }


_OF_A_TEMPLATE = ("id", "name", "domain", "complexity", "methodology", "description")


def audit(workspace: Workspace) -> dict[str, Json]:
    """The last entries of the audit log, and the queries that found nothing, the most frequent first."""
    last: deque[Mapping[str, Json]] = deque(maxlen=_ENTRIES)
    empty: dict[str, dict[str, Any]] = {}
    searches = answered = 0
    for entry in workspace.audit_log():
        last.append(entry)
        if "hits" not in entry:
            continue
        searches += 1
        query = str(entry.get("query") or "").strip()
        if entry["hits"]:
            answered += 1
            empty.pop(query.casefold(), None)  # it is answered now
        elif query:
            known = empty.setdefault(query.casefold(), {"query": query, "count": 0})
            known["count"] += 1
            known["time"], known["reason"] = entry.get("time"), entry.get("reason")
    ordered = sorted(empty.values(), key=lambda one: str(one["time"]), reverse=True)
    ordered.sort(key=lambda one: -one["count"])
    return {
        "searches": searches,
        "answered": answered,
        "nothing": cast("Json", ordered[:_QUERIES]),
        "entries": [cast("Json", entry) for entry in reversed(last)],
    }


def _loaded(workspace: Workspace, plugin: str) -> bool:
    return any(one.name == plugin and one.status == "loaded" for one in workspace.host.plugins())
