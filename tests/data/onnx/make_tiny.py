"""Make ``tiny/``: a folder as a hub model has it, with a model whose every vector is known.

    pip install onnx numpy tokenizers
    python tests/data/onnx/make_tiny.py

A token's vector is its row of a table, whatever stands around it: what the tests expect of pooling
can be reckoned by hand.
"""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

FOLDER = Path(__file__).parent / "tiny"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", ":", "passage", "red", "green", "blue"]
TABLE = np.zeros((len(WORDS), 4), np.float32)
TABLE[WORDS.index("[PAD]")] = 100  # so that a padded place that is pooled is seen
TABLE[WORDS.index("[CLS]"), 3] = 1
TABLE[WORDS.index("[SEP]"), 3] = 1
TABLE[WORDS.index("[UNK]")] = (1, 1, 1, 0)
TABLE[WORDS.index("red"), 0] = 1
TABLE[WORDS.index("green"), 1] = 1
TABLE[WORDS.index("blue"), 2] = 1

names = ["input_ids", "attention_mask", "token_type_ids"]
model = helper.make_model(
    helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in names],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 4]
            )
        ],
        [numpy_helper.from_array(TABLE, "table")],
    ),
    opset_imports=[helper.make_opsetid("", 17)],
    ir_version=8,
)
(FOLDER / "1_Pooling").mkdir(parents=True, exist_ok=True)
(FOLDER / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))

tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
tokenizer.enable_truncation(5)
tokenizer.enable_padding(length=5)
tokenizer.save(str(FOLDER / "tokenizer.json"), pretty=False)

for name, content in {
    "config.json": {"model_type": "bert", "hidden_size": 4, "max_position_embeddings": 12},
    "sentence_bert_config.json": {"max_seq_length": 10},
    "1_Pooling/config.json": {
        "word_embedding_dimension": 4,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
    },
}.items():
    (FOLDER / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
