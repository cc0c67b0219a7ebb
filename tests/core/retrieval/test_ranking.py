"""The order of candidates that score the same, and rows that are joined."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragloom.retrieval.ranking import _best_first
from ragloom.retrieval.row_numbers import either


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), max_size=60), st.randoms()
)
def test_candidates_that_score_the_same_come_by_their_ids(scores, shuffle):
    names = [f"{number:04}".encode() for number in range(2 * len(scores))]
    shuffle.shuffle(names)
    ids = np.array(names, "S4")
    rows = np.arange(0, 2 * len(scores), 2)
    found = SimpleNamespace(snapshot=SimpleNamespace(ids=ids), rows=rows)
    best = _best_first(np.array(scores, np.float64), found)
    expected = sorted(range(len(scores)), key=lambda at: (-scores[at], ids[rows[at]]))
    assert expected == best.tolist()


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_rows_of_either_list_come_once_and_ascending(some, others):
    joined = either(np.array([*some], np.intp), np.array([*others], np.intp))
    assert sorted(some | others) == joined.tolist()
