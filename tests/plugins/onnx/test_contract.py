from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom.testing import EmbedderContract, PluginContract
from ragloom_onnx import OnnxOptions
from ragloom_onnx.embedder import OnnxEmbedder

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
