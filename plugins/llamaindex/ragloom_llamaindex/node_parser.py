"""Chunkers of ragloom as node parsers of LlamaIndex."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragloom import Chunk, Chunker, Document, Embedder, MissingDependencyError, PluginHost
from ragloom.text import Budget, make_chunks
from ragloom_llamaindex.chunker import fitting_spans

try:
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import build_nodes_from_splits
    from llama_index.core.schema import BaseNode, MetadataMode, TextNode
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "llama-index-core", "ragloom[llamaindex]", "RagloomNodeParser"
    ) from missing
from pydantic import PrivateAttr

_MARKDOWN = "text/markdown"
_PATHS = ("file_path", "file_name", "source")  # metadata that may name the file


class RagloomNodeParser(NodeParser):
    """Splits with a component of ragloom into nodes that a model reads whole.

    What the component leaves longer is split again. A node's text is an exact slice of its document, from
    ``start_char_idx`` to ``end_char_idx``; its metadata has that of the document, and ``section``, the
    titles that lead there with ``>`` between them.

    Args:
        chunker: The component, by its name in settings.
        options: Its options.
        embedder: The embedder that reads the nodes: in its tokens they are measured.
        embedder_options: Its options.
        media_type: Of the documents; by default that of the file that ``file_path``, ``file_name`` or
            ``source`` in their metadata names, and Markdown without one.
        host: The plugins; those that are installed, by default.

    Raises:
        ConfigError: An option is unknown or wrong.
        PluginError: No plugin offers the component.
    """

    _chunker: Chunker = PrivateAttr()
    _embedder: Embedder = PrivateAttr()
    _media_type: str | None = PrivateAttr()

    def __init__(
        self,
        chunker: str = "heading",
        *,
        options: Mapping[str, object] | None = None,
        embedder: str = "onnx",
        embedder_options: Mapping[str, object] | None = None,
        media_type: str | None = None,
        host: PluginHost | None = None,
    ) -> None:
        super().__init__()
        plugins = host or PluginHost.discover()
        self._chunker = plugins.chunker(chunker, options)
        self._embedder = plugins.embedder(embedder, embedder_options)
        self._media_type = media_type

    @classmethod
    def class_name(cls) -> str:
        """``RagloomNodeParser``."""
        return "RagloomNodeParser"

    def _parse_nodes(
        self,
        nodes: Sequence[BaseNode],
        show_progress: bool = False,  # noqa: ARG002, FBT001, FBT002 - LlamaIndex's signature
        **_more: object,
    ) -> list[BaseNode]:
        """Split each; raises SourceError where the chunker cannot."""
        return [made for node in nodes for made in self._nodes_of(node)]

    def _nodes_of(self, node: BaseNode) -> list[TextNode]:
        chunks = self._split(node)
        made = build_nodes_from_splits([chunk.text for chunk in chunks], node, id_func=self.id_func)
        for one, chunk in zip(made, chunks, strict=True):
            one.start_char_idx, one.end_char_idx = chunk.span
            if chunk.headings:
                one.metadata = {"section": " > ".join(chunk.headings)}
        return made

    def _split(self, node: BaseNode) -> list[Chunk]:
        path = next((node.metadata[key] for key in _PATHS if key in node.metadata), "")
        guessed = mimetypes.guess_type(str(path))[0] if path else _MARKDOWN
        document = Document(
            uri=str(path) or node.node_id,
            text=node.get_content(MetadataMode.NONE),
            media_type=self._media_type or guessed or "text/plain",
        )
        counter, most = self._embedder.counter, self._embedder.max_tokens
        budget = Budget(counter=counter, tokens=most)
        pieces = {
            span: replace(piece, span=span)
            for piece in self._chunker.split(document, counter=counter, max_tokens=most)
            for span in fitting_spans(document.text, piece.span, budget)
        }
        return make_chunks(document, [pieces[span] for span in sorted(pieces)], counter)
