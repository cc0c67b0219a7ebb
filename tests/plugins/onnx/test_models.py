"""Models in folders and on the hub, and files that are not what they must be."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ragloom_onnx
from ragloom import MissingDependencyError, ModelError
from ragloom_onnx import OnnxOptions
from ragloom_onnx.embedder import OnnxEmbedder
from ragloom_onnx.prefixes import known_prefixes

TINY = Path(__file__).parents[2] / "data" / "onnx" / "tiny"
RUNS_IN_CI = re.compile("^(CI|TF_BUILD|GITHUB_|GITLAB_|ORT_)|BUILD|JENKINS|TRAVIS|TEAMCITY")
BUNDLED = Path(ragloom_onnx.__file__).parent / "model"


def make(model, **options):
    return OnnxEmbedder(OnnxOptions(model=str(model), **options))


@pytest.fixture
def tiny(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


@pytest.fixture
def bundled(tmp_path):
    return Path(shutil.copytree(BUNDLED, tmp_path / "bundled"))


def unit(*numbers):
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def rewrite(path, **changes):
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(content | changes), encoding="utf-8")


# A folder


def test_a_folder_is_pooled_by_the_mean_over_the_tokens_that_are_not_padding(tiny):
    embedder = make(tiny)
    assert embedder.dimension == 4
    vectors = embedder.embed_passages(["red", "red green blue", ""])
    expected = [unit(1, 0, 0, 2), unit(1, 1, 1, 2), unit(0, 0, 0, 2)]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("BLUE"), unit(0, 0, 1, 2), atol=1e-6)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous


def test_a_folder_is_pooled_by_its_first_token_when_asked(tiny):
    np.testing.assert_allclose(make(tiny, pooling="cls").embed_query("red"), unit(0, 0, 0, 1))
    rewrite(
        tiny / "1_Pooling" / "config.json",
        pooling_mode_cls_token=True,
        pooling_mode_mean_tokens=False,
    )
    np.testing.assert_allclose(make(tiny).embed_query("red"), unit(0, 0, 0, 1))


def test_a_pooling_that_is_not_known_is_named(tiny):
    rewrite(tiny / "1_Pooling" / "config.json", pooling_mode_max_tokens=True)
    with pytest.raises(ModelError, match="pooling mean and max is not known"):
        make(tiny)


def test_the_truncation_and_padding_of_a_tokenizer_are_not_used(tiny):
    embedder = make(tiny)
    assert embedder.max_tokens == 8
    assert embedder.counter.count("red " * 20) == 20
    embedder.embed_passages(["red " * 8])
    assert embedder.truncated == 0
    embedder.embed_passages(["red " * 9])
    assert embedder.truncated == 1


def test_the_least_of_the_lengths_in_the_configuration_counts(tiny):
    rewrite(tiny / "sentence_bert_config.json", max_seq_length=99)
    assert make(tiny).max_tokens == 10
    rewrite(tiny / "config.json", model_type="xlm-roberta")
    assert make(tiny).max_tokens == 8
    rewrite(tiny / "tokenizer_config.json", model_max_length=7)
    assert make(tiny).max_tokens == 5


def test_many_texts_of_many_lengths_keep_their_order(tiny):
    texts = ["red", "green blue", "blue", "green green blue red"] * 9
    together = make(tiny, batch_tokens=20).embed_passages(texts)
    alone = [make(tiny, batch_tokens=1).embed_query(text) for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_the_fingerprint_changes_with_every_file_that_decides(tiny):
    fingerprints = {make(tiny).fingerprint, make(tiny, pooling="cls").fingerprint}
    for name in ("model.onnx", "tokenizer.json"):
        content = (tiny / name).read_bytes()
        (tiny / name).write_bytes(content + b"\n")
        fingerprints.add(make(tiny).fingerprint)
        (tiny / name).write_bytes(content)
    (tiny / "model.onnx_data").write_bytes(b"weights kept beside the model")
    fingerprints.add(make(tiny).fingerprint)
    assert len(fingerprints) == 5


def test_the_fingerprint_does_not_depend_on_where_the_folder_is(tiny):
    assert make(tiny).fingerprint == make(TINY).fingerprint


def test_without_a_dimension_on_record_the_model_is_asked(tiny):
    (tiny / "config.json").unlink()
    (tiny / "1_Pooling" / "config.json").unlink()
    assert make(tiny).dimension == 4


def test_prefixes_come_from_the_configuration(tiny):
    rewrite(
        tiny / "config_sentence_transformers.json",
        prompts={"query": "query: ", "document": "passage: "},
    )
    embedder, plain = make(tiny), make(tiny, query_prefix="", passage_prefix="")
    assert embedder.max_tokens == plain.max_tokens - 2
    assert embedder.fingerprint != plain.fingerprint
    np.testing.assert_array_equal(embedder.embed_query("red"), plain.embed_query("query: red"))
    np.testing.assert_array_equal(
        embedder.embed_passages(["red"]), plain.embed_passages(["passage: red"])
    )


def test_prefixes_come_from_the_name_of_a_known_family(tiny):
    folder = tiny.rename(tiny.parent / "e5-small-v2")
    assert make(folder).max_tokens == 6


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            "BAAI/bge-small-en-v1.5",
            ("Represent this sentence for searching relevant passages: ", ""),
        ),
        ("intfloat/e5-base-v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", ("", "")),
        ("nomic-ai/nomic-embed-text-v1.5", ("search_query: ", "search_document: ")),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", ("query: ", "")),
        ("BAAI/bge-m3", ("", "")),
        ("sentence-transformers/all-MiniLM-L6-v2", ("", "")),
    ],
)
def test_known_families(model, expected):
    assert known_prefixes(model) == expected


def test_a_model_in_the_onnx_folder_is_found(tiny):
    (tiny / "onnx").mkdir()
    (tiny / "model.onnx").rename(tiny / "onnx" / "model.onnx")
    assert make(tiny).embed_query("red").shape == (4,)


def test_a_copy_of_the_bundled_model_is_the_bundled_model(bundled):
    copy, original = make(bundled), make("all-MiniLM-L6-v2")
    assert copy.fingerprint == original.fingerprint
    np.testing.assert_array_equal(copy.embed_query("same"), original.embed_query("same"))


# What is wrong


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_changed_file_is_named_before_it_is_loaded(bundled, name):
    path = bundled / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"its sha256 is .* the file is damaged or was replaced"):
        make(bundled).embed_query("x")
    with pytest.raises(ModelError, match=str(path)):
        make(bundled).embed_query("x")


def test_a_missing_file_is_named(bundled):
    (bundled / "model.onnx").unlink()
    with pytest.raises(ModelError, match=r"model\.onnx: cannot be read .*No such file"):
        make(bundled).embed_query("x")


def test_a_file_that_is_no_model_is_named(tiny):
    (tiny / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"model\.onnx: cannot be loaded") as caught:
        make(tiny).embed_query("x")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_tokenizer_is_named(tiny):
    (tiny / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer\.json: not a tokenizer"):
        make(tiny).embed_query("x")


def test_a_broken_configuration_is_named(tiny):
    (tiny / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config\.json: cannot be read"):
        make(tiny)


def test_a_folder_without_a_model_says_how_to_make_one(tiny):
    (tiny / "model.onnx").unlink()
    with pytest.raises(ModelError, match="found no ONNX file; `optimum-cli export onnx"):
        make(tiny)


def test_an_id_that_the_model_does_not_know_is_a_model_error(tiny):
    tokenizer = json.loads((tiny / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["blue"] = 999
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match="the run failed"):
        make(tiny).embed_passages(["red", "blue"])


def test_a_dense_layer_that_the_file_leaves_out_is_named(tiny):
    (tiny / "2_Dense").mkdir()
    with pytest.raises(ModelError, match="has a dense layer after the pooling"):
        make(tiny).embed_query("red")


@pytest.mark.parametrize("model", ["no-such-folder", "./no/such/folder", "a/b/c", ""])
def test_neither_a_folder_nor_a_hub_name(model):
    with pytest.raises(ModelError, match="no such folder, nor a name on the hub"):
        make(model)


def test_a_hub_name_that_cannot_be_fetched_is_one_line(tmp_path):
    pytest.importorskip("huggingface_hub")
    code = (
        "from ragloom import ModelError; from ragloom_onnx import OnnxOptions;"
        "from ragloom_onnx.embedder import OnnxEmbedder\n"
        "try: OnnxEmbedder(OnnxOptions(model='nobody/nothing'))\n"
        "except ModelError as error: print(error)"
    )
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=offline
    )
    (line,) = done.stdout.splitlines()
    assert line.startswith("model 'nobody/nothing': cannot be fetched from the hub")
    assert line.endswith("or give a local folder")


def test_a_hub_name_without_the_extra_gives_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'ragloom\[hub\]'"):
        make("BAAI/bge-small-en-v1.5")


def test_a_folder_without_tokenizer_json_without_the_extra_gives_the_pip_line(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    (tiny / "tokenizer.json").rename(tiny / "vocab.json")
    with pytest.raises(MissingDependencyError, match=r"transformers.*pip install 'ragloom\[hub\]'"):
        make(tiny).embed_query("red")


def test_a_folder_without_tokenizer_json_is_read_by_transformers(tiny):
    pytest.importorskip("transformers")
    (tiny / "tokenizer.json").unlink()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", ":", "passage", "red", "green", "blue"]
    (tiny / "vocab.txt").write_text("\n".join(words) + "\n")
    rewrite(tiny / "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=True)
    embedder = make(tiny)
    np.testing.assert_allclose(embedder.embed_query("Red blue"), unit(1, 0, 1, 2), atol=1e-6)
    assert embedder.counter.count("red green: blue") == 4

    code = (
        "from ragloom_onnx import OnnxOptions\n"
        "from ragloom_onnx.embedder import OnnxEmbedder\n"
        f"OnnxEmbedder(OnnxOptions(model={str(tiny)!r})).counter"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ("", "") == (done.stdout, done.stderr)  # transformers would miss PyTorch aloud


def test_a_folder_without_any_tokenizer_is_named(tiny):
    (tiny / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"has no tokenizer\.json, nor another vocabulary"):
        make(tiny).embed_query("red")


def test_the_model_writes_no_file_for_its_runtimes_makers_and_contacts_none(tmp_path):
    """ONNX Runtime keeps a device's id and what it is about to send in the home folder, except in CI."""
    home = tmp_path / "home"
    home.mkdir()
    plain = {key: value for key, value in os.environ.items() if not RUNS_IN_CI.search(key)}
    code = (
        "from ragloom_onnx import OnnxOptions\n"
        "from ragloom_onnx.embedder import OnnxEmbedder\n"
        "OnnxEmbedder(OnnxOptions()).embed_query('how do I log errors?')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**plain, "HOME": str(home)})
    assert [] == [path for path in home.rglob("*") if path.is_file()]
