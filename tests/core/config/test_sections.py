"""Sections: what plugins declare in ragloom.yaml, each value with its origin."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from ragloom import ConfigError, Workspace, hookimpl
from ragloom.config.sections import section_variables
from ragloom.config.settings import load_settings
from ragloom.plugin.host import PluginHost


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    size: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    dialect: Literal["plain", "pg"] = "plain"
    limit: int = field(default=10, metadata={"variable": "RAGLOOM_LIMIT_OF_MINE"})
    names: tuple[str, ...] = ()
    inner: Inner = Inner()

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit must be a whole number from 1, not {self.limit}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    id: str
    inner: Inner = Inner()


SECTIONS = {"mine": Mine, "items": tuple[Item, ...]}


def load(folder: Path, text: str, **environment: str):
    (folder / "ragloom.yaml").write_text(text, "utf-8")
    return load_settings(folder, environment=environment, sections=SECTIONS)


def test_without_a_file_there_are_defaults(tmp_path):
    settings = load_settings(tmp_path, environment={}, sections=SECTIONS)

    assert settings.section("mine", Mine) == Mine()
    assert settings.section("items", tuple[Item, ...]) == ()
    assert settings.section("nobodys", Inner) == Inner()
    assert settings.origin("mine.limit") == "default"


def test_the_environment_is_above_the_file(tmp_path):
    text = "mine:\n  dialect: pg\n  limit: 4\n  inner: {size: 9}\nitems:\n  - id: a\n    inner:\n"
    variables = {"RAGLOOM_LIMIT_OF_MINE": "5", "RAGLOOM_MINE_NAMES": "a, b"}
    settings = load(tmp_path, text, RAGLOOM_MINE_DIALECT="", **variables)

    expected = Mine(dialect="pg", limit=5, names=("a", "b"), inner=Inner(size=9))
    assert settings.section("mine", Mine) == expected
    assert settings.section("items", tuple[Item, ...]) == (Item(id="a"),)
    assert settings.origin("mine.dialect") == f"{tmp_path / 'ragloom.yaml'}:2"
    assert settings.origin("mine.limit") == "RAGLOOM_LIMIT_OF_MINE"
    assert settings.origin("items.0.id") == f"{tmp_path / 'ragloom.yaml'}:6"
    assert section_variables("mine", Mine)["inner"] == "RAGLOOM_MINE_INNER"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "mine:\n  dialct: pg\n",
            "2: mine: unknown option 'dialct'; did you mean 'dialect'? (legal: dialect, ",
        ),
        (
            "mine: {dialect: my}\n",
            "1: mine: option 'dialect' must be one of 'plain', 'pg', not 'my'",
        ),
        ("mine:\n  limit: many\n", "2: mine: option 'limit' must be int, not 'many'"),
        (
            "mine:\n  names: []\n  limit: 0\n",
            "3: mine: limit must be a whole number from 1, not 0",
        ),
        (
            "mine:\n  inner:\n    sizes: 1\n",
            "3: mine.inner: unknown option 'sizes'; did you mean 'size'?",
        ),
        (
            "mine: [pg]\n",
            "1: mine: expected a mapping with dialect, limit, names, inner, found ['pg']",
        ),
        ("items:\n  - inner: {}\n", "2: items[0]: option 'id' is missing; it must be str"),
        (
            "items:\n  - id: a\n  - id: b\n    inner: {size: x}\n",
            "4: items[1].inner: option 'size' must be int, not 'x'",
        ),
        ("items: {}\n", "1: items: expected a list of a mapping with id, inner, found {}"),
        ("mien: {}\n", "1: unknown setting 'mien'; did you mean 'mine'? (legal: sources, "),
    ],
)
def test_a_wrong_section_is_one_line_with_its_place(tmp_path, text, message):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)

    assert str(caught.value).startswith(f"{tmp_path / 'ragloom.yaml'}:{message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["many", "0", "9" * 5000, "9" * 500])
def test_a_wrong_variable_is_named(tmp_path, value):
    with pytest.raises(
        ConfigError, match=r"^RAGLOOM_LIMIT_OF_MINE: mine: .*limit.* must be"
    ) as caught:
        load(tmp_path, "mine: {dialect: pg}\n", RAGLOOM_LIMIT_OF_MINE=value)
    assert len(str(caught.value)) < 200


class Plugin:
    @hookimpl
    def ragloom_settings(self):
        return {"mine": Mine}


def test_a_section_is_checked_when_the_workspace_opens(tmp_path):
    host = PluginHost({"mine": Plugin()})
    path = tmp_path / "ragloom.yaml"
    path.write_text("mine: {dialect: pg}\n", "utf-8")
    assert Workspace.open(tmp_path, host=host).section("mine", Mine) == Mine(dialect="pg")

    path.write_text("mine: {dialect: my}\n", "utf-8")
    with pytest.raises(ConfigError, match="option 'dialect' must be one of"):
        Workspace.open(tmp_path, host=host)


class Broken(Plugin):
    @hookimpl
    def ragloom_loaders(self):
        raise ValueError("no luck")


def test_the_section_of_a_plugin_that_failed_is_a_warning(tmp_path, caplog):
    path = tmp_path / "ragloom.yaml"
    path.write_text("top_k: 3\nmine: {dialect: pg}\n", "utf-8")
    host = PluginHost({"broken": Broken()})
    caplog.clear()

    with caplog.at_level(logging.WARNING, "ragloom"):
        assert Workspace.open(tmp_path, host=host).section("mine", Mine) == Mine()
    (said,) = caplog.messages
    failed = "plugin 'broken', which may provide it, failed: ValueError: no luck"
    assert said == f"{path}:2: unknown setting 'mine' ignored; {failed}"


def test_the_section_of_a_disabled_plugin_is_a_warning(tmp_path, caplog):
    (tmp_path / "ragloom.yaml").write_text("knowledge: {serve: true}\n", "utf-8")
    Workspace.open(tmp_path, host=PluginHost.discover(disabled={"knowledge"}))

    (said,) = [message for message in caplog.messages if "ragloom.yaml" in message]
    assert "unknown setting 'knowledge' ignored; plugin 'knowledge'" in said
    assert said.endswith("is disabled")


def test_a_slip_of_the_pen_is_an_error_although_a_plugin_is_disabled(tmp_path):
    (tmp_path / "ragloom.yaml").write_text("topk: 3\n", "utf-8")
    with pytest.raises(ConfigError, match="unknown setting 'topk'; did you mean 'top_k'"):
        Workspace.open(tmp_path, host=PluginHost.discover(disabled={"knowledge"}))
