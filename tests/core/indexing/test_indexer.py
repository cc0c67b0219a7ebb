"""What an index run does, and what it does not do again."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from threading import Thread

import pytest

from ragloom import MissingDependencyError, ModelError, RagloomError, SourceError, Space
from ragloom.indexing import plan as planning
from ragloom.protocols import Embeddings, TokenCounter
from ragloom.snapshot import GenerationWriter
from ragloom.sources.discovery import read_regular
from ragloom.testing.fakes import HashingEmbedder
from ragloom.types import Document, Piece, Source, Span

MakeSpace = Callable[..., Space]

SECTIONS = 100
BINARY = bytes(range(256)) * 4


def word(number: int) -> str:
    """A word that stands in one section only."""
    return "thing" + "abcdefghij"[number // 10] + "klmnopqrst"[number % 10]


def write_sections(path: Path, first: str = "The first paragraph.") -> None:
    """A file of 100 sections, each with words of its own."""
    sections = [f"# Section 0\n\n{first}\n"]
    sections += [
        f"# Section {n}\n\nParagraph {n} speaks of {word(n)}.\n" for n in range(1, SECTIONS)
    ]
    path.write_text("\n".join(sections), encoding="utf-8")


def ids(space: Space) -> set[str]:
    """The ids of all chunks that answer."""
    return {name.decode() for name in space.snapshot().ids}


def stored(space: Space) -> dict[str, str]:
    """Texts by id, as the store has them."""
    store = space.store
    directory = space.directory / "store"
    store.open(space=space.name, dimension=space.embedder.dimension, directory=directory)
    try:
        return {chunk.id: chunk.text for chunks, _ in store.scan() for chunk in chunks}
    finally:
        store.close()


def answered(space: Space) -> dict[str, str]:
    """Texts by id, as the snapshot has them."""
    snapshot = space.snapshot()
    return {chunk.id: chunk.text for chunk in map(snapshot.chunk, range(len(snapshot)))}


def paths(space: Space, query: str) -> list[str]:
    """The files that answer a query."""
    return [hit.chunk.uri for hit in space.search(query, min_relevance=0.0, mode="lexical").hits]


def test_one_changed_paragraph_embeds_one_chunk(files: Path, make_space: MakeSpace) -> None:
    write_sections(files / "big.md")
    space = make_space()
    assert space.index().embedded == SECTIONS
    before = ids(space)

    write_sections(files / "big.md", first="Another beginning, and a longer one\nof two lines.")
    report = make_space().index()

    assert (report.embedded, report.updated, report.chunks) == (1, ("big.md",), SECTIONS)
    after = ids(make_space())
    assert (len(before & after), len(after - before), len(before - after)) == (99, 1, 1)
    last = make_space().search(word(99), mode="lexical", min_relevance=0.0).hits[0].chunk
    lines = (files / "big.md").read_text("utf-8").splitlines()
    assert lines[last.lines.start - 1] == "# Section 99"


def test_a_renamed_file_embeds_nothing(files: Path, make_space: MakeSpace) -> None:
    write_sections(files / "big.md")
    make_space().index()
    (files / "big.md").rename(files / "renamed.md")

    report = make_space().index()

    assert (report.embedded, report.added, report.removed) == (0, ("renamed.md",), ("big.md",))
    assert paths(make_space(), word(7)) == ["renamed.md"]
    assert stored(make_space()) == answered(make_space())


def test_a_copy_appears_and_embeds_nothing(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("# A\n\nalpha\n", "utf-8")
    make_space().index()
    (files / "c.md").write_text("# A\n\nalpha\n", "utf-8")

    assert make_space().index().embedded == 0
    (hit,) = make_space().search("alpha", min_relevance=0.0).hits
    assert {hit.chunk.uri, *(copy.uri for copy in hit.copies)} == {"a.md", "c.md"}


def test_swapped_contents_answer_for_each_other(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    (files / "b.md").write_text("betas", "utf-8")
    make_space().index()
    (files / "a.md").write_text("betas", "utf-8")
    (files / "b.md").write_text("alpha", "utf-8")
    make_space().index()

    assert paths(make_space(), "betas") == ["a.md"]
    assert paths(make_space(), "alpha") == ["b.md"]


def test_a_rewrite_of_the_same_size_and_time_is_noticed(files: Path, make_space: MakeSpace) -> None:
    path = files / "a.md"
    path.write_text("alpha", "utf-8")
    os.utime(path, ns=(10**18, 10**18))
    make_space().index()
    path.write_text("gamma", "utf-8")
    os.utime(path, ns=(10**18, 10**18))

    assert make_space().index().updated == ("a.md",)
    assert paths(make_space(), "gamma") == ["a.md"]
    assert paths(make_space(), "alpha") == []


def test_two_first_runs_of_a_folder_do_not_hinder_each_other(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "docs").mkdir()
    (files / "docs" / "a.md").write_text("alpha", "utf-8")
    first, second = (make_space().workspace.space_for([files / "docs"]) for _ in range(2))
    other = Thread(target=second.index)
    replace = Path.replace

    def overtaken(path: Path, target: Path) -> Path:
        if other.ident is None:  # it does all of its work between the two halves of this write
            other.start()
            other.join()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", overtaken)
    first.index()

    assert first.snapshot().meta.generation == second.snapshot().meta.generation == 1


def test_a_touched_file_is_unchanged(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    generation = make_space().index().generation
    os.utime(files / "a.md", ns=(10**18, 10**18))

    report = make_space().index()

    assert (report.unchanged, report.generation) == (1, generation)


def test_a_deleted_file_is_gone(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    (files / "b.md").write_text("beta", "utf-8")
    make_space().index()
    (files / "a.md").unlink()

    stale = make_space().search("alpha", mode="lexical", min_relevance=0.0)
    assert (stale.hits, "its file changed after indexing" in stale.reason) == ((), True)

    assert make_space().index().removed == ("a.md",)
    assert paths(make_space(), "alpha") == []
    (files / "b.md").unlink()
    assert make_space().index().chunks == 0
    assert make_space().search("beta").reason.startswith("nothing is indexed")
    assert stored(make_space()) == {}


def test_a_hit_follows_its_text_through_a_changed_file(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("# One\n\nalpha\n\n# Two\n\nbeta\n", "utf-8")
    make_space().index()
    (files / "a.md").write_text("# New\n\n# One\n\nälpha\n\n# Two\n\nbeta\n", "utf-8")
    space = make_space()

    (hit,) = space.search("beta", mode="lexical", min_relevance=0.0).hits
    content = (files / "a.md").read_bytes()
    assert (hit.chunk.lines, content[slice(*hit.chunk.bytes)].decode()) == ((7, 9), hit.chunk.text)
    assert space.search("alpha", mode="lexical", min_relevance=0.0).hits == ()


def test_a_file_that_fails_is_named_and_its_old_chunks_stay(
    files: Path, make_space: MakeSpace
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    (files / "b.md").write_text("beta", "utf-8")
    make_space().index()
    (files / "a.md").write_bytes(BINARY)
    (files / "c.md").write_text("gamma", "utf-8")

    report = make_space().index()

    assert [failed.path for failed in report.failed] == ["a.md"]
    assert (report.added, report.chunks) == (("c.md",), 3)
    assert [failed.path for failed in make_space().index().failed] == ["a.md"]


def test_one_malformed_file_among_a_thousand_is_named(files: Path, make_space: MakeSpace) -> None:
    for number in range(1000):
        (files / f"{number:04}.md").write_text(f"# Note {number}\n\nalpha\n", "utf-8")
    (files / "0500.md").write_bytes(BINARY)

    report = make_space().index()

    assert (len(report.added), report.chunks) == (999, 999)
    (failed,) = report.failed
    assert failed.path == "0500.md"
    assert "binary" in failed.error


class Faulty:
    """A loader or chunker that fails over every file whose name holds ``bad``."""

    suffixes = frozenset({".md"})
    fingerprint = "faulty"

    def __init__(self, fault: Callable[[], object]) -> None:
        self.fault = fault

    def load(self, source: Source, content: bytes) -> Document:
        """All of it; nothing, or other than that, where the name is bad."""
        document = Document(uri=source.uri, text=content.decode(), media_type="text/plain")
        return self.fault() if "bad" in source.uri else document  # type: ignore[return-value]

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Sequence[Piece]:
        """All of it, or what is no piece."""
        assert counter
        assert max_tokens
        whole = [Piece(span=Span(0, len(document.text)))]
        return self.fault() if "bad" in document.uri else whole  # type: ignore[return-value]


def raising(error: BaseException) -> Callable[[], object]:
    """A function that raises."""

    def fault() -> object:
        raise error

    return fault


BAD_DATE = Document(uri="", text="x", metadata={"day": date(2026, 1, 1)}, media_type="text/plain")
FAULTS = [
    (raising(ValueError("no\nnumber")), "test_indexer.Faulty failed: ValueError: no number"),
    (raising(AssertionError()), "test_indexer.Faulty failed: AssertionError"),
    (raising(RecursionError("deep")), "test_indexer.Faulty failed: RecursionError: deep"),
    (raising(MissingDependencyError("x", "y", "z")), "z needs x, which is not installed"),
    (raising(SourceError("odd")), "odd"),
    (raising(OSError("gone")), "test_indexer.Faulty failed: OSError: gone"),
    (lambda: None, "test_indexer.Faulty failed: TypeError"),
]


@pytest.mark.parametrize(
    ("part", "fault", "reason"),
    [
        *((part, *case) for part in ("loader", "chunker") for case in FAULTS),
        ("loader", lambda: BAD_DATE, "Object of type date is not JSON serializable"),
        ("chunker", lambda: [Piece(span=Span(5, 99))], "a fault of the chunker's plugin"),
    ],
)
def test_a_part_that_fails_over_one_file_stops_nothing(
    files: Path,
    make_space: MakeSpace,
    part: str,
    fault: Callable[[], object],
    reason: str,
) -> None:
    for name in ("a", "bad", "c"):
        (files / f"{name}.md").write_text(f"alpha {name}", "utf-8")
    make_space().index()
    (files / "bad.md").write_text("omega\n\nalpha bad", "utf-8")
    (files / "c.md").write_text("gamma", "utf-8")
    (files / "d.md").write_text("delta", "utf-8")
    space = make_space()
    if part == "loader":
        space.loaders = {".md": Faulty(fault)}
    else:
        space.chunkers = {"": Faulty(fault)}

    report = space.index()

    (failed,) = report.failed
    assert failed.path == "bad.md"
    assert reason in failed.error
    assert "\n" not in failed.error
    assert (report.chunks, report.added) == (4, ("d.md",))
    if part == "loader":  # neither a search nor a proof ends
        assert paths(space, "alpha") == ["a.md"]
        (stale,) = space.verify().stale
        assert stale.path == "bad.md"
        assert reason in stale.why
    with pytest.raises(SourceError):
        list(space.chunks([files / "bad.md"]))
    assert paths(make_space(), "bad") == ["bad.md"]


def test_a_model_that_fails_ends_the_run(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    space = make_space()
    space.chunkers = {"": Faulty(raising(ModelError("no tokenizer")))}
    (files / "bad.md").write_text("beta", "utf-8")

    with pytest.raises(ModelError):
        space.index()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_file_that_becomes_a_pipe_is_gone_and_not_waited_for(
    files: Path, make_space: MakeSpace
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()
    (files / "a.md").unlink()
    os.mkfifo(files / "a.md")
    space = make_space()

    assert paths(space, "alpha") == []
    (stale,) = space.verify().stale
    assert stale.why.endswith("not a regular file")
    with pytest.raises(SourceError, match="cannot be read: not a regular file"):
        list(space.chunks([files / "a.md"]))
    report = space.index()
    assert (report.removed, report.warnings) == (
        ("a.md",),
        ("a.md: not a regular file",),
    )


def test_a_link_that_takes_a_file_s_place_is_not_followed(
    files: Path, make_space: MakeSpace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()
    outside = tmp_path_factory.mktemp("outside") / "a.md"
    outside.write_text("secret\n\nalpha", "utf-8")
    (files / "a.md").unlink()
    (files / "a.md").symlink_to(outside)
    space = make_space()

    assert paths(space, "alpha") == []
    (stale,) = space.verify().stale
    assert stale.why.endswith("a link has taken its place")


@pytest.mark.parametrize("name", [".env.md", "id_rsa.md"])
def test_a_secret_is_not_cut_either(files: Path, make_space: MakeSpace, name: str) -> None:
    (files / name).write_text("alpha", "utf-8")
    (files / "plain.md").symlink_to(files / name)
    for path in (name, "plain.md"):
        with pytest.raises(SourceError, match="looks like a secret"):
            list(make_space().chunks([files / path]))


@pytest.mark.parametrize(("shut", "kept"), [("sub", ["sub/b.md", "sub/deep/c.md"]), (".", None)])
def test_what_lies_in_a_folder_that_cannot_be_listed_stays(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch, shut: str, kept: list[str]
) -> None:
    (files / "sub" / "deep").mkdir(parents=True)
    names = ["a.md", "sub/b.md", "sub/deep/c.md", "subway.md"]
    for name in names:
        (files / name).write_text(f"alpha {name}", "utf-8")
    make_space().index()
    (files / "subway.md").unlink()
    with monkeypatch.context() as patch:
        scandir = os.scandir

        def refuse(path: str) -> object:
            if Path(path) == files / shut:
                raise OSError(errno.ESTALE, "Stale file handle")
            return scandir(path)

        patch.setattr(os, "scandir", refuse)
        removed = make_space().status(changes=True).drift.removed
        report = make_space().index()

    kept = names if kept is None else kept
    assert [failed.path for failed in report.failed] == [shut, *kept]
    assert report.failed[0].error == "cannot be listed: Stale file handle"
    assert report.removed == (() if shut == "." else ("subway.md",))
    assert removed == len(report.removed)
    assert {*kept} - {"subway.md"} <= {*paths(make_space(), "alpha")}
    assert make_space().index().failed == ()


@pytest.mark.parametrize("options", [{"max_tokens": 100}, {"dimension": 32}])
def test_another_model_is_never_mixed_in(
    files: Path, make_space: MakeSpace, options: dict[str, object]
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    (files / "b.md").write_text("beta", "utf-8")
    make_space().index()
    (files / "b.md").write_bytes(BINARY)
    with pytest.raises(RagloomError, match="another model"):
        make_space(embedder_options=options).search("alpha")

    report = make_space(embedder_options=options).index()

    assert (report.embedded, report.chunks) == (2, 2)
    space = make_space(embedder_options=options)
    assert stored(space) == answered(space)
    assert space.search("alpha", min_relevance=0.0, mode="dense").hits[0].cosine == pytest.approx(1)


def test_another_chunker_cuts_every_file_again(files: Path, make_space: MakeSpace) -> None:
    from ragloom.config.settings import Component

    (files / "a.md").write_text("# One\n\nalpha\n\n## Two\n\nbeta\n", "utf-8")
    assert make_space().index().chunks == 2
    coarse = Component(name="heading", options={"levels": [1]})

    assert make_space(chunker=coarse).index().chunks == 1


def test_a_store_that_lost_its_chunks_is_written_again(files: Path, make_space: MakeSpace) -> None:
    write_sections(files / "big.md")
    space = make_space()
    space.index()
    space.store.open(space="notes", dimension=64, directory=space.directory / "store")
    space.store.delete(sorted(ids(space))[:30])
    space.store.close()
    (files / "a.md").write_text("alpha", "utf-8")

    report = make_space().index()

    assert (report.embedded, report.chunks) == (1, SECTIONS + 1)
    assert stored(make_space()) == answered(make_space())


def test_another_store_gets_everything_without_embedding(
    files: Path, make_space: MakeSpace
) -> None:
    write_sections(files / "big.md")
    make_space(store="sqlite").index()

    report = make_space(store="file").index()

    assert (report.embedded, report.chunks) == (0, SECTIONS)
    assert stored(make_space(store="file")) == answered(make_space(store="file"))


class Failing(HashingEmbedder):
    """Breaks down after some texts, as a process may at any moment."""

    left = 300

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """The vectors, while the luck lasts."""
        type(self).left -= len(texts)
        if type(self).left < 0:
            raise KeyboardInterrupt
        return super().embed_passages(texts)


def test_an_interrupted_run_does_not_embed_again(files: Path, make_space: MakeSpace) -> None:
    for name in ("a", "b", "c", "d"):
        text = "\n".join(f"# {name}{n}\n\nParagraph {name} {n}.\n" for n in range(SECTIONS))
        (files / f"{name}.md").write_text(text, "utf-8")
    with pytest.raises(KeyboardInterrupt):
        make_space(embedder=Failing).index()

    report = make_space().index()

    assert (report.chunks, report.embedded) == (400, 400 - 256)


def test_progress_counts_bytes_that_are_read_and_chunks_in_steps(
    files: Path, make_space: MakeSpace
) -> None:
    write_sections(files / "a.md")
    write_sections(files / "b.md", "Another first paragraph.")
    time.sleep(2.1)  # or they count as just written, and are read again
    first, second = ((files / name).stat().st_size for name in ("a.md", "b.md"))

    def told(**choices: bool) -> dict[str, list[tuple[int, int]]]:
        stages: dict[str, list[tuple[int, int]]] = {}
        make_space().index(
            progress=lambda stage, done, total: stages.setdefault(stage, []).append((done, total)),
            **choices,
        )
        return stages

    stages = told()
    total = first + second
    assert stages["bytes"] == [(0, total), (first, total), (total, total)]
    done = [done for done, _ in stages["chunks"]]
    assert (done[0], done[-1], sorted(done)) == (0, SECTIONS + 1, done)  # 99 texts are there twice
    assert len(done) > 3
    assert list(stages) == ["bytes", "chunks", "store"]

    write_sections(files / "b.md", "Yet another one, of other length.")
    other = (files / "b.md").stat().st_size
    assert told()["bytes"][-1] == (other, other)
    time.sleep(2.1)
    told()
    assert told() == {}
    assert told(full=True)["bytes"][-1] == (first + other, first + other)


def interrupt(*_: object, **__: object) -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def test_a_run_interrupted_after_it_wrote_to_the_store_leaves_no_orphans(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()
    (files / "a.md").write_text("never published", "utf-8")
    space = make_space()
    with monkeypatch.context() as patch:
        patch.setattr(GenerationWriter, "publish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            space.index()
    assert answered(make_space()).values() != stored(make_space()).values()

    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()

    assert list(answered(make_space()).values()) == ["alpha"]
    assert stored(make_space()) == answered(make_space())


def test_the_store_is_made_again_from_the_snapshot(files: Path, make_space: MakeSpace) -> None:
    write_sections(files / "big.md")
    space = make_space()
    space.index()
    for path in (space.directory / "store").iterdir():
        path.unlink()

    assert make_space().repair() == SECTIONS
    assert stored(make_space()) == answered(make_space())


def test_the_snapshot_is_made_again_from_the_store(files: Path, make_space: MakeSpace) -> None:
    write_sections(files / "big.md")
    space = make_space()
    space.index()
    (space.directory / "CURRENT").unlink()

    assert make_space().repair() == SECTIONS
    assert paths(make_space(), word(7)) == ["big.md"]
    report = make_space().index()
    assert (report.embedded, report.chunks) == (0, SECTIONS)


def test_the_same_files_make_the_same_bytes(
    files: Path, make_space: MakeSpace, tmp_path: Path
) -> None:
    write_sections(files / "big.md")
    (files / "a.md").write_text("alpha", "utf-8")

    def generation() -> dict[str, bytes]:
        space = make_space()
        space.index()
        folder = space.snapshot().directory
        return {
            path.name: path.read_bytes()
            for path in folder.iterdir()
            if path.suffix in (".vectors", ".chunks", ".columns")
        }

    first = generation()
    (files / ".ragloom").rename(tmp_path / "before")
    assert generation() == first
    assert len(first) == 3


def test_a_missing_loader_does_not_empty_the_index(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()
    space = make_space()
    space.loaders = {}

    report = space.index()

    assert ([failed.path for failed in report.failed], report.chunks) == (["a.md"], 1)
    assert paths(make_space(), "alpha") == ["a.md"]


def test_the_state_folder_ignores_itself(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    make_space().index()

    assert "*" in (files / ".ragloom" / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("before", ["indexed before", "first run"])
@pytest.mark.parametrize("then", [64, 32, 16])
@pytest.mark.parametrize("action", ["index", "repair"])
def test_a_run_with_a_model_of_another_dimension_that_is_killed_blocks_no_later_run(
    files: Path,
    make_space: MakeSpace,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    then: int,
    action: str,
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")
    if before == "indexed before":
        make_space().index()

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GenerationWriter, "publish", killed)  # the store is written
        with pytest.raises(KeyboardInterrupt):
            make_space(embedder_options={"dimension": 32}).index()

    if action == "repair" and before == "indexed before":
        assert make_space(embedder_options={"dimension": then}).repair() == 1
    report = make_space(embedder_options={"dimension": then}).index()

    assert report.chunks == 1
    assert paths(make_space(embedder_options={"dimension": then}), "alpha") == ["a.md"]


@pytest.mark.parametrize(
    "damage",
    [None, b"", b"\xff{", b'{"a.md": ["x", 1, 2]}', b'{"a.md": [1e999, 1, 2]}', b'{"b.md": [1]}'],
)
def test_a_file_that_was_read_again_and_is_the_same_is_not_read_at_every_run(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    (files / "a.md").write_text("alpha", "utf-8")  # so shortly before that it may change unnoticed
    make_space().index()
    later = time.time_ns() + 10**10
    read: list[Path] = []

    def reading(path: Path) -> bytes:
        read.append(path)
        return read_regular(path)

    monkeypatch.setattr(planning, "read_regular", reading)
    monkeypatch.setattr("ragloom_local.sqlite.SqliteStore.open", None)  # nor is the store opened
    make_space().index()
    assert [path.name for path in read] == ["a.md"]  # still too shortly before
    monkeypatch.setattr(time, "time_ns", lambda: later)
    make_space().index()
    assert len(read) == 2

    assert make_space().index().generation == 1

    assert len(read) == 2
    drift = make_space().status(changes=True).drift
    assert (0, 0, 0) == (drift.added, drift.changed, drift.removed)
    make_space().verify()
    if damage is not None:
        (make_space().directory / "gen-000001" / "seen.json").write_bytes(damage)
        assert make_space().index().unchanged == 1
        assert len(read) == 3
        make_space().index()
        assert len(read) == 3
    (files / "a.md").write_text("gamma", "utf-8")
    monkeypatch.undo()
    assert make_space().index().updated == ("a.md",)
