"""The options of every command, and those that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import click

from ragloom.cli._session import Session
from ragloom.errors import ConfigError
from ragloom.types import MODES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ragloom.plugin.registry import Kind
    from ragloom.space import Space
    from ragloom.types import Condition

__all__ = [
    "COMMON_OPTIONS",
    "SHARE",
    "SHOW_ALL",
    "OutputPath",
    "Spaces",
    "complete_components",
    "complete_spaces",
    "completes",
    "component_options",
    "json_option",
    "per_file_option",
    "query_options",
    "refresh_option",
    "space_options",
]

F = TypeVar("F", bound=Callable[..., object])
Completion: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"
Spaces: TypeAlias = "Callable[[], list[Space]]"


def _into(attribute: str, value: object = None) -> Callable[..., None]:
    """A callback that sets an attribute of the session, before or after the command's name."""

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
        help="The folder of the files and their index; by default the nearest one, from the current folder "
        "up, that has settings or an index, or else the current folder.",
    ),
    _common(
        ("--config",),
        metavar="FILE",
        type=click.Path(),
        callback=_into("config"),
        help="The settings file; ragloom.yaml or ragloom.yml in the workspace by default.",
    ),
    _common(
        ("-v", "--verbose"),
        count=True,
        callback=_into("verbosity"),
        help="Log what happens; -vv logs everything.",
    ),
    _common(
        ("-q", "--quiet"),
        is_flag=True,
        callback=_into("verbosity", -1),
        help="Show only errors on stderr, and no progress.",
    ),
    _common(
        ("--no-color",),
        is_flag=True,
        callback=_into("colored", value=False),
        help="Disable colours, as NO_COLOR=1 does.",
    ),
    _common(
        ("--trace-hooks",),
        is_flag=True,
        callback=_into("trace_hooks"),
        help="Log every hook call.",
    ),
    _common(
        ("--traceback",),
        is_flag=True,
        callback=_into("traceback"),
        help="Show the traceback of an error.",
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


class OutputPath(click.Path):
    """The type of a file or folder that a command writes: it is refused before the work begins.

    Args:
        folder: It is a folder.
        parents: The command creates folders above it that do not exist.
    """

    def __init__(self, *, folder: bool = False, parents: bool = False) -> None:
        super().__init__(file_okay=folder is False, dir_okay=folder, writable=True, path_type=Path)
        self._parents = parents

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """As click's, as a path that can be created where it does not exist."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.exists():
            return path
        above = Path(os.path.realpath(path)).parent
        while self._parents and not os.path.lexists(above):
            above = above.parent
        if not above.is_dir():
            what = "is no folder" if os.path.lexists(above) else "does not exist"
            self.fail(f"{str(path)!r} cannot be written: {str(above)!r} {what}", param, ctx)
        if not os.access(above, os.W_OK | os.X_OK):
            self.fail(f"{str(path)!r} cannot be written: {str(above)!r} is read-only", param, ctx)
        return path


SHOW_ALL: Final = "show it with --min-relevance 0"
"""How to see the closest passage where no hit is shown."""


def completes(known: Callable[[Session], Iterable[str]]) -> Completion:
    """The ``shell_complete`` of a parameter whose values are known.

    Args:
        known: Gives them; where it fails, nothing is completed.
    """

    def complete(
        ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from ragloom.errors import RagloomError

        session = ctx.ensure_object(Session)
        try:
            session.find()
            names = list(known(session))
        except (RagloomError, OSError):  # a shell waits for names, and shows no error
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    return complete


complete_spaces: Final[Completion] = completes(lambda session: session.workspace().spaces())
"""The names of spaces, for a shell."""


def complete_components(kind: str) -> Completion:
    """The names of components, for a shell.

    Args:
        kind: Such as ``store``.
    """

    def complete(
        ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        providers = ctx.ensure_object(Session).host().providers(cast("Kind", f"{kind}s"))
        return [
            CompletionItem(name, help=provider.summary)
            for name, provider in providers.items()
            if name.startswith(incomplete)
        ]

    return complete


def json_option(command: F) -> F:
    """``--json``, which the command gets as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")(command)


def component_options(*kinds: str) -> Callable[[F], F]:
    """``--store NAME`` and so on; the command gets ``components``: the names by kind, None by default."""

    def decorate(command: F) -> F:
        @wraps(command)
        def with_components(*args: object, **options: object) -> object:
            components = {kind: options.pop(kind) for kind in kinds}
            return command(*args, components=components, **options)

        for kind in reversed(kinds):
            what = _COMPONENTS[kind]
            option = click.option(
                f"--{kind}",
                metavar="NAME",
                shell_complete=complete_components(kind),
                help=f"The {kind} to use, which {what}; by default the one in the settings.",
            )
            with_components = option(with_components)
        return cast("F", with_components)

    return decorate


_COMPONENTS = {
    "store": "keeps chunks and vectors",
    "embedder": "turns texts into vectors",
    "chunker": "splits documents",
    "runner": "works on the files ('local': in this process)",
    "reranker": "reorders the best candidates ('none': leave their order)",
}


def space_option(said: str) -> Callable[[F], F]:
    """``--space NAME``, whose help is ``said``; the command gets ``space_name``."""
    return click.option(
        "-s", "--space", "space_name", metavar="NAME", shell_complete=complete_spaces, help=said
    )


def space_options(*components: str, paths: bool = False) -> Callable[[F], F]:
    """``--space NAME``, an option for each kind of component and, if wanted, PATHs.

    The command gets ``spaces``, which returns the spaces that are meant:
    see :func:`ragloom.cli._spaces.choose_spaces`.
    """

    def decorate(command: F) -> F:
        @wraps(command)
        def with_spaces(
            *args: object,
            space_name: str | None,
            components: Mapping[str, str | None],
            paths: tuple[str, ...] = (),
            **options: object,
        ) -> object:
            from ragloom.cli._spaces import choose_spaces

            def spaces() -> list[Space]:
                session = click.get_current_context().ensure_object(Session)
                return choose_spaces(session.workspace(), space_name, paths, components)

            return command(*args, spaces=spaces, **options)

        options = [
            component_options(*components),
            space_option("The space to use: its name in the settings or in 'ragloom status'."),
        ]
        if paths:
            options.append(
                click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
            )
        for option in options:
            with_spaces = option(with_spaces)
        return cast("F", with_spaces)

    return decorate


def query_options(command: F) -> F:
    """QUERY, ``--top-k``, ``--min-relevance``, ``--mode`` and ``--where``, as one ``query``.

    The command gets a :class:`ragloom.Query`.
    """

    @wraps(command)
    def with_query(*args: object, query: str, **options: object) -> object:
        from ragloom.retrieval.query import Query

        names = ("top_k", "min_relevance", "mode", "where", "per_file")
        choices = {name: options.pop(name) for name in names if name in options}
        return command(*args, query=Query(query, **choices), **options)  # type: ignore[arg-type]

    for option in reversed(_QUERY):
        with_query = option(with_query)
    return cast("F", with_query)


def per_file_option(command: F) -> F:
    """``--per-file``, below :func:`query_options`: part of the query."""
    return click.option(
        "--per-file",
        metavar="N",
        type=click.IntRange(min=0),
        help="Maximum number of hits of one file, 0 for no maximum; the setting 'per_file' by default.",
    )(command)


def refresh_option(command: F) -> F:
    """``--refresh``, which is the default, and ``--no-refresh``."""
    return click.option(
        "--refresh/--no-refresh",
        default=True,
        help="Bring the index up to date first (the default), or search it as it is.",
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
    click.argument("query"),
    click.option(
        "-k",
        "--top-k",
        metavar="N",
        type=click.IntRange(min=0),
        help="Maximum number of hits; the setting 'top_k' by default.",
    ),
    click.option(
        "--min-relevance",
        metavar="SHARE",
        type=SHARE,
        help="Minimum relevance of a hit, 0 to 1; the setting 'min_relevance' by default.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help="Search by meaning and words (hybrid, rrf), by meaning (dense) or by words (lexical).",
    ),
    click.option(
        "-w",
        "--where",
        metavar="COND",
        multiple=True,
        callback=_conditions,
        help="Only files whose metadata passes: 'status=accepted', 'not tags:draft', 'exists owner', "
        "'date<2025-01-01 and (tags:sea or path under docs)'. Repeatable: all conditions must pass.",
    ),
)
