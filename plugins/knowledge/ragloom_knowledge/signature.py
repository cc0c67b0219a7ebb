"""What makes two lessons the same: their texts with everything that differs from run to run folded."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final
from uuid import UUID, uuid5

_NAMESPACE: Final = UUID("5b1f3a52-5c7b-5f0e-9d0e-68c3a1f2d468")
_SAME: Final = 0.5  # of the words of both texts; below it, two solutions are two patterns

# In this order: what stands first would otherwise be taken apart by what follows.
_FOLDS: Final = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s'\"<>)\]]+"), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<hash>"),
    (re.compile(r"\b0x[0-9a-f]+\b"), "<address>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"(?<![\w<])[a-z]:\\[^\s'\"<>|:*?]+"), "<path>"),
    (re.compile(r"(?<![\w<])(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?"), "<path>"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"\d+(?:[.,:_-]\d+)*"), "<number>"),
)


def folded(text: str) -> str:
    """``text`` in small letters, its URLs, paths, addresses, hashes and numbers replaced by their kind."""
    plain = text.casefold()
    for pattern, kind in _FOLDS:
        plain = pattern.sub(kind, plain)
    return " ".join(plain.split())


def signature(*parts: str | None) -> str:
    """32 hex digits that two lessons share when they are about the same thing."""
    joined = "\0".join(folded(part or "") for part in parts)
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def same_advice(left: str, right: str) -> bool:
    """Whether two solutions say the same: half of the words of both are in both (Jaccard, 1912)."""
    one, other = set(re.findall(r"\w+", folded(left))), set(re.findall(r"\w+", folded(right)))
    return one == other or len(one & other) / len(one | other) >= _SAME


def stable_id(kind: str, name: str, variant: int) -> str:
    """The UUID of the lesson with this signature: the same on every machine, in every database."""
    return str(uuid5(_NAMESPACE, f"{kind}\0{name}\0{variant}"))
