import pytest

from ragloom import PluginHost
from ragloom.testing import FormatterContract, PluginContract

AS_ASKED = "the form of a result is given: no lines, and a fixed rule between results"


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_agents"


class TestFormatter(FormatterContract):
    deviations = {
        "test_every_passage_has_its_source": AS_ASKED,
        "test_a_passage_cannot_close_its_delimiter": AS_ASKED,
    }

    @pytest.fixture
    def formatter(self):
        import ragloom_agents

        return PluginHost({"agents": ragloom_agents}).formatter("results")
