"""Files by the end of their path: the same that a look at every path finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragloom.snapshot.file_names import FileNames

PATHS = st.lists(st.sampled_from(["a", "B", "b.md", "A.md", "Straße.md"]), min_size=1, max_size=3)


@given(st.lists(PATHS.map("/".join), unique=True), PATHS.map("/".join))
def test_they_are_those_that_a_look_at_every_path_finds(uris, path):
    expected = [
        number
        for number, uri in enumerate(uris)
        if f"/{uri.casefold()}".endswith(f"/{path.casefold()}")
    ]
    assert expected == FileNames(uris).ending_in(path)
