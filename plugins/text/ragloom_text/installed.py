"""Versions of the libraries that decide what a document becomes."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["version_of"]


def version_of(distribution: str) -> str:
    """The installed version, or ``none``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"
