"""The stores themselves are held to their contract in tests/plugins/stores."""

import pytest

from ragloom.testing import PluginContract


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_local"
