"""Named arrays in one mapped file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ragloom.snapshot.array_file import read_arrays, release, write_arrays

KINDS = st.sampled_from(["<f4", "|i1", "<i2", "<u8", "|S32", "|b1"])
SOME = st.dictionaries(
    st.text("abcxyz_", min_size=1, max_size=9),
    KINDS.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=1, max_dims=2, min_side=0))),
    max_size=5,
)


@given(given_arrays=SOME)
def test_what_was_written_is_read_and_aligned(
    tmp_path_factory: pytest.TempPathFactory, given_arrays: dict[str, np.ndarray]
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "file"
    write_arrays(path, given_arrays)
    found, memory = read_arrays(path)
    release(memory)
    path.unlink()  # the arrays stay
    assert list(given_arrays) == list(found)
    for name, array in given_arrays.items():
        assert (array.dtype, array.shape) == (found[name].dtype, found[name].shape)
        assert array.tobytes() == found[name].tobytes()
        assert not array.size or found[name].ctypes.data % 64 == 0
        assert not found[name].flags.writeable or not array.size


@pytest.mark.parametrize("keep", [0, 1, 30, 64, 100, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "file"
    write_arrays(path, {"numbers": np.arange(100), "names": np.array([b"a", b"b"], "S32")})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises((ValueError, TypeError, LookupError)):
        read_arrays(path)


@pytest.mark.parametrize("content", [b"\n", b"[]\n", b'{"a": 3}\n', b'{"a": ["x", [1], 0]}\n'])
def test_a_header_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises((ValueError, TypeError, LookupError)):
        read_arrays(path)
