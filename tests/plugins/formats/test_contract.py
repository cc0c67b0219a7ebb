import pytest

from ragloom import PluginHost
from ragloom.testing import FormatterContract, PluginContract


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_formats"


@pytest.mark.parametrize(
    "name", ["anthropic", "gemini", "json", "markdown", "ollama", "openai", "text", "xml"]
)
class TestFormatters(FormatterContract):
    @pytest.fixture
    def formatter(self, name):
        import ragloom_formats

        return PluginHost({"formats": ragloom_formats}).formatter(name)
