"""``ragloom plugins check`` and ``ragloom plugins new``."""

import re

import pytest

from ragloom import ConfigError
from ragloom.cli import _checking
from ragloom.cli.plugins import _KINDS
from ragloom.scaffold import KINDS, write_plugin


def test_the_command_offers_every_kind():
    assert tuple(KINDS) == _KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_scaffold_is_a_package_of_python_that_names_what_it_is(kind, tmp_path):
    target, *files = write_plugin("two-words", kind, tmp_path)
    assert target == tmp_path / "ragloom-two-words"
    assert (target / ".github" / "workflows" / "ci.yml") in files
    for path in files:
        text = path.read_text("utf-8")
        # Only the workflow of GitHub has expressions that begin so.
        assert "$" not in text.replace("${{", "") or path.suffix == ".py", path
        if path.suffix == ".py":
            compile(text, str(path), "exec")
    assert f"ragloom_{kind}s" in (target / "ragloom_two_words" / "__init__.py").read_text("utf-8")


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
        write_plugin(name, "store", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_is_not_there_or_no_plugin(cli):
    assert "no package 'raglom' is installed here" in cli("plugins", "check", "raglom").stderr
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


def test_the_parts_of_this_distribution_are_checked(capfd):
    code = _checking.run_contracts("ragloom", pytest_arguments=["-k", "Plugin_local or _memory"])
    said = capfd.readouterr().out
    # A store that lives in one object is found out by whoever makes another one.
    assert code == 1
    failed = set(re.findall(r"^FAILED .*::(\w+)", said, re.MULTILINE))
    assert failed <= {
        "test_a_second_process_sees_it_and_is_seen",
        "test_another_dimension_is_refused_on_opening",
        "test_dropping_a_space_leaves_the_others",
        "test_fingerprint_names_the_place",
        "test_it_agrees_with_an_exact_store_in_memory",
        "test_reopened_it_is_the_same",
        "test_spaces_do_not_see_each_other",
    }


def test_a_declared_deviation_is_expected(capfd):
    code = _checking.run_contracts(
        "ragloom",
        deviations={"results:test_every_passage_has_its_source": "as asked for"},
        pytest_arguments=["-k", "Formatter and has_its_source"],
    )
    said = capfd.readouterr().out
    assert code == 0
    assert "1 xfailed" in said
