"""Misspelt variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragloom.config.component import COMPONENTS, ENVIRONMENT
from ragloom.config.sections import section_variables
from ragloom.config.settings import SETTINGS
from ragloom.config.spelling import nearest

__all__ = ["misspelt_variables", "of_plugins"]

_LEGAL = (*map(str.upper, SETTINGS), "WORKSPACE")
_OTHERS = ("DISABLED_PLUGINS", "TRUST")
_KINDS = tuple(kind.upper() for kind in COMPONENTS)
_ALIKE = 0.75  # of a variable and a setting: 'TOPK' and 'TOP_K' are 0.89, 'TOKEN' and 'TOP_K' 0.6


def of_plugins(environment: Mapping[str, str]) -> bool:
    """Whether a variable may be of a section that a plugin declares, spelt right or not."""
    others = {*_LEGAL, *_OTHERS}
    names = (one.removeprefix(ENVIRONMENT) for one in environment if one.startswith(ENVIRONMENT))
    return any(name not in others and name.partition("_")[0] not in _KINDS for name in names)


def misspelt_variables(
    environment: Mapping[str, str],
    known: Collection[str] = (),
    sections: Mapping[str, type] | None = None,
) -> Mapping[str, str]:
    """Variables of no setting, and the one that each is likely to mean; both with ``RAGLOOM_``.

    Those that resemble no setting, or begin with a plugin's name and resemble none of its section, count as
    a plugin's.

    Args:
        environment: The variables.
        known: Names of plugins.
        sections: The sections that plugins declare, by name.
    """
    declared = {
        name.upper(): section_variables(name, section).values()
        for name, section in (sections or {}).items()
    }
    owners = {name.upper() for name in known}
    found: dict[str, str] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(ENVIRONMENT)
        head, _, option = name.partition("_")
        if name == variable or name in _LEGAL or head in _KINDS:
            continue
        if head in declared:
            prefix = f"{ENVIRONMENT}{head}_"
            legal = {one.removeprefix(prefix): one for one in declared[head]}
            if option not in legal and (meant := nearest(option, legal, cutoff=_ALIKE)):
                found[variable] = legal[meant]
            continue
        if head in owners:
            continue
        # Of two words the first may be a component, and the second its option.
        meant = nearest(name, [*_LEGAL, *_OTHERS], cutoff=_ALIKE)
        if option and (kind := nearest(head, _KINDS, cutoff=_ALIKE)):
            meant = f"{kind}_{option}"
        if meant and meant != name:
            found[variable] = ENVIRONMENT + meant
    return found
