"""Formatters that break one rule each."""

import re

from declaring import declare

from ragloom.context.citations import TextFormatter, location
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
class FixedDelimiter(TextFormatter):
    """The delimiter of a passage that stands alone is always the same."""

    def render(self, context):
        if len(context.citations) != 1:
            return super().render(context)
        (citation,) = context.citations
        return f"{location(citation)}:\n{citation.text}\n<<<\n"


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
    """Of several passages, each begins below a line with its source that any text may hold."""

    def render(self, context):
        if len(context.citations) == 1:
            return super().render(context)
        return "".join(f"--- {location(one)}\n{one.text}\n" for one in context.citations)


declare(
    globals(),
    FormatterContract,
    TextFormatter,
    MUTANTS,
    lambda part: {"formatter": lambda self: part()},
)
