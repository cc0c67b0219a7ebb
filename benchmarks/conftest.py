"""Which scripts pytest runs as benchmarks: those with a test beside their command line."""

from __future__ import annotations

from pathlib import Path

import pytest

BENCHMARKS = (
    "quality/questions.py",
    "quality/run_collections.py",
    "quality/spaces.py",
    "quality/words.py",
    "speed/product.py",
    "speed/search.py",
    "speed/rivals.py",
)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect a benchmark, whose file is named for what it measures."""
    here = Path(__file__).parent
    if file_path.is_relative_to(here) and file_path.relative_to(here).as_posix() in BENCHMARKS:
        module: pytest.Module = pytest.Module.from_parent(parent, path=file_path)
        return module
    return None
