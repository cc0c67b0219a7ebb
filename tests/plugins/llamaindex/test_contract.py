import pytest

import ragloom_llamaindex
from ragloom import ConfigError, PluginHost
from ragloom.testing import PluginContract


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_llamaindex"


@pytest.mark.parametrize("kind", ["chunker", "embedder", "loader"])
def test_a_family_is_no_part_by_itself(kind):
    pytest.importorskip("llama_index.core", reason="needs the extra [llamaindex]")
    host = PluginHost({"llamaindex": ragloom_llamaindex})
    with pytest.raises(ConfigError, match=f"{kind} 'llamaindex': which one\\? Write {kind}: "):
        getattr(host, kind)("llamaindex")


def test_a_loader_without_a_name_is_no_warning(caplog):
    assert {} == PluginHost({"llamaindex": ragloom_llamaindex}).loaders()
    assert [] == caplog.messages
