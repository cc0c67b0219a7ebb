"""Every error that ragloom raises on purpose.

::

    RagloomError
    ├── ConfigError              a setting is unknown, of the wrong type or out of range
    │   └── UntrustedError       a setting of the project asks for what only its user may allow
    ├── PluginError              a plugin failed, or no plugin provides a component
    ├── MissingDependencyError   an optional package is not installed
    ├── ModelError               a model's files are missing, damaged or unusable
    ├── SourceError              a file cannot be read or understood
    ├── StoreError               a store or a snapshot refused or failed, also by a fault of the machine
    │   ├── StoreLockedError     another process holds it
    │   └── StoreDamagedError    it does not open; the next index run rebuilds it
    │       └── StoreOutdatedError   an older ragloom wrote it; the next index run rebuilds it, too
    └── NotIndexedError          nothing has been indexed yet

A message is one line: what went wrong, where (file, key, plugin), and what to do about it. It shows no
secret: passwords of URLs and tokens of known shape become ``***``.
"""

from __future__ import annotations


class RagloomError(Exception):
    """The root: catching it catches everything that ragloom raises on purpose."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(_without_secrets(one) if isinstance(one, str) else one for one in args))


def _without_secrets(message: str) -> str:
    from ragloom.secrets.redaction import (
        hide,
    )  # its expressions are not compiled before something fails

    return hide(message)


class ConfigError(RagloomError):
    """A setting is unknown, has the wrong type, or is out of range."""


class UntrustedError(ConfigError):
    """A setting asks for a path, a service, code or a model that a project may not name untrusted."""


class PluginError(RagloomError):
    """A plugin failed, or no plugin provides a component of that name."""


class MissingDependencyError(RagloomError):
    """An optional package is not installed.

    Args:
        package: The distribution that could not be imported, such as ``onnxruntime``.
        extra: What to give to pip, such as ``ragloom[onnx]``.
        needed_for: What cannot be done without it, such as ``the embedder 'onnx'``.
    """

    def __init__(self, package: str, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs {package}, which is not installed: pip install '{extra}'"
        )
        self.package = package
        self.extra = extra
        self.needed_for = needed_for


class ModelError(RagloomError):
    """A model's files are missing, damaged or unusable."""


class SourceError(RagloomError):
    """A file cannot be read or understood."""


class StoreError(RagloomError):
    """A store or a snapshot refused what it was given, or failed; a fault of the machine is named."""


class StoreLockedError(StoreError):
    """Another process holds the store."""


class StoreDamagedError(StoreError):
    """A store or a snapshot does not open; an index run rebuilds each from the other."""


class StoreOutdatedError(StoreDamagedError):
    """An older ragloom wrote a snapshot; an index run rebuilds it from the store without embedding."""


class NotIndexedError(RagloomError):
    """Nothing has been indexed yet where an index is needed."""
