"""Which texts go through the model together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragloom_onnx.batches import plan

lengths = st.lists(st.integers(1, 600), max_size=80)


def test_nothing_is_planned_for_nothing():
    assert plan([], batch_tokens=512) == []


def test_the_longest_come_first_and_share_a_run_with_their_like():
    assert plan([10, 250, 240, 9, 300], batch_tokens=512) == [[4], [1, 2], [0, 3]]


def test_a_model_that_reads_one_text_a_run_gets_one():
    assert plan([3, 1, 2], batch_tokens=512, rows=1) == [[0], [2], [1]]


@given(lengths, st.integers(1, 1000), st.none() | st.integers(1, 5))
def test_every_text_is_in_one_run_within_both_limits(lengths, batch_tokens, rows):
    batches = plan(lengths, batch_tokens=batch_tokens, rows=rows)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[position] for position in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
        assert rows is None or len(batch) <= rows
