r"""The data that flows through ragloom: frozen, slotted, keyword-only, and without behaviour.

Offsets: a :class:`Span` is half-open. Character spans count code points of the file's decoded text
(without a byte order mark), byte spans count bytes of the file on disk, and lines are 1-based and
inclusive; a line ends at ``\n``, ``\r\n`` or a lone ``\r``, as in CommonMark and in editors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, Union, get_args

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007
"""A value that JSON can hold: no NaN, and every key a string."""

Metadata: TypeAlias = Mapping[str, Json]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a stage (``files``, ``bytes``, ``chunks``, ``store``), how much is done, and of how much."""

Read: TypeAlias = Literal["local", "remote"]
"""Where a search reads: the index of this workspace, or the store alone."""

Mode: TypeAlias = Literal["hybrid", "rrf", "dense", "lexical"]
"""How a query is answered: by meaning and words, scores added; by both, reciprocal ranks added; by meaning;
by words."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Span(NamedTuple):
    """A half-open range, ``start`` to ``end``, of characters or of bytes."""

    start: int
    end: int


class Lines(NamedTuple):
    """An inclusive range of 1-based line numbers."""

    start: int
    end: int


class Location(NamedTuple):
    """Lines of a file, which ``uri`` names."""

    uri: str
    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that may be indexed.

    Attributes:
        uri: The path relative to the workspace, with ``/``; it names the file everywhere.
        path: The absolute path to read.
        modified: When the file was last changed, in seconds since 1970.
        encoding: The charset of a file that is not UTF-8, as the settings name it; empty to guess it.
    """

    uri: str
    path: Path
    modified: float = 0.0
    encoding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, and with it the section that begins there.

    Attributes:
        span: The lines of the heading, in characters of ``document.text``.
        level: 1 for the outermost.
        title: On one line, without markup.
    """

    span: Span
    level: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a loader made of a file.

    Attributes:
        uri: The name of the source.
        text: What is chunked: the decoded file without its front matter.
        prefix: The decoded text cut off before ``text``, such as front matter; ``prefix + text`` is
            the decoded file, and spans count from its beginning.
        metadata: Typed values from front matter or from the format; never embedded.
        media_type: Such as ``text/markdown``; chunkers may look at it.
        sections: The headings, in order and apart, where the loader knows them: the chunker ``heading``
            splits there, whatever the media type.
        encoding: The codec that turns ``prefix + text`` back into the file's bytes.
        bom: Bytes of the byte order mark before the text.
        extracted: The text was extracted (from HTML, PDF, …), so spans and bytes point into
            ``text`` as UTF-8, not into the file.
        modified: When the file was last changed, in seconds since 1970.
        content_hash: SHA-256 of the file's bytes, in hex.
        warnings: What was odd about the file, a line each.
    """

    uri: str
    text: str
    prefix: str = ""
    metadata: Metadata = field(default_factory=dict)
    media_type: str = "text/plain"
    sections: tuple[Section, ...] = ()
    encoding: str = "utf-8"
    bom: int = 0
    extracted: bool = False
    modified: float = 0.0
    content_hash: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a chunker says of a chunk; ids, lines, bytes and tokens are derived by the core.

    Attributes:
        span: Characters of ``document.text``.
        headings: The titles that lead here, outermost first.
        context: Text embedded before the chunk's own and not part of its span, such as the header
            row of a split table or the titles above a section.
        tokens: Of context and text together, where the chunker has counted them; None has them counted.
    """

    span: Span
    headings: tuple[str, ...] = ()
    context: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """An exact slice of a file.

    Attributes:
        id: 32 hex digits, from the uri and the text, with a counter for equal texts in one file: an
            edit elsewhere in the file leaves it alone.
        uri: The name of the source.
        text: ``decoded_file[span.start:span.end]``.
        span: Characters of the file's decoded text, half-open.
        lines: Lines of the file, 1-based and inclusive.
        bytes: Bytes of the file, half-open.
        headings: The titles that lead here, outermost first.
        ordinal: The place among the file's chunks, from 0.
        tokens: Tokens of what is embedded, in the embedder's own counter.
        context: Embedded before the text, not part of it; see :class:`Piece`.
        metadata: The document's metadata.
        key: In a store, 32 hex digits naming the model and the text of the vector beside it: a vector is
            used again for these only. Empty elsewhere.
    """

    id: str
    uri: str
    text: str
    span: Span
    lines: Lines
    bytes: Span
    headings: tuple[str, ...] = ()
    ordinal: int = 0
    tokens: int = 0
    context: str = ""
    metadata: Metadata = field(default_factory=dict)
    key: str = ""


Operator: TypeAlias = Literal[
    "=", "!=", "<", "<=", ">", ">=", ":", "exists", "under", "and", "or", "not"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One test on a chunk's metadata or on its ``path``, or several, joined.

    Attributes:
        field: A metadata key, dotted for nested values; ``path`` is the chunk's uri. Empty for ``and``,
            ``or`` and ``not``.
        operator: ``=`` and ``!=`` compare, with each element of a list; ``<`` ``<=`` ``>`` ``>=`` order
            numbers, dates or text; ``:`` asks whether a list contains the value or a string contains it;
            ``exists`` asks whether there is a value at all; ``under`` (for ``path``) asks whether the file
            is the given folder, or one of several, or lies below it. ``and``, ``or`` and ``not`` join
            conditions.
        value: What to compare with; None for ``exists``. For ``and``, ``or`` and ``not`` the conditions,
            of which all pass, one passes, or none does.
    """

    field: str
    operator: Operator
    value: str | int | float | bool | tuple[str, ...] | tuple[Condition, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk with what a search needs of it where neither an index nor its file is.

    Attributes:
        chunk: The chunk.
        words: Its terms as words of ASCII letters and digits, with blanks between them: what BM25 counts.
        content_hash: SHA-256 of its file, in hex.
        shard: Whose it is, where several machines write to one collection.
    """

    chunk: Chunk
    words: str = ""
    content_hash: str = ""
    shard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that answers a query; in every score higher is better, and ties break by chunk id.

    Attributes:
        chunk: What was found.
        score: The number that orders the hits of this query; meaningful only among them. A fused
            score is 0 to 1; that of a reranked hit is 1 to 2.
        relevance: 0 to 1, on an absolute scale that is the same for every query; no probability.
        cosine: Similarity of the embeddings, -1 to 1; None where no embedding was compared.
        lexical: The BM25 score, 0 or more; None where no words were compared.
        copies: Where else the same text stands, best first; it is shown once.
        more_in_file: Lines of further chunks of the file that pass the gate, best first; the last of
            the file's hits has them.
        content_hash: SHA-256 of the file that was indexed, where the setting ``check_files`` is false and
            the hit was not compared with the file; empty elsewhere.
    """

    chunk: Chunk
    score: float
    relevance: float
    cosine: float | None = None
    lexical: float | None = None
    copies: tuple[Location, ...] = ()
    more_in_file: tuple[Lines, ...] = ()
    content_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits of one query, best first, and why there are none where there are none.

    Attributes:
        query: As asked.
        space: The index that answered.
        hits: Best first.
        reason: Why ``hits`` is empty or shorter than asked for; empty when nothing needs saying.
        generation: The snapshot that answered, 0 for none.
        closest: The most relevant candidate where none is relevant enough.
        searched_for: The query with the spelling of its words corrected; empty where none was.
        pending: Chunks that have no vector yet, and were compared by their words alone.
        checked: Whether each hit was compared with its file: the setting ``check_files``.
    """

    query: str
    space: str
    hits: tuple[Hit, ...] = ()
    reason: str = ""
    generation: int = 0
    closest: Hit | None = None
    searched_for: str = ""
    pending: int = 0
    checked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a passage of a context comes from; exact, and checked against the disk where files are.

    Attributes:
        path: Relative to the workspace, with ``/``.
        file: The absolute path.
        lines: 1-based and inclusive.
        relevance: The best relevance among the hits that the passage was made of.
        text: The passage, letter for letter.
        headings: The titles that lead to it.
        content_hash: As in :class:`Hit`: of the file that was indexed, where nothing was checked.
        truncated: Whether the passage goes on in its file, and ends here for the budget.
    """

    path: str
    file: Path
    lines: Lines
    relevance: float
    text: str
    headings: tuple[str, ...] = ()
    content_hash: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the model is shown.

    Attributes:
        text: The formatted passages; empty when nothing is relevant.
        citations: One a passage, in the order of ``text``.
        tokens: Tokens of ``text``, in the budget's counter.
        max_tokens: The budget.
        hits: What was found and considered, best first.
        omitted: Hits that did not fit.
        reason: Why ``text`` is empty; empty otherwise.
        closest: As in :class:`SearchResult`, like ``searched_for`` and ``pending``.
        searched_for: The query with the spelling of its words corrected; empty where none was.
        pending: Chunks that have no vector yet.
        checked: Whether each passage was compared with its file.
    """

    text: str = ""
    citations: tuple[Citation, ...] = ()
    tokens: int = 0
    max_tokens: int = 0
    hits: tuple[Hit, ...] = ()
    omitted: tuple[Hit, ...] = ()
    reason: str = ""
    closest: Hit | None = None
    searched_for: str = ""
    pending: int = 0
    checked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Turns an embedder's raw cosine and the words that a passage shares with a query into a relevance.

    ``relevance = 1 / (1 + exp(-(bias + cosine_weight * cosine + coverage_weight * coverage +
    words_weight * ln(1 + words) + unknown_weight * unknown + agreement_weight * agreement)))``: a logistic
    regression (Platt, "Probabilistic Outputs for Support Vector Machines", 1999) that tells passages that
    answer a query from the best that an index has for queries which it does not answer.

    Attributes:
        bias: The constant term.
        cosine_weight: Weight of the raw cosine.
        coverage_weight: Weight of the coverage: the inverse document frequencies of the query's words
            found in the passage over those of all of the query's words, 0 to 1.
        source: What it was fitted on.
        words_weight: Weight of how many words the query has, stop words aside.
        unknown_weight: Weight of the share, as in the coverage, of the query's words that no document
            of the index holds.
        agreement_weight: Weight of the agreement: 1 for the chunks of a file that has both the nearest
            chunk and the best by words, and several among the best candidates; 0 for others.
        unrelated_cosine: What texts that have nothing to do with each other have: near 0 for most models,
            and 0.7 for those that were trained at a low temperature. Nearness is measured from there.
    """

    bias: float
    cosine_weight: float
    coverage_weight: float
    source: str
    words_weight: float = 0.0
    unknown_weight: float = 0.0
    agreement_weight: float = 0.0
    unrelated_cosine: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What a setting asks for beyond its workspace.

    Attributes:
        key: Of the setting, with dots.
        value: As it was written.
        place: A file and line; a variable or an option of a command, which need no trust; or ``default``.
        reason: What the value is, such as ``a path outside the workspace``.
        target: The path that it resolves to, its links followed; empty for what is no path.
    """

    key: str
    value: str
    place: str
    reason: str
    target: str = ""
