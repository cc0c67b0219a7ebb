"""A plugin for the command-line tool ``llm``: fragments from an index, and a tool that searches it.

It is found through ``llm``'s own entry points, not through ragloom's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from llm import Fragment

__all__ = ["register_fragment_loaders", "register_tools"]

hookimpl = pluggy.HookimplMarker("llm")


@hookimpl
def register_fragment_loaders(
    register: Callable[[str, Callable[[str], Fragment]], None],
) -> None:
    """Offer ``-f ragloom:SPACE:QUERY``."""
    from ragloom_llm.searching import fragment

    register("ragloom", fragment)


@hookimpl
def register_tools(register: Callable[[Callable[..., str]], None]) -> None:
    """Offer the tool ``rag_search``."""
    from ragloom_llm.searching import rag_search

    register(rag_search)
