"""Small notes, indexed and searched in both modes that know words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

FindIn = Callable[[Mapping[str, str]], Callable[..., Sequence[str]]]


@pytest.fixture(params=["hybrid", "lexical"])
def find_in(request: pytest.FixtureRequest, make_space: Callable, files: Path) -> FindIn:
    """A function that indexes notes, and gives one that searches them for the files of the hits."""

    def indexed(notes: Mapping[str, str]) -> Callable[..., Sequence[str]]:
        for name, text in notes.items():
            (files / name).write_text(text, "utf-8")
        space = make_space()
        space.index()

        def found(query: str, **options: object) -> Sequence[str]:
            hits = space.search(query, mode=request.param, **options).hits
            return [hit.chunk.uri for hit in hits]

        return found

    return indexed
