"""Keep a vocabulary beside its index: a search reads it, and an index run counts only what changed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ragloom import Embedder, Embeddings, Snapshot
from ragloom.stores import replace_file
from ragloom.text import parse_json
from ragloom_templates.everyday import Forms, embed_everyday, everyday_key
from ragloom_templates.vocabulary import (
    Lists,
    TemplateWords,
    Usual,
    Vocabulary,
    build,
    count,
    key_of,
)

_VOCABULARY = "vocabulary.npz"
_COUNTED = "words.json"
_LISTS = ("salient", "held", "held_in_head")
_ARRAYS = (
    "words",
    "vectors",
    "rarity",
    "stems",
    "described",
    "descriptions",
    "begun",
    "beginnings",
)
_FORMS = ("plain", "heads", "said")
_USUAL = ("plain", "chunk", "description", "beginning")


def open_vocabulary(
    directory: Path,
    snapshot: Snapshot,
    embedder: Embedder,
    nearest: Callable[[Embeddings], npt.NDArray[np.float32]],
) -> Vocabulary:
    """The vocabulary of a snapshot: as it was kept, or built from what changed.

    It is derived: a damaged one is rebuilt, and where nothing can be written it is rebuilt each time.

    Args:
        directory: Of the index.
        snapshot: The library.
        embedder: Its model.
        nearest: The cosine of each file's best chunk with a vector.

    Raises:
        ModelError: The model does not answer.
    """
    key = key_of(snapshot, embedder)
    known = _read(directory / _VOCABULARY)
    if known is not None and known.key == key:
        return known
    if known is not None and known.model != embedder.fingerprint:
        known = None
    counted = _count(directory / _COUNTED, snapshot)
    sentences = everyday_key(embedder)
    same = known is not None and known.everyday_key == sentences
    forms = known.everyday if known is not None and same else embed_everyday(embedder)
    made = build(key, counted, (sentences, forms), nearest, embedder, known)
    with suppress(OSError):
        _write(directory / _VOCABULARY, made)
    return made


def _count(path: Path, snapshot: Snapshot) -> Sequence[TemplateWords]:
    """The words of every template, of which those that are known need not be read."""
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError, TypeError):
        known = dict(cast("dict[str, Any]", parse_json(path.read_bytes())))
    files = snapshot.file_of_row
    order = np.argsort(files, kind="stable")
    edges = np.searchsorted(files[order], np.arange(len(snapshot.uris) + 1))
    found: dict[str, TemplateWords] = {}
    for number, (uri, entry) in enumerate(snapshot.files.items()):
        key = f"{uri} {entry.content_hash} {entry.parts}"
        try:
            found[key] = TemplateWords(**known[key])
        except (KeyError, TypeError):
            rows = order[edges[number] : edges[number + 1]]
            found[key] = count(snapshot, map(int, rows))
    if found.keys() != known.keys():
        with suppress(OSError):
            kept = {key: asdict(words) for key, words in found.items()}
            replace_file(path, json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
    return [*found.values()]


def _write(path: Path, vocabulary: Vocabulary) -> None:
    arrays = {name: getattr(vocabulary, name) for name in _ARRAYS}
    for name in _LISTS:
        lists: Lists = getattr(vocabulary, name)
        arrays |= {f"{name}.words": lists.words, f"{name}.starts": lists.starts}
    arrays |= {f"everyday.{name}": getattr(vocabulary.everyday, name) for name in _FORMS}
    arrays |= {f"usual.{name}": getattr(vocabulary.usual, name) for name in _USUAL}
    arrays["named"] = np.array([vocabulary.key, vocabulary.model, vocabulary.everyday_key])
    written = io.BytesIO()
    np.savez(written, **arrays)
    replace_file(path, written.getvalue())


def _read(path: Path) -> Vocabulary | None:
    """What was kept; None where there is none that can be read."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as kept:
            key, model, sentences = kept["named"].tolist()
            lists = {
                name: Lists(words=kept[f"{name}.words"], starts=kept[f"{name}.starts"])
                for name in _LISTS
            }
            return Vocabulary(
                key=str(key),
                model=str(model),
                words=kept["words"],
                vectors=kept["vectors"],
                rarity=kept["rarity"],
                salient=lists["salient"],
                stems=kept["stems"],
                held=lists["held"],
                held_in_head=lists["held_in_head"],
                described=kept["described"],
                descriptions=kept["descriptions"],
                begun=kept["begun"],
                beginnings=kept["beginnings"],
                everyday_key=str(sentences),
                everyday=Forms(**{name: kept[f"everyday.{name}"] for name in _FORMS}),
                usual=Usual(**{name: kept[f"usual.{name}"] for name in _USUAL}),
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
