import pytest

from ragloom import PluginError, Provider
from ragloom.config.spelling import did_you_mean
from ragloom.plugin.registry import (
    PROTOCOLS,
    Registry,
    lacking,
    missing_modules,
    offer_from,
    singular,
)


def part(name, kind="loaders", owner="plugin 'a'"):
    return offer_from(kind, Provider(name=name, summary="", create=str), owner)


def test_a_part_is_found_by_kind_and_name():
    registry = Registry()
    registry.add([part("x"), part("x", "stores")])

    assert registry.find("stores", "x") == part("x", "stores")
    assert registry.find("chunkers", "x") is None


def test_names_and_parts_are_sorted():
    registry = Registry()
    registry.add([part("b"), part("a")])

    assert registry.names("loaders") == ("a", "b")
    assert [p.provider.name for p in registry.offers("loaders")] == ["a", "b"]


def test_a_duplicate_names_both_owners_and_adds_nothing():
    registry = Registry()
    registry.add([part("x")])

    with pytest.raises(PluginError) as raised:
        registry.add([part("y", owner="plugin 'b'"), part("x", owner="plugin 'b'")])
    assert str(raised.value) == (
        "the loader 'x' is provided twice, by plugin 'a' and by plugin 'b'; disable one of them"
    )
    assert registry.names("loaders") == ("x",)


def test_a_duplicate_within_one_plugin():
    with pytest.raises(PluginError, match="by plugin 'a' and by plugin 'a'"):
        Registry().add([part("x"), part("x")])


def test_every_kind_is_told_in_the_singular():
    assert [singular(kind) for kind in PROTOCOLS] == [
        "chunker",
        "embedder",
        "formatter",
        "loader",
        "reranker",
        "runner",
        "store",
    ]


def test_lacking_names_what_is_not_there():
    assert lacking(part("x", "formatters"), object()) == "render"


def test_missing_modules_are_looked_for_without_importing_them():
    provider = Provider(
        name="x", summary="", create=str, requires=("antigravity", "json.tool", "not_there_x")
    )
    assert missing_modules(provider) == ("not_there_x",)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("loder", "; did you mean 'loader'?"),
        ("LOADER", "; did you mean 'loader'?"),
        ("xyz", ""),
    ],
)
def test_did_you_mean(word, expected):
    assert did_you_mean(word, ["store", "loader"]) == expected
