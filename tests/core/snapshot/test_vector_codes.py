"""Vectors in 24 bits: what is lost, what is not, and whether the scan finds the nearest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ragloom.snapshot.vector_codes import approximate, decode, encode, highest

DIMENSION, WIDE = 384, 1000  # WIDE: of how many rows the exact cosine is computed
LARGEST = 2.0**120
FINITE = st.floats(-LARGEST, LARGEST, width=32, allow_subnormal=False)


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def random_units(count, seed=1):
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION), np.float32))


def clustered(count, seed=2):
    """Rows around a hundred centres that share a direction, as a model's vectors do."""
    choose = np.random.default_rng(seed)
    centres = choose.standard_normal((100, DIMENSION)) * choose.gamma(1, 1, DIMENSION)
    centres += 2 * choose.standard_normal(DIMENSION)
    spread = choose.uniform(0.05, 1, (count, 1))
    return unit(
        centres[choose.integers(0, 100, count)]
        + spread * choose.standard_normal((count, DIMENSION))
    )


def bounds(codes):
    return np.ldexp(1.0, codes.exponents.astype(int) + 23)[:, None]


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, min_side=0), elements=FINITE))
def test_codes_are_within_half_a_step_and_stand_for_themselves(vectors):
    codes = encode(vectors)
    once = decode(*codes)
    assert np.float32 == once.dtype
    assert vectors.shape == once.shape
    assert (np.abs(once.astype(np.float64) - vectors) <= bounds(codes) * 2.0**-24).all()
    again = encode(once)
    assert decode(*again).tobytes() == once.tobytes()
    assert (codes.coarse >= -127).all()


@pytest.mark.parametrize("vectors", [random_units(2000), clustered(2000)])
def test_unit_vectors_lose_less_than_a_millionth_of_a_cosine(vectors):
    codes = encode(vectors)
    exact = vectors @ vectors[0]
    assert np.abs(decode(*codes) @ vectors[0] - exact).max() < 1e-6
    assert (bounds(codes) < 4 * np.abs(vectors).max(axis=1, keepdims=True)).all()


def test_the_largest_of_a_row_never_overflows():
    below = np.nextafter(np.float32(1), np.float32(0))
    edge = np.float32(127.5 / 128)  # where coarse would be 128
    rows = [[below], [-below], [edge], [-edge], [1], [-1], [LARGEST]]
    vectors = np.array(rows, np.float32)
    decoded = decode(*encode(vectors))
    np.testing.assert_allclose(decoded, vectors, rtol=2.0**-23)


def test_rows_of_zeros_stay_zeros_and_are_orthogonal_to_everything():
    vectors = np.zeros((3, DIMENSION), np.float32)
    vectors[1] = random_units(1)
    codes = encode(vectors)
    decoded = decode(*codes)
    assert not decoded[[0, 2]].any()
    found = approximate(codes.coarse, codes.exponents, vectors[1])
    np.testing.assert_allclose(found, [0, 1, 0], atol=0.01)
    assert not approximate(codes.coarse, codes.exponents, vectors[0]).any()


def test_no_rows_have_no_cosines():
    codes = encode(np.zeros((0, DIMENSION), np.float32))
    assert (0, DIMENSION) == decode(*codes).shape
    found = approximate(codes.coarse, codes.exponents, random_units(1)[0])
    assert (0,) == found.shape
    assert np.float32 == found.dtype


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 2.0**127])
def test_what_is_not_finite_is_refused(number):
    with pytest.raises(ValueError, match="not finite"):
        encode(np.array([[0.5, number]], np.float32))


@pytest.mark.parametrize(
    ("vectors", "queries"),
    [
        (random_units(20_000), random_units(300, seed=3)),
        (clustered(20_000), clustered(200, seed=2)[::-1]),
        (clustered(20_000), clustered(200, seed=4)),
    ],
    ids=["random", "clustered", "clustered, elsewhere"],
)
def test_the_ten_nearest_are_among_the_best_of_the_scan(vectors, queries):
    codes = encode(vectors)
    kept = decode(*codes)
    missed = 0
    for query in queries:
        nearest = np.argsort(-(kept @ query), kind="stable")[:10]
        best = np.argpartition(-approximate(codes.coarse, codes.exponents, query), WIDE)[:WIDE]
        missed += not np.isin(nearest, best).all()
    assert 0 == missed


def test_cosines_of_some_rows_are_those_of_a_scan_of_all():
    vectors, query = clustered(3000), clustered(1, seed=5)[0]
    codes = encode(vectors)
    every = np.einsum("ij,j->i", decode(*codes), query)
    np.testing.assert_allclose(every, vectors @ query, atol=1e-6)
    for rows in (np.arange(0, 3000, 7), np.array([5]), np.arange(2999, -1, -1), np.arange(0)):
        some = decode(*(part[rows] for part in codes))
        np.testing.assert_array_equal(every[rows], np.einsum("ij,j->i", some, query))


def test_a_mapped_file_that_cannot_be_written_is_scanned(tmp_path):
    codes = encode(clustered(500))
    np.save(tmp_path / "coarse.npy", codes.coarse)
    mapped = np.load(tmp_path / "coarse.npy", mmap_mode="r")
    query = clustered(1)[0]
    expected = approximate(codes.coarse, codes.exponents, query)
    np.testing.assert_array_equal(expected, approximate(mapped, codes.exponents, query))
    np.testing.assert_array_equal(decode(*codes), decode(mapped, codes.fine, codes.exponents))
    part = approximate(mapped[100:200], codes.exponents[100:200], query)
    np.testing.assert_array_equal(expected[100:200], part)


@pytest.mark.parametrize("count", [0, 5, 1000, 5000, 300_000])
def test_the_highest_are_found_whatever_the_size(count):
    scores = np.random.default_rng(6).standard_normal(count).astype(np.float32)
    scores[::3] = -np.inf
    among = np.arange(1, count, 2)
    for limit in (1, 10, 1000):
        for chosen in (np.arange(count), among):
            there = chosen[scores[chosen] > -np.inf]
            best = np.sort(there[np.argsort(-scores[there], kind="stable")][:limit])
            own = highest(scores, limit, None if chosen is not among else among)
            np.testing.assert_array_equal(best, own)


@given(
    arrays(np.float32, st.integers(0, 60), elements=st.sampled_from([-np.inf, 0.0, 0.25, 0.5])),
    st.integers(1, 20),
)
def test_of_equal_scores_as_many_are_found_as_are_wanted(scores, limit):
    found = highest(scores, limit)

    there = np.sort(scores[scores > -np.inf])[::-1]
    np.testing.assert_array_equal(there[:limit], np.sort(scores[found])[::-1])
    assert sorted(set(found.tolist())) == found.tolist()
