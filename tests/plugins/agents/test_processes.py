"""One process indexes while another searches: every answer comes from one whole generation."""

import subprocess
import sys

import pytest

from ragloom import PluginHost
from ragloom.snapshot import current_generation
from ragloom_agents import Agents

pytest.importorskip("onnxruntime")

CONFIG = """\
rag: {store: sqlite, chunk_size: 60, chunk_overlap: 0}
agents: [{id: a, docs: {strategy: rag, sources: ["docs/*.md"]}}]
"""
BATCHES, FILES, CHUNKS, FIRST = 10, 10, 20, 40
WRITER = """
import sys
from pathlib import Path
from ragloom_agents import Agents

folder = Path(sys.argv[1])
batches, files, chunks = map(int, sys.argv[2:])
agents = Agents.open(folder, environment={"HOME": str(folder / "home")})
for batch in range(batches):
    if batch < 3:
        sys.stdin.readline()  # so that the reader sees more than the last one, however slow it is
    for file in range(files):
        lines = (f"Part {part} of file {file} is about batch {batch}." for part in range(chunks))
        path = folder / "docs" / f"b{batch}-{file}.md"
        path.write_text("\\n\\n".join(lines), "utf-8")
    report = agents.index.ensure("a")
    assert report.embedded == files * chunks, report
"""


@pytest.mark.slow
def test_two_thousand_chunks_and_two_hundred_searches(write, project, environment):
    write("agents.yaml", CONFIG)
    write("ragloom.yaml", "min_relevance: 0\n")
    for number in range(FIRST):
        write(f"docs/a{number}.md", f"The first page number {number} is about harvest.")
    agents = Agents.open(project, host=PluginHost.discover(), environment=environment)
    assert agents.index.ensure("a").chunks == FIRST
    space = agents.index.spaces.space("a")

    sizes = [str(number) for number in (BATCHES, FILES, CHUNKS)]
    command = [sys.executable, "-c", WRITER, str(project), *sizes]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    seen: dict[int, int] = {}
    while writer.poll() is None or sum(seen.values()) < 200:
        result = agents.index.search("a", "which page is about harvest?", 10)
        snapshot = space.snapshot()
        if result.generation == snapshot.meta.generation:
            assert len(snapshot) == FIRST + FILES * CHUNKS * (result.generation - 1)
        # A file that is still being written is not yet in any generation, and all others answer.
        assert len(result.hits) == 10, result.reason
        for hit in result.hits:
            written = 1 if hit.chunk.uri.startswith("docs/a") else int(hit.chunk.uri[6]) + 2
            assert written <= result.generation
        if result.generation not in seen and len(seen) < 3:
            print(file=writer.stdin, flush=True)
        seen[result.generation] = seen.get(result.generation, 0) + 1

    writer.stdin.close()
    assert writer.returncode == 0
    assert sum(seen.values()) >= 200
    assert len(seen) > 2, seen
    agents.index.search("a", "harvest")
    assert space.snapshot().meta.generation == current_generation(space.directory) == BATCHES + 1
    assert len(space.snapshot()) == FIRST + BATCHES * FILES * CHUNKS
