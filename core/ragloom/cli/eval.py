"""``ragloom eval``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from ragloom.cli import (
    SHARE,
    Command,
    OutputPath,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_table,
    progress,
)
from ragloom.cli._group import load
from ragloom.config.spelling import counted
from ragloom.types import MODES

if TYPE_CHECKING:
    from ragloom.evaluation.measures import Comparison, Evaluation, Measurement
    from ragloom.types import Json, Mode

_MODE = click.Choice(MODES)
_COLLECTION = ("corpus.jsonl", "corpus.jsonl.gz")  # either makes a folder a collection
_GATE = (
    *("min_relevance", "off_topic", "injected", "injection_rate"),
    *("answerable", "kept", "kept_rate"),
)


@click.command(
    "eval",
    cls=Command,
    epilog="""\b
Examples:
  ragloom eval collections/scifact
  ragloom eval collections/scifact --mode hybrid --against dense --against lexical
  ragloom eval collections/scifact --off-topic collections/cranfield --json
  ragloom eval my-problems   # a folder with problems.jsonl: matching of templates
  ragloom eval --own         # your own documents
  ragloom eval --own docs --compare mode=rrf --compare chunker=sentence""",
)
@click.argument("folder", metavar="[FOLDER | SPACE]", default="")
@click.option("--own", is_flag=True, help="Judge a space by queries that its documents make.")
@click.option(
    "--compare",
    metavar="SETTING=VALUE",
    multiple=True,
    help="With --own: compare with this setting, such as 'dense_weight=0.4' or "
    "'chunker=sentence,max_tokens=128'. Repeatable.",
)
@click.option(
    "--queries",
    type=click.IntRange(min=20),
    default=200,
    show_default=True,
    help="With --own: the most queries to make.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="With --own: of the choice.")
@click.option("--split", default="test", show_default=True, help="The judgments to use.")
@click.option("--mode", type=_MODE, default="hybrid", show_default=True, help="How to search.")
@click.option(
    "--against",
    type=_MODE,
    multiple=True,
    help="Compare with this mode, query by query. Repeatable.",
)
@click.option("--min-relevance", type=SHARE, help="The gate to measure.")
@click.option(
    "--off-topic",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="A collection of another subject, whose queries must find nothing, as must 200 everyday "
    "questions. Repeatable.",
)
@click.option("--run", type=OutputPath(), help="Write a TREC run file.")
@json_option
@click.pass_obj
def command(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    folder: str,
    own: bool,
    compare: tuple[str, ...],
    queries: int,
    seed: int,
    split: str,
    mode: Mode,
    against: tuple[Mode, ...],
    min_relevance: float | None,
    off_topic: tuple[Path, ...],
    run: Path | None,
    as_json: bool,
) -> None:
    """Evaluate retrieval on FOLDER, a collection in BEIR's format, or on your own documents.

    FOLDER holds corpus.jsonl (or .gz), queries.jsonl and qrels/SPLIT.tsv. Its documents are indexed
    once, below the workspace's .ragloom. The result is nDCG@10, recall and MRR, the off-topic
    queries that pass the gate, the answerable queries that keep a hit, and the latency.

    The figures are kept, for 'ragloom ui' to show them side by side.

    Plugins evaluate folders of other kinds, which a file in them marks: 'ragloom plugins' lists them.
    Of the options, only --json applies to those.

    With --own, headings, links, questions, terms, docstrings and sentences of the documents of SPACE
    become queries, and a copy of the documents that lacks their words, in part or wholly, is indexed and
    asked. Only --compare, --queries, --seed and --json apply. See 'ragloom tune'.
    """
    if own:
        from ragloom.cli.tune import evaluate_space

        _refuse_others("own", "compare", "queries", "seed", "as_json", kind="--own")
        evaluate_space(session, folder or None, compare, limit=queries, seed=seed, as_json=as_json)
        return
    _evaluate_folder(
        session,
        _folder(folder),
        split=split,
        mode=mode,
        against=against,
        min_relevance=min_relevance,
        off_topic=off_topic,
        run=run,
        as_json=as_json,
    )


def _folder(given: str) -> Path:
    if not given:
        raise click.UsageError("give a FOLDER to evaluate, or --own for your own documents")
    if not Path(given).is_dir():
        raise click.UsageError(f"{given!r}: no such folder; for a space of that name add --own")
    for name in ("compare", "queries", "seed"):
        source = click.get_current_context().get_parameter_source(name)
        if source is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name} is for --own")
    return Path(given)


def _refuse_others(*allowed: str, kind: str) -> None:
    """Refuse every option that is given and does not apply."""
    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT
        if given and param.name not in ("folder", *allowed):
            message = f"{param.opts[0]} is for collections in BEIR's format; this is {kind}"
            raise click.UsageError(message)


def _evaluate_folder(
    session: Session,
    folder: Path,
    *,
    split: str,
    mode: Mode,
    against: tuple[Mode, ...],
    min_relevance: float | None,
    off_topic: tuple[Path, ...],
    run: Path | None,
    as_json: bool,
) -> None:
    if not any((folder / name).exists() for name in _COLLECTION):
        _evaluate_by_plugin(session, folder, as_json=as_json)
        return
    from ragloom.evaluation.collections import everyday_questions, read_collection
    from ragloom.evaluation.kept import keep_evaluation
    from ragloom.evaluation.measures import compare, evaluate, write_run

    collection = read_collection(folder, split=split)
    foreign = list(everyday_questions())
    for other in off_topic:
        foreign.extend(read_collection(other).queries.values())
    started = time.perf_counter()
    with progress(session, collection.name) as meter:
        space = session.workspace().collection_space(collection)
        space.index(progress=meter)
    index_seconds = time.perf_counter() - started
    evaluations: dict[Mode, Evaluation] = {}
    for each in dict.fromkeys((mode, *against)):
        with progress(session, f"{collection.name} {each}") as meter:
            evaluations[each] = evaluate(
                space,
                collection,
                mode=each,
                min_relevance=min_relevance,
                off_topic=foreign,
                progress=meter,
            )
        keep_evaluation(space.workspace.state, evaluations[each])
    main = evaluations[mode]
    comparisons = {other: compare(main, evaluations[other]) for other in dict.fromkeys(against)}
    if run is not None:
        write_run(main, run)
    if as_json:
        found = _as_json(main.collection, len(main.run), main.mode, main, index_seconds)
        found["gate"] = {name: getattr(main.gate, name) for name in _GATE}
        found["comparisons"] = {
            other: {
                "metrics": dict(evaluations[other].metrics),
                "metric": result.metric,
                "difference": result.difference,
                "p_value": result.p_value,
            }
            for other, result in comparisons.items()
        }
        print_json(found)
        return
    print_table(
        ("mode", "nDCG@10", "recall@10", "recall@100", "MRR@10", "p50 ms", "p95 ms", "against"),
        [_row(each, comparisons.get(name)) for name, each in evaluations.items()],
    )
    gate = main.gate
    click.echo(
        f"gate {gate.min_relevance:.2f}: {gate.injected} of {gate.off_topic} off-topic queries found "
        f"something ({gate.injection_rate:.1%}); {gate.kept} of {gate.answerable} answerable queries "
        f"kept a hit ({gate.kept_rate:.1%})"
    )
    session.note(f"{counted(main.chunks, 'chunk')}, indexed in {index_seconds:.1f} s")


def _evaluate_by_plugin(session: Session, folder: Path, *, as_json: bool) -> None:
    """Evaluate what a plugin knows by a file in ``folder``.

    Raises:
        SourceError: No plugin knows it.
        UsageError: An option is given that only applies to collections.
    """
    from ragloom.errors import SourceError

    offered = session.host().evaluations()
    name = next((name for name in offered if (folder / name).exists()), None)
    if name is None:
        files = ", ".join(["corpus.jsonl", *offered])
        raise SourceError(f"{folder}: nothing to evaluate: it has none of the files {files}")
    _refuse_others("as_json", kind=f"a {name}")
    measure = cast("Callable[..., Measurement]", load(offered[name].target, "evaluation"))
    collection = folder.resolve().name
    with progress(session, collection) as meter:
        measured = measure(session.workspace(), folder, progress=meter)
    queries, seconds = len(measured.latency_ms), measured.index_seconds
    if as_json:
        print_json(_as_json(collection, queries, name.partition(".")[0], measured, seconds))
        return
    figures = [f"{value:.3f}" for value in measured.metrics.values()]
    print_table((*measured.metrics, "p50 ms", "p95 ms"), [[*figures, *_latency(measured)]])
    for note in measured.notes:
        click.echo(on_one_line(note))
    session.note(
        f"{offered[name].summary}: {counted(queries, 'question')}, "
        f"{counted(measured.chunks, 'chunk')}, indexed in {seconds:.1f} s"
    )


def _row(evaluation: Evaluation, comparison: Comparison | None) -> list[str]:
    figures = [f"{value:.4f}" for value in evaluation.metrics.values()]
    versus = f"{comparison.difference:+.4f}, p = {comparison.p_value:.4f}" if comparison else ""
    return [evaluation.mode, *figures, *_latency(evaluation), versus]


def _latency(measured: Measurement | Evaluation) -> list[str]:
    return [f"{measured.percentile(share):.1f}" for share in (50, 95)]


def _as_json(
    collection: str, queries: int, mode: str, measured: Measurement | Evaluation, seconds: float
) -> dict[str, Json]:
    return {
        "collection": collection,
        "queries": queries,
        "mode": mode,
        "metrics": dict(measured.metrics),
        "latency_ms": {"p50": measured.percentile(50), "p95": measured.percentile(95)},
        "index_seconds": seconds,
        "chunks": measured.chunks,
    }
