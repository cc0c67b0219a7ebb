"""The runner ``ray``: index runs on the workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Provider, Runner, hookimpl

__all__ = ["RayOptions", "ragloom_runners"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """Options of the runner ``ray``.

    Attributes:
        address: Of a cluster: ``host:6379``, ``ray://host:10001`` from outside of it, or ``auto`` for the
            one that this machine belongs to. Empty for a cluster of this machine alone, for one run.
        workers: Of a cluster of this machine alone; 0 for one a core.
        cpus: Of the cluster, that a batch is given.
        in_flight: Batches that are worked on or wait for a worker; 0 for two a worker.
        retries: How often a batch is repeated whose worker died.
        memory: Bytes of shared memory, of a cluster of this machine alone.
        timeout: Seconds until a cluster that does not answer is an error.
    """

    address: str = ""
    workers: int = 0
    cpus: float = 1.0
    in_flight: int = 0
    retries: int = 3
    memory: int = 200_000_000
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("workers", "in_flight", "retries"):
            if (number := getattr(self, name)) < 0:
                raise ValueError(f"{name} must be a whole number from 0, not {number}")
        for name in ("cpus", "timeout", "memory"):
            if not (number := getattr(self, name)) > 0:
                raise ValueError(f"{name} must be a number above 0, not {number}")


def _create(options: RayOptions) -> Runner:
    from ragloom_ray.runner import RayRunner

    return RayRunner(options)


@hookimpl
def ragloom_runners() -> Iterable[Provider[Runner]]:
    """Offer the runner ``ray``."""
    return [
        Provider(
            name="ray",
            summary="on the workers of a Ray cluster, which read, split and embed",
            create=_create,
            options=RayOptions,
            requires=("ray",),
            extra="ragloom[ray]",
        )
    ]
