"""What a team's server bears, for a quarter of a minute; ``benchmarks/speed/team_server.py`` takes one."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")
pytest.importorskip("prometheus_client")

SPEED = Path(__file__).parents[2] / "benchmarks" / "speed"
MEBIBYTE = 2**20


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_thirty_two_clients_while_the_index_is_rewritten(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SPEED)
    monkeypatch.delitem(sys.modules, "processes", raising=False)
    team_server = import_module("team_server")
    processes = import_module("processes")
    processes.write_files(tmp_path, processes.documents(processes.EXAMPLES))

    borne = team_server.bear(tmp_path, clients=32, seconds=20, rewrites=5)

    assert [] == borne.errors
    assert borne.requests > 5 * 32
    assert 6 == borne.last_generation == max(borne.generations)
    assert borne.late() < 1.15 * borne.early() + 8 * MEBIBYTE
