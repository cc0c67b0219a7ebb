"""Write the lowest release that pyproject.toml admits of every dependency, as pip constraints."""

import itertools
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def lowest_pins() -> list[str]:
    """``name==version`` for every requirement, sorted; ragloom's own extras are left out."""
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *itertools.chain.from_iterable(extras)]
    lowest: dict[str, Version] = {}
    for requirement in map(Requirement, lines):
        if requirement.name != project["name"]:
            (lower,) = (bound for bound in requirement.specifier if bound.operator in {">=", "=="})
            version = Version(lower.version)
            # An extra may need more than the package does without it.
            lowest[requirement.name] = max(version, lowest.get(requirement.name, version))
    return [f"{name}=={version}" for name, version in sorted(lowest.items())]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("\n".join([*lowest_pins(), ""]), "utf-8")
