"""``ragloom plugins check`` and ``ragloom plugins new``."""

import re
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from ragloom import ConfigError, PluginError, PluginHost
from ragloom.cli import _checking
from ragloom.cli.plugins import _KINDS
from ragloom.testing import checking, scaffold
from ragloom.testing.checking import Check, refuse_unknown
from ragloom.testing.fakes import hashing_provider
from ragloom.testing.scaffold import KINDS, write_plugin

HOOKS = {kind: f"ragloom_{kind}s" for kind in KINDS} | {"settings": "ragloom_settings"}


def test_the_command_offers_every_kind():
    assert tuple(KINDS) == _KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_scaffold_is_a_package_of_python_that_names_what_it_is(kind, tmp_path):
    target, *files = write_plugin("two-words", [kind], tmp_path)
    assert target == tmp_path / "ragloom-two-words"
    assert (target / ".github" / "workflows" / "ci.yml") in files
    for path in files:
        text = path.read_text("utf-8")
        # Only the workflow of GitHub has expressions that begin so.
        assert "$" not in text.replace("${{", "") or path.suffix == ".py", path
        if path.suffix == ".py":
            compile(text, str(path), "exec")
    code = (target / "ragloom_two_words" / "__init__.py").read_text("utf-8")
    assert f"def {HOOKS[kind]}()" in code


def test_a_package_may_offer_several_kinds(tmp_path):
    target, *files = write_plugin("all", KINDS, tmp_path)
    written = {path.relative_to(target).as_posix() for path in files}
    assert {f"ragloom_all/{kind}.py" for kind in KINDS} < written
    code = (target / "ragloom_all" / "__init__.py").read_text("utf-8")
    compile(code, "__init__.py", "exec")
    assert [code.count(f"def {HOOKS[kind]}()") for kind in KINDS] == [1] * len(KINDS)


def test_nothing_is_overwritten(cli, tmp_path):
    first = cli("plugins", "new", "mine", "--kind", "loader")
    assert first.exit_code == 0
    assert "ragloom-mine/ragloom_mine/loader.py" in first.stdout.splitlines()
    again = cli("plugins", "new", "ragloom-mine", "--kind", "store")
    assert again.exit_code == 1
    assert again.stderr.startswith("error: ragloom-mine exists already")


@pytest.mark.parametrize("name", ["", "../x", "Mine", "1st", "a b", "class", "a--b", "x-"])
def test_odd_names_are_refused(name, tmp_path):
    with pytest.raises(ConfigError, match="cannot name a plugin"):
        write_plugin(name, ["store"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_is_not_there_or_no_plugin(cli):
    assert "package 'raglom' is not installed" in cli("plugins", "check", "raglom").stderr
    done = cli("plugins", "check", "pluggy")
    assert done.exit_code == 1
    assert "has no entry point in the group 'ragloom'" in done.stderr


def test_without_pytest_the_extra_is_named(cli, monkeypatch):
    monkeypatch.setattr(_checking, "find_spec", lambda _: None)
    done = cli("plugins", "check", "ragloom")
    assert done.exit_code == 1
    assert "pip install 'ragloom[testing]'" in done.stderr


def test_wrong_settings_are_refused(cli):
    for arguments in (["--option", "path=x"], ["--option", "x"], ["--deviation", "x="]):
        assert cli("plugins", "check", "ragloom", *arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--option", "sqllite.path=x"],
            "unknown component 'sqllite' of ragloom; did you mean 'sqlite'?",
        ),
        (
            ["--option", "agents.path=x"],
            "unknown component 'agents' of ragloom (available: ",
        ),  # a plugin
        (["--option", "sqlite.pat=x"], "unknown option 'pat'; did you mean 'path'?"),
        (["--option", "token.size=many"], "'size' must be int"),
        (
            ["--deviation", "resultss:test_limits=x"],
            "unknown component 'resultss' of ragloom; did you mean 'results'?",
        ),
        (["--deviation", "results:test_limits=x"], "unknown rule 'test_limits'"),
        (["--deviation", "limits=x"], "unknown rule 'limits'; did you mean 'test_limits'?"),
        (["--deviation", "nope=reason"], "unknown rule 'nope'"),
    ],
)
def test_what_nothing_takes_notice_of_is_refused(cli, arguments, said):
    done = cli("plugins", "check", "ragloom", *arguments)
    assert (1, "") == (done.exit_code, done.stdout)
    assert done.stderr.startswith(f"error: {arguments[0]} ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_option_may_be_one_of_several_kinds():
    options = {"llamaindex": {"part": "MockEmbedding", "max_tokens": "100"}}
    refuse_unknown(Check(distribution="ragloom", options=options))


@pytest.mark.slow
def test_the_parts_of_this_distribution_are_checked(capfd):
    code = _checking.run_contracts(
        "ragloom", pytest_arguments=["-k", "Plugin_local or _memory or Formatter_results"]
    )
    said = capfd.readouterr().out
    assert code == 0
    host = PluginHost.discover(disabled=())
    declared = {
        **host.providers("stores")["memory"].deviations,
        **host.providers("formatters")["results"].deviations,
    }
    xfailed = dict(re.findall(r"^XFAIL .*::(\w+) - (.*)", said, re.MULTILINE))
    assert declared == xfailed


def test_a_family_of_parts_is_skipped_with_what_it_needs(capfd):
    code = _checking.run_contracts("ragloom", pytest_arguments=["-k", "llamaindex"])
    said = capfd.readouterr().out
    assert code == 0
    assert "which one? Write" in said or "pip install 'ragloom[llamaindex]'" in said


def test_a_part_that_was_set_up_wrongly_is_not_skipped(capfd):
    code = _checking.run_contracts(
        "ragloom",
        options=[("sqlite", "path", "https://x")],
        pytest_arguments=["-k", "Store_sqlite and test_metadata"],
    )
    assert code == 1
    assert "expected a path, found a URL" in capfd.readouterr().out


def test_a_declared_deviation_is_expected(capfd):
    code = _checking.run_contracts(
        "ragloom",
        deviations={"memory:test_reopened_it_is_the_same": "as asked for"},
        pytest_arguments=["-k", "Store_memory and reopened_it_is_the_same"],
    )
    said = capfd.readouterr().out
    assert code == 0
    assert "as asked for" in said
    assert "1 xfailed" in said


def test_a_part_that_declares_what_is_no_rule_is_no_quiet_success(make_plugin, monkeypatch):
    odd = replace(hashing_provider(), name="odd", deviations={"test_limit": "why"})
    plugin = make_plugin(embedders=[odd])
    point = SimpleNamespace(name="mine", module="mine")
    monkeypatch.setattr(checking, "_entry_points", lambda _name: [point])
    host = PluginHost({"mine": plugin})
    monkeypatch.setattr(checking.PluginHost, "discover", lambda **_: host)
    with pytest.raises(
        PluginError, match="'odd' declares a deviation from the unknown rule 'test_limit'"
    ):
        checking.contract_classes(Check(distribution="mine"))


def test_the_folder_one_is_in_shadows_no_module(capfd, tmp_path, monkeypatch):
    (tmp_path / "timeit.py").write_text("raise SystemExit('not this one')\n")
    monkeypatch.chdir(tmp_path)
    assert 0 == _checking.run_contracts("ragloom", pytest_arguments=["-k", "Plugin_agents"])


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("markdown", "loader", "the package 'ragloom_markdown' is installed already"),
        ("ragloom-markdown", "store", "the package 'ragloom_markdown' is installed already"),
        ("sqlite", "store", "there is a store 'sqlite' already"),
        ("code", "chunker", "there is a chunker 'code' already"),
        ("audit", "settings", "there is a plugin 'audit' already"),
        ("top-k", "settings", "there is a setting 'top_k' already"),
        ("spaces", "settings", "there is a setting 'spaces' already"),
    ],
)
def test_a_name_that_is_taken_is_refused(cli, tmp_path, name, kind, said):
    done = cli("plugins", "new", name, "--kind", kind)
    assert (1, "") == (done.exit_code, done.stdout)
    assert f"error: {said}: give another name\n" == done.stderr
    assert [] == list(tmp_path.iterdir())


def test_the_name_of_a_plugin_that_is_disabled_or_fails_is_taken(tmp_path, monkeypatch):
    point = EntryPoint(name="odd", value="not_there", group="ragloom")
    monkeypatch.setattr(scaffold, "entry_points", lambda **_: [point])
    with pytest.raises(ConfigError, match="there is a plugin 'odd' already"):
        write_plugin("odd", ["loader"], tmp_path)


def test_a_name_of_another_kind_is_free(tmp_path):
    assert write_plugin("sqlite", ["formatter"], tmp_path)
