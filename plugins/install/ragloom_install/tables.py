"""Change one table of a TOML file: comments and order stay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence


def put(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """``text`` with a table of that path, instead of the one that it has.

    Raises:
        ValueError: It is not TOML, or the table is written in a way that is not to be changed safely.
    """
    if _held(text, path) == _plain(values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [
        f"[{'.'.join(path)}]",
        *(f"{key} = {json.dumps(value)}" for key, value in values.items()),
    ]
    table = "".join(line + newline for line in lines)
    if (span := _span(text, path)) is not None:
        changed = text[: span[0]] + table + text[span[1] :]
    else:
        ended = text if not text or text.endswith("\n") else text + newline
        changed = ended + (newline if ended.strip() else "") + table
    _checked(changed, path, values)
    return changed


def drop(text: str, path: Sequence[str]) -> str:
    """``text`` without that table; as it is where it has none.

    Raises:
        ValueError: It is not TOML, or the table is written in a way that is not to be changed safely.
    """
    if _held(text, path) is None:
        return text
    if (span := _span(text, path)) is None:
        raise ValueError(f"{'.'.join(path)} is not written as a table of its own")
    changed = text[: span[0]].rstrip(" \t\r\n")
    rest = text[span[1] :]
    newline = "\r\n" if "\r\n" in text else "\n"
    changed = (changed + newline if changed else "") + (
        newline + rest if changed and rest else rest
    )
    if _held(changed, path) is not None:
        raise ValueError(f"{'.'.join(path)} stands there twice")
    return changed


def _held(text: str, path: Sequence[str]) -> object:
    found: object = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """From the table's header to the end of its last line that is no comment of what follows."""
    name = r"\s*\.\s*".join(
        rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in path
    )
    found = re.search(rf"(?m)^[ \t]*\[[ \t]*{name}[ \t]*\][^\n]*(?:\n|\Z)", text)
    if not found:
        return None
    end = found.end()
    for line in re.finditer(r"[^\n]*(?:\n|\Z)", text[found.end() :]):
        stripped = line[0].strip()
        if re.match(r"\[", stripped) and not re.match(rf"\[[ \t]*{name}[ \t]*\.", stripped):
            break
        if stripped and not stripped.startswith("#"):
            end = found.end() + line.end()
        if not line[0]:
            break
    return found.start(), end


def _checked(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> None:
    try:
        if _held(text, path) == _plain(values):
            return
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{'.'.join(path)} cannot be added: {error}") from error
    raise ValueError(f"{'.'.join(path)} is written in a way that is not to be changed safely")


def _plain(values: Mapping[str, str | Sequence[str]]) -> dict[str, object]:
    return {key: one if isinstance(one, str) else list(one) for key, one in values.items()}
