"""What a user's type checker sees. Checked by `tox -e typing`, never run.

An ignored error that is none is an error of mypy --strict: so each of them is proven.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_type

import click

from ragloom import (
    Chunker,
    Context,
    Embedder,
    Formatter,
    IndexReport,
    Loader,
    NoOptions,
    PluginHost,
    PluginInfo,
    Provider,
    Reranker,
    SearchableStore,
    SearchResult,
    Space,
    SpaceGroup,
    Store,
    Workspace,
    embedder_from,
    hookimpl,
    make_tool,
)
from ragloom.cli import Command, Group, Session, json_option, progress
from ragloom.testing import ExactStore, HashingEmbedder, HashingOptions, hashing_provider


def parts(host: PluginHost) -> None:
    assert_type(host.loaders(), Mapping[str, Loader])
    assert_type(host.loader("markdown"), Loader)
    assert_type(host.chunker("heading", {"levels": (1, 2)}), Chunker)
    assert_type(host.embedder("onnx", {"threads": "2"}), Embedder)
    assert_type(host.store("milvus"), Store)
    assert_type(host.reranker("onnx", {"model": "folder"}), Reranker)
    assert_type(host.formatter("text"), Formatter)
    assert_type(host.plugins(), tuple[PluginInfo, ...])


def fakes() -> Embedder:
    assert_type(hashing_provider(), Provider[Embedder])
    return HashingEmbedder(HashingOptions(dimension=8))


@hookimpl
def ragloom_embedders() -> list[Provider[Embedder]]:
    return [
        Provider(name="a", summary="", create=lambda _: HashingEmbedder()),
        Provider(name="b", summary="", create=make),
    ]


def make(_: NoOptions) -> HashingEmbedder:
    return HashingEmbedder()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherOptions:
    size: int = 1


def make_hashing(_: HashingOptions) -> HashingEmbedder:
    return HashingEmbedder()


def mismatched() -> list[Provider[Embedder]]:
    return [
        Provider(name="a", summary="", create=make_hashing, options=HashingOptions),
        Provider(name="b", summary="", create=make_hashing, options=OtherOptions),  # type: ignore[arg-type]
        Provider(name="c", summary="", create=make_hashing),  # type: ignore[arg-type]
        Provider(name="d", summary="", create=make, options=OtherOptions),  # type: ignore[arg-type]
        Provider(name="e", summary="", create=lambda _: 3),  # type: ignore[arg-type,return-value]
    ]


def stores(store: Store) -> Sequence[tuple[str, float]]:
    keeps: Store = ExactStore()
    keeps.search  # type: ignore[attr-defined]  # noqa: B018 - not in the protocol
    searches: SearchableStore = ExactStore()
    vector = embed_nothing().embed_query("a")
    if isinstance(store, SearchableStore):
        return store.search(vector, limit=1)
    return searches.search(vector, limit=1)


def embed_nothing() -> Embedder:
    made = embedder_from(lambda texts: [[1, 0]] * len(texts), dimension=2, fingerprint="x")
    return assert_type(made, Embedder)


async def awaited(space: Space, group: SpaceGroup) -> None:
    assert_type(await space.asearch("a", where=["path under docs"]), SearchResult)
    assert_type(await group.acontext("a", max_tokens=9), Context)
    assert_type(await space.aindex(full=True), IndexReport)
    assert_type(await group.aindex(), tuple[IndexReport, ...])
    assert_type(make_tool(group, mode="dense")("a", top_k=1), str)
    make_tool(space, mode="semantic")  # type: ignore[arg-type]


@click.group("notes", cls=Group)
def notes() -> None: ...


@notes.command("count")
@json_option
@click.pass_obj
def count(session: Session, *, as_json: bool) -> None:
    assert_type(session.host(), PluginHost)
    assert_type(session.workspace(), Workspace)
    with progress(session, "notes") as meter:
        session.workspace().space("notes").index(full=as_json, progress=meter)


@click.command("alone", cls=Command)
def alone() -> None: ...


assert_type(notes, Group)
assert_type(alone, Command)
