import pytest

import ragloom_agents
from ragloom import PluginHost
from ragloom.testing import FormatterContract, PluginContract

HOST = PluginHost({"agents": ragloom_agents})


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_agents"


class TestFormatter(FormatterContract):
    @pytest.fixture
    def formatter(self):
        return HOST.formatter("results")
