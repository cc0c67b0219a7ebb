import pytest

from ragloom.plugin.local_runner import LocalRunner
from ragloom.testing import RunnerContract


class TestLocalRunner(RunnerContract):
    @pytest.fixture
    def runner(self):
        return LocalRunner()
