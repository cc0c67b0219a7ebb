"""A retriever for LlamaIndex over any space of ragloom."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace

from ragloom import (
    Condition,
    Hit,
    MissingDependencyError,
    Mode,
    PluginHost,
    Query,
    SearchResult,
    Space,
    SpaceGroup,
    Workspace,
)
from ragloom.context import absent_digest, hit_json, on_one_line, why_empty

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "llama-index-core", "ragloom[llamaindex]", "RagloomRetriever"
    ) from missing

_HOW = "see it with min_relevance=0, or read {path}"
_LOG = logging.getLogger("ragloom")
_FOR_THE_MODEL = frozenset({"file_path", "start_line", "end_line"})


class RagloomRetriever(BaseRetriever):
    """Passages of an index as nodes, best first; none where nothing is relevant.

    A node's text is the passage, an exact slice of its file from ``start_char_idx`` to
    ``end_char_idx``; its score is the relevance, 0 to 1. The metadata holds ``file_path``, ``start_line``
    and ``end_line``, which the model is shown, and ``headings``, ``copies`` (where else the same text
    stands) and ``searched_for`` (the query, where its spelling was corrected), which it is not. For the
    model, a node stands between delimiters that nothing in it can close, and a path that is not printable
    is shown escaped, as ``source``. Where
    nothing is relevant, the log ``ragloom`` names the closest passage.

    Args:
        space: The index, or several as one.
        top_k: The maximum number of passages; the space's own setting by default.
        min_relevance: Less relevant passages, 0 to 1, are omitted; likewise.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``; likewise.
        where: Conditions that every passage passes, such as ``"path under docs"``.
        per_file: Maximum number of passages of one file; by default 0 for no maximum, as a context has it.
            None leaves it to the space's own setting.

    Raises:
        ConfigError: A value is unknown or out of range.
    """

    def __init__(
        self,
        space: Space | SpaceGroup,
        *,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        per_file: int | None = 0,
    ) -> None:
        super().__init__()
        self._space = space
        self._query = Query(
            "",
            top_k=top_k,
            min_relevance=min_relevance,
            mode=mode,
            where=where,
            per_file=per_file,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        space: str = "default",
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        per_file: int | None = 0,
    ) -> RagloomRetriever:
        """A retriever for a space of the workspace at ``path``.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        chosen = Workspace.open(path, config=config, host=host).space(space)
        return cls(
            chosen,
            top_k=top_k,
            min_relevance=min_relevance,
            mode=mode,
            where=where,
            per_file=per_file,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Search the space; :class:`NotIndexedError` where nothing is indexed yet."""
        return _nodes(self._space.search(replace(self._query, text=query_bundle.query_str)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """As :meth:`_retrieve`, without holding the event loop."""
        asked = replace(self._query, text=query_bundle.query_str)
        return _nodes(await self._space.asearch(asked))


def _nodes(result: SearchResult) -> list[NodeWithScore]:
    if not result.hits:
        _LOG.warning("no node: %s", why_empty(result, _HOW))
    return [_node(hit, result.searched_for) for hit in result.hits]


def _node(hit: Hit, searched_for: str) -> NodeWithScore:
    chunk = hit.chunk
    metadata = {
        "file_path": chunk.uri,
        "start_line": chunk.lines.start,
        "end_line": chunk.lines.end,
        "headings": list(chunk.headings),
        "copies": hit_json(hit, "copies")["copies"],
        "searched_for": searched_for,
    }
    hidden = set(metadata) - _FOR_THE_MODEL
    if (source := on_one_line(chunk.uri)) != chunk.uri:
        metadata = {"source": source, **metadata}
        hidden.add("file_path")
    tag = f"document-{absent_digest([chunk.uri, chunk.text], size=4)}"
    node = TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        start_char_idx=chunk.span.start,
        end_char_idx=chunk.span.end,
        text_template=f"<{tag}>\n{{metadata_str}}\n\n{{content}}\n</{tag}>",
        excluded_llm_metadata_keys=sorted(hidden),
        excluded_embed_metadata_keys=sorted(metadata),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.uri)},
    )
    return NodeWithScore(node=node, score=hit.relevance)
