"""Formatters: retrieved passages, each with its source, for people, programs and models."""

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Formatter, NoOptions, Provider, hookimpl


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """Options of the formatters that write requests.

    Attributes:
        stream: Whether the answer should come piece by piece.
        max_output_tokens: Tokens of the answer at the most; 0 for the provider's own limit, where it
            has one. Anthropic's has none and takes 4096 then.
    """

    stream: bool = False
    max_output_tokens: int = 0

    def __post_init__(self) -> None:
        """Refuse a negative limit."""
        if self.max_output_tokens < 0:
            raise ValueError(f"max_output_tokens must be at least 0, not {self.max_output_tokens}")


@hookimpl
def ragloom_formatters() -> Iterable[Provider[Formatter]]:
    """Offer passages as text, Markdown, JSON and XML, and the requests of four providers."""
    return [
        Provider(name="text", summary="delimited blocks of plain text", create=_text),
        Provider(name="markdown", summary="fenced blocks under a heading each", create=_markdown),
        Provider(name="json", summary="one JSON object", create=_json),
        Provider(name="xml", summary="one XML element", create=_xml),
        Provider(
            name="anthropic",
            summary="requests to Anthropic's Messages, passages as XML",
            create=_anthropic,
            options=RequestOptions,
        ),
        Provider(
            name="openai",
            summary="requests to OpenAI's chat completions, passages as Markdown",
            create=_openai,
            options=RequestOptions,
        ),
        Provider(
            name="gemini",
            summary="requests to Gemini's generateContent, passages as XML",
            create=_gemini,
            options=RequestOptions,
        ),
        Provider(
            name="ollama",
            summary="requests to Ollama's chat, passages as Markdown",
            create=_ollama,
            options=RequestOptions,
        ),
    ]


def _text(_: NoOptions) -> Formatter:
    from ragloom.context import TextFormatter

    return TextFormatter()


def _markdown(_: NoOptions) -> Formatter:
    from ragloom_formats.delimited import MarkdownFormatter

    return MarkdownFormatter()


def _json(_: NoOptions) -> Formatter:
    from ragloom_formats.structured import JsonFormatter

    return JsonFormatter()


def _xml(_: NoOptions) -> Formatter:
    from ragloom_formats.structured import XmlFormatter

    return XmlFormatter()


def _anthropic(options: RequestOptions) -> Formatter:
    from ragloom_formats.provider_requests import AnthropicFormatter

    return AnthropicFormatter(options)


def _openai(options: RequestOptions) -> Formatter:
    from ragloom_formats.provider_requests import OpenAIFormatter

    return OpenAIFormatter(options)


def _gemini(options: RequestOptions) -> Formatter:
    from ragloom_formats.provider_requests import GeminiFormatter

    return GeminiFormatter(options)


def _ollama(options: RequestOptions) -> Formatter:
    from ragloom_formats.provider_requests import OllamaFormatter

    return OllamaFormatter(options)
