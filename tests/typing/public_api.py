"""What a user's type checker sees. Checked by `tox -e typing`, never run."""

from collections.abc import Mapping
from typing import assert_type

import click

from ragloom import (
    Chunker,
    Embedder,
    Formatter,
    Loader,
    NoOptions,
    PluginHost,
    PluginInfo,
    Provider,
    Reranker,
    Store,
    Workspace,
    hookimpl,
)
from ragloom.cli import Command, Group, Session, json_option, progress
from ragloom.testing.fakes import HashingEmbedder, HashingOptions, hashing_provider


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
