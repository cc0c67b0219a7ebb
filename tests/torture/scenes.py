"""What is tortured: an index, and the command that changes it, over real stores, files and settings."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import documents as docs
from children import Ended, host, in_child, ragloom, warm
from ragloom import Space, Workspace

HASHING = "{name: hashing, dimension: 64}"
_OTHER = "{name: hashing, dimension: 96}"
_AGENT = "reader"
_PROJECT = "shop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An index that is whole, a change, and the command that is under way when something happens.

    Attributes:
        name: What is under way: one of :data:`NAMES`.
        store: Where the chunks are kept.
        model: ``hashing``, or ``onnx`` for the real one.
    """

    name: str
    store: str
    model: str = "hashing"

    @property
    def title(self) -> str:
        """For the table."""
        return f"{self.name}, {self.store}" + (", real model" if self.model == "onnx" else "")

    @property
    def command(self) -> Sequence[str]:
        """The arguments of ``ragloom`` that are under way."""
        first = {"watch": ("watch",), "repair": ("repair",)}
        return first.get(self.name.partition(" ")[0], self.again)

    @property
    def again(self) -> Sequence[str]:
        """Those of the next run."""
        if self.name == "agents":
            return ("agents", "index", _AGENT)
        if self.name == "checkpoint":
            return ("knowledge", "checkpoint", "--project", _PROJECT)
        if self.name == "repair, store":  # where nothing changed, an index run opens no store
            return ("repair",)
        return ("index",)

    @property
    def _making(self) -> Sequence[str]:
        return ("index",) if self.name.startswith("repair") else self.again

    def prepare(self, folder: Path) -> None:
        """Index what was there before, twice, with a change between; then change it once more."""
        folder.mkdir(parents=True)
        for before in self._before():
            self._write(folder, before, last=False)
            self.run(folder, self._making)
        self._write(folder, self._after(), last=True)

    def fresh(self, folder: Path) -> None:
        """Index only what is there in the end."""
        folder.mkdir(parents=True)
        self._write(folder, self._after(), last=True, fresh=True)
        self.run(folder, self._making)

    def run(self, folder: Path, command: Sequence[str]) -> None:
        """Run a command that has to succeed."""
        ended = in_child(partial(ragloom, folder, *command))
        if ended.code:
            raise RuntimeError(f"{self.title}: ragloom {' '.join(command)}: {ended.said}")

    def present(self) -> set[str]:
        """The words that an index finds in the end."""
        return docs.words(self._after())

    def past(self) -> set[str]:
        """The words that it found before, and must not find in the end."""
        return {word for one in self._before() for word in docs.words(one)} - self.present()

    @property
    def takes_away_itself(self) -> bool:
        """Whether the command, not its user, takes away what the past held."""
        return self.name == "checkpoint"

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Space]:
        """The index, as a fresh process opens it."""
        workspace = Workspace.open(folder, host=host())
        if self.name == "agents":
            from ragloom_agents import Agents

            agents = Agents.open(folder, host=workspace.host)
            yield agents.index.spaces.space(_AGENT)
            agents.index.close()
        elif self.name == "checkpoint":
            from ragloom_knowledge.knowledge import KnowledgeBase

            with KnowledgeBase.of(workspace) as knowledge:
                yield knowledge.space
        else:
            with workspace.space("kb") as space:
                yield space

    def state(self, folder: Path) -> Path:
        """The folder of the index."""
        below = {
            "agents": f"agents/spaces/agent-{_AGENT}",
            "checkpoint": "knowledge/spaces/knowledge",
        }
        return folder / ".ragloom" / below.get(self.name, "spaces/kb")

    def _before(self) -> Sequence[docs.Documents]:
        if self.name == "index, first":
            return ()
        return [docs.documents(version) for version in (0, 1)]

    def _after(self) -> docs.Documents:
        last = docs.documents(1)
        if self.name == "index, removed":
            return dict(list(last.items())[2:])
        if self.name.startswith(("repair", "index, model")):
            return last
        return docs.documents(2)

    def _write(
        self, folder: Path, wanted: docs.Documents, *, last: bool, fresh: bool = False
    ) -> None:
        if self.name == "checkpoint":
            _write_settings(folder, self, HASHING)
            _learn(folder, wanted, expire=last and not fresh)
            return
        changes_model = self.name == "index, model" and last
        embedder = _OTHER if changes_model else HASHING
        _write_settings(folder, self, embedder, real=self.name != "index, model" or last)
        docs.write(folder, wanted)
        if last and not fresh and self.name.startswith("repair"):
            _wreck(self, folder)


def _write_settings(folder: Path, scene: Scene, embedder: str, *, real: bool = True) -> None:
    if scene.model == "onnx" and real:
        embedder = "onnx"
    settings = f"store: {scene.store}\nembedder: {embedder}\nmin_relevance: 0\n"
    if scene.name == "agents":
        sources = "{strategy: rag, sources: ['docs/*.md']}"
        (folder / "agents.yaml").write_text(
            f"rag: {{store: {scene.store}, chunk_size: 600, chunk_overlap: 0}}\n"
            f"agents: [{{id: {_AGENT}, docs: {sources}}}]\n",
            "utf-8",
        )
    elif scene.name != "checkpoint":
        settings += "spaces: {kb: {sources: [docs]}}\n"
    (folder / "ragloom.yaml").write_text(settings, "utf-8")


def _wreck(scene: Scene, folder: Path) -> None:
    """Take away the store, or the snapshot, whichever is to be repaired."""
    pattern = "store/**/*" if scene.name == "repair, store" else "gen-*/*.columns"
    for path in scene.state(folder).glob(pattern):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(b"\0garbage" * 20)


def _learn(folder: Path, wanted: docs.Documents, *, expire: bool) -> None:
    """Stage a lesson for each section, and have those expire that are wanted no more."""

    def learn() -> None:
        import sqlalchemy as sa

        from ragloom_knowledge.knowledge import KnowledgeBase

        with KnowledgeBase.open(folder, host=host()) as knowledge:
            known = {lesson.solution_steps: lesson.id for lesson in knowledge.lessons()}
            for word in sorted(docs.words(wanted)):
                if (fix := f"apply {word}") not in known:
                    problem = f"the job {word} fails"
                    knowledge.capture_failure_solution(_PROJECT, "a", problem, solution_steps=fix)
                known.pop(fix, None)
            for lesson_id in known.values():
                if expire:
                    long_ago = sa.func.datetime("2000-01-01")
                    knowledge.table._change(lesson_id, embedded_at=long_ago)
                else:
                    knowledge.remove(lesson_id)

    ended: Ended = in_child(learn)
    if ended.code:
        raise RuntimeError(f"lessons: {ended.said}")


STORES = ("milvus", "sqlite", "file")
NAMES = (
    *("index, first", "index, changed", "index, removed", "index, model"),
    *("watch", "repair, store", "repair, snapshot"),
)


def scenes() -> list[Scene]:
    """Every scene with the embedder that costs nothing."""
    made = [Scene(name=name, store=store) for name in NAMES for store in STORES]
    made += [Scene(name="agents", store=store) for store in ("sqlite", "file")]
    return [*made, *(Scene(name="checkpoint", store=store) for store in ("milvus", "sqlite"))]


def real_scenes() -> list[Scene]:
    """Those with the real model."""
    pairs = zip(NAMES, (*STORES, *STORES, *STORES), strict=False)
    made = [Scene(name=name, store=store, model="onnx") for name, store in pairs]
    return [*made, Scene(name="checkpoint", store="milvus", model="onnx")]


class Stage:
    """Scenes, each prepared once and copied as often as it is played.

    Args:
        folder: Where.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready: dict[tuple[str, str], Path] = {}
        self._copies = 0

    def copy(self, scene: Scene, kind: str = "before") -> Path:
        """A folder in which the scene is ready to be played once; ``fresh``: an index to compare with."""
        key = (scene.title, kind)
        if key not in self._ready:
            base = self._folder / f"base-{len(self._ready):02}"
            (scene.prepare if kind == "before" else scene.fresh)(base)
            self._ready[key] = base
        self._copies += 1
        target = self._folder / f"play-{self._copies:04}"
        shutil.copytree(self._ready[key], target, symlinks=True)
        return target

    def empty(self) -> Path:
        """An empty folder."""
        self._copies += 1
        folder = self._folder / f"empty-{self._copies:04}"
        folder.mkdir()
        return folder

    def strike(self, folder: Path) -> None:
        """Take down what was played in a folder."""
        shutil.rmtree(folder, ignore_errors=True)


def warm_up(folder: Path) -> None:
    """Import whatever scenes import: searches and runs with each store and both embedders."""
    for number, scene in enumerate([*scenes()[:3], *real_scenes()[:1], *scenes()[-4::2]]):
        place = folder / f"warm-{number}"
        scene.prepare(place)

        def work(scene: Scene = scene, place: Path = place) -> None:
            with suppress(SystemExit):
                ragloom(place, *scene.again)
            with scene.opened(place) as space:
                space.search("harvest", min_relevance=0)
                space.verify()

        warm(work)
    gc.freeze()  # so that a collection in a child copies no memory


def random_of(seed: int, part: str, number: int) -> Random:
    """The random numbers of one case, the same whichever cases are played before it."""
    return Random(f"{seed}/{part}/{number}")
