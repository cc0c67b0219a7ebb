"""The embedder ``multilingual``: universal-sentence-encoder-multilingual 3, for sixteen languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Embedder, Provider, hookimpl

__all__ = ["MultilingualOptions", "ragloom_embedders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilingualOptions:
    """Options of the embedder ``multilingual``.

    Attributes:
        max_tokens: The longest passage in tokens; more of it is not read.
    """

    max_tokens: int = 256

    def __post_init__(self) -> None:
        """Refuse what can never work."""
        if self.max_tokens < 1:
            raise ValueError("max_tokens must be 1 or more")


def _create(options: MultilingualOptions) -> Embedder:
    from ragloom_multilingual.embedder import MultilingualEmbedder

    return MultilingualEmbedder(options)


@hookimpl
def ragloom_embedders() -> Iterable[Provider[Embedder]]:
    """Offer the embedder ``multilingual``."""
    return [
        Provider(
            name="multilingual",
            summary="Google's universal-sentence-encoder-multilingual 3, for sixteen languages",
            create=_create,
            options=MultilingualOptions,
            requires=("tokenizers",),
            extra="ragloom[multilingual]",
            local=True,
        )
    ]
