"""Test an installed plugin against the contract, in a separate process."""

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
    """Run the contract classes with pytest, whose report goes to stdout.

    Args:
        distribution: An installed package.
        options: Component, key and value of each option.
        deviations: Reasons by ``[COMPONENT:]RULE``.
        samples: Files for loaders.
        pytest_arguments: More arguments of pytest.

    Returns:
        0 when every rule holds, 1 otherwise.

    Raises:
        MissingDependencyError: pytest or hypothesis is not installed.
        PluginError: The distribution is not installed, or has no plugin.
        ConfigError: A component, one of its options or a rule is unknown.
    """
    for module in ("pytest", "hypothesis"):
        if find_spec(module) is None:
            raise MissingDependencyError(module, "ragloom[testing]", "'ragloom plugins check'")
    _check_distribution(distribution)
    settings: dict[str, dict[str, str]] = {}
    for component, key, value in options:
        settings.setdefault(component, {})[key] = value
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
        # An empty configuration, so that none of the current folder applies.
        Path(folder, "pytest.ini").write_text("[pytest]\n", "utf-8")
        command = [
            # -P: the current folder shadows no module.
            *(sys.executable, "-P", "-m", "pytest", str(tests), "-q", "-rsxX", "--no-header"),
            *("-c", str(Path(folder, "pytest.ini")), "-p", "no:cacheprovider"),
            *("-p", "_hypothesis_pytestplugin", *pytest_arguments),
        ]
        # Other plugins of pytest do not apply here, and take time to load.
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, check=False, env=alone, stdout=_results())  # noqa: S603 - as given
        return 1 if done.returncode else 0


def _results() -> int | None:
    """The descriptor of the stream that results go to; None where it is no file."""
    try:
        sys.stdout.flush()
        return sys.stdout.fileno()
    except (OSError, ValueError):  # io.UnsupportedOperation is both
        return None


def _check_distribution(distribution: str) -> None:
    points = entry_points(group=PROJECT)
    names = sorted({point.dist.name for point in points if point.dist is not None})
    hint = did_you_mean(distribution, names) or f" (available: {', '.join(names)})"
    try:
        found = installed(distribution).entry_points.select(group=PROJECT)
    except PackageNotFoundError as error:
        raise PluginError(f"package {distribution!r} is not installed{hint}") from error
    if not found:
        raise PluginError(
            f"the package {distribution!r} has no entry point in the group {PROJECT!r}{hint}"
        )
