from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal, Optional

import pytest

from ragloom import ConfigError, NoOptions
from ragloom.config.options import build, describe


class Pooling(Enum):
    MEAN = "mean"
    CLS = "cls"


@dataclass(frozen=True, kw_only=True)
class Limits:
    rows: int = 1


@dataclass(frozen=True, kw_only=True)
class Options:
    name: str = "a"
    threads: int | None = None
    ratio: float = 0.5
    strict: bool = False
    levels: tuple[int, ...] = (1, 2)
    pair: tuple[int, str] = (1, "a")
    globs: Sequence[str] = ()
    words: frozenset[str] = frozenset()
    names: list[str] = field(default_factory=list)
    bare: tuple = ()
    mode: Literal["dense", "lexical", 3] = "dense"
    pooling: Pooling = Pooling.MEAN
    folder: Path = Path()
    target: str | Path = "x"
    limit: bool | int | str = 0
    old: Optional[int] = None  # noqa: UP045 - plugins may write it so
    prefixes: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    anything: object = None


def option(name, value):
    return getattr(build(Options, {name: value}, part="embedder 'x'"), name)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", "b", "b"),
        ("name", "3", "3"),
        ("threads", 3, 3),
        ("threads", "3", 3),
        ("threads", " 3 ", 3),
        ("threads", None, None),
        ("threads", "none", None),
        ("threads", "", None),
        ("ratio", 1, 1.0),
        ("ratio", "0.25", 0.25),
        ("ratio", "1e-3", 0.001),
        ("strict", True, True),
        ("strict", "true", True),
        ("strict", "Yes", True),
        ("strict", "0", False),
        ("strict", "off", False),
        ("levels", [1, 3], (1, 3)),
        ("levels", "1, 3", (1, 3)),
        ("levels", "2", (2,)),
        ("levels", "", ()),
        ("pair", ["2", "b"], (2, "b")),
        ("globs", "*.md, *.rst", ("*.md", "*.rst")),
        ("words", ["a", "a"], frozenset({"a"})),
        ("names", "a,b", ["a", "b"]),
        ("bare", [1, "a"], (1, "a")),
        ("mode", "lexical", "lexical"),
        ("mode", "LEXICAL", "lexical"),
        ("mode", "3", 3),
        ("pooling", "cls", Pooling.CLS),
        ("pooling", Pooling.CLS, Pooling.CLS),
        ("folder", "a/b", Path("a/b")),
        ("target", Path("a"), Path("a")),
        ("target", "a", "a"),
        ("limit", "7", 7),
        ("limit", "true", True),
        ("limit", "many", "many"),
        ("limit", 1, 1),
        ("old", "4", 4),
        ("prefixes", {"a": "1"}, {"a": 1}),
        ("limits", {"rows": "2"}, Limits(rows=2)),
        ("limits", Limits(rows=3), Limits(rows=3)),
        ("anything", {1}, {1}),
    ],
)
def test_a_value_becomes_the_legal_type(name, value, expected):
    made = option(name, value)
    assert expected == made
    assert type(expected) is type(made)


@pytest.mark.parametrize(
    ("name", "value", "legal"),
    [
        ("name", 3, "str"),
        ("name", None, "str"),
        ("threads", "three", "int or none"),
        ("threads", 1.5, "int or none"),
        ("threads", True, "int or none"),
        ("ratio", "much", "float"),
        ("ratio", float("nan"), "float"),
        ("ratio", True, "float"),
        ("strict", 1, "true or false"),
        ("strict", "maybe", "true or false"),
        ("levels", 3, "a list of int"),
        ("levels", "1, b", "a list of int"),
        ("levels", {"a": 1}, "a list of int"),
        ("pair", [1], "a list of int, str"),
        ("mode", "sparse", "one of 'dense', 'lexical', 3"),
        ("mode", True, "one of 'dense', 'lexical', 3"),
        ("pooling", "max", "one of 'mean', 'cls'"),
        ("folder", 3, "a path"),
        ("folder", "", "a path"),
        ("prefixes", "a", "a mapping of str to int"),
        ("prefixes", {"a": "b"}, "a mapping of str to int"),
        ("limits", 3, "a mapping with rows"),
    ],
)
def test_a_wrong_type_names_the_legal_one(name, value, legal):
    with pytest.raises(ConfigError) as raised:
        option(name, value)
    assert str(raised.value) == (f"embedder 'x': option {name!r} must be {legal}, not {value!r}")


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(ConfigError) as raised:
        option("thread", 3)
    said = "embedder 'x': unknown option 'thread'; did you mean 'threads'? (legal: "
    assert str(raised.value).startswith(said)


def test_a_wrong_name_without_a_near_one_gets_them_all():
    with pytest.raises(ConfigError) as raised:
        build(Limits, {"zzz": 3}, part="store 'x'")
    assert str(raised.value) == "store 'x': unknown option 'zzz' (legal: rows)"


def test_a_part_without_options_says_so():
    with pytest.raises(ConfigError) as raised:
        build(NoOptions, {"zzz": 3}, part="store 'x'")
    assert str(raised.value) == "store 'x': unknown option 'zzz'; it has none"


def test_a_name_that_is_not_text_is_unknown():
    with pytest.raises(ConfigError, match="unknown option 3"):
        build(Limits, {3: 3}, part="store 'x'")


def test_a_required_option_is_asked_for():
    @dataclass
    class Needs:
        uri: str

    with pytest.raises(ConfigError) as raised:
        build(Needs, {}, part="store 'x'")
    assert str(raised.value) == "store 'x': option 'uri' is missing; it must be str"


def test_a_nested_name_is_checked_too():
    with pytest.raises(ConfigError) as raised:
        option("limits", {"row": 3})
    assert str(raised.value) == (
        "embedder 'x', option 'limits': unknown option 'row'; did you mean 'rows'? (legal: rows)"
    )


def test_what_the_dataclass_refuses_is_a_config_error_in_one_line():
    @dataclass
    class Picky:
        rows: int = 1

        def __post_init__(self):
            raise ValueError("rows must be\nat least 1")

    with pytest.raises(ConfigError) as raised:
        build(Picky, {"rows": 0}, part="store 'x'")
    assert str(raised.value) == "store 'x': rows must be at least 1"
    assert isinstance(raised.value.__cause__, ValueError)


def test_a_home_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert option("folder", "~/a") == tmp_path / "a"


def test_descriptions_of_rarer_types():
    assert describe(tuple[int, str]) == "a list of int, str"
    assert describe(dict[str, int]) == "a mapping of str to int"
    assert describe(object) == "object"
