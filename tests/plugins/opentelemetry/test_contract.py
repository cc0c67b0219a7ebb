import pytest

from ragloom.testing import PluginContract


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_opentelemetry"
