"""The options of every command, and those that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import click

from ragloom.cli._session import Session
from ragloom.errors import ConfigError
from ragloom.types import MODES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ragloom.plugin.registry import Kind
    from ragloom.types import Condition

__all__ = [
    "COMMON_OPTIONS",
    "SHARE",
    "complete_spaces",
    "json_option",
    "part_options",
    "query_options",
    "refresh_option",
    "reranker_option",
    "space_option",
]

F = TypeVar("F", bound=Callable[..., object])
Complete: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"


def _into(attribute: str, value: object = None) -> Callable[..., None]:
    """A callback that puts what was given into the session; before or after the command's name."""

    def callback(ctx: click.Context, _param: click.Parameter, given: object) -> None:
        if given not in (None, False, 0):
            setattr(ctx.ensure_object(Session), attribute, given if value is None else value)

    return callback


_common = partial(click.Option, expose_value=False)
COMMON_OPTIONS: Final = (
    _common(
        ("-C", "--workspace"),
        metavar="DIR",
        type=click.Path(),
        callback=_into("folder"),
        help="The folder that holds the files and their index; the current one by default.",
    ),
    _common(
        ("--config",),
        metavar="FILE",
        type=click.Path(),
        callback=_into("config"),
        help="The settings file; ragloom.yaml in the workspace by default.",
    ),
    _common(
        ("-v", "--verbose"),
        count=True,
        callback=_into("verbosity"),
        help="Say what is going on; twice for everything.",
    ),
    _common(
        ("-q", "--quiet"),
        is_flag=True,
        callback=_into("verbosity", -1),
        help="Nothing but errors on stderr, and no progress.",
    ),
    _common(
        ("--no-color",),
        is_flag=True,
        callback=_into("colored", value=False),
        help="No colours; NO_COLOR=1 in the environment does the same.",
    ),
    _common(
        ("--trace-hooks",),
        is_flag=True,
        callback=_into("trace_hooks"),
        help="Log every call of a plugin's hook.",
    ),
    _common(
        ("--traceback",),
        is_flag=True,
        callback=_into("traceback"),
        help="Show where an error came from.",
    ),
)
"""The options of every command; they may stand before its name or after it."""


class _Share(click.FloatRange):
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(cast("float", value), param, ctx))
        if isnan(number):  # which no comparison refuses
            self.fail(f"{value!r} is not a number from 0 to 1.", param, ctx)
        return number


SHARE: Final = _Share(0, 1)
"""The type of an option that takes a relevance: a number from 0 to 1."""


def json_option(command: F) -> F:
    """``--json``, which the command gets as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")(command)


def space_option(command: F) -> F:
    """``--space NAME``."""
    return click.option(
        "-s",
        "--space",
        "space_name",
        metavar="NAME",
        shell_complete=complete_spaces,
        help="The index to use, by its name in the settings or in 'ragloom status'.",
    )(command)


def part_options(command: F) -> F:
    """``--chunker``, ``--embedder`` and ``--store``: other parts than the settings say."""
    for part, verb in (
        ("store", "keeps the chunks"),
        ("embedder", "turns texts into vectors"),
        ("chunker", "cuts the files"),
    ):
        command = click.option(
            f"--{part}",
            metavar="NAME",
            shell_complete=_complete_parts(part),
            help=f"The part that {verb}, instead of the one in the settings.",
        )(command)
    return command


def reranker_option(command: F) -> F:
    """``--reranker NAME``."""
    return click.option(
        "--reranker",
        metavar="NAME",
        shell_complete=_complete_parts("reranker"),
        help="The part that reorders the best candidates; 'none' for their own order.",
    )(command)


def query_options(command: F) -> F:
    """How an index is asked: ``--top-k``, ``--min-relevance``, ``--mode`` and ``--where``."""
    for option in reversed(_QUERY):
        command = option(command)
    return command


def refresh_option(command: F) -> F:
    """``--refresh``, which is the default, and ``--no-refresh``."""
    return click.option(
        "--refresh/--no-refresh",
        default=True,
        help="Bring the index up to date first (the default), or ask it as it is.",
    )(command)


def _conditions(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[Condition, ...]:
    if not given:
        return ()
    from ragloom.stores.filters import parse_condition

    try:
        return tuple(parse_condition(text) for text in given)
    except ConfigError as error:
        raise click.BadParameter(str(error), ctx, param) from error


_QUERY = (
    click.option(
        "-k", "--top-k", metavar="N", type=click.IntRange(min=0), help="Maximum number of hits."
    ),
    click.option(
        "--min-relevance",
        metavar="SHARE",
        type=SHARE,
        help="Leave out what is less relevant than this, 0 to 1.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help="By meaning and words, by meaning alone, or by words alone.",
    ),
    click.option(
        "-w",
        "--where",
        metavar="COND",
        multiple=True,
        callback=_conditions,
        help="Only files whose metadata passes: 'status=accepted', 'tags:logging', "
        "'date<2025-01-01', 'path under docs/adr'. May be given more than once: all must pass.",
    ),
)


def complete_spaces(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of spaces, for a shell."""
    from click.shell_completion import CompletionItem

    names = ctx.ensure_object(Session).workspace().spaces()
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _complete_parts(part: str) -> Complete:
    kinds: dict[str, Kind] = {
        "store": "stores",
        "embedder": "embedders",
        "chunker": "chunkers",
        "reranker": "rerankers",
    }

    def complete(
        ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        providers = ctx.ensure_object(Session).host().providers(kinds[part])
        return [
            CompletionItem(name, help=provider.summary)
            for name, provider in providers.items()
            if name.startswith(incomplete)
        ]

    return complete
