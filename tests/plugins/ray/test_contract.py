import importlib.util

import pytest

from ragloom import PluginHost
from ragloom.testing import PluginContract, RunnerContract

there = importlib.util.find_spec("ray") is not None


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_ray"


@pytest.mark.slow
@pytest.mark.skipif(not there, reason="needs ray")
class TestRunner(RunnerContract):
    @pytest.fixture(scope="class")
    def runner(self):
        host = PluginHost.discover(disabled=())
        runner = host.runner("ray", {"workers": 2, "memory": 80_000_000})
        yield runner
        runner.close()
