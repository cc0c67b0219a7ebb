"""Everyday sentences, which no template is for: what is near to them anyway is no evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ragloom import Embedder, Embeddings
from ragloom_templates.chunker import head_of_problem

_BETWEEN_CLAUSES = re.compile(r"[.,;:?!]| and | but | because | so that ")
_CLAUSES = 12  # of a long problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Vectors of e problems, each embedded in three forms.

    Attributes:
        plain: ``(e, d)`` float16: each as it stands.
        heads: ``(e, d)`` float16: each in the form of a head.
        said: ``(e, d)`` float16: the mean of the clauses of each, which is not of unit length.
    """

    plain: npt.NDArray[np.float16]
    heads: npt.NDArray[np.float16]
    said: npt.NDArray[np.float16]


def everyday() -> Sequence[str]:
    """The sentences."""
    text = files("ragloom_templates").joinpath("everyday.txt").read_text("utf-8")
    return text.splitlines()


def everyday_key(embedder: Embedder) -> str:
    """Names the sentences and the model."""
    named = "\n".join([embedder.fingerprint, *everyday()])
    return blake2b(named.encode(), digest_size=8).hexdigest()


def embed_everyday(embedder: Embedder) -> Forms:
    """The vectors of the sentences.

    Raises:
        ModelError: The model does not answer.
    """
    forms = [embed_problem(text, embedder) for text in everyday()]
    plain, heads, said = (np.stack(some).astype(np.float16) for some in zip(*forms, strict=True))
    return Forms(plain=plain, heads=heads, said=said)


def embed_problem(problem: str, embedder: Embedder) -> tuple[Embeddings, Embeddings, Embeddings]:
    """``(d,)`` float32 each: a problem as it stands, in the form of a head, its clauses on average.

    Raises:
        ModelError: The model does not answer.
    """
    parts = clauses(problem)
    plain = embedder.embed_query(problem)
    said = plain if parts == [problem] else np.mean([*map(embedder.embed_query, parts)], axis=0)
    return plain, embedder.embed_query(head_of_problem(problem)), said


def clauses(problem: str) -> Sequence[str]:
    """The clauses of a problem, of three words and more; the problem itself where there is none."""
    found = [part.strip() for part in _BETWEEN_CLAUSES.split(problem)]
    return [part for part in found if len(part.split()) > 2][:_CLAUSES] or [problem]  # noqa: PLR2004
