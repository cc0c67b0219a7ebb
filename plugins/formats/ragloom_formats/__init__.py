"""Formatters ``text``, ``markdown`` and ``json``: retrieved passages, each with its source."""

from collections.abc import Iterable

from ragloom import Formatter, NoOptions, Provider, hookimpl


@hookimpl
def ragloom_formatters() -> Iterable[Provider[Formatter]]:
    """Offer the three formatters."""
    return [
        Provider(name="text", summary="delimited blocks of plain text", create=_text),
        Provider(name="markdown", summary="fenced blocks under a heading each", create=_markdown),
        Provider(name="json", summary="one JSON object", create=_json),
    ]


def _text(_: NoOptions) -> Formatter:
    from ragloom_formats.delimited import TextFormatter

    return TextFormatter()


def _markdown(_: NoOptions) -> Formatter:
    from ragloom_formats.delimited import MarkdownFormatter

    return MarkdownFormatter()


def _json(_: NoOptions) -> Formatter:
    from ragloom_formats.structured import JsonFormatter

    return JsonFormatter()
