"""Events of coding agents, as their hooks pass them, and the block of lessons for each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ragloom.text import counter, parse_json
from ragloom_knowledge.block import fitting, pattern_block
from ragloom_knowledge.knowledge import KnowledgeBase
from ragloom_knowledge.types import Patterns

_LONGEST: Final = 2000  # characters of a query; more of a prompt tells no more
_TAIL: Final = 1_000_000  # bytes of a transcript that are read
_FAILED: Final = ("error", "stderr", "message", "stdout", "output")


def block_for_event(knowledge: KnowledgeBase, event: str, content: bytes) -> str:
    """The block of what is known for an event; empty where nothing is, or where the event says nothing.

    Args:
        knowledge: The lessons.
        event: ``UserPromptSubmit``, ``PostToolUse``, ``PostToolUseFailure`` or ``SubagentStop``.
        content: The event's JSON.

    Raises:
        RagloomError: The database, the model or the index failed.
        ValueError: It is not JSON.
    """
    given = parse_json(content)
    if not isinstance(given, Mapping):
        return ""
    if event == "UserPromptSubmit":
        prompt = _text(given.get("prompt"))
        found = knowledge.query_for_task(prompt[:_LONGEST]) if prompt else Patterns()
    else:
        said = _last_message(given) if event == "SubagentStop" else _failure(given, event)
        found = knowledge.query_for_failure("", _ends(said)) if said else Patterns()
    shown, avoid = fitting(found, counter(), knowledge.settings.max_tokens, found.avoid)
    return pattern_block(shown, avoid) if shown or avoid else ""


def _ends(report: str) -> str:
    """Where a report names the error: Java and JavaScript begin with it, Python ends with it."""
    if len(report) <= _LONGEST:
        return report
    half = _LONGEST // 2
    return f"{report[:half]}\n{report[-half:]}"


def _failure(event: Mapping[str, object], name: str) -> str:
    """What a tool reported; empty for one that did not fail."""
    if error := _text(event.get("error")):
        return error
    response = event.get("tool_response")
    if isinstance(response, str):
        return response if name == "PostToolUseFailure" else ""
    if not isinstance(response, Mapping):
        return ""
    code = response.get("exit_code", response.get("exitCode", response.get("returncode")))
    failed = bool(code) or any(response.get(key) for key in ("is_error", "isError", "error"))
    if not failed and name != "PostToolUseFailure":
        return ""
    return "\n".join(text for key in _FAILED if (text := _text(response.get(key))))


def _last_message(event: Mapping[str, object]) -> str:
    """What a subagent said last: from the event itself, or from the end of its transcript."""
    if event.get("stop_hook_active"):  # it goes on because of this hook: a second block would loop
        return ""
    if said := _text(event.get("last_assistant_message")):
        return said
    for key in ("agent_transcript_path", "transcript_path"):
        path = _text(event.get(key))
        for line in _lines_from_the_end(Path(path).expanduser()) if path else ():
            with suppress(ValueError, AttributeError):
                entry = json.loads(line)
                message = entry.get("message") or entry
                if message.get("role") == "assistant" and (said := _content(message["content"])):
                    return said
    return ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    )


def _lines_from_the_end(path: Path) -> Iterator[bytes]:
    with suppress(OSError), path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL))
        yield from reversed(stream.read(_TAIL).splitlines())


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
