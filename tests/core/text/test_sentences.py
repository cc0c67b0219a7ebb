"""Where sentences begin, in many scripts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragloom.text.sentences import sentence_starts


def split(text: str) -> list[str]:
    edges = [0, *sentence_starts(text), len(text)]
    return [text[start:end].strip() for start, end in pairwise(edges)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It works.", "Does it?", "Yes!", "Good."],
        ['He said "stop."', "Then he left."],
        ["See e.g. the docs, or Dr. Smith and Mr. J. R. Jones.", "They know."],
        ["The value is 3.14 today.", "Version 1.2.3 is out."],
        ["See https://example.org/a.html?b=c.d for more.", "It helps."],
        ["Wait... what happened?", "Nothing."],
        ["Well…", "Perhaps not."],
        ["It ended in 2024.", "A new year began."],
        ["1. First do this.", "2. Then do that."],
        ["Das ist z.B. so, bzw. anders.", "Und weiter."],
        ["¿Qué pasó?", "¡Nada!", "Vale."],
        ["中文合約轉換。", "體驗課問題！", "好嗎？", "好。"],
        ["「これは文です。」", "次の文です。"],
        ["यह वाक्य है।", "यह दूसरा है।"],
        ["ما هذا؟", "هذا نص."],
        ["สวัสดีครับ", "ผมชื่อสมชาย"],
        ["A paragraph without a stop", "Another one"],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    joiner = "\n\n" if "paragraph" in sentences[0] else " "
    if sentences[0][0] in "中「":
        joiner = ""
    assert sentences == split(joiner.join(sentences))


def test_a_range_is_like_the_text_it_covers() -> None:
    text = "One. Two. Three. Four."
    assert [10, 17] == sentence_starts(text, 5, 22)


def test_long_input_is_linear() -> None:
    assert 99_999 == len(sentence_starts("Go. " * 100_000))
    assert [] == sentence_starts("a." * 100_000)
    assert [] == sentence_starts(" " * 300_000)
