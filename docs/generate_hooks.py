"""Write docs/hooks.md from the specifications in ragloom.hookspecs; `tox -e docs` compares them."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ragloom import hookspecs

PAGE = Path(__file__).parent / "hooks.md"

HEAD = """\
# Hooks

Every hook that a plugin can implement, with its exact signature. This page is written by
`python docs/generate_hooks.py` from `ragloom.hookspecs`; [Writing plugins](writing-plugins.md) is
where to begin.

A plugin implements the hooks it wants and marks them with `ragloom.hookimpl`. An implementation may omit
arguments that it does not need. Unless a hook says otherwise, the results of all plugins count.
"""


def hooks() -> Iterator[tuple[str, Callable[..., object]]]:
    """Each hook's name and specification, in the order of hookspecs.py."""
    for name, value in vars(hookspecs).items():
        if name.startswith("ragloom_") and inspect.isfunction(value):
            yield name, value


def render() -> str:
    """The page."""
    sections = [
        f"## {name}\n\n```python\ndef {name}{signature(spec)}\n```\n\n{text(spec)}\n"
        for name, spec in hooks()
    ]
    return "\n".join([HEAD, *sections])


def signature(spec: Callable[..., object]) -> str:
    """The signature as it is written, without the quotes that deferred annotations get."""
    return re.sub("'([^']*)'", r"\1", str(inspect.signature(spec)))


def text(spec: Callable[..., object]) -> str:
    """The docstring, its double backticks turned into Markdown's."""
    return (inspect.getdoc(spec) or "").replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
    print(PAGE)
