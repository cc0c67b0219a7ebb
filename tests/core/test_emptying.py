"""Sources that hold nothing must not empty the index of others, however the index run is started."""

from __future__ import annotations

import pytest

from ragloom import SourceError


@pytest.fixture
def workspace(files, make_space):
    (files / "docs").mkdir()
    (files / "docs" / "a.md").write_text("# Alpha\n\nAlpha.\n", "utf-8")
    (files / "empty").mkdir()
    workspace = make_space().workspace
    workspace.space_for([files / "docs"], name="kb").index()
    return workspace


def test_other_sources_that_hold_nothing_keep_the_index_and_say_so(workspace, files):
    space = workspace.space_for([files / "empty"], name="kb")
    with pytest.raises(SourceError, match="empty: no file to index; 'kb' stays as it is"):
        space.index()
    assert 1 == workspace.space("kb").status().files
    assert ("docs",) == workspace.space("kb").settings.sources


def test_it_is_emptied_where_that_is_said(workspace, files):
    workspace.space_for([files / "empty"], name="kb").index(allow_empty=True)
    assert 0 == workspace.space("kb").status().files


def test_the_last_file_of_the_same_sources_empties_it(workspace, files):
    (files / "docs" / "a.md").unlink()
    assert 0 == workspace.space("kb").index().chunks


def test_a_first_index_may_be_empty(workspace, files):
    assert 0 == workspace.space_for([files / "empty"], name="new").index().chunks
