"""The embedder ``multilingual``: multilingual-e5-small, for a hundred languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Embedder, Provider, hookimpl

__all__ = ["MultilingualOptions", "ragloom_embedders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilingualOptions:
    """Options of the embedder ``multilingual``.

    Attributes:
        max_tokens: The longest passage in tokens, at most 512 with what the model adds; more of it is
            not read.
        threads: Runs at once, each on one core; 0 is one for every core.
    """

    max_tokens: int = 256
    threads: int = 0

    def __post_init__(self) -> None:
        """Refuse what can never work."""
        if self.max_tokens < 1:
            raise ValueError("max_tokens must be 1 or more")
        if self.threads < 0:
            raise ValueError("threads must be 0 or more")


def _create(options: MultilingualOptions) -> Embedder:
    from ragloom_multilingual.embedder import multilingual_embedder

    return multilingual_embedder(options)


@hookimpl
def ragloom_embedders() -> Iterable[Provider[Embedder]]:
    """Offer the embedder ``multilingual``."""
    return [
        Provider(
            name="multilingual",
            summary="multilingual-e5-small, for a hundred languages",
            create=_create,
            options=MultilingualOptions,
            requires=("onnxruntime", "tokenizers"),
            extra="ragloom[multilingual]",
            local=True,
        )
    ]
