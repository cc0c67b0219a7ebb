"""Formatters that break one rule each."""

import re

from declaring import declare

from ragloom.citing import TextFormatter, location
from ragloom.testing import FormatterContract

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


@breaks("test_no_citations_render")
class FailsOnNone(TextFormatter):
    def render(self, context):
        if not context.citations:
            raise IndexError("no citations")
        return super().render(context)


@breaks("test_every_passage_is_there_in_order")
class ShowsTen(TextFormatter):
    def render(self, context):
        from dataclasses import replace

        return super().render(replace(context, citations=context.citations[:10]))


@breaks("test_every_passage_has_its_source")
class HidesTheLines(TextFormatter):
    def render(self, context):
        return re.sub(r"(\.md):\d{4}(-\d+)?", r"\1", super().render(context))


@breaks("test_a_passage_cannot_close_its_delimiter")
class FixedDelimiter:
    """What stands before a passage is its path alone, which no passage can know."""

    def render(self, context):
        return "".join(
            f"{location(citation)} {number}>>>\n{citation.text}\n<<<{number * len(context.citations)}\n"
            for number, citation in enumerate(context.citations, start=1)
        )


@breaks("test_odd_paths_and_titles_are_no_error_and_no_line")
class RawPaths(TextFormatter):
    def render(self, context):
        shown = "".join(f"# {citation.path}\n" for citation in context.citations)
        return shown.encode(errors="replace").decode() + super().render(context)


@breaks("test_every_script_is_shown")
class AsciiOnly(TextFormatter):
    def render(self, context):
        return super().render(context).encode("ascii", "replace").decode()


@breaks("test_the_same_context_renders_the_same")
class Numbers(TextFormatter):
    calls = 0

    def render(self, context):
        self.calls += 1
        return f"context {self.calls}\n" + super().render(context)


@breaks("test_a_passage_cannot_pretend_to_be_two")
class FixedBeginning(TextFormatter):
    """Passages end where the grown delimiter says, and begin with a fixed one."""

    def render(self, context):
        if len(context.citations) < 2:
            return super().render(context)
        return "\n--- docs/a.md:1-3\n".join(citation.text for citation in context.citations)


@breaks("test_has_every_method_of_the_protocol")
class Functions(TextFormatter):
    pass


MUTANTS.pop()

declare(
    globals(),
    FormatterContract,
    TextFormatter,
    MUTANTS,
    lambda part: {"formatter": lambda self: part()},
)
