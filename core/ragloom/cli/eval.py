"""``ragloom eval``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import SHARE, Command, Session, json_option, print_json, print_table, progress
from ragloom.config.spelling import counted
from ragloom.types import MODES

if TYPE_CHECKING:
    from ragloom.evaluation.collections import Collection
    from ragloom.evaluation.measures import Comparison, Evaluation, Measurement
    from ragloom.hookspecs import EvaluationSpec
    from ragloom.types import Json, Mode

__all__ = ["command"]

MODE = click.Choice(MODES)


@click.command(
    "eval",
    cls=Command,
    short_help="Measure retrieval on a judged collection.",
    epilog="""\b
Examples:
  ragloom eval collections/scifact
  ragloom eval collections/scifact --mode hybrid --against dense --against lexical
  ragloom eval collections/scifact --off-topic collections/cranfield --json
  ragloom eval my-problems   # a folder with problems.jsonl: matching of templates""",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--split", default="test", show_default=True, help="Which judgments to use.")
@click.option("--mode", type=MODE, default="hybrid", show_default=True, help="How to search.")
@click.option(
    "--against",
    type=MODE,
    multiple=True,
    help="Compare with this mode, query by query; repeatable.",
)
@click.option("--min-relevance", type=SHARE, help="The gate to measure.")
@click.option(
    "--off-topic",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="A collection of another subject whose queries must find nothing; repeatable. "
    "Two hundred everyday questions are asked in any case.",
)
@click.option(
    "--run", type=click.Path(dir_okay=False, path_type=Path), help="Write a TREC run file."
)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    folder: Path,
    split: str,
    mode: Mode,
    against: tuple[Mode, ...],
    min_relevance: float | None,
    off_topic: tuple[Path, ...],
    run: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval on FOLDER, a collection in BEIR's format.

    FOLDER holds corpus.jsonl (or .gz), queries.jsonl and qrels/SPLIT.tsv. Its documents are indexed
    once, below the workspace's .ragloom. Printed are nDCG@10, recall and MRR; how many off-topic
    queries get anything past the gate, and how many answerable ones keep an answer; and the latency.

    Plugins measure folders of their own kinds, which a file in them tells: 'ragloom plugins' lists them.
    None of the options but --json applies to those.
    """
    offered = _of_plugin(session, folder)
    if offered is not None:
        _refuse_options(click.get_current_context(), offered[0])
        _measure(session, folder, *offered, as_json=as_json)
        return
    from ragloom.evaluation.collections import everyday_questions, read_collection
    from ragloom.evaluation.measures import compare, evaluate, write_run

    collection = _read(session, folder, split)
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
    main = evaluations[mode]
    comparisons = {other: compare(main, evaluations[other]) for other in dict.fromkeys(against)}
    if run is not None:
        write_run(main, run)
    if as_json:
        found = _as_json(main, index_seconds)
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
    session.note(
        f"gate {gate.min_relevance:.2f}: {gate.injected} of {gate.off_topic} off-topic queries got "
        f"something ({gate.injection_rate:.1%}); {gate.kept} of {gate.answerable} answerable queries "
        f"kept an answer ({gate.kept_rate:.1%})"
    )
    session.note(f"{counted(main.chunks, 'chunk')}, indexed in {index_seconds:.1f} s")


def _read(session: Session, folder: Path, split: str) -> Collection:
    from ragloom.errors import SourceError
    from ragloom.evaluation.collections import read_collection

    others = ", ".join(session.host().evaluations())
    if not _is_collection(folder) and others:
        raise SourceError(
            f"{folder}: nothing here can be measured: there is neither corpus.jsonl, as in a "
            f"collection in BEIR's format, nor a file that a plugin measures ({others})"
        )
    return read_collection(folder, split=split)


def _is_collection(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("corpus.jsonl", "corpus.jsonl.gz"))


def _of_plugin(session: Session, folder: Path) -> tuple[str, EvaluationSpec] | None:
    """What a plugin measures of a folder: the file that tells it, and how; None for a collection."""
    if _is_collection(folder):
        return None
    offered = session.host().evaluations()
    return next(((name, spec) for name, spec in offered.items() if (folder / name).exists()), None)


def _refuse_options(context: click.Context, name: str) -> None:
    own = ("split", "mode", "against", "min_relevance", "off_topic", "run")
    for param in own:
        if context.get_parameter_source(param) is not click.core.ParameterSource.DEFAULT:
            option = "--" + param.replace("_", "-")
            raise click.UsageError(
                f"{option} is for collections in BEIR's format; this is a {name}"
            )


def _measure(
    session: Session, folder: Path, name: str, spec: EvaluationSpec, *, as_json: bool
) -> None:

    measure = _load(spec)
    collection = folder.resolve().name
    with progress(session, collection) as meter:
        measured = measure(session.workspace(), folder, progress=meter)
    if as_json:
        print_json(
            {
                "collection": collection,
                "queries": len(measured.latency_ms),
                "mode": name.partition(".")[0],
                "metrics": dict(measured.metrics),
                "latency_ms": {"p50": measured.percentile(50), "p95": measured.percentile(95)},
                "index_seconds": measured.index_seconds,
                "chunks": measured.chunks,
            }
        )
        return
    print_table(
        (*measured.metrics, "p50 ms", "p95 ms"),
        [
            [
                *(f"{value:.3f}" for value in measured.metrics.values()),
                *(f"{measured.percentile(share):.1f}" for share in (50, 95)),
            ]
        ],
    )
    for note in measured.notes:
        session.note(note)
    session.note(
        f"{spec.summary}: {counted(len(measured.latency_ms), 'question')}, "
        f"{counted(measured.chunks, 'chunk')}, indexed in {measured.index_seconds:.1f} s"
    )


def _load(spec: EvaluationSpec) -> Callable[..., Measurement]:
    from importlib import import_module

    from ragloom.errors import PluginError

    module, _, attribute = spec.target.partition(":")
    try:
        return cast("Callable[..., Measurement]", getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise PluginError(f"the evaluation {spec.target!r} cannot be loaded: {error}") from error


def _row(evaluation: Evaluation, comparison: Comparison | None) -> list[str]:
    figures = [f"{value:.4f}" for value in evaluation.metrics.values()]
    latency = [f"{evaluation.percentile(50):.1f}", f"{evaluation.percentile(95):.1f}"]
    versus = f"{comparison.difference:+.4f}, p = {comparison.p_value:.4f}" if comparison else ""
    return [evaluation.mode, *figures, *latency, versus]


def _as_json(evaluation: Evaluation, index_seconds: float) -> dict[str, Json]:
    gate = evaluation.gate
    return {
        "collection": evaluation.collection,
        "queries": len(evaluation.run),
        "mode": evaluation.mode,
        "metrics": dict(evaluation.metrics),
        "latency_ms": {"p50": evaluation.percentile(50), "p95": evaluation.percentile(95)},
        "index_seconds": index_seconds,
        "chunks": evaluation.chunks,
        "gate": {
            "min_relevance": gate.min_relevance,
            "off_topic": gate.off_topic,
            "injected": gate.injected,
            "injection_rate": gate.injection_rate,
            "answerable": gate.answerable,
            "kept": gate.kept,
            "kept_rate": gate.kept_rate,
        },
    }
