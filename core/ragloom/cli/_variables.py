"""Variables that look like settings and are none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields

from ragloom.config.component import COMPONENTS, ENVIRONMENT
from ragloom.config.settings import SpaceSettings
from ragloom.config.spelling import nearest

__all__ = ["misspelt_variables"]

_ALIKE = 0.75  # of a variable and a setting: 'TOPK' and 'TOP_K' are 0.89, 'TOKEN' and 'TOP_K' 0.6


def misspelt_variables(
    environment: Mapping[str, str], known: Collection[str] = ()
) -> Mapping[str, str]:
    """Variables that no setting has, and the one that each is likely to mean; both with ``RAGLOOM_``.

    Those that resemble no setting are taken for a plugin's, as are those that begin with its name.

    Args:
        environment: The variables.
        known: Names of plugins and of their sections.
    """
    owners = {name.upper() for name in known}
    legal = [one.name.upper() for one in fields(SpaceSettings)]
    parts = [part.upper() for part in COMPONENTS]
    found: dict[str, str] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(ENVIRONMENT)
        head, _, option = name.partition("_")
        if name == variable or name in legal or head in {*parts, *owners}:
            continue
        # Of two words the first may be a part, and the second is then its option.
        meant = nearest(name, [*legal, "DISABLED_PLUGINS"], cutoff=_ALIKE)
        if option and (part := nearest(head, parts, cutoff=_ALIKE)):
            meant = f"{part}_{option}"
        if meant and meant != name:
            found[variable] = ENVIRONMENT + meant
    return found
