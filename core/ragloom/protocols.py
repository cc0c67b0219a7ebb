"""What a component must do. A plugin's object only has to have these methods; nothing is inherited.

Every component is made by its :class:`~ragloom.Provider` from validated options, is used from one thread
at a time, and never changes what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, runtime_checkable

from ragloom.types import (
    Calibration,
    Chunk,
    Condition,
    Context,
    Document,
    Piece,
    Source,
    StoredChunk,
)

if TYPE_CHECKING:  # numpy would be half of what `import ragloom` costs
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")
Batch = TypeVar("Batch")
Done = TypeVar("Done")

Embeddings: TypeAlias = "npt.NDArray[np.float32]"
"""``(n, d)`` or ``(d,)`` float32, C-contiguous; every row finite and of unit length."""


@runtime_checkable
class Loader(Protocol):
    """Turns the bytes of a file into a document.

    A loader may have an attribute ``chunker``: the name of the chunker that splits its documents, unless
    the setting ``chunkers`` names another for the file's ending. A format that only has headings of its own
    needs none: the loader hands them over as ``Document.sections``. An attribute ``chunker_hint`` names
    a chunker that splits source code by its definitions: the first index run says so, once, where another
    chunker splits code.

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

    def put_records(self, records: Mapping[str, str]) -> None:
        """Keep texts beside the chunks, each in place of the one of its name; an empty one removes it.

        They are no chunks: nothing counts, scans or finds them. :meth:`drop` removes them.

        Args:
            records: Names of 64 ASCII letters, digits, ``-`` and ``.`` at most, and texts of 60,000 bytes.
        """

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """Those of the records that are there, by name."""


@runtime_checkable
class RemoteStore(SearchableStore, Protocol):
    """A searchable store that machines read which have nothing else: no snapshot, no files.

    Its rows belong to shards. An open one writes, counts, scans and searches its own shard alone;
    the methods below read all shards.
    """

    def connect(self, *, space: str) -> None:
        """Open a space for reading, whatever its dimension; raises as :meth:`Store.open`.

        Raises:
            NotIndexedError: Nobody has written to the space.
        """

    @property
    def ranks_words(self) -> bool:
        """Whether the store searches by words, too: an older server may not, a closed store does not."""

    def upsert_stored(self, rows: Sequence[StoredChunk], vectors: Embeddings) -> None:
        """As :meth:`Store.upsert`, with what a search needs of the chunks; ``shard`` is the store's own."""

    def known(self, keys: Sequence[str]) -> Mapping[str, Embeddings]:
        """Vectors by :attr:`ragloom.Chunk.key`, of any shard; keys that nobody has are omitted."""

    def shard_records(self, names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """The records of every shard that has one of them: shard to name to text."""

    def find(
        self,
        words: str,
        vector: Embeddings | None,
        *,
        limit: int,
        where: Sequence[Condition] = (),
    ) -> Sequence[tuple[StoredChunk, Embeddings]]:
        """The best chunks of all shards by words and by vector, and their vectors; each once, in any order.

        Args:
            words: As in :class:`ragloom.StoredChunk`; empty for none.
            vector: ``(d,)``; None for none.
            limit: Of the chunks by words, and of those by vector.
            where: What every chunk passes.

        Returns:
            With ``vector``, also the farthest chunk, which is the end of the scale.
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
class Runner(Protocol):
    """Runs the work of an index run over batches of files: here, or on other processes and machines."""

    @property
    def elsewhere(self) -> bool:
        """Whether work runs in other processes, which then embed, too.

        What :meth:`run` is given can be pickled then, and so can batches and results.
        """

    def run(
        self, start: Callable[[], Callable[[Batch], Done]], batches: Iterable[Batch]
    ) -> Iterator[tuple[int, Done]]:
        """Work on every batch once, and give each result with the place of its batch, from 0.

        Args:
            start: Called once in each process that works; it returns what is called with each batch. Keep
                it there: it holds a model.
            batches: Taken as they are worked on, a bounded number ahead of the results.

        Yields:
            Places and results, in any order, each as soon as it is there.

        Raises:
            RagloomError: As raised by the work, which is not repeated then; or a batch ended its process
                again and again, or the other machines cannot be reached.
        """

    def close(self) -> None:
        """Let go of the processes. The next call starts others."""


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
