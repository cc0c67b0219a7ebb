"""Measure a space on its own documents, and compare settings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragloom.config.component import Component
from ragloom.config.settings import COMPARABLE, SpaceSettings, with_values
from ragloom.config.spelling import unknown
from ragloom.errors import ConfigError, SourceError
from ragloom.evaluation.collections import everyday_questions
from ragloom.evaluation.measures import Comparison, compare_by_query
from ragloom.evaluation.own import OwnEvaluation, evaluate_own, write_copy
from ragloom.evaluation.own_queries import OwnQuery, own_queries
from ragloom.snapshot import generations
from ragloom.stores.atomic import replace_file
from ragloom.types import Document, Progress

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.workspace import Workspace

FEWEST = 20
"""Queries, below which nothing can be said."""
_FOREIGN = 200  # queries of other spaces at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Settings to compare with those of a space.

    Attributes:
        label: As it was written, such as ``chunker=sentence,max_tokens=200``.
        values: By the name of the setting.
    """

    label: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReport:
    """What the documents of a space say of it.

    Attributes:
        space: The space.
        seed: Of the choice of queries.
        queries: How many.
        foreign_of: Where the foreign queries come from.
        results: As set first, then each change.
        comparisons: Of each change with the first, by label.
    """

    space: str
    seed: int
    queries: int
    foreign_of: str
    results: Sequence[OwnEvaluation]
    comparisons: Mapping[str, Comparison]


def parse_change(text: str) -> Change:
    """Read ``SETTING=VALUE``, with options of a component behind commas.

    Raises:
        ConfigError: It is not of this form, or the setting cannot be compared.
    """
    import yaml

    first, *rest = text.split(",")
    key, sign, value = first.partition("=")
    if not sign or not value:
        raise ConfigError(f"--compare {text!r}: expected SETTING=VALUE, such as chunker=sentence")
    if key not in COMPARABLE:
        raise ConfigError(f"--compare {text!r}: {unknown('setting', key, COMPARABLE)}")
    given: dict[str, object] = {}
    for option in rest:
        name, sign, said = option.partition("=")
        if not sign:
            raise ConfigError(f"--compare {text!r}: expected OPTION=VALUE, not {option!r}")
        given[name] = yaml.safe_load(said)
    plain = yaml.safe_load(value)
    return Change(label=text, values={key: {"name": plain, **given} if given else plain})


def evaluate_own_documents(
    workspace: Workspace,
    space: Space,
    changes: Sequence[Change] = (),
    *,
    limit: int = 200,
    seed: int = 0,
    progress: Callable[[str], Progress | None] = lambda _: None,
) -> OwnReport:
    """Make queries of a space's documents, index a copy that withholds them, and ask them.

    The copy and its indexes are below the workspace's state folder; the space itself is not changed.

    Args:
        workspace: Of the space, and of the others whose queries it must not answer.
        space: Any, indexed or not.
        changes: Settings to compare with.
        limit: The most queries.
        seed: Of their choice.
        progress: Gives what is told how far a stage is, for its label.

    Raises:
        SourceError: The documents make too few queries.
        ConfigError: A change is not legal.
    """
    variants = [("as set", space.settings)] + [
        (one.label, with_values(space.settings, one.values, f"--compare {one.label}"))
        for one in changes
    ]
    queries, files = write_own_copy(workspace, space, limit=limit, seed=seed)
    foreign, foreign_of = _foreign(workspace, space, seed)
    results: list[OwnEvaluation] = []
    for label, settings in variants:
        copy = space_of_copy(workspace, space, settings, files)
        copy.index(progress=progress(f"{space.name} {label}, index"))
        meter = progress(f"{space.name} {label}")
        results.append(evaluate_own(copy, queries, foreign, label=label, progress=meter))
        copy.close()
    return OwnReport(
        space=space.name,
        seed=seed,
        queries=len(queries),
        foreign_of=foreign_of,
        results=results,
        comparisons={
            one.label: compare_by_query(one.by_query, results[0].by_query) for one in results[1:]
        },
    )


def write_own_copy(
    workspace: Workspace, space: Space, *, limit: int, seed: int = 0
) -> tuple[Sequence[OwnQuery], Path]:
    """Make queries of a space's documents, and write the copy that withholds them.

    Returns:
        The queries, by uris and spans of the copy, and its folder.

    Raises:
        SourceError: The documents make too few queries.
    """
    made = own_queries(_documents(space), limit=limit, seed=seed)
    if len(made) < FEWEST:
        raise SourceError(
            f"{space.name!r}: its documents make {len(made)} queries, and {FEWEST} are the fewest to "
            "judge by: there are too few headings, links and paragraphs"
        )
    files = workspace.make_state() / "eval" / "own" / space.name / "files"
    return write_copy(_documents(space), made, files, space.root), files


def report_json(report: OwnReport) -> dict[str, object]:
    """What ``ragloom eval --own --json`` prints."""
    results = []
    for one in report.results:
        versus = report.comparisons.get(one.label)
        p50, p95 = (float(np.percentile(one.latency_ms, share)) for share in (50, 95))
        results.append(
            {
                "settings": one.label,
                "ndcg@10": one.ndcg,
                "recall@10": one.recall,
                "answerable": one.answerable,
                "silenced": one.silenced,
                "foreign": one.foreign,
                "false_answers": one.false,
                "latency_ms": {"p50": p50, "p95": p95},
                "difference": versus.difference if versus else None,
                "p_value": versus.p_value if versus else None,
            }
        )
    first = report.results[0]
    return {
        "space": report.space,
        "seed": report.seed,
        "queries": report.queries,
        "foreign_of": report.foreign_of,
        "kinds": {
            kind: {"queries": count, "ndcg@10": value}
            for kind, (value, count) in first.by_kind.items()
        },
        "results": results,
        "misses": [asdict(miss) for miss in first.misses],
    }


def _documents(space: Space) -> Iterator[Document]:
    for _, document in space.documents():
        if isinstance(document, Document):
            yield document


def _foreign(workspace: Workspace, space: Space, seed: int) -> tuple[Sequence[str], str]:
    """Queries that other spaces' documents make, or everyday questions where there are none."""
    texts: list[str] = []
    names: list[str] = []
    for name in workspace.spaces():
        if name == space.name:
            continue
        other = workspace.space(name)
        if set(other.settings.sources) & set(space.settings.sources):
            continue
        made = own_queries(_documents(other), limit=_FOREIGN, seed=seed)
        if made:
            names.append(name)
            texts += [query.text for query in made]
    if len(texts) < FEWEST:
        return everyday_questions(), "everyday questions"
    return texts[:_FOREIGN], f"queries of {', '.join(names)}"


def space_of_copy(
    workspace: Workspace, space: Space, settings: SpaceSettings, files: Path
) -> Space:
    """The index of a copy for some settings; those that split and embed alike share one."""
    parts = [settings.chunker, *settings.chunkers.values(), settings.embedder]
    said = json.dumps([(one.name, dict(one.options)) for one in parts], sort_keys=True)
    key = blake2b(said.encode(), digest_size=6).hexdigest()
    own = replace(
        settings,
        sources=(".",),
        include=(),
        exclude=(),
        store=Component(name="memory"),  # the snapshot is all that is read
    )
    directory = f"eval/own/{space.name}/{key}"
    copy = workspace.private_space(f"own-{space.name}", own, directory=directory, root=files)
    if not copy.generation and settings.embedder == space.settings.embedder:
        begin_with(copy, space)
    return copy


def begin_with(copy: Space, space: Space) -> None:
    """Give a new index what the space has embedded: of the copy, only what differs is embedded then."""
    found = generations(space.directory)
    if found:
        copy.directory.mkdir(parents=True, exist_ok=True)
        shutil.copytree(found[0], copy.directory / found[0].name, dirs_exist_ok=True)
        replace_file(copy.directory / "CURRENT", (space.directory / "CURRENT").read_bytes())
