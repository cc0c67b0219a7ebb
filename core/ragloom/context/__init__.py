"""The kit for formatters: contexts, citations, quoting of retrieved text, and prompts."""

from ragloom.context.citations import (
    TextFormatter,
    also,
    as_context,
    citation_of,
    closed,
    closest_json,
    hit_json,
    location,
    longest_run,
    on_one_line,
    shown_titles,
)
from ragloom.context.packing import MAX_TOKENS, STRATEGIES, Strategy, build_context
from ragloom.context.prompt import (
    AugmentedPrompt,
    PromptMetadata,
    RequestFormatter,
    build_augmented_prompt,
)
from ragloom.retrieval.nothing import why_empty

__all__ = [
    "MAX_TOKENS",
    "STRATEGIES",
    "AugmentedPrompt",
    "PromptMetadata",
    "RequestFormatter",
    "Strategy",
    "TextFormatter",
    "also",
    "as_context",
    "build_augmented_prompt",
    "build_context",
    "citation_of",
    "closed",
    "closest_json",
    "hit_json",
    "location",
    "longest_run",
    "on_one_line",
    "shown_titles",
    "why_empty",
]
