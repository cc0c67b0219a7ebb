"""What every formatter promises."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from ragloom.protocols import Formatter
from ragloom.testing.contract import Contract
from ragloom.types import Citation, Context, Lines

__all__ = ["FormatterContract"]

_REASON: Final = "nothing is relevant enough"


class FormatterContract(Contract, contract=True):
    """Every formatter passes these tests. The author writes the fixture ``formatter``."""

    @pytest.fixture
    def formatter(self) -> Formatter:
        """Written by the author: a formatter."""
        raise NotImplementedError("write a fixture formatter that returns your formatter")

    def test_has_every_method_of_the_protocol(self, formatter: Formatter) -> None:
        """A formatter has all of ``ragloom.Formatter``: look at the name of its method."""
        assert isinstance(formatter, Formatter)

    def test_no_citations_render(self, formatter: Formatter) -> None:
        """No passages are an empty text, or one that says so: never an error."""
        assert isinstance(formatter.render(Context()), str)
        assert isinstance(formatter.render(Context(reason=_REASON)), str)

    def test_every_passage_is_there_in_order(self, formatter: Formatter) -> None:
        """Each passage of ``context.citations``, with all of its words, in that order."""
        citations = [_citation(f"first{n} second{n} third{n}", path=f"{n}.md") for n in range(12)]
        rendered = formatter.render(_context(*citations))
        places = [
            rendered.find(f"{word}{n}") for n in range(12) for word in ("first", "second", "third")
        ]
        assert -1 not in places
        assert places == sorted(places)

    def test_every_passage_has_its_source(self, formatter: Formatter) -> None:
        """Path and lines of each citation are shown, so that a reader can look there."""
        citations = [
            _citation("alpha", path="docs/one.md", lines=(4321, 4389)),
            _citation("beta", path="docs/deep/two.md", lines=(7654, 7654)),
            _citation("gamma", path="docs/one.md", lines=(9876, 9912)),
        ]
        rendered = formatter.render(_context(*citations))
        for number in ("4321", "4389", "7654", "9876", "9912"):
            assert number in rendered
        assert rendered.count("docs/one.md") >= 2
        assert "docs/deep/two.md" in rendered

    def test_a_passage_cannot_close_its_delimiter(self, formatter: Formatter) -> None:
        """Text that holds what ends a passage does not end it: escape it, or grow the delimiter."""
        plain = formatter.render(_context(_citation("alpha omega")))
        ending = plain.partition("alpha omega")[2]
        assert ending.strip(), "nothing tells where a passage ends"
        for injected in (ending, ending.strip(), f"{ending}omega{ending}"):
            rendered = formatter.render(_context(_citation(f"alpha\n{injected}\nomega")))
            closing = rendered.rpartition("omega")[2]
            assert rendered.count(closing) == plain.count(ending)

    def test_a_passage_cannot_pretend_to_be_two(self, formatter: Formatter) -> None:
        """Text that holds what stands between passages does not begin another one."""
        plain = formatter.render(_context(_citation("alpha"), _citation("beta")))
        middle = _between(plain)
        forged = formatter.render(_context(_citation(f"first{middle}alpha"), _citation("beta")))
        assert forged.count(_between(forged)) == plain.count(middle)

    def test_odd_paths_and_titles_are_no_error_and_no_line(self, formatter: Formatter) -> None:
        """A path may hold quotes, brackets, line ends and what UTF-8 cannot write: escape it."""
        for odd in (
            'a "b" <c> & `d`.md',
            "it's.md",
            "two\nlines.md",
            "not utf-8 \udce9.md",
            "]].md",
        ):
            citation = _citation("alpha", path=odd, headings=(odd, "### === ``` <x>"))
            rendered = formatter.render(_context(citation))
            assert "alpha" in rendered
            assert "two\nlines" not in rendered
            rendered.encode()

    def test_every_script_is_shown(self, formatter: Formatter) -> None:
        """Letters of any script come out as they are, or as escapes that a program reads back."""
        text = "Gr\u00f6\u00dfe \u65e5\u672c\u8a9e \U0001f9f5"
        rendered = formatter.render(_context(_citation(text)))
        assert text in rendered or text.encode("ascii", "backslashreplace").decode() in rendered

    def test_the_same_context_renders_the_same(self, formatter: Formatter) -> None:
        """Same input, same characters out: look for the time, counters and sets."""
        context = _context(_citation("alpha"), _citation("beta", path="b.md"))
        assert formatter.render(context) == formatter.render(context)


def _citation(
    text: str,
    *,
    path: str = "docs/a.md",
    lines: tuple[int, int] = (1, 3),
    headings: tuple[str, ...] = (),
) -> Citation:
    return Citation(
        path=path,
        file=Path("docs/a.md"),
        lines=Lines(*lines),
        relevance=0.5,
        text=text,
        headings=headings,
    )


def _context(*citations: Citation) -> Context:
    return Context(citations=citations, text="", tokens=0, max_tokens=1000)


def _between(rendered: str) -> str:
    """What stands between the last ``alpha`` and the last ``beta``."""
    return rendered.rpartition("alpha")[2].rpartition("beta")[0]
