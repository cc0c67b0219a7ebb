"""Requests in which the providers of models take a prompt.

Each of these is a formatter, too: it writes passages in the way that its provider's documentation
advises. The body is that of the provider's HTTP interface, as a plain dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragloom import Json
from ragloom.context import AugmentedPrompt
from ragloom_formats import RequestOptions
from ragloom_formats.delimited import MarkdownFormatter
from ragloom_formats.structured import XmlFormatter


class _Request:
    def __init__(self, options: RequestOptions | None = None) -> None:
        self.options = options or RequestOptions()


class AnthropicFormatter(_Request, XmlFormatter):
    """``POST /v1/messages``; passages as XML."""

    def request_body(self, prompt: AugmentedPrompt, model: str) -> Mapping[str, Json]:
        """As in :class:`ragloom.context.RequestFormatter`."""
        return {
            "model": model,
            "max_tokens": self.options.max_output_tokens or 4096,  # the provider requires one
            **({"system": prompt.system_prompt} if prompt.system_prompt else {}),
            "messages": [{"role": "user", "content": prompt.user_message}],
            "stream": self.options.stream,
        }


class OpenAIFormatter(_Request, MarkdownFormatter):
    """``POST /v1/chat/completions``, of OpenAI and of servers that are compatible; Markdown."""

    def request_body(self, prompt: AugmentedPrompt, model: str) -> Mapping[str, Json]:
        """As in :class:`ragloom.context.RequestFormatter`."""
        limit = self.options.max_output_tokens
        return {
            "model": model,
            "messages": _messages(prompt),
            **({"max_completion_tokens": limit} if limit else {}),
            "stream": self.options.stream,
        }


class GeminiFormatter(_Request, XmlFormatter):
    """``POST /v1beta/models/MODEL:generateContent``, or ``:streamGenerateContent``; XML.

    Model and streaming are chosen by the address, and not named in the body.
    """

    def request_body(
        self,
        prompt: AugmentedPrompt,
        model: str,  # noqa: ARG002 - as the protocol says
    ) -> Mapping[str, Json]:
        """As in :class:`ragloom.context.RequestFormatter`."""
        limit = self.options.max_output_tokens
        system: Json = {"parts": [{"text": prompt.system_prompt}]}
        return {
            **({"systemInstruction": system} if prompt.system_prompt else {}),
            "contents": [{"role": "user", "parts": [{"text": prompt.user_message}]}],
            **({"generationConfig": {"maxOutputTokens": limit}} if limit else {}),
        }


class OllamaFormatter(_Request, MarkdownFormatter):
    """``POST /api/chat``; Markdown."""

    def request_body(self, prompt: AugmentedPrompt, model: str) -> Mapping[str, Json]:
        """As in :class:`ragloom.context.RequestFormatter`."""
        limit = self.options.max_output_tokens
        return {
            "model": model,
            "messages": _messages(prompt),
            **({"options": {"num_predict": limit}} if limit else {}),
            "stream": self.options.stream,
        }


def _messages(prompt: AugmentedPrompt) -> list[Json]:
    user: Json = {"role": "user", "content": prompt.user_message}
    if not prompt.system_prompt:
        return [user]
    return [{"role": "system", "content": prompt.system_prompt}, user]
