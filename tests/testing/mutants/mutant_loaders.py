"""Loaders that break one rule each."""

import dataclasses
import time
import uuid

from declaring import declare

from ragloom import Section, SourceError, Span
from ragloom.testing import LoaderContract
from ragloom.text import read_document

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


class Plain:
    """Plain text, with the first line as its title."""

    suffixes = frozenset({".txt"})
    fingerprint = "plain-1"

    def load(self, source, content):
        document = read_document(source, content, media_type="text/plain")
        title = document.text.partition("\n")[0]
        sections = (Section(span=Span(0, len(title)), level=1, title=title.strip()),)
        sections = sections if title.strip() and title.isprintable() else ()
        made = dataclasses.replace(document, metadata={"title": title}, sections=sections)
        return self.change(made)

    def change(self, document):
        return document


@breaks("test_suffixes_are_lower_case_with_a_dot")
class BareSuffix(Plain):
    suffixes = frozenset({"txt"})


@breaks("test_suffixes_are_lower_case_with_a_dot")
class ListOfSuffixes(Plain):
    suffixes = [".txt"]


@breaks("test_the_fingerprint_stays_the_same")
class FingerprintByChance(Plain):
    @property
    def fingerprint(self):
        return uuid.uuid4().hex


@breaks("test_samples_become_documents")
class ForgetsTheUri(Plain):
    def change(self, document):
        return dataclasses.replace(document, uri=document.uri.rpartition("/")[2])


@breaks("test_content_is_given_and_not_read")
class ReadsTheDisk(Plain):
    def load(self, source, content):
        if source.path.exists():
            content = source.path.read_bytes()
        return super().load(source, content)


@breaks("test_the_same_bytes_give_the_same_document")
class NotesTheTime(Plain):
    def change(self, document):
        return dataclasses.replace(document, metadata={"read": time.monotonic_ns()})


@breaks("test_text_is_the_file_letter_for_letter")
class StripsBlanks(Plain):
    """Blanks at the beginning are cut off, as in a file whose metadata stands first."""

    def change(self, document):
        return dataclasses.replace(document, text=document.text.lstrip(" \n\t"))


@breaks("test_a_byte_order_mark_is_not_text")
class KeepsTheMark(Plain):
    def change(self, document):
        if not document.bom:
            return document
        return dataclasses.replace(document, text="\ufeff" + document.text, bom=0)


@breaks("test_text_is_the_file_letter_for_letter")
class TranslatesLineEnds(Plain):
    def change(self, document):
        return dataclasses.replace(document, text=document.text.replace("\r\n", "\n"))


@breaks("test_an_empty_file_is_a_document_or_a_source_error")
class FailsOnNothing(Plain):
    def load(self, source, content):
        content[0]
        return super().load(source, content)


@breaks("test_bad_bytes_are_read_or_refused")
class RaisesAsItComes(Plain):
    def load(self, source, content):
        try:
            return super().load(source, content)
        except SourceError as error:
            raise ValueError(str(error)) from error


@breaks("test_bad_bytes_are_read_or_refused")
class Replaces(Plain):
    def change(self, document):
        if not document.warnings:
            return document
        text = document.text.replace("\x00", "\ufffd").replace("\xe9", "\ufffd")
        return dataclasses.replace(document, text=text)


@breaks("test_a_huge_file_is_read_or_refused_in_time")
class Recurses(Plain):
    def load(self, source, content):
        self.nest(content[:20_000].count(b"["))
        return super().load(source, content)

    def nest(self, depth):
        return depth and 1 + self.nest(depth - 1)


@breaks("test_sections_are_headings_in_the_text")
class CountsThePrefix(Plain):
    def change(self, document):
        moved = [
            dataclasses.replace(one, span=Span(one.span.start + 999, one.span.end + 999))
            for one in document.sections
        ]
        return dataclasses.replace(document, sections=tuple(moved))


@breaks("test_sections_are_headings_in_the_text")
class LevelsFromZero(Plain):
    def change(self, document):
        sections = tuple(dataclasses.replace(one, level=0) for one in document.sections)
        return dataclasses.replace(document, sections=sections)


@breaks("test_the_chunker_it_names_has_a_name")
class HoldsAChunker(Plain):
    chunker = object()


@breaks("test_metadata_is_json")
class Dates(Plain):
    def change(self, document):
        import datetime as dt

        return dataclasses.replace(document, metadata={"date": dt.date(2024, 5, 1)})


@breaks("test_warnings_are_lines")
class WarningsOfTwoLines(Plain):
    def change(self, document):
        return dataclasses.replace(document, warnings=("one\ntwo",))


declare(
    globals(),
    LoaderContract,
    Plain,
    MUTANTS,
    lambda part: {"loader": lambda self: part()},
)
