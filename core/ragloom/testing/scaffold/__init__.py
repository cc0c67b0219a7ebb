"""A new plugin: a complete package that passes its own tests at once.

Each ``.txt`` file beside this one is a template (:class:`string.Template`) of a file of the package.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

from ragloom.errors import ConfigError
from ragloom.hookspecs import PROJECT
from ragloom.plugin.host import PluginHost
from ragloom.plugin.registry import OWN_SETTINGS

__all__ = ["KINDS", "write_plugin"]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_LOCAL: Final = "\n            local=True,"  # it contacts no service


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What the templates say of a kind; each value is a template itself, of those above it."""

    made_by: str = "$class_name"
    label: str = "$kind `$name`"
    plural: str = "${kind}s"
    offer: str = "offer.py"
    test: str = "test_kind.py"
    fixture: str = "$kind"
    use: str
    summary: str = ""
    option: str = ""
    option_doc: str = ""
    local: str = ""
    fixture_value: str = "$made_by($options())"
    more_tests: str = ""


KINDS: Final[Mapping[str, _Kind]] = {
    "store": _Kind(
        fixture="make_store",
        summary="one JSON file a space",
        option='path: str = field(default="", metadata={"names": "output"})',
        local=_LOCAL,
        option_doc="path: A folder for the files; empty for the workspace's state.",
        fixture_value="partial($class_name, $options())",
        more_tests="\n\nclass Test${class_name}Agrees(StoreAgreement):\n    @pytest.fixture\n"
        "    def make_store(self):\n        return partial($class_name, $options())\n",
        use="```sh\nragloom index docs/ --store $name\n```",
    ),
    "loader": _Kind(
        summary="text with headings, and fields at its head",
        option='suffix: str = ".$name"',
        option_doc="suffix: The file name ending that is read.",
        use="`ragloom index` reads `.$name` files from then on; no setting is needed.",
    ),
    "chunker": _Kind(
        summary="whole paragraphs, as many as fit",
        option="size: int = 0",
        option_doc="size: The most tokens of a chunk; 0 for what the embedder reads.",
        use="```sh\nragloom index docs/ --chunker $name\n```",
    ),
    "embedder": _Kind(
        summary="hashed words",
        option="dimension: int = 256",
        local=_LOCAL,
        option_doc="dimension: Numbers in a vector.",
        more_tests="\n    @pytest.fixture\n    def variants(self):\n"
        "        return [$made_by($options(dimension=64))]\n",
        use="```sh\nragloom index docs/ --embedder $name\n```",
        made_by="make_embedder",
    ),
    "formatter": _Kind(
        summary="passages between rules",
        option='rule: str = "-"',
        option_doc="rule: The character of which rules are made.",
        use='```sh\nragloom context "a question" docs/ --format $name\n```',
    ),
    "reranker": _Kind(
        summary="words that query and passage share",
        option="shortest: int = 3",
        local=_LOCAL,
        option_doc="shortest: Letters of the shortest word that counts.",
        use='```sh\nragloom search "a question" docs/ --reranker $name\n```',
    ),
    "settings": _Kind(
        label="settings section `$section`",
        plural="settings",
        offer="offer_settings.py",
        test="test_settings.py",
        use="```yaml\n# ragloom.yaml\n$section: {dialect: strict}\n```\n\n"
        '`workspace.section("$section", $class_name)` is what it says.',
    ),
}
"""The kinds of components, and a section of ``ragloom.yaml``, that a new plugin can offer."""


def write_plugin(name: str, kinds: Sequence[str], folder: Path) -> list[Path]:
    """Write the package ``ragloom-NAME`` into a new folder of that name.

    Args:
        name: Of what it offers, such as ``chroma``; a leading ``ragloom-`` is dropped.
        kinds: Some of :data:`KINDS`: the package offers one of each.
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
        if taken := _taken(one):
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
        path.write_text(_filled(template, used), "utf-8")
        made.append(path)
    (package / "py.typed").touch()
    return [*made, package / "py.typed"]


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = (files("ragloom.testing.scaffold") / f"{template}.txt").read_text("utf-8")
    return Template(text).substitute(values).rstrip("\n") + "\n"


def _taken(values: Mapping[str, str]) -> str:
    """What is installed under the names of the new plugin and would be overwritten or clash with it."""
    name, kind = values["name"], values["kind"]
    if find_spec(values["package"]) is not None:
        return f"the package {values['package']!r} is installed"
    if name in {point.name for point in entry_points(group=PROJECT)}:
        return f"there is a plugin {name!r}"
    plugins = PluginHost.discover(disabled=()).plugins()
    taken = {one for info in plugins for one in info.provides.get(values["plural"], ())}
    if kind == "settings":
        name, kind = values["section"], "setting"
        taken |= OWN_SETTINGS
    return f"there is a {kind} {name!r}" if name in taken else ""


def _values(name: str, kind: str) -> dict[str, str]:
    """What stands in the templates of one kind."""
    stem = "".join(map(str.capitalize, re.split("[-_]", name)))
    protocol = kind.capitalize()
    class_name = stem if stem.endswith(protocol) else f"{stem}{protocol}"
    values = {
        "name": name,
        "kind": kind,
        "protocol": protocol,
        "distribution": f"ragloom-{name}",
        "package": f"ragloom_{name.replace('-', '_')}",
        "section": name.replace("-", "_"),
        "class_name": class_name,
        "options": f"{class_name}Options",
    }
    for key, text in asdict(KINDS[kind]).items():
        values[key] = Template(text).substitute(values)
    return values


def _shared(offered: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What stands in the templates of the package."""
    kinds = {one["kind"] for one in offered}
    components = [one for one in offered if one["kind"] != "settings"]
    listed = " and ".join(one["label"].partition(" `")[0] for one in offered)
    names = ["hookimpl", *(one["protocol"] for one in components)]
    exported = [f"ragloom_{one['plural']}" for one in offered]
    exported += [one["options"] for one in components]
    contracts = ["PluginContract", *(f"{one['protocol']}Contract" for one in components)]
    own = sorted(f"{one['package']}.{one['kind']} import {one['made_by']}" for one in offered)
    if components:
        names.append("Provider")
        options = ", ".join(sorted(one["options"] for one in components))
        own.insert(0, f"{components[0]['package']} import {options}")
    if "store" in kinds:
        contracts.append("StoreAgreement")
    abstract = (["Iterable"] if components else []) + (["Mapping"] if "settings" in kinds else [])
    field = ", field" if "store" in kinds else ""
    return {
        **{key: offered[0][key] for key in ("name", "distribution", "package")},
        "title": f"{'An' if listed[0] in 'ae' else 'A'} {listed}",
        "offered": " and ".join(f"the {one['label']}" for one in offered),
        "abstract": ", ".join(abstract),
        "dataclass": f"from dataclasses import dataclass{field}\n" if components else "",
        "imported": ", ".join(sorted(names)),
        "exported": ", ".join(f'"{name}"' for name in sorted(exported)),
        "offers": "".join(_filled(one["offer"], one) for one in offered),
        "contracts": ", ".join(sorted(contracts)),
        "test_imports": "from functools import partial\n\n" if "store" in kinds else "",
        "workspace": "from ragloom import Workspace\n" if "settings" in kinds else "",
        "own_imports": "\n".join(f"from {line}" for line in own),
        "tests": "".join(_filled(one["test"], one) for one in offered),
        "use": "\n\n".join(one["use"] for one in offered),
    }
