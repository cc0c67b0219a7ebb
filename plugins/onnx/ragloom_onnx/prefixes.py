"""What models were trained to see before a query and before a passage."""

from __future__ import annotations

import re

Prefixes = tuple[str, str]
"""Before a query, before a passage."""

_SEARCHING = "Represent this sentence for searching relevant passages: "

# Each from the model's own card on the hub, in the order in which they are tried.
_KNOWN: tuple[tuple[str, Prefixes], ...] = (
    (r"(multilingual-)?e5-(mistral|.*instruct)", ("", "")),  # they want a task description instead
    (r"(multilingual-)?e5-(small|base|large)", ("query: ", "passage: ")),
    (r"bge-(small|base|large)-en", (_SEARCHING, "")),
    (r"bge-(small|base|large)-zh", ("为这个句子生成表示以用于检索相关文章：", "")),
    (r"snowflake-arctic-embed-[a-z]-v2", ("query: ", "")),
    (r"snowflake-arctic-embed", (_SEARCHING, "")),
    (r"mxbai-embed", (_SEARCHING, "")),
    (r"nomic-embed-text", ("search_query: ", "search_document: ")),
)


def known_prefixes(model: str) -> Prefixes:
    """The prefixes of a model's family, by its name on the hub or its folder's; none if unknown."""
    name = model.rpartition("/")[2].lower()
    for pattern, prefixes in _KNOWN:
        if re.match(pattern, name):
            return prefixes
    return "", ""
