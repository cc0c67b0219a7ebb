import pytest

pytest.importorskip("pyromark", reason="needs the extra [markdown]")

from ragloom import PluginHost
from ragloom.testing import ChunkerContract, LoaderContract, PluginContract

TEMPLATE = """\
---
name: Proof by contradiction
description: "Assume the opposite; it's wrong"
keywords: [proof, logic]
---
# Steps

Assume that the claim is false, na\u00efve \u65e5\u672c.
"""


@pytest.fixture(scope="module")
def host():
    import ragloom_templates

    return PluginHost({"templates": ragloom_templates})


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_templates"


class TestLoader(LoaderContract):
    @pytest.fixture
    def loader(self, host):
        return host.loader("template")

    @pytest.fixture
    def samples(self):
        return {"proof.md": TEMPLATE.encode()}


class TestChunker(ChunkerContract):
    @pytest.fixture
    def chunker(self, host):
        return host.chunker("template")
