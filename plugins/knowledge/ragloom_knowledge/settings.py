"""What can be set for lessons: the section ``knowledge`` of ``ragloom.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

_LONGEST = 600  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSettings:
    """How lessons are kept and searched.

    Attributes:
        database: The URL of the table; empty for SQLite below ``.ragloom``. The variable
            ``RAGLOOM_KNOWLEDGE_DATABASE`` goes before it, as it may hold a password.
        retention_days: Age at which a lesson expires, from when it was embedded.
        task_relevance: What fits a task less, 0 to 1, is not a pattern.
        failure_relevance: Likewise for a failure.
        max_tokens: Maximum number of tokens of the block of patterns.
        timeout: Seconds that a query, or a tool of a coding agent, waits for the database.
        tools: Whether the MCP server offers lesson_query, lesson_capture and lesson_outcome.
        serve: Whether the MCP server and ``llm`` may search lessons, as the space ``knowledge``.
    """

    database: str = field(default="", repr=False, metadata={"names": "service"})
    retention_days: int = 365
    task_relevance: float = 0.7
    failure_relevance: float = 0.75
    max_tokens: int = 1500
    timeout: float = 1.2
    tools: bool = False
    serve: bool = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for name in ("retention_days", "max_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be a whole number from 1, not {getattr(self, name)}")
        if not 0 < self.timeout <= _LONGEST:
            raise ValueError(
                f"timeout must be a number of seconds up to {_LONGEST}, not {self.timeout}"
            )
        for name in ("task_relevance", "failure_relevance"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a number from 0 to 1, not {getattr(self, name)}")
