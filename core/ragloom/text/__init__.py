"""The kit for loaders and chunkers: decoding, front matter, JSON, splitting, sentences, tokens, secrets."""

from ragloom.secrets.names import is_secret
from ragloom.secrets.redaction import hide, hide_passwords, redact
from ragloom.text.chunks import embedded_text, join_context, line_starts, make_chunks
from ragloom.text.decoding import Decoded, decode, read_document, read_regular
from ragloom.text.embedded_data import without_data
from ragloom.text.front_matter import FrontMatter, FrontMatterError, split_front_matter
from ragloom.text.parsing import parse_json
from ragloom.text.sentences import sentence_starts
from ragloom.text.splitting import (
    Atom,
    Boundaries,
    Budget,
    between_words,
    blank_line_starts,
    line_starts_within,
    sentence_starts_within,
    split_to_fit,
    stripped,
    tile,
)
from ragloom.text.tokens import COUNTERS, counter

__all__ = [
    "COUNTERS",
    "Atom",
    "Boundaries",
    "Budget",
    "Decoded",
    "FrontMatter",
    "FrontMatterError",
    "between_words",
    "blank_line_starts",
    "counter",
    "decode",
    "embedded_text",
    "hide",
    "hide_passwords",
    "is_secret",
    "join_context",
    "line_starts",
    "line_starts_within",
    "make_chunks",
    "parse_json",
    "read_document",
    "read_regular",
    "redact",
    "sentence_starts",
    "sentence_starts_within",
    "split_front_matter",
    "split_to_fit",
    "stripped",
    "tile",
    "without_data",
]
