"""Load a model's tokenizer, and truncate texts to what the model reads."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence

from tokenizers import Tokenizer

from ragloom import MissingDependencyError, ModelError
from ragloom_onnx.counter import encodable
from ragloom_onnx.files import EXTRA_HUB, VOCABULARIES, ModelFiles, first_line

_MOSTLY = (
    0.7  # XQuAD's questions: Latin at most 0.6, Greek, Russian, Arabic, Hindi and Thai at least 0.7
)
# Letters that are neither Latin nor ideographs.
_SPELT = re.compile(
    "[^\u0000-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """The tokenizer of a model, which neither truncates nor pads.

    Raises:
        ModelError: There is none, or it cannot be read.
    """
    path = files.folder / "tokenizer.json"
    if not path.is_file():
        tokenizer = _with_transformers(files)
    else:
        files.check(path)
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise ModelError(f"{path}: not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _with_transformers(files: ModelFiles) -> Tokenizer:
    # Without one, transformers would make a tokenizer that knows no word.
    if not any(any(files.folder.glob(pattern)) for pattern in VOCABULARIES):
        raise ModelError(
            f"{files.folder}: has no tokenizer.json, nor another vocabulary "
            f"({', '.join(VOCABULARIES)}); copy it from where the model is published"
        )
    # It only makes a tokenizer here, and would warn that there is no PyTorch to run models with.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingDependencyError(
            "transformers", EXTRA_HUB, f"the model {files.name!r}, which has no tokenizer.json,"
        ) from error
    try:
        wrapper = AutoTokenizer.from_pretrained(str(files.folder), local_files_only=True)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ModelError(f"{files.folder}: has no usable tokenizer: {first_line(error)}") from error
    tokenizer = getattr(wrapper, "backend_tokenizer", None)
    if not isinstance(tokenizer, Tokenizer):
        raise ModelError(
            f"{files.folder}: has no tokenizer.json, and transformers has no fast tokenizer for "
            "it; use a model that has one"
        )
    return tokenizer


def encode(
    tokenizer: Tokenizer, texts: Sequence[str], *, max_sequence: int
) -> tuple[list[list[int]], int]:
    """The token ids of each text, those at its ends included, and how many texts were truncated."""
    readable = [encodable(text) for text in texts]
    encoded: list[list[int]] = []
    truncated = 0
    for text, encoding in zip(readable, tokenizer.encode_batch_fast(readable), strict=True):
        if len(encoding) > max_sequence:
            truncated += 1
            bare = tokenizer.encode(text, add_special_tokens=False)
            bare.truncate(max_sequence - tokenizer.num_special_tokens_to_add(is_pair=False))
            encoded.append(tokenizer.post_process(bare).ids)
        else:
            encoded.append(encoding.ids)
    return encoded, truncated


def is_unknown(tokenizer: Tokenizer, text: str) -> bool:
    """Whether the vocabulary has no words of a text: no token, or letters one by one.

    A model that reads a script letter by letter was trained on next to none of it. Latin letters and
    ideographs do not count: languages write codes in the ones, and words of one character in the others.
    Nor do letters with marks of their own, which are the syllables of Hindi: के is a word.
    """
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "<unk>")
    readable = encodable(text)
    encoding = tokenizer.encode(readable, add_special_tokens=False)
    if unknown is not None and set(encoding.ids) == {unknown}:
        return True
    if readable.isascii():
        return False
    words = letters = 0
    for number, token, (start, end) in zip(
        encoding.ids, encoding.tokens, encoding.offsets, strict=True
    ):
        found = [char for char in readable[start:end] if char.isalpha()]
        words += bool(found)
        spelt = len(found) == 1 and _SPELT.match(found[0]) and not any(map(_is_mark, token))
        letters += bool(found) and bool(number == unknown or spelt)
    return letters > _MOSTLY * words


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


def encode_pairs(
    tokenizer: Tokenizer, first: str, seconds: Sequence[str], *, max_sequence: int
) -> list[tuple[list[int], list[int]]]:
    """The token ids of ``first`` with each of ``seconds``, and which of the two each belongs to.

    A pair of more than ``max_sequence`` tokens, those that the model adds included, loses the end of
    the longer of its texts until both are of one length, and then of both (transformers calls this
    ``longest_first``).
    """
    tokenizer.enable_truncation(max_sequence, strategy="longest_first")
    pairs = [(encodable(first), encodable(second)) for second in seconds]
    return [(encoding.ids, encoding.type_ids) for encoding in tokenizer.encode_batch_fast(pairs)]
