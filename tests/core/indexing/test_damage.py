"""A damaged index is named in one line, and the next index run makes it again; nothing is deleted."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import ConfigError, NotIndexedError, Space, StoreDamagedError, StoreLockedError
from ragloom.audit import read_log
from ragloom.indexing.lock import space_lock
from ragloom.snapshot import current_generation
from ragloom.snapshot.lexical_writer import LexicalDocument

MakeSpace = Callable[..., Space]
Damage = Callable[[Path], object]

FILES = (
    "meta.json",
    "files.json",
    "*.vectors",
    "*.chunks",
    "*.columns",
    *(f"lexical/*{ending}" for ending in ("meta.json", ".managed.json", ".fast", ".fieldnorm")),
    *(f"lexical/*{ending}" for ending in (".idx", ".pos", ".store", ".term")),
)


def cut(share: float) -> Damage:
    """Keeps the beginning of a file."""

    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int((len(content) - 1) * share)])

    return damage


def overwritten(path: Path) -> None:
    """The middle of the file is of another time; its size is the same."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 8] = bytes(byte ^ 0xFF for byte in content[middle : middle + 8])
    path.write_bytes(content)


DAMAGES: dict[str, Damage] = {
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"\x00garbage\xff" * 5),
    "brackets": lambda path: path.write_bytes(b"[" * 100_000),
    "archive": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(40)),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "overwritten": overwritten,
    "cut to nearly all": cut(1),
    "cut to a half": cut(0.5),
    "cut to a hundredth": cut(0.01),
}

READERS: dict[str, Callable[[Space], object]] = {
    "search": lambda space: space.search("alpha storage", min_relevance=0.0),
    "search by words": lambda space: space.search("alpha", min_relevance=0.0, mode="lexical"),
    "search by meaning": lambda space: space.search("alpha", min_relevance=0.0, mode="dense"),
    "context": lambda space: space.context("alpha", min_relevance=0.0, strategy="diversity"),
    "explain": lambda space: space.explain("alpha"),
    "status": Space.status,
    "verify": Space.verify,
}


@pytest.fixture
def indexed(files: Path, make_space: MakeSpace) -> Path:
    """The folder of an index of four chunks that is whole."""
    for name in ("a", "b"):
        text = f"# Alpha {name}\n\nalpha storage {name}\n\n# Beta {name}\n\nbeta {name} and more\n"
        (files / f"{name}.md").write_text(text, "utf-8")
    space = make_space()
    space.index()
    return space.directory


def one(directory: Path, pattern: str) -> Path:
    """A file of the generation that answers, other than the one that this process has mapped."""
    path = next((directory / f"gen-{current_generation(directory):06d}").glob(pattern))
    copied = path.with_name("copied")
    copied.write_bytes(path.read_bytes())
    return copied.replace(path)


def damage_said(read: Callable[[Space], object], space: Space) -> str:
    """What a reader says of the damage; nothing where it met none. No other error passes."""
    try:
        read(space)
    except StoreDamagedError as error:
        return str(error)
    return ""


def answers(space: Space) -> list[tuple[str, float]]:
    """What a search finds."""
    hits = space.search("alpha storage", min_relevance=0.0).hits
    return [(hit.chunk.id, round(hit.relevance, 6)) for hit in hits]


@pytest.mark.parametrize("pattern", FILES)
def test_whatever_damages_a_file_is_named_in_one_line(
    indexed: Path, make_space: MakeSpace, pattern: str
) -> None:
    path = one(indexed, pattern)
    whole = path.read_bytes()
    for damage in DAMAGES.values():
        path.unlink(missing_ok=True)  # this process has mapped it
        path.write_bytes(whole)
        damage(path)
        space = make_space()
        messages = [said for read in READERS.values() if (said := damage_said(read, space))]
        assert messages  # at least the proof of all chunks found it
        for message in messages:
            assert str(indexed / "gen-000001") in message
            assert "'ragloom index'" in message
            assert "\n" not in message


@pytest.mark.parametrize("damage", ["deleted", "overwritten"])
@pytest.mark.parametrize("pattern", FILES)
def test_the_next_run_makes_a_damaged_snapshot_again(
    indexed: Path, make_space: MakeSpace, pattern: str, damage: str
) -> None:
    before = answers(make_space())
    DAMAGES[damage](one(indexed, pattern))

    report = make_space().index()

    assert answers(make_space()) == before
    assert report.chunks == len(before) == make_space().verify().exact
    assert report.embedded == 0
    assert report.generation > 1
    assert len(list(indexed.glob("gen-000001.damaged-*"))) == 1
    assert make_space().index().generation == report.generation


@pytest.mark.parametrize("pattern", FILES)
def test_repair_makes_a_damaged_snapshot_again_and_keeps_it_aside(
    indexed: Path, make_space: MakeSpace, pattern: str
) -> None:
    before = answers(make_space())
    overwritten(one(indexed, pattern))

    assert make_space().repair() == len(before)
    assert answers(make_space()) == before
    assert len(list(indexed.glob("gen-000001.damaged-*"))) == 1


def test_repair_never_says_that_the_vectors_are_of_another_model(
    indexed: Path, make_space: MakeSpace
) -> None:
    cut(0.5)(one(indexed, "files.json"))
    space = make_space(embedder_options={"dimension": 32})

    space.repair()

    assert space.index().embedded == 4


def test_a_store_that_keeps_nothing_is_filled_from_the_files(
    files: Path, make_space: MakeSpace
) -> None:
    (files / "a.md").write_text("alpha storage\n", "utf-8")
    space = make_space(store="memory")
    space.index()
    cut(0.5)(one(space.directory, "*.columns"))

    report = make_space(store="memory").index()

    assert (report.added, report.embedded) == (("a.md",), 1)


def test_repair_makes_no_empty_index_of_an_empty_store(files: Path, make_space: MakeSpace) -> None:
    (files / "a.md").write_text("alpha storage\n", "utf-8")
    space = make_space(store="memory")
    space.index()
    cut(0.5)(one(space.directory, "*.columns"))

    with pytest.raises(NotIndexedError, match="holds nothing: index its files again"):
        make_space(store="memory").repair()
    assert make_space(store="memory").index().embedded == 1


def test_a_space_that_is_open_sees_that_it_was_made_again(
    indexed: Path, make_space: MakeSpace, caplog: pytest.LogCaptureFixture
) -> None:
    reader = make_space()
    before = answers(reader)
    cut(0.5)(one(indexed, "*.chunks"))
    (reader.workspace.root / "a.md").unlink()

    make_space().index()

    assert answers(reader) == answers(make_space()) != before
    assert {name for name, _ in answers(reader)} < {name for name, _ in before}
    (warning,) = [record.message for record in caplog.records]
    assert str(next(indexed.glob("gen-000001.damaged-*"))) in warning


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"sources": 3}', b"\xff", b"[" * 100_000])
def test_a_damaged_record_of_sources_is_named(
    files: Path, make_space: MakeSpace, content: bytes
) -> None:
    (files / "docs").mkdir()
    (files / "docs" / "a.md").write_text("alpha", "utf-8")
    workspace = make_space().workspace
    space = workspace.space_for([files / "docs"])
    space.index()
    (space.directory / "space.json").write_bytes(content)

    with pytest.raises(ConfigError, match=r"space\.json"):
        workspace.space(space.name)

    workspace.space_for([files / "docs"]).index()

    assert workspace.space(space.name).settings.sources == ("docs",)


WRECKS = (b"", b"\xff", b"[]", b"3", b'"x"', b"[" * 100_000)


@pytest.mark.parametrize("content", WRECKS)
def test_a_damaged_calibration_is_named(
    indexed: Path, make_space: MakeSpace, content: bytes
) -> None:
    (indexed / "calibration.json").write_bytes(content)

    with pytest.raises(ConfigError, match=r"calibration\.json: .* run 'ragloom calibrate' again"):
        make_space().search("alpha")


@pytest.mark.parametrize("content", [*WRECKS, b'{"pid": 1, "host": "x", "since": "noon"}'])
def test_a_damaged_name_of_the_holder_is_another_process(
    indexed: Path, make_space: MakeSpace, content: bytes
) -> None:
    (indexed.parent.parent.parent / "a.md").write_text("more", "utf-8")
    with space_lock(indexed, timeout=1):
        (indexed / "lock.holder").write_bytes(content)
        with pytest.raises(StoreLockedError, match="still being written by another process"):
            make_space().index(timeout=0.01)


@pytest.mark.parametrize("content", WRECKS)
def test_a_torn_line_of_the_audit_log_is_left_out(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_bytes(content + b'\n{"time": "now"}\n')

    assert [*read_log(log)] == [{"time": "now"}]


def test_a_serial_number_is_never_given_twice(
    indexed: Path, files: Path, make_space: MakeSpace
) -> None:
    path = one(indexed, "meta.json")  # which no checksum covers
    path.write_text(
        path.read_text("utf-8").replace('"next_serial": 4', '"next_serial": 2'), "utf-8"
    )
    with pytest.raises(StoreDamagedError, match="it would give a serial number twice"):
        make_space().search("alpha")
    (files / "c.md").write_text("gamma", "utf-8")

    assert make_space().index().embedded == 1

    found = make_space().search("gamma", mode="lexical", min_relevance=0.0).hits
    assert [hit.chunk.uri for hit in found] == ["c.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for the size of a file")
@pytest.mark.parametrize("limit", [0, 2000, 20_000])
def test_a_disk_that_fills_up_under_the_lexical_index_is_no_bug_of_ours(
    tmp_path: Path, write_lexical: Callable[..., None], limit: int
) -> None:
    import resource

    words = " ".join(f"word{number}" for number in range(5000))
    documents = [LexicalDocument(0, "a.md", words, "")]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(OSError, match=r"too large.*lexical") as caught:
            write_lexical(tmp_path / "lexical", documents)
        assert errno.EFBIG == caught.value.errno
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
