"""Where a model's files are, and what its configuration says about it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from ragloom import MissingDependencyError, ModelError
from ragloom_onnx.prefixes import Prefixes, known_prefixes

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BUNDLED = "all-MiniLM-L6-v2"
EXTRA_HUB = "ragloom[hub]"

VOCABULARIES = ("vocab.txt", "vocab.json", "merges.txt", "*.model")
"""Files, one of which a model without tokenizer.json must have."""

Pooling = Literal["mean", "cls"]

_PREPARED = "ragloom.json"  # written by benchmarks/models/build_minilm.py
_ONNX_FILES = ("model.onnx", "onnx/model.onnx")
_DOWNLOADED = (
    "*.json",
    "1_Pooling/config.json",
    *_ONNX_FILES,
    "onnx/model.onnx_data",
    "model.onnx_data",
    *VOCABULARIES,
)
_FORMAT = 1
"""Of the fingerprint: raised when this code computes other vectors or scores with the same model."""

_FALLBACK_SEQUENCE = 512
_EXAMPLE = f"BAAI/bge-small-en-v1.5; the bundled model is {BUNDLED!r}"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """A model on disk.

    Attributes:
        name: What the user calls it.
        folder: Where its configuration and tokenizer are.
        onnx: The model itself.
        dimension: Numbers in a vector; None where no configuration says.
        max_sequence: Tokens it reads, those at the ends included.
        pooling: How it was trained to be pooled; None where no configuration says.
        prefixes: What it was trained to see before a query and before a passage.
        rows: The most texts in one run; None for any number.
        sha256: By file name relative to ``folder``, where it is known what the files must be; such
            a model is already optimised, too, and pools and normalises by itself.
    """

    name: str
    folder: Path
    onnx: Path
    dimension: int | None
    max_sequence: int
    pooling: Pooling | None
    prefixes: Prefixes
    rows: int | None = None
    sha256: Mapping[str, str] | None = None

    def fingerprint(self, settings: Mapping[str, object]) -> str:
        """32 hex digits; changes with the model's files and with ``settings``."""
        parts = {"format": _FORMAT, "files": dict(self.content_hashes()), **settings}
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def content_hashes(self) -> Mapping[str, str]:
        """sha256 by name of every file that decides what a vector is."""
        if self.sha256 is not None:
            return self.sha256
        paths = {*self.onnx.parent.glob(f"{self.onnx.name}*")}  # with weights kept beside it
        for pattern in ("tokenizer.json", "tokenizer_config.json", *VOCABULARIES):
            paths.update(self.folder.glob(pattern))
        return {path.relative_to(self.folder).as_posix(): sha256_of(path) for path in sorted(paths)}

    def check(self, path: Path) -> None:
        """Raise a :class:`ModelError` for a file that is not what it was when the package was made."""
        if self.sha256 is None:
            return
        expected, found = self.sha256[path.name], sha256_of(path)
        if found != expected:
            raise ModelError(
                f"{path}: its sha256 is {found[:12]}…, not {expected[:12]}…: the file is damaged "
                f"or was replaced; {_remedy(self.folder)}"
            )


def find_model(model: str, *, example: str = _EXAMPLE) -> ModelFiles:
    """The files of the bundled model, of one in a folder, or of one on the hub, downloaded then.

    Args:
        model: The bundled model's name, a folder, or a name on the hub.
        example: Of a name on the hub, for the message.

    Raises:
        ModelError: There is no such model, or it cannot be used.
    """
    if model == BUNDLED:
        return _read(Path(__file__).parent / "model", BUNDLED)
    folder = Path(os.path.expanduser(model))  # noqa: PTH111 - Path's fails for an unknown user
    if model and folder.is_dir():
        return _read(folder, model)
    if _HUB_NAME.fullmatch(model):
        return _read(_download(model), model)
    raise ModelError(f"model {model!r}: no such folder, nor a name on the hub such as {example}")


def tokenizer_of(files: ModelFiles, *, part: str) -> Tokenizer:
    """The tokenizer of a model; ``part`` names the component that needs it, for the message."""
    try:
        from ragloom_onnx.tokenizing import load_tokenizer
    except ModuleNotFoundError as error:
        raise MissingDependencyError("tokenizers", "ragloom[onnx]", part) from error
    return load_tokenizer(files)


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hex; :class:`ModelError` where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror}); {_remedy(path.parent)}"
        ) from error


def _remedy(folder: Path) -> str:
    if folder == Path(__file__).parent / "model":
        return "pip install --force-reinstall --no-deps ragloom"
    return "put the right file there"


def _download(name: str) -> Path:
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise MissingDependencyError("huggingface-hub", EXTRA_HUB, f"the model {name!r}") from error
    try:
        folder: str = huggingface_hub.snapshot_download(name, allow_patterns=list(_DOWNLOADED))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise ModelError(
            f"model {name!r}: cannot be fetched from the hub ({first_line(error)}); check the name and "
            "the network, or give a local folder"
        ) from error
    return Path(folder)


def first_line(error: Exception) -> str:
    """The first line of a message, or the kind of error."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _read(folder: Path, name: str) -> ModelFiles:
    prepared = _json(folder / _PREPARED)
    if prepared:
        return ModelFiles(
            name=cast("str", prepared["name"]),
            folder=folder,
            onnx=folder / "model.onnx",
            dimension=cast("int", prepared["dimension"]),
            max_sequence=cast("int", prepared["max_sequence"]),
            pooling=cast("Pooling", prepared["pooling"]),
            prefixes=("", ""),
            rows=cast("int", prepared["rows"]),
            sha256=cast("dict[str, str]", prepared["sha256"]),
        )
    config = _json(folder / "config.json")
    pooling = _json(folder / "1_Pooling" / "config.json")
    return ModelFiles(
        name=name,
        folder=folder,
        onnx=_onnx_file(folder),
        dimension=_number(pooling, "word_embedding_dimension") or _number(config, "hidden_size"),
        max_sequence=_max_sequence(folder, config),
        pooling=_pooling(folder, pooling),
        prefixes=_prefixes(folder, name, config),
    )


def _json(path: Path) -> Mapping[str, object]:
    """An object in a file; empty where there is no such file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read: {first_line(error)}") from error
    return content if isinstance(content, dict) else {}


def _number(config: Mapping[str, object], key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and value > 0 else None


def _onnx_file(folder: Path) -> Path:
    for name in _ONNX_FILES:
        if (folder / name).is_file():
            return folder / name
    others = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(others) == 1:
        return others[0]
    found = ", ".join(path.name for path in others) or "no ONNX file"
    raise ModelError(
        f"{folder}: there must be model.onnx or onnx/model.onnx, found {found}; "
        "`optimum-cli export onnx --model NAME FOLDER` makes one"
    )


def _max_sequence(folder: Path, config: Mapping[str, object]) -> int:
    """The least of what the configurations say, as sentence-transformers has it."""
    said = [
        _number(_json(folder / "sentence_bert_config.json"), "max_seq_length"),
        _number(_json(folder / "tokenizer_config.json"), "model_max_length"),
        _positions(config),
    ]
    return min((number for number in said if number), default=_FALLBACK_SEQUENCE)


def _positions(config: Mapping[str, object]) -> int | None:
    """Positions that a text may take: RoBERTa's begin after the padding id (0 or 1)."""
    positions = _number(config, "max_position_embeddings")
    roberta = str(config.get("model_type", "")) in {"roberta", "xlm-roberta", "camembert", "mpnet"}
    return positions - 2 if positions and roberta else positions


def _pooling(folder: Path, config: Mapping[str, object]) -> Pooling | None:
    chosen = [
        key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for key, value in config.items()
        if key.startswith("pooling_mode_") and value is True
    ] or [str(config[key]) for key in ("pooling_mode",) if key in config]
    if not chosen:
        return None
    if chosen not in (["mean"], ["cls"]):
        raise ModelError(
            f"{folder / '1_Pooling' / 'config.json'}: pooling {' and '.join(chosen)} is not known, "
            "only mean or cls"
        )
    return cast("Pooling", chosen[0])


def _prefixes(folder: Path, name: str, config: Mapping[str, object]) -> Prefixes:
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and prompts.get("query"):
        passage = prompts.get("passage") or prompts.get("document") or ""
        return str(prompts["query"]), str(passage)
    known = map(known_prefixes, (name, folder.name, str(config.get("_name_or_path", ""))))
    return next(filter(any, known), ("", ""))
