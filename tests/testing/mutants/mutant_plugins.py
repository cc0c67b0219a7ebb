"""Plugins that break one rule each: modules with an entry point, written where Python finds them."""

import importlib
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from declaring import declare

from ragloom.testing import PluginContract

PLACE = Path(tempfile.mkdtemp(prefix="ragloom-mutants-"))
sys.path.insert(0, str(PLACE))

RIGHT = '''
"""A formatter."""
from dataclasses import dataclass
from ragloom import Provider, hookimpl


@dataclass(frozen=True)
class Options:
    width: int = 80


def make(options):
    from ragloom.context import TextFormatter

    return TextFormatter()


@hookimpl
def ragloom_formatters():
    return [Provider(name="NAME", summary="one line", create=make, options=Options)]


@dataclass(frozen=True)
class Section:
    """What the section says.

    Attributes:
        dialect: How input is read.
    """

    dialect: str = "plain"


@hookimpl
def ragloom_settings():
    return {"MODULE": Section}
'''
MUTANTS = []


def write(name, code, *, entry_point=True, requires="Requires-Dist: ragloom\n"):
    (PLACE / f"{name}.py").write_text(
        code.replace("NAME", name.replace("_", "-")).replace("MODULE", name), "utf-8"
    )
    metadata = PLACE / f"{name}-1.0.dist-info"
    metadata.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}"
    (metadata / "METADATA").write_text(text, "utf-8")
    points = f"[ragloom]\n{name} = {name}\n" if entry_point else ""
    (metadata / "entry_points.txt").write_text(points, "utf-8")
    importlib.invalidate_caches()
    return SimpleNamespace(__name__=name)


def breaks(rule, name, *, old="", new="", **how):
    assert old in RIGHT
    MUTANTS.append((rule, write(name, RIGHT.replace(old, new) if old else RIGHT, **how)))


breaks("test_an_entry_point_names_it", "no_entry_point", entry_point=False)
breaks("test_its_distribution_requires_ragloom", "no_requirement", requires="")
breaks(
    "test_importing_it_loads_nothing_heavy",
    "heavy_import",
    old="from dataclasses",
    new="import numpy\nfrom dataclasses",
)
breaks(
    "test_its_hooks_are_valid",
    "unknown_hook",
    old="@hookimpl\n",
    new="@hookimpl\ndef ragloom_formaters():\n    return []\n\n\n@hookimpl\n",
)
breaks(
    "test_its_hooks_are_valid",
    "unknown_argument",
    old="def ragloom_formatters():",
    new="def ragloom_formatters(settings):",
)
breaks(
    "test_its_hooks_answer_every_time",
    "used_up",
    old="    return [Provider",
    new="    global CALLS\n    CALLS = globals().get('CALLS', 0) + 1\n"
    "    return [] if CALLS % 2 else [Provider",
)
breaks("test_its_names_are_free", "name_taken", old='name="NAME"', new='name="markdown"')
breaks(
    "test_it_imports_only_public_names",
    "private_import",
    old="    from ragloom.context",
    new="    import ragloom.plugin.registry\n    from ragloom.context",
)
breaks(
    "test_it_imports_only_public_names",
    "module_of_a_kit",
    old="    from ragloom.context",
    new="    from ragloom.context.citations",
)
breaks(
    "test_it_imports_only_public_names",
    "module_as_a_name",
    old="    from ragloom.context import",
    new="    from ragloom.context import packing,",
)
breaks(
    "test_components_have_a_summary_of_one_line", "two_lines", old='"one line"', new='"one\\ntwo"'
)
breaks("test_names_are_plain", "odd_name", old='name="NAME"', new='name="Odd Name"')
breaks("test_names_are_plain", "odd_section", old='"MODULE"', new='"odd-section"')
breaks("test_options_are_frozen", "thawed", old="frozen=True", new="frozen=False")
breaks(
    "test_options_are_frozen",
    "thawed_section",
    old="(frozen=True)\nclass Section",
    new="\nclass Section",
)
breaks("test_sections_describe_their_keys", "undescribed", old="dialect: How", new="How")
breaks("test_its_hooks_are_valid", "no_default", old='dialect: str = "plain"', new="dialect: str")
breaks(
    "test_what_a_component_requires_can_be_installed",
    "no_extra",
    old="create=make,",
    new="create=make, requires=('json',),",
)
breaks(
    "test_components_are_made_from_default_options",
    "not_made",
    old="    return TextFormatter()",
    new="    return TextFormatter(options.height)",
)
breaks(
    "test_components_are_made_from_default_options",
    "not_a_formatter",
    old="    return TextFormatter()",
    new="    return object()",
)

declare(
    globals(),
    PluginContract,
    write("right_plugin", RIGHT),
    MUTANTS,
    lambda part: {"plugin": lambda self: part.__name__},
)
