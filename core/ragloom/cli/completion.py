"""``ragloom completion``."""

from __future__ import annotations

import click

from ragloom.cli import Command


@click.command(
    "completion",
    cls=Command,
    epilog="""\b
Examples:
  eval "$(ragloom completion bash)"       in ~/.bashrc
  eval "$(ragloom completion zsh)"        in ~/.zshrc, after compinit
  ragloom completion fish > ~/.config/fish/completions/ragloom.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, spaces and components in a shell."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    group = context.find_root().command
    click.echo(kinds[shell](group, {}, "ragloom", "_RAGLOOM_COMPLETE").source())
