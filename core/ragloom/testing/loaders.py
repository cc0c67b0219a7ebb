"""What every loader promises."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pytest

from ragloom.errors import SourceError
from ragloom.protocols import Loader
from ragloom.stores.records import dump_json
from ragloom.testing.contract import Contract
from ragloom.types import Document, Source

__all__ = ["LoaderContract"]

Samples: TypeAlias = Mapping[str, bytes]

_TEXT: Final = "Title\n=====\n\nThe signing keys are rotated, na\u00efve \u65e5\u672c \U0001f9f5.\n"
_SECONDS: Final = 30


class LoaderContract(Contract, contract=True):
    """Every loader passes these tests.

    The author writes the fixture ``loader``, and ``samples`` where plain text is not its format.
    """

    @pytest.fixture
    def loader(self) -> Loader:
        """Written by the author: a loader."""
        raise NotImplementedError("write a fixture loader that returns your loader")

    @pytest.fixture
    def samples(self, loader: Loader) -> Samples:
        """File names to the bytes of files that hold some text; a page of plain text by default."""
        return {f"sample{_suffix(loader)}": _TEXT.encode()}

    def test_has_every_method_of_the_protocol(self, loader: Loader) -> None:
        """A loader has all of ``ragloom.Loader``: look at the names of methods and properties."""
        assert isinstance(loader, Loader)

    def test_suffixes_are_lower_case_with_a_dot(self, loader: Loader) -> None:
        """Files are found by them: ``.md``, not ``md`` or ``.MD``; a frozenset, not a string.

        An empty one stands for files without an ending. A loader that is only used where settings
        name it has none.
        """
        assert isinstance(loader.suffixes, frozenset)
        endings = loader.suffixes - {""}
        assert [one for one in endings if one != f".{one[1:]}".lower()] == []

    def test_the_fingerprint_stays_the_same(self, loader: Loader, samples: Samples) -> None:
        """It is not empty, and loading does not change it, or every run would load all files."""
        before = loader.fingerprint
        for name, content in samples.items():
            _load(loader, content, name)
        assert before
        assert loader.fingerprint == before

    def test_samples_become_documents(self, loader: Loader, samples: Samples) -> None:
        """A file of the format gives text, under the uri of its source, with a media type."""
        assert samples
        for name, content in samples.items():
            document = loader.load(_source(name), content)
            assert document.uri == f"docs/{name}"
            assert document.text.strip()
            assert "/" in document.media_type

    def test_content_is_given_and_not_read(
        self, loader: Loader, samples: Samples, tmp_path: Path
    ) -> None:
        """A loader works on the bytes it is given: the file on disk may have changed meanwhile."""
        for name, content in samples.items():
            path = tmp_path / name
            path.write_bytes(b"something else altogether")
            source = Source(uri=f"docs/{name}", path=path)
            assert loader.load(source, content).text == loader.load(_source(name), content).text

    def test_the_same_bytes_give_the_same_document(self, loader: Loader, samples: Samples) -> None:
        """Loading is a function of the bytes: look for state, for the time, and for sets."""
        for name, content in samples.items():
            first, second = (loader.load(_source(name), content) for _ in range(2))
            assert first == second

    def test_text_is_the_file_letter_for_letter(self, loader: Loader, samples: Samples) -> None:
        r"""``bom + (prefix + text).encode(encoding)`` is the file, or ``extracted`` is true.

        Citations are slices of the file. Look for stripped blanks, for text mode and
        for ``splitlines``: ``\r\n`` stays ``\r\n``.
        """
        for name, content in _variants(samples):
            document = _load(loader, content, name)
            if document is not None and not document.extracted:
                text = document.prefix + document.text
                assert content[: document.bom] + text.encode(document.encoding) == content

    def test_a_byte_order_mark_is_not_text(self, loader: Loader, samples: Samples) -> None:
        """The mark is counted in ``bom`` and stands in no text: decode as ``utf-8-sig`` would."""
        for name, content in samples.items():
            document = _load(loader, codecs.BOM_UTF8 + content, name)
            if document is not None:
                assert not (document.prefix + document.text).startswith("\ufeff")

    def test_an_empty_file_is_a_document_or_a_source_error(self, loader: Loader) -> None:
        """Nothing but ``SourceError`` may be raised; an empty text file is an empty document."""
        document = _load(loader, b"", f"empty{_suffix(loader)}")
        assert document is None or not document.text.strip()

    def test_bad_bytes_are_read_or_refused(self, loader: Loader, samples: Samples) -> None:
        """Any bytes at all give a document or ``SourceError``: wrap what your parser raises.

        Nothing is replaced by U+FFFD, which would be cited as if the file said so.
        """
        for name, content in _damaged(samples):
            document = _load(loader, content, name)
            if document is not None and not document.extracted:
                assert "\ufffd" not in document.prefix + document.text

    def test_a_huge_file_is_read_or_refused_in_time(self, loader: Loader) -> None:
        """Two megabytes take seconds, deep nesting no recursion: look for quadratic patterns."""
        name = f"huge{_suffix(loader)}"
        begun = time.monotonic()
        for content in (
            b"Some words, and more of them.\n" * 70_000,
            b"word " * 100_000,
            b"[({<" * 20_000 + b"- " * 20_000,
        ):
            _load(loader, content, name)
        assert time.monotonic() - begun < _SECONDS

    def test_sections_are_headings_in_the_text(self, loader: Loader, samples: Samples) -> None:
        """In order, apart, in characters of ``text``: look for offsets that count a prefix or bytes.

        A level is 1 or more, a title one line that is not blank.
        """
        for name, content in _variants(samples):
            document = _load(loader, content, name)
            if document is None:
                continue
            end = 0
            for section in document.sections:
                assert end <= section.span.start < section.span.end <= len(document.text)
                end = section.span.end
                assert section.level >= 1
                assert section.title.strip() == section.title.splitlines()[0]

    def test_the_chunker_it_names_has_a_name(self, loader: Loader) -> None:
        """An attribute ``chunker`` is the name of one, as settings have it, and no object."""
        named = getattr(loader, "chunker", "name")
        assert isinstance(named, str)
        assert named

    def test_metadata_is_json(self, loader: Loader, samples: Samples) -> None:
        """Dates are strings, keys are strings, and there is no NaN: ``records.dump_json`` takes it."""
        for name, content in samples.items():
            dump_json(loader.load(_source(name), content).metadata)

    def test_warnings_are_lines(self, loader: Loader, samples: Samples) -> None:
        """``warnings`` is a tuple of strings, each one line without the path."""
        odd = [(name, content.replace(b"e", b"\xe9")) for name, content in samples.items()]
        for name, content in (*samples.items(), *odd):
            document = _load(loader, content, name)
            warnings = document.warnings if document is not None else ()
            assert isinstance(warnings, tuple)
            assert [one for one in warnings if not one or len(one.splitlines()) > 1] == []


def _suffix(loader: Loader) -> str:
    return min(loader.suffixes, default=".txt")


def _source(name: str) -> Source:
    return Source(uri=f"docs/{name}", path=Path("no such folder", name))


def _load(loader: Loader, content: bytes, name: str) -> Document | None:
    """The document, or None where the loader refuses the file as it may."""
    try:
        return loader.load(_source(name), content)
    except SourceError as error:
        assert str(error), "a SourceError says what is wrong"
        return None


def _variants(samples: Samples) -> Iterator[tuple[str, bytes]]:
    for name, content in samples.items():
        yield name, content
        yield name, b"\n \n" + content + b"\n\t \n"
        yield name, content.replace(b"\n", b"\r\n")
        yield name, content.replace(b"\n", b"\r")
        yield name, codecs.BOM_UTF8 + content


def _damaged(samples: Samples) -> Iterator[tuple[str, bytes]]:
    noise = np.random.default_rng(5).bytes(4096)
    for name, content in samples.items():
        for damaged in (
            content[: len(content) * 2 // 3],
            content + b"\xff\xfe\xfd",
            b"\xff" + content,
            content.replace(b"e", b"\xe9"),
            content.replace(b"e", b"\x00"),
            b"\xff\xfe" + content[:-1],
            noise,
            b"\x00" * 100,
            b"\xed\xa0\x80 a surrogate",
            b"---\n\t: [\n---\n" + content,
        ):
            yield name, damaged
