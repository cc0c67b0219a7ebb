"""The chunkers ``sentence``, ``token`` and ``code``: where they cut."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragloom import Chunk, Chunker, ConfigError, Document
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import make_chunks
from ragloom_text.sentence_chunker import SentenceChunker
from ragloom_text.token_chunker import TokenChunker

COUNTER = RegexCounter()
SENTENCES = [f"Sentence number {n} says that {n} squared is {n * n}." for n in range(200)]


def cut(
    chunker: Chunker, text: str, *, max_tokens: int = 10_000, media_type: str = "text/plain"
) -> list[Chunk]:
    document = Document(uri="a", text=text, media_type=media_type)
    pieces = chunker.split(document, counter=COUNTER, max_tokens=max_tokens)
    return make_chunks(document, pieces, COUNTER)


class TestSentence:
    def test_whole_sentences_up_to_the_size_and_an_overlap_of_whole_sentences(self) -> None:
        chunks = cut(SentenceChunker(size=500, overlap=120), " ".join(SENTENCES))
        assert len(chunks) > 10
        for chunk in chunks:
            assert len(chunk.text) <= 500
            assert chunk.text.startswith("Sentence")
            assert chunk.text.endswith(".")
        for one, two in pairwise(chunks):
            assert 0 < one.span.end - two.span.start <= 120

    def test_defaults(self) -> None:
        chunks = cut(SentenceChunker(), " ".join(SENTENCES))
        assert 1800 < len(chunks[0].text) <= 2000

    def test_without_sentences_words_are_kept_whole(self) -> None:
        chunks = cut(SentenceChunker(size=100, overlap=20), "word " * 200)
        assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)

    def test_without_words_it_still_cuts(self) -> None:
        chunks = cut(SentenceChunker(size=100, overlap=20), "x" * 1000)
        assert {100} == {len(chunk.text) for chunk in chunks[:-1]}
        assert {20} == {a.span.end - b.span.start for a, b in pairwise(chunks)}

    @pytest.mark.parametrize(("size", "overlap"), [(1, 0), (1, 5), (10, 10), (10, 1000), (3, 2)])
    def test_it_always_moves_forward(self, size: int, overlap: int) -> None:
        chunks = cut(SentenceChunker(size=size, overlap=overlap), "A b. C d e. " * 20)
        assert all(a.span.start < b.span.start for a, b in pairwise(chunks))

    def test_a_chunk_is_no_longer_than_the_embedder_reads_where_that_is_asked_for(self) -> None:
        text = " ".join(SENTENCES)
        assert all(
            chunk.tokens <= 40 for chunk in cut(SentenceChunker(fit=True), text, max_tokens=40)
        )
        as_asked = cut(SentenceChunker(), text, max_tokens=40)
        assert cut(SentenceChunker(), text) == as_asked

    def test_impossible_settings_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="size"):
            SentenceChunker(size=0)
        with pytest.raises(ConfigError, match="overlap"):
            SentenceChunker(overlap=-1)


class TestToken:
    def test_the_next_chunk_begins_with_exactly_the_last_tokens(self) -> None:
        text = " ".join(f"word{n}" for n in range(1500))
        chunks = cut(TokenChunker(size=500, overlap=50, counter="embedder"), text)
        assert [500, 500, 500, 150] == [chunk.tokens for chunk in chunks]
        for one, two in pairwise(chunks):
            assert one.text.split()[-50:] == two.text.split()[:50]

    @pytest.mark.parametrize("counter", ["approximate", "cl100k_base"])
    def test_it_counts_as_told(self, counter: str) -> None:
        from ragloom.errors import MissingDependencyError, ModelError
        from ragloom.text.tokens import counter as counter_by_name

        try:
            named = counter_by_name(counter)
        except (MissingDependencyError, ModelError) as error:
            pytest.skip(str(error))
        chunks = cut(TokenChunker(counter=counter), " ".join(SENTENCES))
        assert all(400 <= named.count(chunk.text) <= 500 for chunk in chunks[:-1])
        if counter == "cl100k_base":
            for one, two in pairwise(chunks):
                repeated = one.text[named.spans(one.text)[-50][0] :]
                assert two.text.startswith(repeated)

    def test_chunks_end_at_sentences_blank_lines_and_fences_within_reach(self) -> None:
        chunker = TokenChunker(size=60, overlap=6, counter="embedder")
        chunks = cut(chunker, " ".join(SENTENCES))
        assert all(chunk.text.endswith(".") for chunk in chunks)
        text = f"{'word ' * 50}\n\n{'word ' * 50}"
        assert 50 == cut(chunker, text)[0].tokens
        fenced = f"{'word ' * 52}\n```\n{'x = 1 ' * 30}\n```\n"
        assert 52 == cut(chunker, fenced)[0].tokens

    @pytest.mark.parametrize(("size", "overlap"), [(1, 0), (1, 5), (10, 10), (10, 1000), (3, 2)])
    def test_it_always_moves_forward(self, size: int, overlap: int) -> None:
        chunker = TokenChunker(size=size, overlap=overlap, counter="embedder")
        chunks = cut(chunker, "A b. C d e. " * 20)
        assert all(a.span.start < b.span.start for a, b in pairwise(chunks))
        assert all(chunk.tokens <= size for chunk in chunks)

    def test_a_chunk_is_no_longer_than_the_embedder_reads_where_that_is_asked_for(self) -> None:
        text = " ".join(SENTENCES)
        fitting = cut(TokenChunker(counter="approximate", fit=True), text, max_tokens=40)
        assert all(chunk.tokens <= 40 for chunk in fitting)
        as_asked = cut(TokenChunker(counter="approximate"), text, max_tokens=40)
        assert cut(TokenChunker(counter="approximate"), text) == as_asked

    def test_impossible_settings_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="cl100k_base"):
            TokenChunker(counter="gpt-5")
        with pytest.raises(ConfigError, match="size"):
            TokenChunker(size=0)


class TestCode:
    @pytest.fixture(autouse=True)
    def _needs_grammars(self) -> None:
        pytest.importorskip("tree_sitter_language_pack")

    def chunks(self, text: str, language: str, *, max_tokens: int = 256) -> list[Chunk]:
        from ragloom_text.code_chunker import CodeChunker

        media_type = f"text/x-{language}"
        found = cut(CodeChunker(), text, max_tokens=max_tokens, media_type=media_type)
        assert all(chunk.tokens <= max_tokens for chunk in found)
        return found

    def test_functions_and_classes_with_their_comments_and_decorators(self) -> None:
        text = "import os\n\n# About é.\n@cache\ndef f():\n    return 1\n\nclass A:\n    x = 1\n"
        chunks = self.chunks(text, "python")
        assert [(), ("f",), ("A",)] == [chunk.headings for chunk in chunks]
        assert chunks[1].text == "# About é.\n@cache\ndef f():\n    return 1"
        assert (3, 6) == chunks[1].lines

    def test_a_long_class_is_cut_at_its_methods(self) -> None:
        methods = "".join(
            f"    def m{n}(self):\n        return {'x + ' * 20}{n}\n\n" for n in range(4)
        )
        chunks = self.chunks(f"class A:\n    y = 0\n\n{methods}", "python", max_tokens=80)
        paths = [("A",), *[("A", f"m{n}") for n in range(4)]]
        assert paths == [chunk.headings for chunk in chunks]
        contexts = ["A", *[f"A > m{n}" for n in range(4)]]
        assert contexts == [chunk.context for chunk in chunks]

    def test_names_are_embedded_in_words(self) -> None:
        text = "class VectorStore:\n    def open_file(self):\n        pass\n    def toJSONText(self):\n"
        text += f"        return {'x + ' * 20}y\n"
        chunks = self.chunks(text, "python", max_tokens=50)
        assert ["VectorStore", "open_file"] == list(chunks[1].headings)
        assert "Vector Store > open file" == chunks[1].context
        assert "Vector Store > to JSON Text" == chunks[2].context

    def test_a_long_function_is_cut_at_lines_and_its_name_embedded(self) -> None:
        body = "".join(f"    value_{n} = compute({n})\n" for n in range(80))
        chunks = self.chunks(f"def long():\n{body}", "python", max_tokens=60)
        assert len(chunks) > 5
        assert {"long"} == {chunk.context for chunk in chunks}
        assert all(chunk.text.endswith(")") for chunk in chunks)

    @pytest.mark.parametrize(
        ("language", "text", "paths"),
        [
            (
                "typescript",
                "export class A {\n  b(): void {}\n}\nexport const f = () => 1;\n",
                ["A", "f"],
            ),
            ("rust", "/// doc\nstruct S { a: u8 }\nimpl S { fn n() {} }\n", ["S", "S"]),
            ("go", "package p\n\nfunc F() {}\n\nfunc (s *S) M() {}\n", [None, "F", "M"]),
            ("go", "package p\n\n// S is.\ntype S struct {\n\tA int\n}\n", [None, "S"]),
            ("typescript", "export type A<T> = T[];\ntype B = { c: A<string> };\n", ["A", "B"]),
            ("c", "namespace n {\nclass A {};\n}\n", ["n"]),  # in a header
            ("java", "class A { void m() {} }\ninterface B {}\n", ["A", "B"]),
            ("cpp", "int f(int a) { return a; }\nstruct S { int a; };\n", ["f", "S"]),
            ("csharp", "class A { void M() {} }\n", ["A"]),
            ("ruby", "module M\n  class A\n  end\nend\n", ["M"]),
            ("kotlin", "class A { fun m() {} }\nfun f() {}\n", ["A", "f"]),
            ("php", "<?php\nclass A { function m() {} }\n", [None, "A"]),
        ],
    )
    def test_languages(self, language: str, text: str, paths: list[str | None]) -> None:
        found = [chunk.headings for chunk in self.chunks(text, language)]
        assert [(path,) if path else () for path in paths] == found

    def test_any_other_text_is_cut_at_lines(self) -> None:
        chunks = self.chunks("plain text\n" * 200, "plain", max_tokens=50)
        assert all(chunk.text.endswith("text") for chunk in chunks)
