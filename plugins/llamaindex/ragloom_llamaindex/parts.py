"""From the name of a class of LlamaIndex to an object of it, with errors that say what to do."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module, metadata
from typing import Literal, TypeAlias

from ragloom import ConfigError, MissingDependencyError, PluginError
from ragloom.config import did_you_mean

__all__ = ["FAULTS", "Kind", "fingerprint", "guarded", "load_class", "make", "named"]

Kind: TypeAlias = Literal["chunker", "loader", "embedder"]

_MODULES: Mapping[Kind, tuple[str, ...]] = {
    "chunker": ("llama_index.core.node_parser",),
    "loader": ("llama_index.core.readers", "llama_index.core"),
    "embedder": ("llama_index.core.embeddings", "llama_index.core"),
}
"""Where a plain name is looked for."""

_BASES: Mapping[Kind, tuple[str, str]] = {
    "chunker": ("llama_index.core.node_parser", "NodeParser"),
    "loader": ("llama_index.core.readers.base", "BaseReader"),
    "embedder": ("llama_index.core.embeddings", "BaseEmbedding"),
}

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a part of LlamaIndex may raise that is a fault of it, of its options or of what it was given."""

_NUMERIC = re.compile(r"\b(?:int|float|bool)\b")
_HARD_LINK = re.compile(r"multiply-linked|hard ?link", re.IGNORECASE)
_DISTRIBUTION_PARTS = 3  # llama_index.readers.file comes with llama-index-readers-file


def label(kind: Kind, part: str) -> str:
    """``chunker 'llamaindex:SentenceSplitter'``."""
    return f"{kind} 'llamaindex:{part}'"


def fingerprint(part: str, options: Mapping[str, object]) -> str:
    """Changes with the class, its arguments and the versions of LlamaIndex. Imports nothing of it."""
    distributions = ["llama-index-core"]
    if "." in part:
        modules = part.replace(":", ".").split(".")
        distributions += [modules[0], "-".join(modules[:_DISTRIBUTION_PARTS]).replace("_", "-")]
    versions = {}
    for name in distributions:
        try:
            versions[name] = metadata.version(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
    text = json.dumps([part, options, versions], sort_keys=True, default=str)
    return f"llamaindex:{part} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def named(kind: Kind, part: str) -> str:
    """``part``, the name of a class.

    Raises:
        ConfigError: It is empty.
    """
    if not part:
        raise ConfigError(
            f"{kind} 'llamaindex': which one? Write {kind}: llamaindex:NAME, a class of LlamaIndex"
        )
    return part


def load_class(kind: Kind, part: str) -> type:
    """The class that ``part`` names.

    Raises:
        ConfigError: There is no part of that name, or it is of another kind.
        MissingDependencyError: LlamaIndex, or the package of a dotted path, is not installed.
    """
    base_module, base_name = _BASES[kind]
    try:
        base = getattr(import_module(base_module), base_name)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "llama-index-core", "ragloom[llamaindex]", f"the {label(kind, part)}"
        ) from error
    if "." in part:
        found = _by_path(kind, part)
    else:
        modules = [import_module(name) for name in _MODULES[kind]]
        holder = next((module for module in modules if hasattr(module, part)), None)
        if holder is None:
            offered = {
                name
                for module in modules
                for name, value in vars(module).items()
                if isinstance(value, type) and issubclass(value, base) and value is not base
            }
            hint = did_you_mean(part, offered) or "; a class elsewhere is its dotted path"
            raise ConfigError(f"{label(kind, part)}: llama_index.core has no {part!r}{hint}")
        found = getattr(holder, part)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ConfigError(f"{label(kind, part)}: it is no {base_name} of LlamaIndex")
    return found


def _by_path(kind: Kind, part: str) -> object:
    module_name, _, name = part.replace(":", ".").rpartition(".")
    try:
        return getattr(import_module(module_name), name)
    except ModuleNotFoundError as error:
        modules = module_name.split(".")
        package = modules[0]
        if package == "llama_index":
            package = "-".join(modules[:_DISTRIBUTION_PARTS])
        package = package.replace("_", "-")
        raise MissingDependencyError(package, package, f"the {label(kind, part)}") from error
    except AttributeError as error:
        message = f"{label(kind, part)}: {module_name} has no {name!r}"
        raise ConfigError(message) from error


def make(kind: Kind, part: str, options: Mapping[str, object]) -> object:
    """An object of the class that ``part`` names.

    Raises:
        ConfigError: As :func:`load_class`; or the class does not take these arguments.
        MissingDependencyError: As :func:`load_class`, or for what the class itself imports.
    """
    loaded = load_class(kind, part)
    try:
        with guarded(kind, part):
            _check_names(kind, part, loaded, options)
            return loaded(**_typed(loaded, options))
    except FAULTS as error:
        said = " ".join(str(error).split())
        raise ConfigError(f"{label(kind, part)}: {said}") from error


def _check_names(kind: Kind, part: str, loaded: type, options: Mapping[str, object]) -> None:
    """Refuse arguments that a class does not have; one that takes any checks them itself."""
    takes = inspect.signature(loaded).parameters
    # A field with an alias may be given by its own name, which the signature does not show.
    legal = [*takes, *(name for name in getattr(loaded, "model_fields", ()) if name not in takes)]
    unknown = sorted(options.keys() - set(legal))
    if unknown and not any(one.kind is one.VAR_KEYWORD for one in takes.values()):
        nearest = did_you_mean(unknown[0], legal) or f"; legal are: {', '.join(takes)}"
        raise ConfigError(f"{label(kind, part)}: unknown option {unknown[0]!r}{nearest}")


def _typed(loaded: type, options: Mapping[str, object]) -> dict[str, object]:
    """``options`` with numbers and booleans where the environment gave their strings."""
    takes = inspect.signature(loaded).parameters
    typed: dict[str, object] = {}
    for name, value in options.items():
        typed[name] = value
        if isinstance(value, str) and name in takes:
            wanted = str(takes[name].annotation)
            if "str" in wanted or not _NUMERIC.search(wanted):
                continue
            with suppress(ValueError):
                typed[name] = json.loads(value.lower())
    return typed


@contextmanager
def guarded(kind: Kind, part: str) -> Iterator[None]:
    """Turn what every part of LlamaIndex may stumble over into one clear line.

    Raises:
        PluginError: nltk refuses its own data because they are hard links, which is how uv installs.
        MissingDependencyError: The class imports a package that is not installed.
    """
    try:
        yield
    except PermissionError as error:
        if _HARD_LINK.search(str(error)):
            raise PluginError(
                f"{label(kind, part)}: nltk refuses its data files because they are hard links, "
                "as uv installs them: set UV_LINK_MODE=copy and reinstall llama-index-core and nltk"
            ) from error
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        raise MissingDependencyError(package, package, f"the {label(kind, part)}") from error
