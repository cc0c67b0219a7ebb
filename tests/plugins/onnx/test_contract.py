from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom.testing import EmbedderContract, PluginContract, RerankerContract
from ragloom_onnx import OnnxOptions, OnnxRerankerOptions
from ragloom_onnx.embedder import OnnxEmbedder
from ragloom_onnx.reranker import OnnxReranker

TINY = Path(__file__).parents[2] / "data" / "onnx" / "tiny"


@pytest.fixture(scope="module")
def model():
    embedder = OnnxEmbedder(OnnxOptions())
    yield embedder
    embedder.close()


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_onnx"


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, model):
        return model

    @pytest.fixture
    def variants(self):
        return [
            OnnxEmbedder(OnnxOptions(passage_prefix="passage: ")),
            OnnxEmbedder(OnnxOptions(max_tokens=4)),
            OnnxEmbedder(OnnxOptions(model=str(TINY))),
        ]


class TestReranker(RerankerContract):
    """Of a model that was made for tests and knows the names of colours."""

    query = "red"
    passages = ("blue", "red and red", "green", "red")

    @pytest.fixture
    def reranker(self):
        model = TINY.with_name("tiny-cross-encoder")
        return OnnxReranker(OnnxRerankerOptions(model=str(model)))
