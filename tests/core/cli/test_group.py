import importlib
import subprocess
import sys

import click
import pytest

from ragloom import PluginHost
from ragloom.cli import COMMANDS, cli
from ragloom.cli._group import Command, LazyGroup
from ragloom.hookspecs import CommandSpec


def test_help_lists_every_command_and_imports_none():
    program = (
        "import sys\nfrom ragloom.cli import main\nsys.argv = ['ragloom', '--help']\n"
        "try: main()\nfinally: print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert set() == loaded & {f"ragloom.cli.{name}" for name in COMMANDS}
    assert set() == loaded & {"numpy", "yaml", "rich", "tantivy", "ragloom.workspace"}
    for name, summary in COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert summary.split(",")[0] in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_name_of_its_module(name):
    command = importlib.import_module(f"ragloom.cli.{name}").command
    assert name == command.name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_on_the_page(root, name):
    page = (root / "docs" / "command-line.md").read_text("utf-8")
    assert f"## ragloom {name}" in page
    command = importlib.import_module(f"ragloom.cli.{name}").command
    options = [param for param in command.params if isinstance(param, click.Option)]
    for option in options:
        assert f"{(option.secondary_opts or option.opts)[-1]}" in page


def test_no_command_is_wrong_usage_and_shows_the_help(run):
    result = run()
    assert (2, "") == (result.exit_code, result.stdout)
    assert "Commands:" in result.stderr


def test_version(run):
    from ragloom import __version__

    assert f"ragloom {__version__}\n" == run("--version").stdout


def test_an_unknown_command_names_the_nearest(run):
    result = run("serach", "x")
    assert 2 == result.exit_code
    assert (
        "error: unknown command 'serach'; did you mean 'search'? (see 'ragloom --help')\n"
        == result.stderr.replace("'cli ", "'ragloom ")
    )


def test_an_unknown_command_without_a_near_one_lists_all(run):
    result = run("xyzzy")
    assert f"(available: {', '.join(COMMANDS)})" in result.stderr


@pytest.mark.parametrize(
    "arguments", [("-C", "elsewhere", "status"), ("status", "-C", "elsewhere")]
)
def test_common_options_stand_before_or_after_the_name(run, arguments):
    result = run(*arguments)
    assert (1, "error: elsewhere: there is no such folder\n") == (result.exit_code, result.stderr)


@click.command("hello", cls=Command)
def hello():
    click.echo("hello from a plugin")


def group(more):
    built_in = {"plugins": CommandSpec(target="ragloom.cli.plugins:command", summary="built in")}
    return LazyGroup(name="cli", built_in=built_in, more=more)


def test_commands_of_plugins_are_asked_for_only_when_needed(monkeypatch):
    from click.testing import CliRunner

    asked = []

    def more(_context):
        asked.append(True)
        return {
            "hello": CommandSpec(target=f"{__name__}:hello", summary="Greets."),
            "plugins": CommandSpec(target="nowhere:nothing", summary="replaces"),
        }

    monkeypatch.setitem(sys.modules, __name__, sys.modules[hello.callback.__module__])
    assert "built-in" not in CliRunner().invoke(group(more), ["plugins", "--help"]).output
    assert [] == asked
    assert "hello from a plugin\n" == CliRunner().invoke(group(more), ["hello"]).output
    assert asked
    listed = CliRunner().invoke(group(more), ["--help"]).output
    assert "Greets." in listed
    assert "built in" in listed
    assert "replaces" not in listed


def test_without_standalone_mode_errors_are_exceptions():
    with pytest.raises(click.UsageError):
        cli.main(["xyzzy"], standalone_mode=False)


def test_a_misspelt_variable_is_one_warning(run, monkeypatch):
    monkeypatch.setenv("RAGLOOM_TOPK", "3")
    warning = "warning: unknown variable RAGLOOM_TOPK ignored; did you mean RAGLOOM_TOP_K?\n"
    assert warning == run("config").stderr
    assert "" == run("config", "--quiet").stderr


def test_a_variable_of_an_installed_plugin_is_not_misspelt(run, monkeypatch, make_plugin):
    monkeypatch.setenv("RAGLOOM_STORER_PATH", "x")
    assert "did you mean RAGLOOM_STORE_PATH?" in run("config").stderr
    assert "" == run("config", plugins=PluginHost({"storer": make_plugin()})).stderr
