import numpy as np
import pytest

from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.lexical_writer import LexicalDocument
from ragloom.snapshot.words import weighted_terms


@pytest.fixture
def make_index(tmp_path, write_lexical):
    def make(*texts):
        directory = tmp_path / "lexical"
        documents = [LexicalDocument(n, f"{n}.md", text, "") for n, text in enumerate(texts)]
        write_lexical(directory, documents)
        return LexicalIndex(directory)

    return make


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Logging", [("logging", (("log",),), 1, False)]),
        ("the log", [("the", (("the",),), 1, True), ("log", (("log",),), 1, False)]),
        (
            "latency_ms",
            [("latency_ms", (("latency_m",), ("latencym",), ("latenc", "ms")), 1, False)],
        ),
        ("10,000", [("10,000", (("10000",),), 1, False)]),
        ("10_20", [("10_20", (("10_20",), ("10", "20")), 1, False)]),
        ("log, LOG and log", [("log", (("log",),), 3, False), ("and", (("and",),), 1, True)]),
        ("中文合", [("中文", (("中文",),), 1, False), ("文合", (("文合",),), 1, False)]),
        ("...", []),
    ],
)
def test_the_words_of_a_query(make_index, query, expected):
    words = make_index("Some English text.").query_words(query)
    assert expected == [(word.text, word.forms, word.count, word.stop) for word in words]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the logs of a log", {"log": 2.0}),
        ("to be or not to be", {"not": 1.0}),
        ("the", {"the": 1.0}),
        ("is_valid", {"is_valid": 1.0, "valid": 1.0, "isvalid": 0.25}),
        ("log logging", {"log": 2.0}),
        ("", {}),
    ],
)
def test_the_terms_that_bm25_searches(make_index, query, expected):
    index = make_index("Some English text.")
    assert expected == weighted_terms(index.query_words(query)) == index.query_terms(query)


def test_which_documents_hold_which_of_many_words(tmp_path, write_lexical):
    """More words than one look-up tells apart, in every field, as a look at the texts says."""
    choose = np.random.default_rng(3)
    names = [f"word{letter}x" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = [set(choose.choice(names, size).tolist()) for size in choose.integers(0, 20, 300)]
    documents = [
        LexicalDocument(
            2 * number,
            f"{number}.md",
            *(" ".join(sorted(held)[place::2]) for place in (0, 1)),
        )
        for number, held in enumerate(texts)
    ]
    write_lexical(tmp_path / "many", documents)
    index = LexicalIndex(tmp_path / "many")
    words = index.query_words(" ".join([*names, "nowhere"]))
    rows = choose.permutation(300)[:60]

    found = index.held(words, 2 * rows.astype(np.uint64))

    expected = [[word.text in texts[row] for word in words] for row in rows]
    np.testing.assert_array_equal(expected, found)
    assert found.any(axis=0)[:-1].all()
