"""The embedder ``openai``: a model behind HTTP, at OpenAI or on your own server.

Nothing is sent until the settings name an address: there is no default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import Embedder, Provider, hookimpl

__all__ = ["OpenAIOptions", "ragloom_embedders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """Options of the embedder ``openai``.

    Attributes:
        url: Of the interface, up to ``/v1``: ``https://api.openai.com/v1``, Ollama's
            ``http://127.0.0.1:11434/v1``, vLLM's or text-embeddings-inference's. Naming it is consent:
            every passage and every query is sent there.
        model: As the server calls it, such as ``text-embedding-3-small``.
        key_env: The environment variable that holds the API key; settings never do.
        dimensions: Numbers asked for, where the model can shorten its vectors; 0 for its own.
        max_tokens: The longest text that is sent; longer ones are truncated.
        query_prefix: What is put before a query.
        passage_prefix: What is put before a passage.
        batch: Maximum number of texts in one request.
        batch_characters: Maximum number of characters in one request.
        retries: How often a request is sent again when the server is busy or does not answer.
        timeout: Seconds until an answer.
    """

    url: str = field(default="", metadata={"names": "service"})
    model: str = ""
    key_env: str = "OPENAI_API_KEY"
    dimensions: int = 0
    max_tokens: int = 512
    query_prefix: str = field(default="", metadata={"names": "nothing"})
    passage_prefix: str = field(default="", metadata={"names": "nothing"})
    batch: int = 64
    batch_characters: int = 100_000
    retries: int = 5
    timeout: float = 60.0

    def __post_init__(self) -> None:
        """Check the values."""
        if min(self.batch, self.batch_characters, self.max_tokens) < 1:
            raise ValueError("batch, batch_characters and max_tokens must be 1 or more")
        if min(self.dimensions, self.retries) < 0 or self.timeout <= 0:
            raise ValueError("dimensions and retries must be 0 or more, and timeout more than 0")


def _create(options: OpenAIOptions) -> Embedder:
    from ragloom_openai.embedder import OpenAIEmbedder

    return OpenAIEmbedder(options)


@hookimpl
def ragloom_embedders() -> Iterable[Provider[Embedder]]:
    """Offer the embedder ``openai``."""
    return [
        Provider(
            name="openai",
            summary="embeddings over HTTP: OpenAI, Ollama, vLLM, text-embeddings-inference",
            create=_create,
            options=OpenAIOptions,
        )
    ]
