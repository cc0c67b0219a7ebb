"""Runs the contracts of an installed plugin, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, entry_points
from importlib.metadata import distribution as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ragloom.config.spelling import did_you_mean
from ragloom.errors import MissingDependencyError, PluginError
from ragloom.hookspecs import PROJECT

__all__ = ["run_contracts"]

_MODULE: Final = """\
from ragloom.testing.checking import Check, contract_classes

globals().update(contract_classes(Check(**{check!r})))
"""


def run_contracts(
    distribution: str,
    *,
    options: Sequence[tuple[str, str, str]] = (),
    deviations: Mapping[str, str] | None = None,
    samples: Sequence[str] = (),
    pytest_arguments: Sequence[str] = (),
) -> int:
    """Run them with pytest, whose report goes to stdout.

    Args:
        distribution: An installed package.
        options: Part, key and value of each setting.
        deviations: Reasons by ``[PART:]RULE``.
        samples: Files for loaders.
        pytest_arguments: More, for pytest.

    Returns:
        0 when every rule holds, 1 otherwise.

    Raises:
        MissingDependencyError: pytest or hypothesis is not installed.
        PluginError: The distribution is not installed, or has no plugin.
        ConfigError: A part, one of its options or a rule does not exist.
    """
    for module in ("pytest", "hypothesis"):
        if find_spec(module) is None:
            raise MissingDependencyError(module, "ragloom[testing]", "'ragloom plugins check'")
    _refuse_what_is_no_plugin(distribution)
    settings: dict[str, dict[str, str]] = {}
    for part, key, value in options:
        settings.setdefault(part, {})[key] = value
    from ragloom.testing.checking import Check, refuse_unknown

    check = Check(
        distribution=distribution,
        options=settings,
        deviations=dict(deviations or {}),
        samples=list(samples),
    )
    refuse_unknown(check)
    with tempfile.TemporaryDirectory(prefix="ragloom-check-") as folder:
        tests = Path(folder, "test_contracts.py")
        tests.write_text(_MODULE.format(check=asdict(check)), "utf-8")
        # An empty configuration of its own: that of the folder one happens to be in says nothing here.
        Path(folder, "pytest.ini").write_text("[pytest]\n", "utf-8")
        command = [
            # Without -P the modules of the folder one happens to be in would stand for Python's.
            *(sys.executable, "-P", "-m", "pytest", str(tests), "-q", "-rsxX", "--no-header"),
            *("-c", str(Path(folder, "pytest.ini")), "-p", "no:cacheprovider"),
            *("-p", "_hypothesis_pytestplugin", *pytest_arguments),
        ]
        # Plugins of pytest that happen to be installed say nothing here, and take time to load.
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, check=False, env=alone)  # noqa: S603 - as given
        return 1 if done.returncode else 0


def _refuse_what_is_no_plugin(distribution: str) -> None:
    points = entry_points(group=PROJECT)
    names = sorted({point.dist.name for point in points if point.dist is not None})
    hint = did_you_mean(distribution, names) or f"; there are: {', '.join(names)}"
    try:
        found = installed(distribution).entry_points.select(group=PROJECT)
    except PackageNotFoundError as error:
        raise PluginError(f"no package {distribution!r} is installed here{hint}") from error
    if not found:
        raise PluginError(
            f"the package {distribution!r} has no entry point in the group {PROJECT!r}{hint}"
        )
