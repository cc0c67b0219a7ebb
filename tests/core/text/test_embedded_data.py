"""Data inside of text: no chunk holds it, whatever is around it is found, and spans stay exact."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import Document, Space
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import make_chunks
from ragloom.text.embedded_data import Reduced, data_spans, without_data

pytest.importorskip("pyromark")

from ragloom_markdown.chunker import HeadingChunker
from ragloom_text.token_chunker import TokenChunker

MakeSpace = Callable[..., Space]
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/cases/data_uri.jsonl").open(encoding="utf-8")
]


def encoded(size: int, seed: int = 1) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


def wrapped(text: str, width: int = 76) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def dump(lines: int) -> str:
    return "".join(
        f"{16 * at:08x}: {random.Random(at).randbytes(16).hex(' ', 2)}  ................\n"
        for at in range(lines)
    )


BYTES = ", ".join(f"0x{byte:02x}" for byte in random.Random(1).randbytes(600))
DRAWING = "M" + "L".join(f"{at / 7:.2f},{at / 3:.2f}" for at in range(200))
DATA = {
    "image": (f"![layout](data:image/png;base64,{encoded(3000)})", "![layout](…)"),
    "reference": (f"[one]: <data:image/png;base64,{encoded(3000)}>", "[one]: <…>"),
    "attribute": (f'<img src="data:image/png;base64,\n{wrapped(encoded(3000))}">', '<img src="…">'),
    "percent": ("url(data:image/svg+xml;utf8," + "%3Cpath%20d=" * 60 + ")", "url(…)"),
    "source map": (
        f"//# sourceMappingURL=data:application/json;charset=utf-8;base64,{encoded(3000)}",
        "//# sourceMappingURL=…",
    ),
    "mime": (wrapped(encoded(3000)), "…"),
    "certificate": (
        f"-----BEGIN CERTIFICATE-----\n{wrapped(encoded(900), 64)}\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----",
    ),
    "hexadecimal": (random.Random(1).randbytes(900).hex(), "…"),
    "dump": (dump(100), "…"),
    "bytes": (f"byte all[] = {{{BYTES}}};", "byte all[] = {…};"),
    "drawing": (f'<path d="{DRAWING}"/>', "<path …/>"),
    "minified": ("function a(b,c){return b.d(c)||e[f]};var g=h;" * 300, "…"),
}
HARMLESS = {
    "one letter": "a" * 60_000,
    "genome": "ACGT" * 1000,
    "rules": ("/" * 80 + "\n") * 12,
    "one long paragraph": "The quick brown fox jumps over it, again. " * 500,
    "Japanese": "東京都は日本の首都です。" * 1000,
    "identifiers": "_".join(["Some_Long_Name"] * 60),
    "path": "see https://example.org/" + "docs/page-One2/" * 60,
    "numbers": "1,2,3\n" * 3000,
    "JSON on one line": '{"text": "' + "some prose in it " * 500 + '"}',
    "short dump": dump(8),
    "small icon": "![x](data:image/gif;base64,R0lGODlhAQABAAAAACw=)",
    "digest": "sha512: " + random.Random(1).randbytes(64).hex(),
    "a few bytes": ", ".join(["0x7f"] * 100),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_data_uri_is_no_text(case: dict[str, object], make_space: MakeSpace, files: Path) -> None:
    data = encoded(int(str(case["random_bytes_in_base64"])))
    (files / str(case["path"])).write_text(f"{case['before']}{data}{case['after']}", "utf-8")
    space = make_space(min_relevance=0.0)
    report = space.index()

    assert report.chunks <= int(str(case["most_chunks"]))
    hits = space.search(str(case["query"])).hits
    assert hits[0].chunk.uri == case["path"]
    assert all(data[:50] not in hit.chunk.text for hit in hits)
    assert space.verify().exact == report.chunks


@pytest.mark.parametrize("kind", DATA)
def test_each_kind_is_told_and_what_is_around_it_stays(kind: str) -> None:
    data, left = DATA[kind]
    before, after = "The turbine is serviced in May.\n\n", "\n\nThe compressor in June.\n"
    assert f"{before}{left}{after}".split() == without_data(f"{before}{data}{after}").split()


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_only_looks_like_it_stays(kind: str) -> None:
    assert [] == data_spans(HARMLESS[kind])


PARTS = [
    *(data for data, _ in DATA.values()),
    *("# Pump\n\n", "## Valve\n\n", "\n\n", "\n", " ", "- item\n", "> quote\n", "```\ncode\n```\n"),
    *("The turbine is serviced in May. ", "| a | b |\n| - | - |\n| c | d |\n", "Größe 日本語 "),
]


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.booleans())
def test_chunks_hold_all_but_the_data_and_stay_exact(text: str, by_heading: bool) -> None:  # noqa: FBT001
    document = Document(uri="a.md", text=text)
    chunker = HeadingChunker() if by_heading else TokenChunker(size=40, overlap=10)
    reduced = Reduced(document)
    pieces = chunker.split(reduced.document, counter=RegexCounter(), max_tokens=60)
    chunks = make_chunks(document, reduced.restored(pieces), RegexCounter())

    gone = data_spans(text)
    for chunk in chunks:
        start, end = chunk.span
        assert chunk.text == text[start:end]
        assert not any(start < last and first < end for first, last in gone)
        assert chunk.tokens <= 60
    held = {at for chunk in chunks for at in range(*chunk.span)}
    held |= {at for span in gone for at in range(*span)}
    missing = [at for at, char in enumerate(text) if char.isalnum() and at not in held]
    assert not missing, text[missing[0] - 20 : missing[0] + 20]


@pytest.mark.parametrize(
    "part",
    [
        *(
            "data:",
            "data:a/b;",
            "data:image/png;base64," + "A" * 70 + " ",
            "0x12, " * 255 + "z ",
            "A1b",
        ),
        *(
            ("A" * 70 + "\n") * 5 + "x y\n",
            "00000000: 1234 ",
            'd="M1 ',
            " >",
            "\r\n",
            "data:," + "x" * 249,
        ),
    ],
)
def test_it_is_linear(part: str) -> None:
    def seconds(length: int) -> float:
        text = part * (length // len(part))
        started = time.perf_counter()
        data_spans(text)
        return time.perf_counter() - started

    seconds(10_000)
    assert seconds(400_000) < 30 * seconds(40_000) + 0.5
