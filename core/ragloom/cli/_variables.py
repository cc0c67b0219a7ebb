"""Misspelt variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragloom.config.component import COMPONENTS, ENVIRONMENT
from ragloom.config.settings import SETTINGS
from ragloom.config.spelling import nearest

__all__ = ["misspelt_variables"]

_ALIKE = 0.75  # of a variable and a setting: 'TOPK' and 'TOP_K' are 0.89, 'TOKEN' and 'TOP_K' 0.6


def misspelt_variables(
    environment: Mapping[str, str], known: Collection[str] = ()
) -> Mapping[str, str]:
    """Variables of no setting, and the one that each is likely to mean; both with ``RAGLOOM_``.

    Those that resemble no setting, or begin with a plugin's name, count as a plugin's.

    Args:
        environment: The variables.
        known: Names of plugins and of their sections.
    """
    owners = {name.upper() for name in known}
    legal = [*map(str.upper, SETTINGS), "WORKSPACE"]
    kinds = [kind.upper() for kind in COMPONENTS]
    found: dict[str, str] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(ENVIRONMENT)
        head, _, option = name.partition("_")
        if name == variable or name in legal or head in {*kinds, *owners}:
            continue
        # Of two words the first may be a component, and the second its option.
        meant = nearest(name, [*legal, "DISABLED_PLUGINS"], cutoff=_ALIKE)
        if option and (kind := nearest(head, kinds, cutoff=_ALIKE)):
            meant = f"{kind}_{option}"
        if meant and meant != name:
            found[variable] = ENVIRONMENT + meant
    return found
