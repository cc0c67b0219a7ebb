"""An index that is made in shards is the one that a single run makes."""

from __future__ import annotations

import os
import random
import shutil

import numpy as np
import pytest

from ragloom import ConfigError, NotIndexedError
from ragloom.indexing import process
from ragloom.indexing.shards import SHARDS, Shard

SUBJECTS = ["sampling", "tracing", "metrics", "logging", "context", "baggage", "exporters", "spans"]


@pytest.fixture
def documents(files):
    """Thirty files of two chunks."""
    for number in range(30):
        subject = SUBJECTS[number % len(SUBJECTS)]
        text = f"# About {subject} {number}\n\nWords on {subject}.\n\n## More\n\nThe end of {number}.\n"
        folder = files / f"part{number % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"{subject}-{number}.md").write_text(text, "utf-8")
    return files


def contents(space):
    snapshot = space.snapshot()
    rows = np.argsort(snapshot.ids)
    return (
        snapshot.ids[rows].tolist(),
        snapshot.keys[rows].tolist(),
        snapshot.vectors(rows).tolist(),
        {uri: (one.content_hash, one.chunks) for uri, one in snapshot.files.items()},
        [
            [(hit.chunk.id, hit.score, hit.relevance) for hit in space.search(subject).hits]
            for subject in SUBJECTS
        ],
    )


def emptied(space):
    shutil.rmtree(space.directory)


def single_run(make_space):
    space = make_space()
    space.index()
    expected = contents(space)
    emptied(space)
    return expected


@pytest.mark.parametrize("seed", range(3))
def test_shards_in_any_order_give_the_index_of_one_run(documents, make_space, seed):
    expected = single_run(make_space)
    shards = ["1/4", "2/4", "3/4", "4/4", "2/4"]
    random.Random(seed).shuffle(shards)
    reports = {shard: make_space().index_shard(shard) for shard in shards}
    space = make_space()
    report = space.commit()

    assert expected == contents(space)
    assert (60, 30, 0, 0) == (report.chunks, len(report.added), report.embedded, report.pending)
    assert 60 == sum(one.chunks for one in reports.values())
    assert not (space.directory / SHARDS).exists()
    assert 0 == space.index().embedded


def test_a_shard_that_was_killed_is_named_and_repeated(documents, make_space, monkeypatch):
    expected = single_run(make_space)
    make_space().index_shard("1/2")
    real = process.embedding_key

    def killed(chunk, embedder):
        if "part2" in chunk.uri:
            raise KeyboardInterrupt
        return real(chunk, embedder)

    monkeypatch.setattr(process, "embedding_key", killed)
    with pytest.raises(KeyboardInterrupt):
        make_space().index_shard("2/2")
    monkeypatch.setattr(process, "embedding_key", real)
    with pytest.raises(
        ConfigError, match=r"shard 2/2 is not done: run 'ragloom index --shard 2/2'"
    ):
        make_space().commit()
    make_space().index_shard("2/2")
    space = make_space()
    space.commit()

    assert expected == contents(space)


def test_shards_come_from_other_machines(documents, make_space, tmp_path):
    """Their files have other times there."""
    expected = single_run(make_space)
    for shard in ("1/3", "2/3", "3/3"):
        for path in documents.rglob("*.md"):
            os.utime(path, (1_600_000_000, 1_600_000_000))
        space = make_space()
        space.index_shard(shard)
        shutil.copytree(space.directory / SHARDS, tmp_path / "artifacts", dirs_exist_ok=True)
        emptied(space)
    for path in documents.rglob("*.md"):
        path.touch()
    space = make_space()
    space.directory.mkdir(parents=True)
    shutil.copytree(tmp_path / "artifacts", space.directory / SHARDS)
    report = space.commit()

    assert expected == contents(space)
    assert 0 == report.embedded


def test_files_that_changed_since_are_read_by_the_commit(documents, make_space):
    make_space().index()
    changed, gone, new = (
        documents / "part0" / "sampling-0.md",
        documents / "part1" / "tracing-1.md",
        documents / "part2" / "metrics-2.md",
    )
    for path in (changed, new):
        path.write_text("# First\n\nThe first version.\n", "utf-8")
    for shard in ("1/2", "2/2"):
        make_space().index_shard(shard)
    changed.write_text("# Second\n\nThe second version.\n", "utf-8")
    gone.unlink()
    space = make_space()
    report = space.commit()
    found = contents(space)
    emptied(space)

    assert 2 == len(report.updated)
    assert ("part1/tracing-1.md",) == report.removed
    assert found[:4] == single_run(make_space)[:4]


def test_a_commit_without_shards_says_so(documents, make_space):
    with pytest.raises(NotIndexedError, match=r"run 'ragloom index --shard 1/N' to N/N first"):
        make_space().commit()


def test_shards_of_two_counts_are_refused(documents, make_space):
    make_space().index_shard("1/1")
    make_space().index_shard("1/2")
    with pytest.raises(ConfigError, match="there are shards of 1 and of 2"):
        make_space().commit()


@pytest.mark.parametrize("text", ["", "0/4", "5/4", "1", "1/0", "a/b", "-1/4", "1/4/2", "1.5/4"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(ConfigError, match="is no shard: write I/N"):
        Shard.parse(text)


def test_every_file_is_of_one_shard():
    uris = [f"docs/{number}.md" for number in range(1000)]
    shards = [Shard(number=number, count=4) for number in range(1, 5)]
    of_each = [sum(shard.holds(uri) for uri in uris) for shard in shards]
    assert 1000 == sum(of_each)
    assert min(of_each) > 200
    assert [True] == [shard.holds("docs/0.md") for shard in shards if shard.number == 4]
