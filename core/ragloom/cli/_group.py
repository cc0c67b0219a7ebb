"""Commands, and a group that imports each when it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import click

from ragloom.cli._edge import USAGE, run_to_exit_code
from ragloom.cli._options import COMMON_OPTIONS
from ragloom.cli._session import Session
from ragloom.config.spelling import did_you_mean
from ragloom.errors import PluginError
from ragloom.hookspecs import CommandSpec

__all__ = ["Command", "Group", "LazyGroup", "load"]


def load(target: str, kind: str) -> object:
    """Import ``module:attribute``, a ``command`` or an ``evaluation``.

    Raises:
        PluginError: It cannot be imported.
    """
    from pkgutil import resolve_name

    from ragloom.plugin.output import stdout_kept

    try:
        with stdout_kept():
            return resolve_name(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise PluginError(f"cannot load the {kind} {target!r}: {error}") from error


class Command(click.Command):
    """A command of ragloom or of a plugin, for ``@click.command(cls=Command)``.

    The common options, such as ``--workspace`` and ``--quiet``, may stand before its name or after it;
    ``ctx.obj``, a :class:`Session`, holds them, and no option of the command may have their names. A
    :class:`~ragloom.RagloomError` that it raises is one line on stderr and exit code 1, a
    :class:`click.UsageError` exit code 2; a number that it returns is the exit code.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then the common options, then ``--help``."""
        params, own = super().get_params(ctx), len(self.params)
        return [*params[:own], *COMMON_OPTIONS, *params[own:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; where the command has a QUERY, the error of an unknown option says how it is one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if all(param.name != "query" for param in self.params):
                raise
            message = f"{error.format_message()} A QUERY that begins with '-' follows '--'"
            raise click.UsageError(message, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Set up logging and colours, then run."""
        ctx.ensure_object(Session).start(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then the common ones."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                shared = param in COMMON_OPTIONS or "--help" in param.opts
                (common if shared else own).append(record)
        for title, records in (("Options", own), ("Common options", common)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Group(Command, click.Group):
    """A group of such commands, for ``@click.group(cls=Group)``; its commands need no ``cls``.

    Without a command it shows its help on stderr, with exit code 2; for an unknown one the nearest.
    """

    command_class: type[click.Command] | None = Command
    group_class: type[click.Group | type] | None = type

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with the help on stderr where a command is missing."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the nearest command for an unknown one."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            names = self.list_commands(ctx)
            hint = did_you_mean(name, names) or f" (available: {', '.join(names)})"
            if not ctx.resilient_parsing:
                ctx.fail(f"unknown command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


class LazyGroup(Group):
    """Lists its commands from a table, and turns every failure into a line and an exit code.

    Args:
        built_in: The commands by name, in the order of the help.
        more: Finds the commands of plugins; called only for the help and for a name that is not built in.
    """

    def __init__(
        self,
        *args: object,
        built_in: Mapping[str, CommandSpec] | None = None,
        more: Callable[[click.Context], Mapping[str, CommandSpec]] | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._built_in = dict(built_in or {})
        self._more = more

    def specs(self, ctx: click.Context) -> Mapping[str, CommandSpec]:
        """Built-in commands and those of plugins, which replace none."""
        return {**(self._more(ctx) if self._more else {}), **self._built_in}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names: built-in ones in their order, then those of plugins, sorted."""
        return [*self._built_in, *sorted(set(self.specs(ctx)) - set(self._built_in))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None for an unknown name."""
        spec = self._built_in.get(cmd_name) or self.specs(ctx).get(cmd_name)
        if spec is None:
            return None
        command = load(spec.target, "command")
        if not isinstance(command, click.Command):
            raise PluginError(f"{spec.target!r} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and summaries, without importing a command."""
        specs = self.specs(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(name, specs[name].summary) for name in self.list_commands(ctx)])

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: object,
    ) -> object:
        """As click's; in standalone mode every failure becomes a line and an exit code."""
        session = cast("Session", extra.setdefault("obj", Session()))
        # click's signature differs between releases.
        main = cast("Callable[..., object]", super().main)
        run = partial(main, args, prog_name, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        raise SystemExit(run_to_exit_code(run, session))
