"""Formatters: retrieved passages, each with its source, for people, programs and models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from ragloom import Formatter, NoOptions, Provider, hookimpl


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """Options of the formatters that write requests.

    Attributes:
        stream: Whether the answer should be streamed.
        max_output_tokens: The most tokens of the answer; 0 for the provider's own limit, where it
            has one. Anthropic's has none and takes 4096 then.
    """

    stream: bool = False
    max_output_tokens: int = 0

    def __post_init__(self) -> None:
        """Refuse a negative limit."""
        if self.max_output_tokens < 0:
            raise ValueError(f"max_output_tokens must be at least 0, not {self.max_output_tokens}")


def _formatter(name: str, summary: str, made_by: str) -> Provider[Formatter]:
    """A formatter without options, made by ``module:class``."""

    def create(_options: NoOptions) -> Formatter:
        return _loaded(made_by)()

    return Provider(name=name, summary=summary, create=create)


def _request(name: str, summary: str, class_name: str) -> Provider[Formatter]:
    """A formatter that writes requests, too."""

    def create(options: RequestOptions) -> Formatter:
        return _loaded(f"{__name__}.provider_requests:{class_name}")(options)

    return Provider(name=name, summary=summary, create=create, options=RequestOptions)


def _loaded(made_by: str) -> Callable[..., Formatter]:
    module, _, name = made_by.partition(":")
    return cast("Callable[..., Formatter]", getattr(import_module(module), name))


@hookimpl
def ragloom_formatters() -> Iterable[Provider[Formatter]]:
    """Offer passages as text, Markdown, JSON and XML, and the requests of four providers."""
    markdown, xml = "passages as Markdown", "passages as XML"
    return [
        _formatter("text", "delimited blocks of plain text", "ragloom.context:TextFormatter"),
        _formatter(
            "markdown",
            "fenced blocks under a heading each",
            f"{__name__}.delimited:MarkdownFormatter",
        ),
        _formatter("json", "one JSON object", f"{__name__}.structured:JsonFormatter"),
        _formatter("xml", "one XML element", f"{__name__}.structured:XmlFormatter"),
        _request("anthropic", f"requests to Anthropic's Messages, {xml}", "AnthropicFormatter"),
        _request("openai", f"requests to OpenAI's chat completions, {markdown}", "OpenAIFormatter"),
        _request("gemini", f"requests to Gemini's generateContent, {xml}", "GeminiFormatter"),
        _request("ollama", f"requests to Ollama's chat, {markdown}", "OllamaFormatter"),
    ]
