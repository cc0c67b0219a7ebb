"""Formatters: retrieved passages, each with its source, for people, programs and models."""

from collections.abc import Iterable

from ragloom import Formatter, NoOptions, Provider, hookimpl

_REQUESTS = {
    "anthropic": ("AnthropicFormatter", "requests to Anthropic's Messages, passages as XML"),
    "gemini": ("GeminiFormatter", "requests to Gemini's generateContent, passages as XML"),
    "ollama": ("OllamaFormatter", "requests to Ollama's chat, passages as Markdown"),
    "openai": ("OpenAIFormatter", "requests to OpenAI's chat completions, passages as Markdown"),
}
