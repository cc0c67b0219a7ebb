"""What is in an index, as ``ragloom status`` tells it."""

from __future__ import annotations

from dataclasses import dataclass

from ragloom.config.settings import SpaceSettings

__all__ = ["SpaceStatus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceStatus:
    """What is in an index.

    Attributes:
        name: The space.
        generation: The snapshot that answers, 0 for none.
        files: Files indexed.
        chunks: Chunks indexed.
        bytes: What the space's folder takes on the disk.
        created: When the snapshot was made, in seconds since 1970; 0 for none.
        settings: How the space is made.
    """

    name: str
    settings: SpaceSettings
    generation: int = 0
    files: int = 0
    chunks: int = 0
    bytes: int = 0
    created: float = 0.0
