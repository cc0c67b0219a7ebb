"""A cross-encoder whose scores can be reckoned by hand, run by ONNX Runtime."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ragloom_onnx
from ragloom import ConfigError, MissingDependencyError, ModelError, PluginHost, Reranker
from ragloom_onnx import OnnxRerankerOptions
from ragloom_onnx.reranker import OnnxReranker

TINY = Path(__file__).parents[2] / "data" / "onnx" / "tiny-cross-encoder"
EMBEDDER = TINY.parent / "tiny"


def make(model=TINY, **options):
    return OnnxReranker(OnnxRerankerOptions(model=str(model), **options))


@pytest.fixture
def tiny(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


def test_each_passage_gets_its_own_score_in_the_order_given():
    passages = ["blue", "red", "Red and RED", "", "red green red green"]
    assert make().rerank("red", passages) == [0, 1, 2, 0, 2]
    assert make().rerank("red green", passages) == [0, 1, 2, 0, 4]
    assert make().rerank("", passages) == [0, 0, 0, 0, 0]


def test_of_two_logits_the_difference_is_the_score(tiny):
    (tiny / "two.onnx").replace(tiny / "model.onnx")
    assert make(tiny).rerank("red", ["blue", "red", "red red"]) == [-1, 0, 1]


def test_no_passages_load_no_model(tiny):
    reranker = make(tiny)
    (tiny / "model.onnx").write_bytes(b"not a model")
    (tiny / "tokenizer.json").write_text("{}")
    assert reranker.rerank("red", []) == []


def test_a_score_depends_neither_on_the_others_nor_on_the_threads():
    passages = ["red " * (number % 7) + "green " * (number % 3) for number in range(40)]
    scores = make(threads=1).rerank("red green", passages)
    assert make(threads=4).rerank("red green", passages) == scores
    assert [make().rerank("red green", [passage])[0] for passage in passages] == scores


def test_the_longer_text_of_a_pair_is_cut_first():
    # 11 tokens, three of them the model's own.
    assert make().rerank("red", ["red " * 7]) == [7]
    assert make().rerank("red", ["red " * 9]) == [7]
    assert make().rerank("red " * 9, ["red red"]) == [12]
    assert make().rerank("red " * 9, ["red " * 9]) == [16]
    assert make(max_tokens=6).rerank("red", ["red " * 9]) == [2]
    assert make(max_tokens=99).rerank("red", ["red " * 9]) == [7]


def test_a_lone_surrogate_is_read_as_a_question_mark():
    assert make().rerank("red \ud800", ["\udfff red"]) == [1]


def test_after_closing_it_loads_the_model_again():
    reranker = make()
    reranker.close()
    assert reranker.rerank("red", ["red"]) == [1]
    reranker.close()
    reranker.close()
    assert reranker.rerank("red", ["red"]) == [1]


def test_the_fingerprint_changes_with_the_files_and_the_longest_pair(tiny):
    fingerprints = {make(tiny).fingerprint, make(tiny, max_tokens=7).fingerprint}
    assert make(tiny).fingerprint == make(tiny, threads=3).fingerprint == make().fingerprint
    (tiny / "two.onnx").replace(tiny / "model.onnx")
    fingerprints.add(make(tiny).fingerprint)
    assert len(fingerprints) == 3


def test_the_plugin_offers_it():
    host = PluginHost({"onnx": ragloom_onnx})
    reranker = host.reranker("onnx", {"model": str(TINY), "max_tokens": "8"})
    assert isinstance(reranker, Reranker)
    assert reranker.rerank("red", ["red " * 9]) == [4]
    with pytest.raises(ConfigError, match="reranker 'onnx': option 'model' is missing"):
        host.reranker("onnx")
    with pytest.raises(ConfigError, match="max_tokens and threads must be 0 or more"):
        host.reranker("onnx", {"model": str(TINY), "threads": -1})


# What is wrong


def test_neither_a_folder_nor_a_hub_name():
    with pytest.raises(ModelError, match="no such folder, nor a name on the hub such as cross-enc"):
        make("no-such-folder")


def test_no_room_for_a_pair():
    with pytest.raises(ConfigError, match=r"max_tokens is 4, and 3 tokens .*; make it 5 or more"):
        make(max_tokens=4).rerank("red", ["red"])
    assert make(max_tokens=5).rerank("red", ["red"]) == [1]


@pytest.mark.parametrize("model", [EMBEDDER, "all-MiniLM-L6-v2"])
def test_an_embedding_model_is_no_reranker(model):
    with pytest.raises(ModelError, match=r"gives .* numbers for a pair, and a reranker gives one"):
        make(model).rerank("red", ["red"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_not_what_it_must_be_is_one_line(tiny, name):
    (tiny / name).write_text("{}")
    with pytest.raises(ModelError, match=name) as caught:
        make(tiny).rerank("red", ["red"])
    assert "\n" not in str(caught.value)


def test_an_id_that_the_model_does_not_know_is_a_model_error(tiny):
    tokenizer = json.loads((tiny / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["blue"] = 999
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match="the run failed"):
        make(tiny).rerank("red", ["red", "blue", "green"])


@pytest.mark.parametrize(
    ("module", "loaded"),
    [("onnxruntime", "ragloom_onnx.graph"), ("tokenizers", "ragloom_onnx.tokenizing")],
)
def test_a_missing_package_gives_the_pip_line(module, loaded, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    if module == "tokenizers":
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    with pytest.raises(MissingDependencyError) as caught:
        make().rerank("red", ["red"])
    assert str(caught.value) == (
        f"the reranker 'onnx' needs {module}, which is not installed: pip install 'ragloom[onnx]'"
    )


def test_a_folder_without_tokenizer_json_is_read_by_transformers_which_says_nothing(tiny):
    pytest.importorskip("transformers")
    words = json.loads((tiny / "tokenizer.json").read_text())["model"]["vocab"]
    (tiny / "tokenizer.json").unlink()
    (tiny / "vocab.txt").write_text("\n".join(sorted(words, key=words.get)) + "\n")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (tiny / "tokenizer_config.json").write_text(json.dumps(settings))
    code = (
        "from ragloom_onnx import OnnxRerankerOptions\n"
        "from ragloom_onnx.reranker import OnnxReranker\n"
        f"reranker = OnnxReranker(OnnxRerankerOptions(model={str(tiny)!r}))\n"
        "assert [0, 1, 2] == reranker.rerank('red', ['blue', 'red', 'Red and RED'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ("", "") == (done.stdout, done.stderr)  # transformers would miss PyTorch aloud
