"""Node parsers of LlamaIndex as chunkers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra [llamaindex]")

from hypothesis import given, settings
from hypothesis import strategies as st

import ragloom_llamaindex
from ragloom import (
    ConfigError,
    Document,
    MissingDependencyError,
    PluginHost,
    SourceError,
    Span,
)
from ragloom.testing.chunkers import ChunkerContract
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import make_chunks
from ragloom_llamaindex.spans import SpanFinder

DATA = Path(__file__).parents[2] / "data" / "librarian" / "docs"
FILES = sorted(DATA.rglob("*.md"))
COUNTER = RegexCounter()


def chunker(name, **options):
    return PluginHost({"llamaindex": ragloom_llamaindex}).chunker(name, options)


def cut(made, text, max_tokens=100):
    document = Document(uri="a.md", text=text, media_type="text/markdown")
    return make_chunks(
        document, made.split(document, counter=COUNTER, max_tokens=max_tokens), COUNTER
    )


class TestSentenceSplitter(ChunkerContract):
    @pytest.fixture
    def chunker(self):
        return chunker("llamaindex:SentenceSplitter")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("overlap", [0, 20])
def test_sentence_splitter_slices_every_file_exactly(path, overlap):
    text = path.read_bytes().decode()
    made = chunker("llamaindex:SentenceSplitter", chunk_size=80, chunk_overlap=overlap)

    chunks = cut(made, text, max_tokens=400)

    assert [chunk.text for chunk in chunks] == [text[slice(*chunk.span)] for chunk in chunks]
    covered = set().union(*(range(*chunk.span) for chunk in chunks))
    assert "" == "".join(c for at, c in enumerate(text) if at not in covered).strip()


def test_its_chunks_are_those_of_llama_index_itself():
    from llama_index.core.node_parser import SentenceSplitter

    text = (DATA / "standards" / "logging.md").read_bytes().decode()
    options = {"chunk_size": 120, "chunk_overlap": 0}

    chunks = cut(chunker("llamaindex:SentenceSplitter", **options), text, max_tokens=1000)

    assert SentenceSplitter(**options).split_text(text) == [chunk.text for chunk in chunks]


def test_without_sizes_it_fills_what_the_embedder_reads_in_the_embedder_s_tokens():
    text = "The signing keys are rotated on the first Monday of every month. " * 40

    chunks = cut(chunker("llamaindex:SentenceSplitter"), text, max_tokens=50)

    assert max(chunk.tokens for chunk in chunks) <= 50
    assert max(chunk.tokens for chunk in chunks) > 35


def test_what_is_too_long_for_the_embedder_is_cut_again():
    text = "The signing keys are rotated on the first Monday of every month. " * 40

    chunks = cut(chunker("llamaindex:SentenceSplitter", chunk_size=400), text, max_tokens=50)

    assert max(chunk.tokens for chunk in chunks) <= 50
    assert len(chunks) < 20


@pytest.mark.parametrize(
    "name", ["TokenTextSplitter", "MarkdownNodeParser", "SentenceWindowNodeParser"]
)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_other_parsers_give_exact_slices_too(name, path):
    text = path.read_bytes().decode()

    chunks = cut(chunker(f"llamaindex:{name}"), text, max_tokens=200)

    assert chunks
    assert [chunk.text for chunk in chunks] == [text[slice(*chunk.span)] for chunk in chunks]


def test_the_general_form_names_the_part_as_an_option():
    by_name = chunker("llamaindex:SentenceSplitter", chunk_size="90", chunk_overlap=0)
    general = chunker(
        "llamaindex", part="SentenceSplitter", options={"chunk_size": "90", "chunk_overlap": 0}
    )

    assert by_name.fingerprint == general.fingerprint
    text = (DATA / "standards" / "logging.md").read_bytes().decode()
    assert cut(by_name, text) == cut(general, text)


def test_the_fingerprint_tells_parsers_and_their_options_apart():
    made = [
        chunker("llamaindex:SentenceSplitter"),
        chunker("llamaindex:SentenceSplitter", chunk_size=90),
        chunker("llamaindex:TokenTextSplitter"),
    ]
    assert 3 == len({one.fingerprint for one in made})


def test_a_parser_that_rewrites_text_is_a_stated_error(tmp_path, monkeypatch):
    (tmp_path / "shouting.py").write_text(
        "from llama_index.core.node_parser import TextSplitter\n"
        "class Shouting(TextSplitter):\n"
        "    def split_text(self, text):\n"
        "        return [text.upper()]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(SourceError, match="chunk 1, 'HELLO', is not a slice of the file"):
        cut(chunker("llamaindex:shouting.Shouting"), "hello")


def test_a_parser_that_leaves_everything_out_is_a_stated_error():
    pytest.importorskip("bs4")
    with pytest.raises(SourceError, match="omits all of the text"):
        cut(chunker("llamaindex:HTMLNodeParser"), "no tags at all")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("llamaindex:SentenceSplitters", "did you mean 'SentenceSplitter'?"),
        ("llamaindex:SimpleVectorStore", "has no 'SimpleVectorStore'"),
        ("llamaindex:json.JSONDecoder", "is no NodeParser"),
        ("llamaindex", "which one"),
    ],
)
def test_a_wrong_name_is_one_clear_line(name, message):
    with pytest.raises(ConfigError, match=message) as caught:
        cut(chunker(name), "text")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "told"),
    [("chunk_sizes", "; did you mean 'chunk_size'"), ("zzz", r" \(legal: separator, chunk_size, ")],
)
def test_a_wrong_option_is_one_clear_line(option, told):
    with pytest.raises(ConfigError, match=f"unknown option '{option}'{told}"):
        cut(chunker("llamaindex:SentenceSplitter", **{option: 3}), "text")


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(MissingDependencyError, match="llama-index-node-parser-none"):
        cut(chunker("llamaindex:llama_index.node_parser.none.Parser"), "text")


def test_hard_linked_data_of_nltk_is_one_line_with_the_remedy(tmp_path):
    import llama_index.core

    bundled = Path(llama_index.core.__file__).parent / "_static" / "nltk_cache"
    copied, linked = tmp_path / "copied", tmp_path / "linked"
    for name in ("corpora/stopwords", "tokenizers/punkt_tab/english"):
        shutil.copytree(bundled / name, copied / name)
    shutil.copytree(copied, linked, copy_function=os.link)
    (tmp_path / "a.md").write_text("One sentence. And another one. " * 200)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ragloom",
            "chunks",
            "a.md",
            "--chunker",
            "llamaindex:SentenceSplitter",
        ],
        cwd=tmp_path,
        env={**os.environ, "NLTK_DATA": str(linked)},
        capture_output=True,
        text=True,
        check=False,
    )

    if done.returncode == 0:
        pytest.skip("this release of nltk reads hard-linked files")
    assert 1 == done.returncode
    assert 1 == len(done.stderr.splitlines())
    assert "UV_LINK_MODE=copy" in done.stderr


def test_repeated_texts_are_found_one_after_the_other():
    finder = SpanFinder("ab ab ab ab")
    assert [Span(0, 2), Span(3, 5), Span(6, 8), Span(9, 11)] == [
        finder.find("ab") for _ in range(4)
    ]


def test_only_white_space_may_differ():
    finder = SpanFinder("  one\n\n two  three")
    assert Span(2, 11) == finder.find("one two")
    assert finder.find("four") is None


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["ab", "a b", "c\n", "\t", "abab", "é"]), min_size=1))
def test_slices_of_any_text_are_found_in_order_and_cover_it(parts):
    text = "".join(parts)
    finder = SpanFinder(text)
    found = [finder.find(part) for part in parts]

    for part, span in zip(parts, found, strict=True):
        said = "" if span is None else "".join(text[slice(*span)].split())
        assert said == "".join(part.split())
    covered = {at for span in found if span for at in range(*span)}
    assert "" == "".join(c for at, c in enumerate(text) if at not in covered).strip()
