"""Cutting what is too long, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from ragloom.testing.fakes import RegexCounter
from ragloom.text.splitting import Budget, split_to_fit


class Watched(RegexCounter):
    """Remembers the longest text of which it told the tokens."""

    longest = 0

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        self.longest = max(self.longest, len(text))
        return super().spans(text)


@pytest.mark.parametrize("unit", ['"key": 1, ', "x"])
def test_a_line_of_any_length_is_tokenised_a_million_characters_at_a_time(unit: str) -> None:
    text = unit * (2_500_000 // len(unit))
    counter = Watched()

    atoms = split_to_fit(
        text, 0, len(text), budget=Budget(counter=counter, tokens=200), boundaries=()
    )

    assert (0, len(text)) == (atoms[0].start, atoms[-1].end)
    assert all(before.end == after.start for before, after in pairwise(atoms))
    assert max(atom.tokens for atom in atoms) <= 200
    assert 1_000_000 >= counter.longest
    if " " in unit:
        assert all(text[atom.end - 1] == " " for atom in atoms)
