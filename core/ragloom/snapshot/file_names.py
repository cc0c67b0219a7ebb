"""Files by the end of their path, as people name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class FileNames:
    """The files of an index by their names: a look-up reads those of one name, not all of them.

    Args:
        uris: Of the files.
    """

    def __init__(self, uris: Sequence[str]) -> None:
        self._paths: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for number, uri in enumerate(uris):
            path = uri.casefold()
            self._paths[_name(path)].append((f"/{path}", number))

    def ending_in(self, path: str) -> Sequence[int]:
        """The numbers of the files whose path is ``path``, or ends in it, whatever the case."""
        path = path.casefold()
        same = self._paths.get(_name(path), ())
        return [number for whole, number in same if whole.endswith(f"/{path}")]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
