"""Log every hook call: ``ragloom --trace-hooks``."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragloom.plugin.info import reason

if TYPE_CHECKING:
    import pluggy

_LOG = logging.getLogger("ragloom.hooks")


def trace_call(
    hook: str, impls: Iterable[pluggy.HookImpl], arguments: Mapping[str, object]
) -> None:
    """Before a hook is called: its arguments and plugins."""
    plugins = ", ".join(impl.plugin_name for impl in impls)
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    _LOG.info("%s(%s) -> %s", hook, given, plugins)


def trace_result(
    outcome: pluggy.Result[object],
    hook: str,
    impls: Iterable[pluggy.HookImpl],  # noqa: ARG001 - pluggy's signature
    arguments: Mapping[str, object],  # noqa: ARG001
) -> None:
    """After a hook was called: what it returned or raised."""
    if outcome.exception is not None:
        _LOG.info("%s raised %s", hook, reason(outcome.exception))
    else:
        _LOG.info("%s returned %r", hook, outcome.get_result())
