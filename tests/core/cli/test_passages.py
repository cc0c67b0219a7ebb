import re
from pathlib import Path

import pytest

from ragloom import Chunk, Hit, Lines, Location, QueryWords, Span
from ragloom.cli import _output, print_table, print_text
from ragloom.cli._output import size, span_of_time
from ragloom.cli._passages import Look, _styled, line_of, lines_of, shown_path
from ragloom.snapshot.lexical import stemmed

STYLE = re.compile("\x1b\\[[0-9;]*m")


def hit(text, *, first=1, headings=(), **more):
    last = first + len(text.splitlines()) - 1
    chunk = Chunk(
        id="0" * 32,
        uri="docs/a.md",
        text=text,
        span=Span(0, len(text)),
        lines=Lines(first, last),
        bytes=Span(0, len(text.encode())),
        headings=headings,
    )
    return Hit(chunk=chunk, score=0.9, relevance=more.pop("relevance", 0.8), **more)


def stems(text):
    terms, variants = stemmed(text, "english")
    return [*terms, *variants]


def words(*sought, **weights):
    """Query words of equal weight, or of those that are given."""
    known = dict.fromkeys(sought, 1.0) | weights
    return QueryWords({stems(word)[0]: weight for word, weight in known.items()}, stems)


def shown(found, *, width=80, sought=(), scores=False):
    look = Look(width=width, scores=scores)
    lines = lines_of(found, "docs/a.md", words(*sought), look)
    return [STYLE.sub("", line) for line in lines]


def test_a_line_for_programs():
    found = hit("# A\n\nSome  text\nhere.", first=3, headings=("A", "B"))
    assert "docs/a.md:3: 0.80 A > B: # A Some text here." == line_of(found, "docs/a.md", words())


def test_lines_for_people():
    found = hit("one\n\ntwo", first=9, headings=("A", "B"), cosine=0.5)
    assert [
        "0.80  docs/a.md:9-11",
        "      A > B",
        "    9 │ one",
        "   10 │",
        "   11 │ two",
    ] == shown(found)
    assert "      score 0.900, cosine 0.500" == shown(found, scores=True)[2]


def test_one_line_has_no_range():
    assert "0.80  docs/a.md:4" == shown(hit("x", first=4))[0]


def test_a_long_passage_is_cut_and_says_how_much_is_left():
    lines = shown(hit("\n".join(map(str, range(30)))))
    assert [*(f"{n + 1:>5} │ {n}" for n in range(8)), "    … 22 more lines"] == lines[1:]


LONG = [f"filler {number}" for number in range(30)]


@pytest.mark.parametrize("at", [2, 9, 17, 29])
def test_a_passage_is_shown_from_its_best_matching_lines(at):
    found = hit("\n".join([*LONG[:at], "retry after errors", *LONG[at + 1 :]]), first=41)
    lines = shown(found, sought=("retrying", "error"))
    first = min(41 + at, 63)  # as many rows as possible are filled
    assert "0.80  docs/a.md:41-70" == lines[0]
    assert f"    … {first - 41} lines above" == lines[1]
    assert [f"{first + row:>5} │" for row in range(8)] == [line[:7] for line in lines[2:10]]
    assert f"{41 + at:>5} │ retry after errors" in lines
    left = 70 - first - 7
    assert ([f"    … {left} more line{'s' * (left > 1)}"] if left else []) == lines[10:]

    line = line_of(found, "docs/a.md", words("retrying", "error"))
    shown_from = re.match(r"docs/a\.md:(\d+): 0\.80 … ", line)
    assert shown_from
    assert int(shown_from[1]) <= 41 + at
    assert "retry after errors" in line


@pytest.mark.parametrize("length", [40, 150, 400])
def test_one_line_shows_the_best_of_few_long_lines(length):
    filler = ("filler " * length)[:length]
    found = hit(f"{filler}\n{filler}\n\nretry after errors\n{filler}")
    line = line_of(found, "docs/a.md", words("retrying", "error"))
    assert "retry after errors" in line
    assert len(line) <= 160


def test_different_words_tell_more_than_a_word_again_and_rare_ones_more_than_common():
    text = [*LONG]
    text[4:7] = ["error error"] * 3
    text[20:22] = ["an error", "when retrying"]
    assert "   21 │ an error" in shown(hit("\n".join(text)), sought=("error", "retry"))
    rare = lines_of(
        hit("\n".join([*LONG[:4], "error", *LONG[:20], "latch", *LONG[:20]])),
        "a",
        words(error=0.1, latch=5.0),
        Look(width=80),
    )
    assert "   26 │ latch" == STYLE.sub("", list(rare)[2])


def test_a_long_line_is_shown_from_its_best_matching_row():
    text = f"{'filler ' * 200}retry after errors {'filler ' * 200}"
    lines = shown(hit(text, first=3), sought=("retry",), width=48)
    assert lines[1].startswith("    3 │ … ")
    assert "retry" in lines[1]
    assert lines[-1].endswith(" …")
    assert max(map(len, lines)) <= 48


def test_where_nothing_matches_or_all_fits_the_passage_is_shown_from_its_top():
    assert "    1 │ filler 0" == shown(hit("\n".join(LONG)), sought=("zebra",))[1]
    assert "    1 │ a" == shown(hit("a\n\n\nb\nzebra"), sought=("zebra",))[1]
    assert "    1 │ # Errors" == shown(hit("\n".join(["# Errors", *LONG])), sought=("error",))[1]


def test_copies_and_more_of_the_file_are_named_and_long_lists_end():
    places = tuple(Location(f"copy{number}/a.md", Lines(3, 9)) for number in range(5))
    more = (Lines(12, 20), Lines(40, 40))
    named = [
        "same text: copy0/a.md:3, copy1/a.md:3, copy2/a.md:3 and 2 more",
        "2 more in this file: lines 12-20, 40",
    ]
    found = hit("one", copies=places, more_in_file=more)
    assert [f"      {phrase}" for phrase in named] == shown(found)[-2:]
    said = line_of(found, "docs/a.md", words())
    assert said == f"docs/a.md:1: 0.80 one [{named[0]}] [{named[1]}]"
    one = hit("one", more_in_file=(Lines(7, 7),))
    assert "      1 more in this file: line 7" == shown(one)[-1]
    many = hit("one", more_in_file=tuple(Lines(n, n) for n in range(20)))
    assert shown(many)[-1].endswith("6, 7 and 12 more")


def test_a_long_line_is_wrapped_and_cut():
    lines = shown(hit("word " * 200), width=48)
    assert 9 == len(lines)
    assert max(map(len, lines)) <= 48
    assert lines[-1].endswith(" …")
    assert ["    1 │", *["      │"] * 7] == [line[:7] for line in lines[1:]]


def test_wide_characters_take_two_columns():
    lines = shown(hit("日志级别" * 30), width=48)
    assert max(len(line.split("│ ")[-1]) for line in lines[1:-1]) <= 20


def marked(terms, text):
    styled = words(*terms).mark(text, _styled)
    return re.sub("(?:\x1b\\[[1-9][0-9;]*m)+([^\x1b]*)\x1b\\[0m", r"<\1>", styled)


@pytest.mark.parametrize(
    ("terms", "text", "expected"),
    [
        (["log", "error"], "Logging errors, catalog", "<Logging> <errors>, catalog"),
        (["vector"], "call getVectorStore()", "call get<Vector>Store()"),
        (["getvectorstore"], "call getVectorStore()", "call <getVectorStore>()"),
        (["max"], "max_connection", "<max>_connection"),
        (["志级"], "日志级别", "日<志级>别"),
        (["पानी"], "नाव में पानी", "नाव में <पानी>"),
        (["cafe"], "Le Café", "Le <Café>"),
        (["mail"], "an e-mail", "an e-<mail>"),
        (["email"], "an E-mail", "an <E-mail>"),
        (["c++"], "C++ and C", "<C++> and C"),
        ([], "nothing here", "nothing here"),
    ],
)
def test_words_are_marked_by_their_stems(terms, text, expected):
    assert expected == marked(terms, text)


def test_text_and_path_cannot_steer_the_terminal():
    found = hit("a\x1b[31m\x07\x9bb\u202e", headings=("h\x1b[0m",))
    for line in (*shown(found), line_of(found, "evil\x1b[2J\n.md", words())):
        assert not set(line) & set("\x1b\x07\x9b\u202e\n")


def test_the_path_is_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(Path("ws/docs/a.md")) == shown_path("docs/a.md", tmp_path / "ws")


@pytest.mark.parametrize(("relevance", "color"), [(0.9, 32), (0.5, 33), (0.1, 31)])
def test_the_relevance_has_a_colour(relevance, color):
    found = hit("x", relevance=relevance)
    head = next(iter(lines_of(found, "a", words(), Look(width=80))))
    assert head.startswith(f"\x1b[{color}m")


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 B"), (1023, "1023 B"), (2048, "2.0 kB"), (5 << 30, "5.0 GB")]
)
def test_sizes(count, expected):
    assert expected == size(count)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-1, "0 s"), (59, "59 s"), (90, "1 min"), (7200, "2 h"), (200_000, "2 d")],
)
def test_ages(seconds, expected):
    assert expected == span_of_time(seconds)


def test_a_text_is_as_it_is_in_a_pipe_and_steers_no_terminal(monkeypatch, capsys):
    print_text("a\x07b\n\tc")
    monkeypatch.setattr(_output, "is_terminal", lambda: True)
    print_text("a\x07b\n\tc", nl=False)
    assert "a\x07b\n\tc\na␇b\n\tc" == capsys.readouterr().out


def test_a_table_that_is_too_wide_for_its_terminal_loses_nothing(monkeypatch, capsys):
    monkeypatch.setattr(_output, "is_terminal", lambda: True)
    columns, row = ("place", "rank", "verdict"), ["docs/a.md:1", "1", "below the gate"]
    monkeypatch.setenv("COLUMNS", "20")
    print_table(columns, [row])
    assert "docs/a.md:1\n  rank: 1\n  verdict: below the gate\n" == capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "60")
    print_table(columns, [row])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [[*columns], ["docs/a.md:1", "1", "below", "the", "gate"]] == [lines[0], lines[-1]]
