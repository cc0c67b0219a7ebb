"""What can be set for a library of templates: the section ``templates`` of ``ragloom.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragloom.config import user_path
from ragloom_templates import HeadOptions

DEFAULT_DIRS = ("data/bot-buffer", "data/templates")
FALLBACK = "bot-chain-of-thought"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSettings:
    """How a library is made and searched.

    Attributes:
        dirs: The folders, relative to the workspace; those that do not exist hold nothing.
        fallback: The id of the template to use where none fits.
        top_k: Maximum number of templates.
        threshold: What scores less, 0 to 1, does not fit.
        weights: How often each field stands in the head.
    """

    dirs: tuple[str, ...] = field(default=DEFAULT_DIRS, metadata={"names": "files"})
    fallback: str = field(default=FALLBACK, metadata={"names": "nothing"})
    top_k: int = 3
    threshold: float = 0.65
    weights: HeadOptions = field(default_factory=HeadOptions)

    def __post_init__(self) -> None:
        """Refuse what is out of range, and folders of unknown users."""
        if not self.fallback:
            raise ValueError("fallback must be the id of a template")
        if self.top_k < 1:
            raise ValueError(f"top_k must be a whole number from 1, not {self.top_k}")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be a number from 0 to 1, not {self.threshold}")
        for folder in self.dirs:
            try:
                user_path(folder)
            except ValueError as error:
                raise ValueError(f"dirs must be {error}, not {folder!r}") from error
