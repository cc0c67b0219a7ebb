"""Why text is not indexed: missing sources, and files that no loader reads, counted by their ending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ragloom.config.spelling import counted, did_you_mean
from ragloom.errors import SourceError
from ragloom.reports import UnreadEnding
from ragloom.sources.screening import ending_of, head_of

_SHOWN = 5  # endings that a message names

_NAMES = """
.ai .avif .bmp .cur .drawio .eps .gif .heic .icns .ico .jpeg .jpg .png .psd .raw .sketch .svg .tif
.tiff .webp .xcf .aac .aiff .flac .m4a .mid .mp3 .ogg .opus .wav .wma .avi .m4v .mkv .mov .mp4 .mpeg
.mpg .webm .wmv .eot .otf .ttf .woff .woff2 .7z .bz2 .cab .deb .dmg .gz .iso .jar .rar .rpm .tar
.tgz .whl .xz .zip .zst .a .bin .class .dll .dylib .exe .lib .o .obj .pdb .pyc .pyd .pyo .so .wasm
.db .sqlite .sqlite3 .lock .map .pack .idx .npy .npz .onnx .parquet .pkl .pt .safetensors .tmp .bak
.swp
"""
_MEDIA = frozenset(_NAMES.split())
"""Pictures, sound, archives and what programs write for programs: nobody expects them to be read."""


class UnreadFiles:
    """What a walk passes that no loader reads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Count a file."""
        ending = ending_of(path)
        self._counts[ending] += 1
        self._examples.setdefault(ending, path)

    def endings(
        self, extras: Mapping[str, str], text_loader: str, *, media: bool
    ) -> tuple[UnreadEnding, ...]:
        """The endings with their counts, the most frequent first, and how to have them read.

        Args:
            extras: What to give to pip, by ending, where a loader lacks a package.
            text_loader: The name of the loader of plain text; empty where there is none.
            media: Also pictures, archives and the like, for a space that holds nothing else.
        """
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(
            UnreadEnding(
                ending=ending, files=files, advice=self._advice(ending, extras, text_loader)
            )
            for ending, files in ordered
            if media or ending not in _MEDIA
        )

    def _advice(self, ending: str, extras: Mapping[str, str], text_loader: str) -> str:
        if ending in extras:
            return f"pip install '{extras[ending]}'"
        if ending in _MEDIA or not ending:
            return ""
        head = head_of(self._examples[ending])
        if text_loader and head and b"\0" not in head:
            return f"settings: loaders: {{{ending}: {text_loader}}}"
        return "needs a plugin that reads it"


def named(unread: Sequence[UnreadEnding]) -> str:
    """The endings on one line: ``.abc (3 files; settings: loaders: {.abc: text}), .xyz (1 file)``."""
    shown = [
        f"{one.ending or 'no ending'} ({counted(one.files, 'file')}"
        f"{'; ' if one.advice else ''}{one.advice})"
        for one in unread[:_SHOWN]
    ]
    more = len(unread) - len(shown)
    return ", ".join(shown) + (f" and {counted(more, 'more ending')}" if more else "")


def nothing_indexed(unread: Sequence[UnreadEnding]) -> str:
    """Why a space holds no text."""
    if unread:
        return f"nothing is indexed: no loader reads {named(unread)}"
    return "nothing is indexed: no file of this space holds any text"


def why_not_indexed(name: str, roots: Callable[[], object], known: Sequence[str]) -> str:
    """What is wrong with a space that has no index: a missing source, or its name; empty for neither.

    Args:
        name: Of the space.
        roots: Finds its sources.
        known: The names of the spaces that there are.
    """
    if name in known:
        return ""
    try:
        roots()
    except SourceError as missing:
        return f"nothing is indexed in {name!r}: {missing}"
    if not known:
        return ""
    near = did_you_mean(name, known) or f" (available: {', '.join(known)})"
    return f"nothing is indexed in {name!r}{near}"
