"""Make ``tiny-cross-encoder/``: a reranker as the hub has it, whose every score is known.

    pip install onnx numpy tokenizers
    python tests/data/onnx/make_tiny_cross_encoder.py

``model.onnx`` has one logit: how often the colours of the query stand in the passage, summed over
the tokens of both. ``two.onnx`` has two, 1 and that number.
"""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

FOLDER = Path(__file__).parent / "tiny-cross-encoder"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "and", "red", "green", "blue"]
TABLE = np.zeros((len(WORDS), 3), np.float32)
TABLE[WORDS.index("[PAD]")] = 100  # so that a padded place that is counted is seen
for column, colour in enumerate(("red", "green", "blue")):
    TABLE[WORDS.index(colour), column] = 1


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


NODES = [
    node("Gather", ["table", "input_ids"], "colours"),
    node("Mul", ["attention_mask", "token_type_ids"], "is_passage"),
    node("Sub", ["attention_mask", "is_passage"], "is_query"),
    *(
        made
        for text in ("query", "passage")
        for made in (
            node("Cast", [f"is_{text}"], f"{text}_float", to=TensorProto.FLOAT),
            node("Unsqueeze", [f"{text}_float", "last"], f"{text}_mask"),
            node("Mul", ["colours", f"{text}_mask"], f"{text}_colours"),
            node("ReduceSum", [f"{text}_colours", "tokens"], f"{text}_counts", keepdims=0),
        )
    ),
    node("Mul", ["query_counts", "passage_counts"], "shared"),
]
ONE = [node("ReduceSum", ["shared", "tokens"], "logits", keepdims=1)]
TWO = [
    node("ReduceSum", ["shared", "tokens"], "relevant", keepdims=1),
    node("Mul", ["relevant", "zero"], "nothing"),
    node("Add", ["nothing", "one"], "irrelevant"),
    node("Concat", ["irrelevant", "relevant"], "logits", axis=1),
]
CONSTANTS = {
    "table": TABLE,
    "tokens": np.array([1]),
    "last": np.array([2]),
    "zero": np.float32([0]),
    "one": np.float32([1]),
}


def write(name, last_nodes, width):
    nodes = [*NODES, *last_nodes]
    used = {name for one in nodes for name in one.input}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ints, floats = TensorProto.INT64, TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "tiny cross-encoder",
        [helper.make_tensor_value_info(name, ints, ["batch", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits", floats, ["batch", width])],
        [numpy_helper.from_array(value, key) for key, value in CONSTANTS.items() if key in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (FOLDER / name).write_bytes(model.SerializeToString(deterministic=True))


FOLDER.mkdir(exist_ok=True)
write("model.onnx", ONE, 1)
write("two.onnx", TWO, 2)

vocabulary = {word: number for number, word in enumerate(WORDS)}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]",
    pair="[CLS] $A [SEP] $B:1 [SEP]:1",
    special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
)
tokenizer.enable_truncation(5)
tokenizer.enable_padding(length=20)
tokenizer.save(str(FOLDER / "tokenizer.json"), pretty=False)
(FOLDER / "config.json").write_text(
    json.dumps({"model_type": "bert", "hidden_size": 3, "max_position_embeddings": 11}) + "\n",
    encoding="utf-8",
)
