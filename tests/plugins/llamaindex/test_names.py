"""One provider for a family of parts: ``family:member``. Needs nothing of LlamaIndex."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from ragloom import ConfigError, PluginError, PluginHost, Provider
from ragloom.testing.fakes import HashingEmbedder, hashing_provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    part: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    size: int = 1


@pytest.fixture
def made():
    return []


@pytest.fixture
def host(make_plugin, made):
    def create(options):
        made.append(options)
        return HashingEmbedder()

    family = Provider(name="family", summary="many", create=create, options=Options)
    return PluginHost({"one": make_plugin(embedders=[family, hashing_provider()])})


def test_what_stands_behind_the_colon_is_the_part(host, made):
    host.embedder("family:some.Member", {"size": "3", "other": 4})

    assert [Options(part="some.Member", options={"other": 4}, size=3)] == made


def test_the_long_form_is_the_same(host, made):
    host.embedder("family", {"part": "Member", "options": {"other": 4}})
    host.embedder("family:Member", {"other": 4})

    assert made[0] == made[1]


def test_an_own_option_of_the_wrong_type_is_still_refused(host):
    with pytest.raises(ConfigError, match="'size' must be int"):
        host.embedder("family:Member", {"size": "many"})


@pytest.mark.parametrize("name", ["hashing:x", "none:x", "family:", ":x"])
def test_other_names_with_a_colon_are_unknown(host, name):
    with pytest.raises(PluginError, match="unknown embedder"):
        host.embedder(name)
