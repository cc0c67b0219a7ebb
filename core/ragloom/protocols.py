"""What a component must do. A plugin's object only has to have these methods; nothing is inherited.

Every component is made by its :class:`~ragloom.Provider` from validated options, is used from one thread
at a time, and never changes what it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, runtime_checkable

from ragloom.types import Calibration, Chunk, Condition, Context, Document, Piece, Source

if TYPE_CHECKING:  # numpy would be half of what `import ragloom` costs
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")

Embeddings: TypeAlias = "npt.NDArray[np.float32]"
"""``(n, d)`` or ``(d,)`` float32, C-contiguous; every row finite and of unit length."""


@runtime_checkable
class Loader(Protocol):
    """Turns the bytes of a file into a document.

    A loader may have an attribute ``chunker``: the name of the chunker that splits its documents, unless
    the setting ``chunkers`` names another for the file's ending. A format that only has headings of its own
    needs none: the loader hands them over as ``Document.sections``.

    A loader whose time or memory a file decides, such as one that unpacks, has an attribute
    ``isolated = True`` and can be pickled: it runs in a process of its own, which is killed where a file
    takes more than ``max_file_seconds``.
    """

    @property
    def suffixes(self) -> frozenset[str]:
        """The file name endings it reads, lower case and with the dot, such as ``.md``.

        An empty one stands for files without an ending; its loader reads any text file that is named, too.
        """

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same bytes would give another document."""

    def load(self, source: Source, content: bytes) -> Document:
        """Decode and parse ``content``.

        Whatever is odd about a file but can be lived with becomes one of ``Document.warnings``.

        Raises:
            SourceError: The file cannot be understood. The run goes on without it.
        """


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens as one particular model does.

    A counter may have an attribute ``additive = True``: the counts of two texts add up where a space, tab
    or line end stands between them, as with WordPiece. Chunkers then count less often.
    """

    @property
    def name(self) -> str:
        """The model or vocabulary, such as ``all-MiniLM-L6-v2`` or ``cl100k_base``."""

    def count(self, text: str) -> int:
        """Tokens in ``text``, without those that a model adds at its ends."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The half-open character span of every token, in order and not overlapping."""


@runtime_checkable
class Chunker(Protocol):
    """Splits a document into chunks."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same document would be split otherwise."""

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterable[Piece]:
        """Split ``document.text``.

        Pieces come in order of their start; together they cover every character that is not blank.
        The same document gives the same pieces.

        Args:
            document: What to split; its ``sections``, where there are any, are its headings.
            counter: The embedder's own tokenizer.
            max_tokens: The longest text, context included, that the embedder reads whole.
        """


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how alike they are.

    An embedder may have an attribute ``foreign_hint``: what to do where much of the text is not in English,
    which the first index run says then.
    """

    @property
    def fingerprint(self) -> str:
        """Changes with whatever changes the vectors. Cheap: loads no model."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""

    @property
    def counter(self) -> TokenCounter:
        """The model's own tokenizer."""

    @property
    def max_tokens(self) -> int:
        """The longest passage read whole, in tokens of ``counter``."""

    @property
    def truncated(self) -> int:
        """Texts of which only the beginning was embedded, since this object was made."""

    @property
    def calibration(self) -> Calibration | None:
        """How a cosine of this model becomes a relevance; None for the default curve."""

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """``(len(texts), dimension)`` float32 in the order given; ``(0, dimension)`` for none.

        Raises:
            ModelError: The model cannot be loaded or does not answer.
        """

    def embed_query(self, text: str) -> Embeddings:
        """``(dimension,)`` float32; zeros where the model knows nothing that the text is made of.

        Raises:
            ModelError: The model cannot be loaded or does not answer.
        """

    def close(self) -> None:
        """Free the memory. The next call loads the model again."""


@runtime_checkable
class Store(Protocol):
    """Keeps chunks and their vectors for good: the record from which a snapshot can be rebuilt.

    An index run opens it, writes and closes it, and holds the space's lock meanwhile. Searches go to the
    snapshot. A store that also answers them is a :class:`SearchableStore`.
    ``open`` creates what does not exist. Written means durable: what :meth:`upsert` and :meth:`delete`
    did is there after :meth:`close`, whatever becomes of the process.
    """

    @property
    def fingerprint(self) -> str:
        """Says which store this is: changes when the chunks would be found elsewhere."""

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """Connect, and create what is missing.

        Args:
            space: The index, such as ``docs``; two spaces never see each other's chunks.
            dimension: Numbers in a vector.
            directory: A folder of this space's own, for stores that keep files; it exists.

        Raises:
            StoreLockedError: Another process holds it; the message names the holder.
            StoreDamagedError: Its content is damaged, which any other method may find, too: it is rebuilt.
            StoreError: It cannot be reached, was made for another dimension or by a newer release, or the
                machine refuses a descriptor, space or permission, which damages nothing.
        """

    def close(self) -> None:
        """Write everything out and let go. Closing twice does nothing."""

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id.

        Raises:
            StoreError: A vector is not finite or has the wrong length, or a field is too long: nothing
                is written then.
        """

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; ids that are not there are ignored."""

    def count(self) -> int:
        """Chunks in the space."""

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in batches, in the order of the ids; every field as it was given."""

    def drop(self) -> None:
        """Remove this space's chunks, and nothing else."""


@runtime_checkable
class SearchableStore(Store, Protocol):
    """A store that has :meth:`search`, too, and answers searches instead of the snapshot.

    Readers open it, and only search. Where the options decide whether it is searched, its provider makes an
    object with :meth:`search` or one without.
    """

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The ids of the ``limit`` nearest chunks that pass every condition, and their cosine.

        Best first, ties by id; +1 is the same direction, 0 orthogonal, -1 opposite.
        """


@runtime_checkable
class Reranker(Protocol):
    """Reads a query and a passage together, and says how well the one answers the other."""

    @property
    def fingerprint(self) -> str:
        """Changes with whatever changes the scores."""

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """A finite score for every passage, in the order given; higher is better.

        Scores of one reranker can be compared with each other and with nothing else. That of a passage
        does not depend on the passages beside it. No passages, no scores, and no model is loaded.

        Raises:
            ModelError: The model cannot be loaded or does not answer.
        """

    def close(self) -> None:
        """Free the memory. The next call loads the model again."""


@runtime_checkable
class Formatter(Protocol):
    """Writes a context as text for a model or for a program."""

    def render(self, context: Context) -> str:
        """The passages of ``context.citations`` in order, each with its source.

        No citations render to an empty or an explicitly empty text, never to an error. Retrieved text
        cannot close the delimiters around it.
        """


class WorkspaceView(Protocol):
    """What a hook sees of a workspace; a :class:`~ragloom.Workspace` is passed."""

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""

    @property
    def state(self) -> Path:
        """The folder of the indexes; a plugin keeps its own files in a folder below it."""

    def section(self, name: str, section: type[T]) -> T:
        """The settings that a plugin declared under ``name``, of that type."""
