"""``check_files: false``: an index whose files are on another machine."""

from __future__ import annotations

from hashlib import sha256

import pytest

from ragloom import SpaceGroup

TEXT = "# Keys\n\nThe signing keys are rotated on Mondays.\n"


@pytest.fixture
def notes(files, make_space):
    """The path of a file that was indexed."""
    path = files / "keys.md"
    path.write_text(TEXT, "utf-8")
    make_space(min_relevance=0.0).index()
    return path


def found(space, question="signing keys"):
    result = space.search(question)
    return result, next(hit for hit in result.hits if hit.chunk.uri == "keys.md")


def test_a_hit_of_a_file_that_is_gone_has_the_hash_of_what_was_indexed(notes, make_space):
    notes.unlink()
    result, hit = found(make_space(min_relevance=0.0, check_files=False))
    assert (False, sha256(TEXT.encode()).hexdigest()) == (result.checked, hit.content_hash)
    checked = make_space(min_relevance=0.0).search("signing keys")
    assert checked.checked
    assert "keys.md" not in {hit.chunk.uri for hit in checked.hits}


def test_what_stands_in_a_changed_file_is_not_read(notes, make_space):
    notes.write_text("# Keys\n\nSomething else.\n", "utf-8")
    space = make_space(min_relevance=0.0, check_files=False)
    context = space.context("signing keys")
    (citation,) = [one for one in context.citations if one.path == "keys.md"]
    assert not context.checked
    assert "rotated on Mondays" in citation.text
    assert sha256(TEXT.encode()).hexdigest() == citation.content_hash


def test_where_files_are_compared_no_hash_is_needed(notes, make_space):
    assert notes
    result, hit = found(make_space(min_relevance=0.0))
    assert (True, "") == (result.checked, hit.content_hash)
    assert "" == make_space(min_relevance=0.0).context("signing keys").citations[0].content_hash


def test_a_group_is_checked_only_where_all_of_it_is(notes, make_space):
    assert notes
    spaces = [make_space(min_relevance=0.0), make_space(min_relevance=0.0, check_files=False)]
    assert not SpaceGroup(spaces).search("signing keys").checked
