"""Searches and index runs as spans and metrics of OpenTelemetry, after its conventions for retrieval.

Off by default. Once the setting ``opentelemetry.enabled`` is true, spans and durations go to the tracer and
meter providers that the program, or ``opentelemetry-instrument``, has set; without one they go nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragloom import IndexFinished, MissingDependencyError, SearchFinished, WorkspaceView, hookimpl

__all__ = ["OpenTelemetrySettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTelemetrySettings:
    """Whether searches and index runs are told to OpenTelemetry.

    Attributes:
        enabled: Whether they are. Queries and the ids of passages are told only where the variable
            ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` says so: no settings file can.
    """

    enabled: bool = False


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the section ``opentelemetry``."""
    return {"opentelemetry": OpenTelemetrySettings}


@hookimpl
def ragloom_search_finished(workspace: WorkspaceView, event: SearchFinished) -> None:
    """Tell of a search or a context."""
    if _enabled(workspace):
        from ragloom_opentelemetry.telling import tell_search

        tell_search(event)


@hookimpl
def ragloom_index_finished(workspace: WorkspaceView, event: IndexFinished) -> None:
    """Tell of an index run, a repair or a verification."""
    if _enabled(workspace):
        from ragloom_opentelemetry.telling import tell_run

        tell_run(event)


def _enabled(workspace: WorkspaceView) -> bool:
    if not workspace.section("opentelemetry", OpenTelemetrySettings).enabled:
        return False
    from importlib.util import find_spec

    if find_spec("opentelemetry") is None:
        raise MissingDependencyError(
            "opentelemetry-api", "ragloom[opentelemetry]", "the setting opentelemetry.enabled"
        )
    return True
