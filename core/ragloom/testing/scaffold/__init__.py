"""A new plugin: a complete package that passes its own tests at once.

Each ``.txt`` file beside this one is a template (:class:`string.Template`) of a file of the package.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
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
        option: The one option of the component, as a field of its dataclass.
        option_doc: What it is, for the docstring.
        fixture: The one that the contract asks for.
        value: What it returns.
        more: Further test classes.
        imports: What these need.
        use: How the component is used, for the README.
        made_by: The class or function that makes one.
    """

    summary: str
    option: str
    option_doc: str
    fixture: str
    value: str = "$made_by($options())"
    more: str = ""
    imports: str = ""
    use: str = ""
    made_by: str = "$class_name"


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
        summary="text with headings, and fields at its head",
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
        "        return [$made_by($options(dimension=64))]\n",
        use="```sh\nragloom index docs/ --embedder $name\n```",
        made_by="make_embedder",
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


def write_plugin(name: str, kinds: Sequence[str], folder: Path) -> list[Path]:
    """Write the package ``ragloom-NAME`` into a new folder of that name.

    Args:
        name: Of the components, such as ``chroma``; a beginning ``ragloom-`` is omitted.
        kinds: Some of :data:`KINDS`: the package offers one component of each.
        folder: Where the package's folder is made.

    Returns:
        The files, the package's folder first.

    Raises:
        ConfigError: The name is none or is taken, a kind is unknown, or the folder exists.
    """
    name = name.removeprefix("ragloom-").removeprefix("ragloom_")
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ConfigError(
            f"{name!r} cannot name a plugin: use lower-case letters, digits and single hyphens"
        )
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(f"unknown kind {kind!r} (available: {', '.join(KINDS)})")
    target = folder / f"ragloom-{name}"
    if target.exists():
        raise ConfigError(f"{target} exists already: give another name, or another folder")
    offered = [_values(name, kind) for kind in dict.fromkeys(kinds)]
    values = _shared(offered)
    for one in offered:
        if taken := _taken(name, one["kind"], one["package"]):
            raise ConfigError(f"{taken} already: give another name")
    package, made = target / values["package"], [target]
    for path, template, used in (
        (target / "pyproject.toml", "pyproject.toml", values),
        (target / "README.md", "README.md", values),
        (target / ".gitignore", "gitignore", values),
        (target / ".github" / "workflows" / "ci.yml", "ci.yml", values),
        (package / "__init__.py", "__init__.py", values),
        *((package / f"{one['kind']}.py", f"{one['kind']}.py", one) for one in offered),
        (target / "tests" / "test_contract.py", "test_contract.py", values),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(template, used).rstrip("\n") + "\n", "utf-8")
        made.append(path)
    (package / "py.typed").touch()
    return [*made, package / "py.typed"]


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = (files("ragloom.testing.scaffold") / f"{template}.txt").read_text("utf-8")
    return Template(text).substitute(values)


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
    """What stands in the templates of one component."""
    parts, stem = KINDS[kind], "".join(map(str.capitalize, re.split("[-_]", name)))
    protocol = kind.capitalize()
    class_name = stem if stem.endswith(protocol) else f"{stem}{protocol}"
    values = {
        "name": name,
        "kind": kind,
        "protocol": protocol,
        "distribution": f"ragloom-{name}",
        "package": f"ragloom_{name.replace('-', '_')}",
        "class_name": class_name,
        "options": f"{class_name}Options",
        "contract": f"{protocol}Contract",
        "summary": parts.summary,
        "option_doc": parts.option_doc,
        "fixture": parts.fixture,
    }
    for key, text in {
        "made_by": parts.made_by,
        "option": parts.option,
        "fixture_value": parts.value,
        "more_tests": parts.more,
        "test_imports": parts.imports,
        "use": parts.use,
    }.items():
        values[key] = Template(text).substitute(values)
    return values


def _shared(offered: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What stands in the templates of the package."""
    kinds = [one["kind"] for one in offered]
    contracts = ["PluginContract", *(one["contract"] for one in offered)]
    if "store" in kinds:
        contracts.append("StoreAgreement")
    listed = " and ".join(kinds)
    exported = sorted(
        name for one in offered for name in (one["options"], f"ragloom_{one['kind']}s")
    )
    made = sorted(f"from {one['package']}.{one['kind']} import {one['made_by']}" for one in offered)
    return {
        **{key: offered[0][key] for key in ("name", "distribution", "package")},
        "title": f"{'An' if listed[0] in 'ae' else 'A'} {listed}",
        "offered": " and ".join(f"the {one['kind']} `{one['name']}`" for one in offered),
        "imported": ", ".join(sorted([*(one["protocol"] for one in offered), "Provider"])),
        "exported": ", ".join(f'"{name}"' for name in exported),
        "offers": "".join(_filled("offer.py", one) for one in offered),
        "all_options": ", ".join(sorted(one["options"] for one in offered)),
        "all_made": "\n".join(made),
        "contracts": ", ".join(sorted(contracts)),
        "test_imports": "".join(dict.fromkeys(one["test_imports"] for one in offered)),
        "tests": "".join(_filled("test_kind.py", one).rstrip("\n") + "\n" for one in offered),
        "use": "\n\n".join(one["use"] for one in offered),
    }
