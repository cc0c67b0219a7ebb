"""Keeping indexes up to date while their files change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from ragloom.errors import RagloomError
from ragloom.reports import IndexReport


class _Space(AbstractContextManager["_Space"], Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=_Space)

_LEAST = 1.0  # seconds between two looks
_MOST = 10.0  # seconds: a change waits no longer, whatever a look costs
_SHARE = 0.02  # of one core, that looking may take


def watch_spaces(
    spaces: Callable[[], Sequence[S]],
    index: Callable[[S], IndexReport],
    *,
    wait: Callable[[float], object] = time.sleep,
) -> Iterator[tuple[str, IndexReport | Exception]]:
    """Index spaces again and again, and yield what is new.

    A look is an index run: where nothing changed, it opens neither the store nor the model. Between two
    there is a second, or fifty times the processor time that a look without changes took, at most ten
    seconds: what a look waits for, a busy machine or a slow disk, does not count. So it needs no help from
    the system, and works alike on network shares and in containers.

    Args:
        spaces: Opens them for every look, so that new settings count; each is closed after it.
        index: Brings one of them up to date.
        wait: Called with the seconds until the next look; ends the watch where it returns true, as
            ``threading.Event().wait`` does once the event is set.

    Yields:
        The name of a space, empty where none could be opened, and the report of a run that changed
        something or failed on other files than the one before; or the error that kept it from
        happening. An error is yielded once, and the next look tries again.
    """
    troubles: dict[str, object] = {}
    while True:
        before, troubles, changed = troubles, {}, False
        started = _processor_time()
        for name, found in _look(spaces, index):
            if isinstance(found, IndexReport):
                news = bool(found.added or found.updated or found.removed or found.embedded)
                troubles[name] = found.failed
            else:
                news = False
                troubles[name] = str(found)
            changed = changed or news
            if news or troubles[name] != before.get(name, ()):
                yield name, found
        seconds = 0.0 if changed else (_processor_time() - started) / _SHARE
        if wait(min(max(_LEAST, seconds), _MOST)):
            return


def _processor_time() -> float:
    """Seconds of this thread, as a server's others answer meanwhile, and of processes that have ended."""
    times = os.times()
    return time.thread_time() + times.children_user + times.children_system


def _look(
    spaces: Callable[[], Sequence[S]], index: Callable[[S], IndexReport]
) -> Iterator[tuple[str, IndexReport | Exception]]:
    try:
        opened = spaces()
    except RagloomError as error:
        yield "", error
        return
    for space in opened:
        try:
            with space:
                report = index(space)
        except (RagloomError, OSError) as error:
            yield space.name, error
        else:
            yield space.name, report
