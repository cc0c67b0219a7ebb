"""Which segments are merged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragloom.snapshot.merging import Size, merges

LARGEST = 1 << 16


@given(
    sizes=st.lists(
        st.tuples(st.integers(1, 200_000), st.integers(0, 100), st.booleans()), max_size=60
    )
)
def test_runs_are_apart_in_order_and_of_whole_vectors(sizes: list[tuple[int, int, bool]]) -> None:
    given_sizes = [Size(rows, max(1, rows * share // 100), whole) for rows, share, whole in sizes]
    runs = merges(given_sizes)
    edges = [edge for run in runs for edge in run]
    assert edges == sorted(edges)
    for start, end in runs:
        some = given_sizes[start:end]
        assert all(one.complete for one in some)
        assert len(some) == 1 or sum(one.left for one in some) <= LARGEST
        assert len(some) >= 8 or (len(some) == 1 and 2 * some[0].left <= some[0].written)


def test_many_small_segments_become_few_and_each_chunk_is_copied_few_times() -> None:
    sizes: list[Size] = []
    copied = 0
    for _ in range(5000):
        sizes.append(Size(1, 1, complete=True))
        for start, end in reversed(merges(sizes)):
            total = sum(one.left for one in sizes[start:end])
            copied += total
            sizes[start:end] = [Size(total, total, complete=True)]
    assert sum(one.left for one in sizes) == 5000
    assert len(sizes) < 8 * 6
    assert copied < 5000 * 6
