"""The runner ``ray``: a task a batch, on workers that keep what they loaded."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from ragloom import MissingDependencyError, PluginError
from ragloom_ray.worker import Refused, work

if TYPE_CHECKING:
    from ragloom_ray import RayOptions

Batch = TypeVar("Batch")
Done = TypeVar("Done")

_AHEAD = 2  # batches a worker, so that one waits while another is worked on


class RayRunner:
    """Works on a Ray cluster.

    Args:
        options: Of the runner.
    """

    elsewhere: bool = True

    def __init__(self, options: RayOptions) -> None:
        self._options = options
        self._own = False

    def run(
        self, start: Callable[[], Callable[[Batch], Done]], batches: Iterable[Batch]
    ) -> Iterator[tuple[int, Done]]:
        """As in :class:`ragloom.Runner`; PluginError where the cluster fails, or a batch ends workers."""
        ray = self._connected()
        options = self._options
        task = ray.remote(num_cpus=options.cpus, max_retries=options.retries)(work)
        name, started = uuid4().hex, ray.put(start)
        most = options.in_flight or self._ahead(ray)
        waiting: dict[Any, int] = {}
        numbered = enumerate(batches)
        try:
            while True:
                while len(waiting) < most and (given := next(numbered, None)) is not None:
                    place, batch = given
                    waiting[task.remote(name, started, batch)] = place
                if not waiting:
                    return
                ready, _ = ray.wait(list(waiting), num_returns=1)
                for done in ready:
                    place = waiting.pop(done)
                    yield place, cast("Done", self._result(ray, done))
        finally:
            for left in waiting:
                ray.cancel(left, force=True)

    def close(self) -> None:
        """End the cluster of this machine, or leave the one that was joined."""
        if not self._own:
            return
        import ray

        self._own = False
        ray.shutdown()

    def _connected(self) -> Any:  # noqa: ANN401 - the module
        # Nothing is told to anybody, and no file of a project becomes the workers' environment.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        try:
            import ray
        except ImportError as error:
            package, extra, needed_for = "ray", "ragloom[ray]", "the runner 'ray'"
            raise MissingDependencyError(package, extra, needed_for) from error
        if ray.is_initialized():
            return ray
        options = self._options
        here: dict[str, Any] = {
            "num_cpus": options.workers or None,
            "object_store_memory": options.memory,
            "include_dashboard": False,
        }
        try:
            _greet(options.address, options.timeout)
            ray.init(
                address=options.address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=False,
                **({} if options.address else here),
            )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            where = f"at {options.address}" if options.address else "on this machine"
            said = " ".join(str(error).split())
            raise PluginError(f"runner 'ray': no cluster answers {where}: {said}") from error
        self._own = True
        return ray

    def _ahead(self, ray: Any) -> int:  # noqa: ANN401 - the module
        """Batches in flight for the workers that the cluster has now; at least two."""
        workers = int(float(ray.cluster_resources().get("CPU", 1)) / self._options.cpus)
        return _AHEAD * max(workers, 1)

    def _result(self, ray: Any, done: object) -> object:  # noqa: ANN401 - the module
        try:
            result = ray.get(done)
        except ray.exceptions.RayTaskError as error:
            said = f"{type(error.cause).__name__}: {error.cause}"
            raise PluginError(f"runner 'ray': a worker failed: {' '.join(said.split())}") from error
        except ray.exceptions.RayError as error:
            said = " ".join(str(error).split())[:300]
            raise PluginError(
                f"runner 'ray': a batch ended its worker {self._options.retries + 1} times: {said}"
            ) from error
        if isinstance(result, Refused):
            raise result.error()
        return result


def _greet(address: str, timeout: float) -> None:
    """Connect once to a cluster that is named: Ray itself waits for one that is not there for minutes.

    Raises:
        OSError: Nobody listens.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout).close()
