"""What every runner promises: each batch once, its own result, and errors as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import ClassVar, Final

import pytest

from ragloom.errors import ModelError
from ragloom.protocols import Runner
from ragloom.testing.contract import Contract

__all__ = ["RunnerContract"]

FAILING: Final = 3
"""The batch on which :func:`failing` raises."""


def doubling() -> Callable[[int], int]:
    """Work that doubles a number."""
    return _double


def failing() -> Callable[[int], int]:
    """Work that fails on one batch."""
    return _fail


class Counting:
    """Work that says how often it was started where it runs; pickled by name.

    Args:
        folder: In which each start leaves a file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self) -> Callable[[int], str]:
        """Start."""
        for number in count():  # the first name that is free
            try:
                (self.folder / f"{os.getpid()}-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            break
        return _process


def _double(number: int) -> int:
    return 2 * number


def _fail(number: int) -> int:
    if number == FAILING:
        raise ModelError("the model does not answer")
    return number


def _process(_number: int) -> str:
    return str(os.getpid())


class RunnerContract(Contract, contract=True):
    """Every runner passes these tests. The author writes the fixture ``runner``.

    Attributes:
        most_ahead: Batches that it may take before it gives the first result.
    """

    most_ahead: ClassVar[int] = 100

    @pytest.fixture
    def runner(self) -> Runner:
        """Written by the author: a runner. Give it a wider scope where it starts processes."""
        raise NotImplementedError("write a fixture runner that returns your runner")

    def test_has_every_method_of_the_protocol(self, runner: Runner) -> None:
        """A runner has all of ``ragloom.Runner``: look at the names of its methods."""
        assert isinstance(runner, Runner)

    def test_every_batch_is_worked_on_once(self, runner: Runner) -> None:
        """As many results as batches, each with the place of its batch: look for mixed-up places."""
        found = list(runner.run(doubling, range(10, 30)))
        assert sorted(found) == [(place, 2 * (10 + place)) for place in range(20)]

    def test_no_batches_give_no_results(self, runner: Runner) -> None:
        """An empty iterable gives no results and no error."""
        assert list(runner.run(doubling, [])) == []

    def test_batches_are_taken_as_they_are_worked_on(self, runner: Runner) -> None:
        """The first result comes before the last batch is taken: look for a list of all batches."""
        taken = 0

        def batches() -> Iterator[int]:
            nonlocal taken
            while True:
                taken += 1
                yield taken

        results = runner.run(doubling, batches())
        next(results)
        assert taken <= self.most_ahead
        if close := getattr(results, "close", None):
            close()

    def test_work_is_started_once_a_process(self, runner: Runner, tmp_path: Path) -> None:
        """What ``start`` returns is kept: look for a model that is loaded for every batch."""
        processes = {process for _, process in runner.run(Counting(tmp_path), range(20))}
        started = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
        assert len(started) == len(set(started))
        assert processes <= set(started)

    def test_an_error_is_raised_as_it_is(self, runner: Runner) -> None:
        """A ``RagloomError`` of the work arrives with its type and its message: look for wrappers."""
        with pytest.raises(ModelError, match=r"^the model does not answer$"):
            list(runner.run(failing, range(10)))
        assert sorted(runner.run(doubling, [1])) == [(0, 2)]

    def test_after_closing_it_can_be_used_again(self, runner: Runner) -> None:
        """``close`` may be called twice, and the next run starts again."""
        runner.close()
        runner.close()
        assert sorted(runner.run(doubling, [1, 2])) == [(0, 2), (1, 4)]
