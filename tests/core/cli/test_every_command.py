"""What every command has in common, those of the bundled plugins and all subcommands included."""

from functools import partial

import click
import pytest

from ragloom import PluginHost
from ragloom.cli import Session
from ragloom.cli import cli as program

INSTALLED = PluginHost.discover(disabled=())
GIVEN = (
    "-C",
    "elsewhere",
    "--config",
    "a.yaml",
    "-vv",
    "--no-color",
    "--trace-hooks",
    "--traceback",
)
SET = {
    "folder": "elsewhere",
    "config": "a.yaml",
    "verbosity": 2,
    "colored": False,
    "trace_hooks": True,
    "traceback": True,
}


def walk(command, *path):
    if path:
        yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, obj=Session(plugins=INSTALLED))
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), *path, name)


TREE = dict(walk(program))
every_command = pytest.mark.parametrize("path", TREE, ids=" ".join)


@pytest.fixture
def run(cli):
    return partial(cli, plugins=INSTALLED)


def test_there_are_plugins_and_subcommands():
    assert {("search",), ("mcp",), ("plugins", "new"), ("knowledge", "pin")} <= set(TREE)


@every_command
def test_help_has_examples_and_the_common_options_apart(run, path):
    result = run(*path, "--help")
    assert 0 == result.exit_code
    own, common = result.stdout.split("\nCommon options:\n")
    common, examples = common.split("\n  Examples:\n")
    assert f"ragloom {' '.join(path)}" in examples.replace("$(", "")
    assert "--workspace" not in own
    assert "  -C, --workspace DIR " in common
    assert "  -h, --help " in common
    if [param for param in TREE[path].params if isinstance(param, click.Option)]:
        assert "\nOptions:\n" in own


@every_command
def test_common_options_stand_before_or_after_the_name(run, path):
    assert 0 == run(*GIVEN, *path, "--help").exit_code
    assert 0 == run(*path, *GIVEN, "--help").exit_code
    for command, arguments in ((program, [*GIVEN, *path]), (TREE[path], [*GIVEN])):
        session = Session()
        command.make_context("x", arguments, obj=session, resilient_parsing=True)
        assert Session(**SET) == session


@every_command
def test_every_subcommand_is_on_the_page(root, path):
    page = (root / "docs" / "command-line.md").read_text("utf-8")
    section = page.partition(f"\n## ragloom {path[0]}")[2].partition("\n## ")[0]
    assert section
    assert path[1:] == () or " ".join(path) in section


@pytest.mark.parametrize(
    "path",
    [path for path, one in TREE.items() if getattr(one, "no_args_is_help", False)],
    ids=" ".join,
)
def test_a_group_without_a_command_shows_its_help(run, path):
    result = run(*path)
    assert (2, "") == (result.exit_code, result.stdout)
    assert f" {' '.join(path)} [OPTIONS] COMMAND" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("templates", "mach"), "unknown command 'mach'; did you mean 'match'?"),
        (("librarian", "x"), "unknown command 'x' (available: query, rebuild)"),
    ],
)
def test_an_unknown_subcommand_names_the_nearest(run, arguments, message):
    result = run(*arguments)
    assert 2 == result.exit_code
    assert result.stderr.startswith(f"error: {message} (see ")
    assert 1 == result.stderr.count("\n")


@every_command
def test_no_option_takes_what_is_not_a_number_for_one(run, path):
    for option in TREE[path].params:
        if isinstance(option.type, click.types.FloatParamType):
            for text in ("nan", "-nan", "1.5", "-0.1", "inf"):
                result = run(*path, option.opts[0], text)
                assert 2 == result.exit_code
                assert f"Invalid value for '{option.opts[0]}'" in result.stderr
                assert 1 == result.stderr.count("\n")
