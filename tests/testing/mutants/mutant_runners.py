"""Runners that break one rule each."""

from declaring import declare

from ragloom import RagloomError
from ragloom.testing import RunnerContract

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


class OneAfterTheOther:
    """Works where it is."""

    elsewhere = False

    def run(self, start, batches):
        work = start()
        for place, batch in enumerate(batches):
            yield place, work(batch)

    def close(self):
        pass


@breaks("test_every_batch_is_worked_on_once")
class ForgetsWhichIsWhich(OneAfterTheOther):
    """Wrong where there are many; others have few, or look at no place."""

    def run(self, start, batches):
        for place, done in super().run(start, batches):
            yield (place if place < 19 else 0), done


@breaks("test_no_batches_give_no_results")
class WantsBatches(OneAfterTheOther):
    def run(self, start, batches):
        batches = iter(batches)
        first = next(batches, None)
        if first is None:
            raise ValueError("no batches")

        def all_of_them():
            yield first
            yield from batches

        return super().run(start, all_of_them())


@breaks("test_batches_are_taken_as_they_are_worked_on")
class TakesAThousandAhead(OneAfterTheOther):
    def run(self, start, batches):
        batches = iter(batches)
        ahead = [batch for _, batch in zip(range(1000), batches, strict=False)]

        def all_of_them():
            yield from ahead
            yield from batches

        return super().run(start, all_of_them())


@breaks("test_work_is_started_once_a_process")
class StartsForEveryBatch(OneAfterTheOther):
    def run(self, start, batches):
        for place, batch in enumerate(batches):
            yield place, start()(batch)


@breaks("test_an_error_is_raised_as_it_is")
class Wraps(OneAfterTheOther):
    def run(self, start, batches):
        try:
            yield from super().run(start, batches)
        except RagloomError as error:
            raise RuntimeError(f"a worker failed: {error}") from error


@breaks("test_after_closing_it_can_be_used_again")
class ClosesForGood(OneAfterTheOther):
    def close(self):
        self.run = None


declare(
    globals(),
    RunnerContract,
    OneAfterTheOther,
    MUTANTS,
    lambda part: {"runner": lambda self: part()},
)
