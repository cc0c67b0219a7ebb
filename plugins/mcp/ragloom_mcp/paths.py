"""Files as models name them: whole, by their end, with lines, or nearly right."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ragloom import RagloomError, SourceError, Space

_LINES = re.compile(r"(?P<path>.+?):(?P<start>[1-9][0-9]{0,14})(?:-(?P<end>[1-9][0-9]{0,14}))?")
_OFFERED = 3  # files that an error names
_ALIKE = 60  # of 100: rapidfuzz's ratio of what was named and what is offered


def found_file(spaces: Sequence[Space], named: str) -> tuple[Space, str, int, int | None]:
    """The space, the indexed file, and the lines that were named with it.

    A file may be named as the index does, from the root of the disk, or by the end of its path where one
    file alone ends so; with ``:45-50`` behind it as citations have it.

    Raises:
        SourceError: There is no such file, or there are several; the nearest are offered.
        NotIndexedError: The only space has no index.
    """
    if len(spaces) == 1:
        spaces[0].snapshot()  # says what is wrong with it
    for path, start, end in _readings(named):
        for space in spaces:
            uri = _relative(space, path)
            if uri in _files(space):
                return space, uri, start, end
    for path, start, end in _readings(named):
        ending = posixpath.normpath(path).casefold().lstrip("/")
        if ending.startswith(".."):
            continue
        fits = [
            (space, uri)
            for space in spaces
            for uri in _files(space)
            if uri.casefold() == ending or uri.casefold().endswith(f"/{ending}")
        ]
        if len({uri for _, uri in fits}) == 1:
            return *fits[0], start, end
        if fits:
            raise SourceError(f"several files end in {path!r}: {_named(uri for _, uri in fits)}")
    known = {uri for space in spaces for uri in _files(space)}
    where = repr(spaces[0].name) if len(spaces) == 1 else "any space"
    raise SourceError(f"{named!r} is not an indexed file of {where}{_nearest(named, known)}")


def held_paths(spaces: Sequence[Space], named: Iterable[str]) -> list[str]:
    """Files and folders as the indexes name them.

    Raises:
        SourceError: No indexed file is or lies below one of them; the nearest are offered.
    """
    found: list[str] = []
    for path in named:
        held = {uri for space in spaces for uri in _held(space, _relative(space, path))}
        if not held:
            known = {uri for space in spaces for uri in _files(space)}
            known |= {parent for uri in known for parent in _parents(uri)}
            raise SourceError(
                f"no indexed file is {path!r} or lies below it{_nearest(path, known)}"
            )
        found += sorted(held)
    return found


def _held(space: Space, uri: str) -> Iterable[str]:
    """A file or folder of an index; of the whole workspace, what stands at its top."""
    files = _files(space)
    if uri == ".":
        return {one.partition("/")[0] for one in files}
    return [uri] if uri in files or any(one.startswith(f"{uri}/") for one in files) else []


def _readings(named: str) -> list[tuple[str, int, int | None]]:
    whole = (named, 1, None)
    match = _LINES.fullmatch(named)
    if match is None:
        return [whole]
    start = int(match["start"])
    return [whole, (match["path"], start, int(match["end"] or start))]


def _relative(space: Space, path: str) -> str:
    """A path as the space names files; one from the root of the disk is below the space's own."""
    path = path.removeprefix("file://")
    if path.startswith("/"):
        with suppress(ValueError):
            path = Path(path).relative_to(space.root).as_posix()
    return posixpath.normpath(path) if path else path


def _files(space: Space) -> Collection[str]:
    with suppress(RagloomError):
        return space.snapshot().files
    return ()


def _parents(uri: str) -> Iterable[str]:
    while uri := posixpath.dirname(uri):
        yield uri


def _nearest(named: str, known: Iterable[str]) -> str:
    """``; did you mean 'a'?``, or ``; nearest: 'a', 'b'``, or nothing."""
    from rapidfuzz import fuzz, process, utils

    candidates = sorted(known)
    # The name counts as much as the whole path: models know the one and guess the other.
    of_path = process.extract(
        named, candidates, scorer=fuzz.ratio, processor=utils.default_process, limit=_OFFERED
    )
    of_name = process.extract(
        posixpath.basename(named),
        [posixpath.basename(one) for one in candidates],
        scorer=fuzz.ratio,
        processor=utils.default_process,
        limit=_OFFERED,
    )
    scored: dict[str, float] = {}
    for _, score, at in [*of_path, *of_name]:
        scored[candidates[at]] = max(score, scored.get(candidates[at], 0.0))
    near = sorted(
        (one for one, score in scored.items() if score >= _ALIKE),
        key=lambda one: (-scored[one], one),
    )[:_OFFERED]
    if not near:
        return ""
    return f"; did you mean {near[0]!r}?" if len(near) == 1 else f"; nearest: {_named(near)}"


def _named(uris: Iterable[str]) -> str:
    unique = list(dict.fromkeys(uris))
    more = f" and {len(unique) - _OFFERED} more" if len(unique) > _OFFERED else ""
    return ", ".join(map(repr, unique[:_OFFERED])) + more
