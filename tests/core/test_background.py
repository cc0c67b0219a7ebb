"""Coroutines: the event loop goes on, and a cancelled call leaves everything usable."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ragloom import SpaceGroup
from ragloom.testing.fakes import HashingEmbedder

TEXT = "# Turbines\n\nThe turbine is serviced in May.\n"
WAIT = 30  # seconds after which a loop that stands still is an error, and not a hang


class GatedEmbedder(HashingEmbedder):
    """Embeds once its gate is open: only an event loop that goes on can open it meanwhile."""

    gate = threading.Event()
    begun = threading.Event()

    def embed_passages(self, texts):
        self.pass_gate()
        return super().embed_passages(texts)

    def embed_query(self, text):
        self.pass_gate()
        return super().embed_query(text)

    def pass_gate(self):
        self.begun.set()
        assert self.gate.wait(WAIT), "the event loop stood still"


@pytest.fixture
def gated():
    GatedEmbedder.gate.set()
    GatedEmbedder.begun.clear()
    yield GatedEmbedder
    GatedEmbedder.gate.set()


async def loop_goes_on(coroutine):
    """The result of a coroutine that cannot end before the loop has ticked a hundred times."""
    GatedEmbedder.gate.clear()
    GatedEmbedder.begun.clear()
    running = asyncio.ensure_future(coroutine)
    assert await asyncio.to_thread(GatedEmbedder.begun.wait, WAIT)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not running.done()
    GatedEmbedder.gate.set()
    return await running


@pytest.fixture
def space(make_space, files, gated):
    (files / "turbines.md").write_text(TEXT)
    made = make_space(embedder=gated, min_relevance=0.0)
    made.index()
    return made


@pytest.mark.parametrize("group", [False, True], ids=["space", "group"])
@pytest.mark.parametrize("call", ["search", "context"])
def test_the_loop_goes_on_while_a_query_is_answered(space, group, call):
    asked = SpaceGroup([space]) if group else space
    found = asyncio.run(loop_goes_on(getattr(asked, f"a{call}")("when is the turbine serviced?")))
    assert getattr(asked, call)("when is the turbine serviced?") == found


@pytest.mark.parametrize("group", [False, True], ids=["space", "group"])
def test_the_loop_goes_on_while_files_are_indexed(space, files, group):
    (files / "pumps.md").write_text("# Pumps\n\nA pump is oiled.\n")
    steps = []
    indexed = SpaceGroup([space]) if group else space

    report = asyncio.run(loop_goes_on(indexed.aindex(progress=lambda *step: steps.append(step))))

    (report,) = report if group else (report,)
    assert ("pumps.md",) == report.added
    assert steps
    assert "pumps.md" == space.search("pump").hits[0].chunk.uri


def test_searches_answer_while_files_are_indexed(make_space, files):
    (files / "turbines.md").write_text(TEXT)
    space = make_space(min_relevance=0.0)  # its embedder has no gate
    space.index()
    (files / "pumps.md").write_text("# Pumps\n\nA pump is oiled.\n")
    answers = []

    async def both():
        run = asyncio.ensure_future(space.aindex())
        answers.append(await space.asearch("turbine"))
        return await run

    assert 1 == asyncio.run(both()).embedded
    assert "turbines.md" == answers[0].hits[0].chunk.uri


def test_calls_of_one_space_take_turns_and_keep_their_order(space):
    inside, most = [], []
    lock = threading.Lock()
    embed = space.embedder.embed_query

    def counted(text):
        with lock:
            inside.append(text)
            most.append(len(inside))
        try:
            return embed(text)
        finally:
            with lock:
                inside.remove(text)

    space.embedder.embed_query = counted
    queries = [f"turbine {number}" for number in range(20)]
    group = SpaceGroup([space])

    async def gathered():
        return await asyncio.gather(
            *(asked.asearch(query) for query in queries for asked in (space, group))
        )

    results = asyncio.run(gathered())
    assert [query for query in queries for _ in range(2)] == [one.query for one in results]
    assert 1 == max(most)


def test_a_cancelled_search_leaves_the_space_usable(space):
    async def cancelled():
        GatedEmbedder.gate.clear()
        running = asyncio.ensure_future(space.asearch("turbine"))
        waiting = asyncio.ensure_future(space.asearch("never begun"))
        assert await asyncio.to_thread(GatedEmbedder.begun.wait, WAIT)
        for one in (running, waiting):
            one.cancel()
            with pytest.raises(asyncio.CancelledError):
                await one
        GatedEmbedder.gate.set()
        return await asyncio.wait_for(space.asearch("turbine"), WAIT)

    GatedEmbedder.begun.clear()
    assert "turbines.md" == asyncio.run(cancelled()).hits[0].chunk.uri


def test_a_cancelled_index_run_stops_and_the_next_one_goes_on(make_space, files, gated):
    for number in range(60):
        (files / f"page{number}.md").write_text(f"# Page {number}\n\nMachine {number} hums.\n")
    space = make_space(embedder=gated, min_relevance=0.0)
    steps = []

    async def cancelled():
        GatedEmbedder.gate.clear()
        running = asyncio.ensure_future(space.aindex(progress=lambda *step: steps.append(step)))
        assert await asyncio.to_thread(GatedEmbedder.begun.wait, WAIT)
        running.cancel()
        await asyncio.sleep(0)
        GatedEmbedder.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        before = len(steps)
        report = await space.aindex(timeout=0)  # nothing holds the lock of the space any more
        return before, report

    before, report = asyncio.run(cancelled())
    embedded = [done for stage, done, _ in steps[:before] if stage == "chunks"]
    assert max(embedded, default=0) < 60
    assert 60 == report.chunks
    assert 60 == space.status().chunks
    assert "page7.md" == space.search("machine 7 hums").hits[0].chunk.uri


def test_an_error_of_a_run_is_raised_to_who_awaits_it(make_space, files):
    space = make_space(sources=("nowhere",))
    with pytest.raises(Exception, match="nowhere"):
        asyncio.run(space.aindex())


def test_context_variables_are_those_of_the_caller(space):
    from contextvars import ContextVar

    told = ContextVar("told", default="nobody")
    seen = []
    embed = space.embedder.embed_query
    space.embedder.embed_query = lambda text: (seen.append(told.get()), embed(text))[1]

    async def asked():
        told.set("caller")
        await space.asearch("turbine")

    asyncio.run(asked())
    assert ["caller"] == seen


def test_a_closed_space_answers_again(space):
    async def twice():
        first = await space.asearch("turbine")
        space.close()
        return first, await space.asearch("turbine")

    first, second = asyncio.run(twice())
    assert first == second
