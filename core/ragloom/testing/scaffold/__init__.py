"""A new plugin: a complete package that passes its own tests at once.

Each ``.txt`` file beside this one is a template (:class:`string.Template`) of a file of the package.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

from ragloom.errors import ConfigError
from ragloom.hookspecs import PROJECT
from ragloom.plugin.host import PluginHost

__all__ = ["KINDS", "write_plugin"]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What differs between plugins of different kinds.

    Attributes:
        summary: One line for ``ragloom plugins``.
        option: The one option of the part, as a field of its dataclass.
        option_doc: What it is, for the docstring.
        fixture: The one that the contract asks for.
        value: What it returns.
        more: Further test classes.
        imports: What these need.
        use: How the part is used, for the README.
    """

    summary: str
    option: str
    option_doc: str
    fixture: str
    value: str = "$class_name($options())"
    more: str = ""
    imports: str = ""
    use: str = ""


KINDS: Final[Mapping[str, _Kind]] = {
    "store": _Kind(
        summary="one JSON file a space",
        option='path: str = ""',
        option_doc="path: A folder for the files; empty for the workspace's state.",
        fixture="make_store",
        value="partial($class_name, $options())",
        imports="from functools import partial\n\n",
        more="\n\nclass Test${class_name}Agrees(StoreAgreement):\n    @pytest.fixture\n"
        "    def make_store(self):\n        return partial($class_name, $options())\n",
        use="```sh\nragloom index docs/ --store $name\n```",
    ),
    "loader": _Kind(
        summary="text with fields at its head",
        option='suffix: str = ".$name"',
        option_doc="suffix: The file name ending that is read.",
        fixture="loader",
        use="`ragloom index` reads `.$name` files from then on; no setting is needed.",
    ),
    "chunker": _Kind(
        summary="whole paragraphs, as many as fit",
        option="size: int = 0",
        option_doc="size: The most tokens of a chunk; 0 for what the embedder reads.",
        fixture="chunker",
        use="```sh\nragloom index docs/ --chunker $name\n```",
    ),
    "embedder": _Kind(
        summary="hashed words",
        option="dimension: int = 256",
        option_doc="dimension: Numbers in a vector.",
        fixture="embedder",
        more="\n    @pytest.fixture\n    def variants(self):\n"
        "        return [$class_name($options(dimension=64))]\n",
        use="```sh\nragloom index docs/ --embedder $name\n```",
    ),
    "formatter": _Kind(
        summary="passages between rules",
        option='rule: str = "-"',
        option_doc="rule: The character of which rules are made.",
        fixture="formatter",
        use='```sh\nragloom context "a question" docs/ --format $name\n```',
    ),
    "reranker": _Kind(
        summary="words that query and passage share",
        option="shortest: int = 3",
        option_doc="shortest: Letters of the shortest word that counts.",
        fixture="reranker",
        use='```sh\nragloom search "a question" docs/ --reranker $name\n```',
    ),
}
"""The kinds of plugins that can be begun."""


def write_plugin(name: str, kind: str, folder: Path) -> list[Path]:
    """Write the package ``ragloom-NAME`` into a new folder of that name.

    Args:
        name: Of the part, such as ``chroma``; a beginning ``ragloom-`` is left out.
        kind: One of :data:`KINDS`.
        folder: Where the package's folder is made.

    Returns:
        The files, the package's folder first.

    Raises:
        ConfigError: The name is none or is taken, the kind is unknown, or the folder exists.
    """
    name = name.removeprefix("ragloom-").removeprefix("ragloom_")
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ConfigError(
            f"{name!r} cannot name a plugin: use lower-case letters, digits and single hyphens"
        )
    if kind not in KINDS:
        raise ConfigError(f"no kind is called {kind!r}; there are: {', '.join(KINDS)}")
    target = folder / f"ragloom-{name}"
    if target.exists():
        raise ConfigError(f"{target} exists already: give another name, or another folder")
    values = _values(name, kind)
    if taken := _taken(name, kind, values["package"]):
        raise ConfigError(f"{taken} already: give another name")
    package, made = target / values["package"], [target]
    for path, template in {
        target / "pyproject.toml": "pyproject.toml",
        target / "README.md": "README.md",
        target / ".gitignore": "gitignore",
        target / ".github" / "workflows" / "ci.yml": "ci.yml",
        package / "__init__.py": "__init__.py",
        package / f"{kind}.py": f"{kind}.py",
        target / "tests" / "test_contract.py": "test_contract.py",
    }.items():
        text = (files("ragloom.testing.scaffold") / f"{template}.txt").read_text("utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(values).rstrip("\n") + "\n", "utf-8")
        made.append(path)
    (package / "py.typed").touch()
    return [*made, package / "py.typed"]


def _taken(name: str, kind: str, package: str) -> str:
    """What is installed under the names of the new plugin and would be overwritten or clash with it."""
    if find_spec(package) is not None:
        return f"the package {package!r} is installed"
    if name in {point.name for point in entry_points(group=PROJECT)}:
        return f"there is a plugin {name!r}"
    offered = (
        info.provides.get(f"{kind}s", ()) for info in PluginHost.discover(disabled=()).plugins()
    )
    return f"there is a {kind} {name!r}" if any(name in names for names in offered) else ""


def _values(name: str, kind: str) -> dict[str, str]:
    parts, stem = KINDS[kind], "".join(map(str.capitalize, re.split("[-_]", name)))
    protocol = kind.capitalize()
    contracts = ["PluginContract", f"{protocol}Contract"]
    values = {
        "name": name,
        "kind": kind,
        "hook": f"{kind}s",
        "protocol": protocol,
        "distribution": f"ragloom-{name}",
        "package": f"ragloom_{name.replace('-', '_')}",
        "class_name": stem if stem.endswith(protocol) else f"{stem}{protocol}",
        "options": f"{stem}Options",
        "title": f"{'An' if protocol[0] in 'AE' else 'A'} {kind}",
        "imported": ", ".join(sorted([protocol, "Provider"])),
        "kind_contract": f"{protocol}Contract",
        "summary": parts.summary,
        "option_doc": parts.option_doc,
        "fixture": parts.fixture,
    }
    if kind == "store":
        contracts.append("StoreAgreement")
    filled = {
        "option": parts.option,
        "fixture_value": parts.value,
        "more_tests": parts.more,
        "test_imports": parts.imports,
        "use": parts.use,
    }
    return {
        **values,
        **{key: Template(text).substitute(values) for key, text in filled.items()},
        "contracts": ", ".join(sorted(contracts)),
    }
