"""A generation begins, whatever the run before it left and still writes."""

from __future__ import annotations

import os

import numpy as np

from ragloom.snapshot import GenerationWriter


def test_a_run_begins_while_the_one_before_still_writes(tmp_path, monkeypatch):
    left = tmp_path / "gen-000001.tmp" / "lexical"
    left.mkdir(parents=True)
    remove, late = os.rmdir, ["1.store", "2.store"]

    def remove_after_a_write(path, **more):
        if late:
            (left / late.pop()).write_bytes(b"")
        remove(path, **more)

    monkeypatch.setattr(os, "rmdir", remove_after_a_write)
    nothing = np.zeros(0, np.intp)
    with GenerationWriter(
        tmp_path, previous=None, files={}, dimension=2, dropped=nothing
    ) as writer:
        assert ([], []) == (late, list(writer.directory.iterdir()))
