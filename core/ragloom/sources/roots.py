"""The places that settings and paths name, and what lies in them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ragloom.errors import SourceError
from ragloom.sources.names import spelled

_GLOB = re.compile(r"[*?\[]")

_SYSTEM = ("/proc/", "/dev/", "/sys/")
"""Where a kernel shows processes and devices: never a source."""

_RAM_DISK = "/dev/shm/"  # noqa: S108 - nothing is written there


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A place to walk.

    Attributes:
        path: An absolute, resolved file or folder.
        patterns: Globs relative to ``path``; empty for everything.
    """

    path: Path
    patterns: tuple[str, ...] = ()


def resolve_roots(
    sources: Sequence[str], base: Path, places: Mapping[str, str] | None = None
) -> list[Root]:
    """Turn settings such as ``docs``, ``/srv/wiki`` or ``docs/ref/*.md`` into roots.

    What exists under a name with ``[``, ``*`` or ``?`` in it is that file or folder, and no glob.

    Raises:
        SourceError: A place does not exist; begins with where it was written, if ``places`` says so.
    """
    roots: list[Root] = []
    for source in sources:
        path, pattern = fixed_part(source, base)
        place = (places or {}).get(source)
        named = f"{place}: {source}" if place else source
        if not os.path.exists(path):
            raise SourceError(f"{named}: there is no such file or folder (looked for {path})")
        if of_the_system(str(path), base):
            raise SourceError(f"{named}: {path} belongs to the system and is never a source")
        roots.append(Root(path=path, patterns=(pattern,) if pattern else ()))
    return roots


def fixed_part(source: str, base: Path) -> tuple[Path, str]:
    """The path of a source up to a glob, its links followed, and the glob."""
    fixed, pattern = os.path.expanduser(source).replace(os.sep, "/"), ""
    for part in re.finditer("[^/]+", fixed):
        if _GLOB.search(part[0]) and not os.path.lexists(base / fixed[: part.end()]):
            fixed, pattern = fixed[: part.start()], fixed[part.start() :]
            break
    # Unlike resolve(), realpath takes a loop of links.
    return Path(os.path.realpath(spelled(base / fixed))), pattern


def of_the_system(path: str, base: Path) -> bool:
    """Whether a path lies where the kernel shows processes and devices; a RAM disk's workspace does not."""
    on_disk = f"{base}/".startswith(_RAM_DISK) and path.startswith(_RAM_DISK)
    return f"{path}/".startswith(_SYSTEM) and not on_disk


def lies_below(uri: str, found: Collection[str]) -> bool:
    """Whether a file lies below one of the places found, which then is a folder that is not listed."""
    return any(str(folder) in found for folder in PurePosixPath(uri).parents)


def in_sources(uri: str, sources: Sequence[str], base: Path) -> bool:
    """Whether a file or folder lies in one of some sources; ``base`` and what is above it do not."""
    path = Path(os.path.normpath(base / uri))
    places = [fixed_part(source, base) for source in sources]
    return path not in (base, *base.parents) and any(
        place in path.parents or (place == path and not pattern) for place, pattern in places
    )
