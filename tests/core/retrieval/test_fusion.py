"""What orders the candidates."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom import Workspace
from ragloom.retrieval.fusion import fuse
from ragloom.retrieval.parsed_query import parse

COSINE = np.array([0.9, 0.1], np.float32)
LEXICAL = np.array([1.0, 9.0], np.float32)


def test_cosines_weigh_less_where_the_model_has_no_words_of_the_query():
    (known,) = fuse([COSINE], [LEXICAL], "hybrid", known=1.0)
    (unknown,) = fuse([COSINE], [LEXICAL], "hybrid", known=0.0)

    assert known.argmax() == 0
    assert unknown.argmax() == 1
    weights = [fuse([COSINE], [LEXICAL], "hybrid", known=share)[0][0] for share in (0, 0.3, 0.6, 1)]
    assert weights == sorted(weights)
    assert weights[2] == weights[3]


def test_ranks_are_fused_whatever_the_model_knows():
    (known,) = fuse([COSINE], [LEXICAL], "rrf", known=1.0)
    (unknown,) = fuse([COSINE], [LEXICAL], "rrf", known=0.0)

    assert known == pytest.approx(unknown)


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ("how is the water cleaned", 1.0),
        ("Trinkwasser gereinigt", 0.0),
        ("water in kubernetes", 0.5),
    ],
)
def test_the_share_of_words_that_the_model_has_whole(tmp_path, query, known):
    (tmp_path / "a.md").write_text("# Water\n\nWater is cleaned by sand.\n", "utf-8")
    with Workspace.open(tmp_path).space("default") as space:
        space.index()
        parsed, *_ = parse(query, space.snapshot(), space.embedder)

        assert parsed.known == pytest.approx(known)
        assert parse(query, space.snapshot(), None)[0].known == 1.0


def test_a_counter_that_takes_any_word_for_one_tells_no_words_apart(make_space, files):
    (files / "a.md").write_text("# Water\n\nWater is cleaned by sand.\n", "utf-8")
    space = make_space()
    space.index()
    assert space.embedder.counter.count("qzx") == 1

    parsed, *_ = parse("sand in kubernetes", space.snapshot(), space.embedder)

    assert parsed.known == 1.0
