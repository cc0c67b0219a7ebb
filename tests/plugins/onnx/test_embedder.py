"""The bundled model, for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragloom import ConfigError, Embedder, Workspace
from ragloom_onnx import OnnxOptions, ragloom_embedders
from ragloom_onnx.embedder import OnnxEmbedder

REFERENCE = Path(__file__).parents[2] / "data" / "onnx"


def make(**options):
    return OnnxEmbedder(OnnxOptions(**options))


@pytest.fixture(scope="module")
def embedder():
    return make()


@pytest.fixture(scope="module")
def texts():
    return json.loads((REFERENCE / "texts.json").read_text(encoding="utf-8"))


def assert_is_table(vectors, rows):
    assert vectors.shape == (rows, 384)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_the_provider_makes_an_embedder():
    (provider,) = ragloom_embedders()
    assert provider.name == "onnx"
    assert provider.extra == "ragloom[onnx]"
    assert isinstance(provider.create(provider.options()), Embedder)


def test_vectors_are_a_table_of_unit_rows(embedder, texts):
    assert_is_table(embedder.embed_passages(texts), len(texts))


def test_no_texts_give_an_empty_table(embedder):
    assert_is_table(embedder.embed_passages([]), 0)


def test_a_query_is_one_row(embedder):
    assert_is_table(embedder.embed_query("how do I log errors?")[np.newaxis], 1)


def test_vectors_are_near_those_of_the_published_model(embedder, texts):
    expected = np.load(REFERENCE / "vectors.npy")
    cosines = (embedder.embed_passages(texts) * expected).sum(axis=1)
    assert cosines.mean() >= 0.997
    assert cosines.min() >= 0.985


def test_a_vector_does_not_depend_on_its_neighbours_or_their_order(embedder, texts):
    together = embedder.embed_passages(texts)
    backwards = embedder.embed_passages(texts[::-1])[::-1]
    alone = np.stack([embedder.embed_passages([text])[0] for text in texts])
    np.testing.assert_array_equal(backwards, together)
    np.testing.assert_array_equal(alone, together)


def test_another_embedder_and_another_number_of_threads_give_the_same_bytes(embedder, texts):
    expected = embedder.embed_passages(texts)
    np.testing.assert_array_equal(make(threads=1).embed_passages(texts), expected)
    np.testing.assert_array_equal(make(threads=5).embed_passages(texts), expected)


def test_more_texts_than_are_tokenised_at_once_keep_their_order(embedder):
    texts = [f"chapter {number}" for number in range(520)]
    vectors = embedder.embed_passages(texts)
    for position in (0, 511, 512, 519):
        np.testing.assert_array_equal(vectors[position], embedder.embed_query(texts[position]))


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\x00\x07", "\ud800 lone \udfff"])
def test_texts_without_words_are_embedded(embedder, text):
    assert_is_table(embedder.embed_passages([text]), 1)


@given(st.text(alphabet=st.characters(), max_size=300))
@settings(max_examples=60, deadline=None)
def test_every_text_is_embedded(embedder, text):
    assert_is_table(embedder.embed_passages([text]), 1)


def test_what_is_longer_than_the_model_reads_is_cut_and_counted():
    embedder = make()
    assert embedder.max_tokens == 254
    fits = "word " * 254
    vectors = embedder.embed_passages([fits, "short"])
    assert embedder.truncated == 0
    cut = embedder.embed_passages([fits + "more", "short", "word " * 5_000])
    assert embedder.truncated == 2
    np.testing.assert_array_equal(cut[0], vectors[0])
    np.testing.assert_array_equal(cut[2], vectors[0])
    embedder.embed_query(fits + "more")
    assert embedder.truncated == 3


def test_max_tokens_shortens_passages_but_not_queries():
    embedder = make(max_tokens=3)
    assert embedder.max_tokens == 3
    short, long = embedder.embed_passages(["one two three", "one two three four"])
    assert embedder.truncated == 1
    np.testing.assert_array_equal(long, short)
    assert not np.array_equal(embedder.embed_query("one two three four"), short)
    assert embedder.truncated == 1
    assert make(max_tokens=9_999).max_tokens == 254


def test_prefixes_are_put_before_queries_and_passages(embedder):
    prefixed = make(query_prefix="query: ", passage_prefix="passage: ")
    np.testing.assert_array_equal(
        prefixed.embed_query("logging"), embedder.embed_query("query: logging")
    )
    np.testing.assert_array_equal(
        prefixed.embed_passages(["logging"]), embedder.embed_passages(["passage: logging"])
    )


def test_a_passage_prefix_does_not_take_from_what_max_tokens_promises():
    embedder = make(passage_prefix="passage: ")
    assert embedder.max_tokens == 252
    embedder.embed_passages(["word " * 252])
    assert embedder.truncated == 0
    embedder.embed_passages(["word " * 253])
    assert embedder.truncated == 1


def test_a_prefix_longer_than_the_model_reads_is_refused():
    with pytest.raises(ConfigError, match="passage_prefix has 300 tokens"):
        _ = make(passage_prefix="word " * 300).max_tokens


def test_the_fingerprint_changes_with_whatever_changes_vectors():
    variants = [
        {},
        {"query_prefix": "query: "},
        {"passage_prefix": "query: "},
        {"max_tokens": 100},
    ]
    fingerprints = [make(**options).fingerprint for options in variants]
    assert len(set(fingerprints)) == len(variants)
    assert make(threads=1, batch_tokens=64, pooling="mean").fingerprint == fingerprints[0]
    assert fingerprints[0] == "517bf8976613d160175fb042d9fd3ef3"


def test_the_bundled_model_pools_in_one_way_only():
    with pytest.raises(ConfigError, match="pools by mean, not by cls"):
        make(pooling="cls")


@pytest.mark.parametrize("options", [{"threads": -1}, {"max_tokens": -1}, {"batch_tokens": 0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match="or more"):
        OnnxOptions(**options)


def test_a_closed_embedder_opens_again():
    embedder = make()
    before = embedder.embed_query("open")
    embedder.close()
    embedder.close()
    np.testing.assert_array_equal(embedder.embed_query("open"), before)


def test_the_bundled_model_ships_its_calibration(embedder):
    assert embedder.calibration.cosine_weight > 0
    assert "fit_calibration.py" in embedder.calibration.source


def in_a_fresh_process(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_importing_the_plugin_loads_nothing_heavy():
    heavy = ["numpy", "onnxruntime", "tokenizers", "transformers", "huggingface_hub"]
    code = f"import sys, ragloom_onnx; print([name for name in {heavy} if name in sys.modules])"
    assert in_a_fresh_process(code) == "[]"


def test_fingerprint_and_dimension_load_neither_model_nor_tokenizer():
    heavy = ["onnxruntime", "tokenizers", "transformers", "huggingface_hub"]
    code = (
        "import sys; from ragloom_onnx import OnnxOptions;"
        "from ragloom_onnx.embedder import OnnxEmbedder;"
        "embedder = OnnxEmbedder(OnnxOptions());"
        "embedder.fingerprint, embedder.dimension;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert in_a_fresh_process(code) == "[]"


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_the_pip_line(package):
    code = (
        f"import sys; sys.modules[{package!r}] = None;"
        "from ragloom import MissingDependencyError; from ragloom_onnx import OnnxOptions;"
        "from ragloom_onnx.embedder import OnnxEmbedder\n"
        "try: OnnxEmbedder(OnnxOptions()).embed_query('x')\n"
        "except MissingDependencyError as error: print(error.package, error)"
    )
    assert in_a_fresh_process(code) == (
        f"{package} the embedder 'onnx' needs {package}, which is not installed: "
        "pip install 'ragloom[onnx]'"
    )


@pytest.mark.parametrize("text", ["\U0001f984", "\U0001f984 \U0001f419", "ᛗᛁᛞᚷᚨᚱᛞ", "𒀀𒀁"])
def test_a_query_that_the_vocabulary_lacks_is_no_direction(embedder, text):
    np.testing.assert_array_equal(embedder.embed_query(text), np.zeros(384, np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "नाव में पानी भर गया",
        "ท่าเรือปิดในฤดูหนาว",
        "الميناء مغلق",
        "Το λιμάνι κλείνει",
        "Гавань закрыта",
        "항구",
    ],
)
def test_a_query_that_the_vocabulary_only_spells_is_no_direction(embedder, text):
    np.testing.assert_array_equal(embedder.embed_query(text), np.zeros(384, np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?",
        "\U0001f984 flaky",
        "日本",
        "[UNK] x",
        "C++",
        "E0382",
        "β-carotene and γ rays",
        "bến cảng đóng cửa",
    ],
)
def test_a_query_of_which_something_is_known_has_one(embedder, text):
    assert_is_table(embedder.embed_query(text)[np.newaxis], 1)


def test_unknown_characters_are_found_as_words_and_never_by_meaning(tmp_path):
    pages = {
        "runes.md": "ᚠᚢᚦᚨᚱᚲ ᚷᚹ",
        "unicorn.md": "\U0001f984\U0001f984",
        "cake.md": "We celebrate releases with cake.",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "ragloom.yaml").write_text("store: file", "utf-8")
    space = Workspace.open(tmp_path).space()
    space.index()

    assert ["runes.md"] == [hit.chunk.uri for hit in space.search("ᚠᚢᚦᚨᚱᚲ").hits]
    for unknown in ("ᛗᛁᛞᚷᚨᚱᛞ", "\U0001f419"):
        for mode, why in (
            ("hybrid", "no chunk shares a word"),
            ("dense", "the model knows nothing"),
        ):
            found = space.search(unknown, mode=mode, min_relevance=0.0)
            assert ((), why) == (found.hits, found.reason[: len(why)])
