"""Token counters for budgets: exact where a vocabulary is on disk, else honestly approximate."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragloom import ConfigError, TokenCounter
from ragloom.errors import MissingDependencyError, ModelError
from ragloom.text.tokens import COUNTERS, _exact, counter

PROSE = "Chunking decides what a model can see; a boundary in the wrong place hides the answer. "


def exact(name: str) -> TokenCounter:
    try:
        return counter(name)
    except (MissingDependencyError, ModelError) as error:
        pytest.skip(str(error))


@given(st.text())
@example("00\x80")  # its end costs less than was left over before it
@example("1" * 7500)  # 2703 tokens exactly, whatever the order in which they are summed
def test_the_estimate_is_a_count_and_its_spans_are_as_many(text: str) -> None:
    approximate = counter("approximate")
    spans = approximate.spans(text)
    assert_in_order(spans, len(text))
    assert bool(text) == bool(approximate.count(text))
    assert len(spans) <= max(approximate.count(text), 1)
    assert [] == spans or (0, len(text)) == (spans[0][0], spans[-1][1])


def assert_in_order(spans: Sequence[tuple[int, int]], length: int) -> None:
    position = 0
    for start, end in spans:
        assert position <= start <= end <= length
        position = end


def test_prose_is_estimated_within_a_tenth() -> None:
    # cl100k_base counts 1,901.
    assert 1901 <= counter("approximate").count(PROSE * 100) <= 2091


def test_long_runs_are_many_tokens() -> None:
    assert counter("approximate").count("a" * 60_000) >= 7_500
    assert counter("approximate").count("合" * 8_000) >= 8_000


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@given(text=st.text())
def test_exact_spans_cover_the_text(name: str, text: str) -> None:
    counted = exact(name)
    spans = counted.spans(text)
    assert_in_order(spans, len(text))
    assert counted.count(text) == len(spans)
    assert len(text) == (spans[-1][1] if spans else 0)


def test_exact_counts() -> None:
    assert 1901 == exact("cl100k_base").count(PROSE * 100)
    assert "cl100k_base" == exact("cl100k_base").name


def test_auto_says_what_it_became() -> None:
    assert counter("auto").name in {"cl100k_base", "approximate"}


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="cl100k_base"):
        counter("gpt-5")
    assert "auto" in COUNTERS


def test_nothing_is_fetched_when_no_vocabulary_is_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("tiktoken")
    empty = str(tmp_path_factory.mktemp("empty"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: empty)
    monkeypatch.setattr("ragloom.text.tokens.find_spec", lambda _: None)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr("ragloom.text.tokens._exact", _exact.__wrapped__)
    with pytest.raises(ModelError, match="TIKTOKEN_CACHE_DIR"):
        counter("cl100k_base")
    assert "approximate" == counter("auto").name


def test_a_damaged_vocabulary_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("tiktoken")
    folder = tmp_path_factory.mktemp("cache")
    (folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(b"YQ== 0\n")
    monkeypatch.setattr("ragloom.text.tokens._folders", lambda: iter([folder]))
    monkeypatch.setattr("ragloom.text.tokens._exact", _exact.__wrapped__)
    with pytest.raises(ModelError):
        counter("cl100k_base")
    assert list(folder.iterdir())  # and is left where it is
