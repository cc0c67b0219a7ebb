"""The templates of the current folder's workspace, for ``llm``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Protocol, cast

from ragloom import ConfigError, Workspace

if TYPE_CHECKING:
    from llm import Template

_OFFERED = "ragloom_templates.serving:serve"
_PROBLEM = ("problem", "question", "query", "input")
_PLACEHOLDER = re.compile(
    r"\{\{\s*(?P<braces>[A-Za-z_]\w*)\s*\}\}|\$\{(?:input:)?(?P<dollar>[A-Za-z_]\w*)\}|\$"
)


class _Library(Protocol):
    def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[str, str]: ...


def template(name: str) -> Template:
    """The template with that id, as ``ragloom templates list`` shows it: ``-t ragloom:ID``.

    What is piped or typed stands for ``{{input}}`` and its like, and for a template without any of them
    follows as the prompt, with the template as the system prompt. ``-p name value`` gives the value of
    another placeholder.
    """
    from llm import Template

    workspace = Workspace.open()
    loaded = {one.name for one in workspace.host.plugins() if one.status == "loaded"}
    if "templates" not in loaded:
        raise ConfigError(f"ragloom:{name}: the plugin 'templates' is not loaded here")
    serve = cast("Callable[[Workspace], _Library | None]", resolve_name(_OFFERED))
    library = serve(workspace)
    if library is None:
        raise ConfigError(f"ragloom:{name}: there are no templates in {workspace.root}")
    _, text = library.prompt(name, {})
    asks = False

    def variable(match: re.Match[str]) -> str:
        nonlocal asks
        found = match["braces"] or match["dollar"]
        if found is None:
            return "$$"  # llm would take it for the beginning of a variable
        if found in _PROBLEM:
            asks = True
            return "$input"
        return f"${{{found}}}"

    text = _PLACEHOLDER.sub(variable, text)
    make = cast("Callable[..., Template]", Template)  # its constructor has no annotations
    return make(name=f"ragloom:{name}", **{"prompt" if asks else "system": text})
