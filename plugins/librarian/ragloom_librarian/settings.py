"""What can be set for the librarian: the section ``librarian`` of ``ragloom.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarianSettings:
    """Where the knowledge base comes from, and how it is searched.

    Attributes:
        sources: Folders of Markdown files, relative to the workspace; those that do not exist are
            skipped.
        k: Documents to choose from.
        threshold: The least relevance, 0 to 1, of a document that is shown.
        top_n: Maximum number of documents.
        timeout: Seconds that the node waits for an answer; 0 for as long as it takes.
    """

    sources: tuple[str, ...] = field(
        default=("docs/adrs", "docs/standards", "docs/LLDs/done"), metadata={"names": "files"}
    )
    k: int = 5
    threshold: float = 0.7
    top_n: int = 3
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if not self.sources:
            raise ValueError("sources must be a list of folders, not an empty one")
        for name in ("k", "top_n"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be a whole number from 1, not {getattr(self, name)}")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be a number from 0 to 1, not {self.threshold}")
        if not self.timeout >= 0:
            raise ValueError(f"timeout must be seconds, or 0 for no limit, not {self.timeout}")
