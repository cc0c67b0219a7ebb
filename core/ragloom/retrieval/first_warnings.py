"""What is worth a line after the first index run, and never again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ragloom.config.settings import SpaceSettings
from ragloom.config.spelling import counted
from ragloom.hookspecs import Provider
from ragloom.plugin.registry import missing_modules
from ragloom.protocols import Embedder, Loader
from ragloom.snapshot import Snapshot
from ragloom.sources.screening import ending_of
from ragloom.types import Calibration

_FOREIGN = 0.25  # of the chunks, from which on another model is worth a line
_ENDINGS = 3  # that a line names


def first_warnings(
    embedder: Embedder,
    fitted: Calibration | None,
    snapshot: Snapshot,
    settings: SpaceSettings,
    loaders: Mapping[str, Loader],
    chunkers: Mapping[str, Provider[object]],
) -> Iterator[str]:
    """What is worth a line, once, of the first index: of its model, and of the chunker of source code."""
    if embedder.calibration is None and fitted is None:
        yield (
            "this embedder ships no calibration, so relevance follows a default curve: "
            "'ragloom calibrate' fits it to these documents"
        )
    hint = getattr(embedder, "foreign_hint", "")
    if hint and (share := snapshot.lexical.foreign) >= _FOREIGN:
        yield f"{share:.0%} of the chunks are not in English: {hint}"
    yield from _code_hint(snapshot, settings, loaders, chunkers)


def _code_hint(
    snapshot: Snapshot,
    settings: SpaceSettings,
    loaders: Mapping[str, Loader],
    chunkers: Mapping[str, Provider[object]],
) -> Iterator[str]:
    """That a chunker for source code is not used, and how to: its passages are shorter and have names."""
    from ragloom.retrieval.code_order import is_code

    endings = Counter(ending_of(uri) for uri in snapshot.files if is_code(uri))
    for ending in settings.chunkers:
        endings.pop(ending, None)
    named = {ending: getattr(loaders.get(ending), "chunker_hint", "") for ending in endings}
    common = [
        one for one, _ in endings.most_common() if named[one] not in ("", settings.chunker.name)
    ]
    if not common:
        return
    hinted = chunkers.get(named[common[0]])
    missing = hinted is not None and bool(missing_modules(hinted))
    install = f"pip install '{hinted.extra}' and " if hinted and missing else ""
    setting = ", ".join(f"{ending}: {named[ending]}" for ending in common[:_ENDINGS])
    files = counted(sum(endings[ending] for ending in common), "file")
    yield (
        f"{files} of source code split at blank lines: {install}'chunkers: {{{setting}}}' in ragloom.yaml "
        "splits them at functions and classes"
    )
