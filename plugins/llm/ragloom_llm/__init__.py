"""A plugin for the command-line tool ``llm``: fragments from an index, templates, and a tool that searches.

It is found through ``llm``'s own entry points, not through ragloom's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from llm import Fragment, Template

__all__ = ["register_fragment_loaders", "register_template_loaders", "register_tools"]

hookimpl = pluggy.HookimplMarker("llm")


@hookimpl
def register_fragment_loaders(
    register: Callable[[str, Callable[[str], Fragment]], None],
) -> None:
    """Offer ``-f ragloom:SPACE:QUERY``."""
    from ragloom_llm.searching import fragment

    register("ragloom", fragment)


@hookimpl
def register_template_loaders(
    register: Callable[[str, Callable[[str], Template]], None],
) -> None:
    """Offer ``-t ragloom:ID``."""
    from ragloom_llm.templates import template

    register("ragloom", template)


@hookimpl
def register_tools(register: Callable[[Callable[..., str]], None]) -> None:
    """Offer the tool ``rag_search``."""
    from ragloom_llm.searching import rag_search

    register(rag_search)
