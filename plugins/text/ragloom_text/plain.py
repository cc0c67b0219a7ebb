"""Files that are their own text: plain text, reStructuredText, source code, settings and data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragloom import Document, Source
from ragloom.text import read_document
from ragloom_text.openapi import is_api, outline

# Endings and the language's name in tree-sitter-language-pack.
_LANGUAGES = {
    "bash": ".bash .sh .zsh",
    "c": ".c .h",
    "clojure": ".clj .cljc .cljs",
    "cpp": ".cc .cpp .cxx .hh .hpp .hxx",
    "csharp": ".cs",
    "css": ".css",
    "csv": ".csv .tsv",
    "dart": ".dart",
    "elixir": ".ex .exs",
    "elm": ".elm",
    "erlang": ".erl .hrl",
    "fortran": ".f90 .f95 .f03",
    "go": ".go",
    "groovy": ".gradle .groovy",
    "haskell": ".hs",
    "ini": ".cfg .conf .ini",
    "java": ".java",
    "javascript": ".cjs .js .jsx .mjs",
    "json": ".json .jsonc",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "nix": ".nix",
    "objc": ".m .mm",
    "ocaml": ".ml",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1 .psm1",
    "properties": ".properties",
    "proto": ".proto",
    "python": ".py .pyi",
    "r": ".r",
    "ruby": ".rb",
    "rust": ".rs",
    "scala": ".sc .scala",
    "scss": ".scss",
    "sql": ".sql",
    "svelte": ".svelte",
    "swift": ".swift",
    "terraform": ".tf",
    "toml": ".toml",
    "tsx": ".tsx",
    "typescript": ".cts .mts .ts",
    "vue": ".vue",
    "yaml": ".yaml .yml",
    "zig": ".zig",
}
_BY_ENDING = {
    ending: language for language, endings in _LANGUAGES.items() for ending in endings.split()
}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "make",
    "jenkinsfile": "groovy",
    "justfile": "just",
    "makefile": "make",
    "procfile": "procfile",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
}
_SCRIPT = "script"  # one that its first line gives an interpreter
_MEDIA_TYPE = "text/x-"
_WITH_APIS = frozenset({"json", "yaml"})


def language_of(media_type: str) -> str | None:
    """The programming language of a document that :class:`CodeLoader` made, else None."""
    language = media_type.removeprefix(_MEDIA_TYPE)
    return language if language in _LANGUAGES and language != media_type else None


class TextLoader:
    """Reads plain text."""

    suffixes = frozenset({".log", ".text", ".txt"})
    fingerprint = "text-1"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`."""
        return read_document(source, content, media_type="text/plain")


class CodeLoader:
    """Reads source code, settings and data; the media type names the language.

    Also files without an ending, such as ``Makefile`` and ``LICENSE``: what is no code is plain text. The
    description of an API has a section an operation.
    """

    suffixes = frozenset({"", *_BY_ENDING})
    fingerprint = "code-2"
    chunker_hint = "code"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`."""
        language = _language_of(source.path, content)
        media_type = f"{_MEDIA_TYPE}{language}" if language else "text/plain"
        document = read_document(source, content, media_type=media_type)
        if language not in _WITH_APIS or not is_api(document.text):
            return document
        sections, metadata = outline(document.text)
        return replace(document, sections=sections, metadata=metadata)


def _language_of(path: Path, content: bytes) -> str:
    language = _BY_ENDING.get(path.suffix.lower()) or _BY_NAME.get(path.stem.lower(), "")
    return language or (_SCRIPT if content.startswith(b"#!") else "")
