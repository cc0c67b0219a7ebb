"""From the name of a class of LlamaIndex to an object of it, with errors that say what to do."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, metadata
from typing import Literal, TypeAlias

from ragloom import ConfigError, MissingDependencyError, PluginError, RagloomError
from ragloom.config import did_you_mean

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

_FAULTS = (
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
"""What a class of LlamaIndex may raise that is a fault of it, of its options or of what it was given."""

_NUMERIC = re.compile(r"\b(?:int|float|bool)\b")
_HARD_LINK = re.compile(r"multiply-linked|hard ?link", re.IGNORECASE)
_DISTRIBUTION_PARTS = 3  # llama_index.readers.file comes with llama-index-readers-file


@dataclass(frozen=True)
class LlamaClass:
    """A class of LlamaIndex, its arguments, and how messages name it.

    Attributes:
        kind: What it must be.
        part: Its name in ``llama_index.core``, or the dotted path of any other.
        options: Its arguments.
    """

    kind: Kind
    part: str
    options: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse an empty name."""
        if not self.part:
            raise ConfigError(
                f"{self.kind} 'llamaindex': which one? Write {self.kind}: llamaindex:NAME, a class of "
                "LlamaIndex"
            )

    @property
    def label(self) -> str:
        """``chunker 'llamaindex:SentenceSplitter'``."""
        return f"{self.kind} 'llamaindex:{self.part}'"

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the class, its arguments and LlamaIndex. Imports nothing of it."""
        distributions = ["llama-index-core"]
        if "." in self.part:
            modules = self.part.replace(":", ".").split(".")
            distributions += [modules[0], "-".join(modules[:_DISTRIBUTION_PARTS]).replace("_", "-")]
        versions = {}
        for name in distributions:
            with suppress(metadata.PackageNotFoundError, ValueError):
                versions[name] = metadata.version(name)
        text = json.dumps([self.part, self.options, versions], sort_keys=True, default=str)
        return f"llamaindex:{self.part} {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @cached_property
    def loaded(self) -> type:
        """The class itself.

        Raises:
            ConfigError: There is none of that name, or it is of another kind.
            MissingDependencyError: LlamaIndex, or the package of a dotted path, is not installed.
        """
        base_module, base_name = _BASES[self.kind]
        try:
            base = getattr(import_module(base_module), base_name)
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                "llama-index-core", "ragloom[llamaindex]", f"the {self.label}"
            ) from error
        found = self._by_path() if "." in self.part else self._by_name(base)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise ConfigError(f"{self.label}: it is no {base_name} of LlamaIndex")
        return found

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What the class takes."""
        return inspect.signature(self.loaded).parameters

    def make(self, **more: object) -> object:
        """An object of the class, made with its options and ``more``, which comes before them.

        Raises:
            ConfigError: As :attr:`loaded`; or the class does not take these arguments.
        """
        loaded, options = self.loaded, {**self.options, **more}
        with self.failing_as(ConfigError):
            self._check_names(options)
            return loaded(**self._typed(options))

    @contextmanager
    def failing_as(self, raised: type[RagloomError], about: str = "") -> Iterator[None]:
        """Turn what the class stumbles over into one clear line.

        Raises:
            PluginError: nltk refuses its own data because they are hard links, which is how uv installs.
            MissingDependencyError: The class imports a package that is not installed.
            RagloomError: ``raised``, for anything else.
        """
        try:
            yield
        except ModuleNotFoundError as error:
            package = (error.name or "a package").partition(".")[0]
            raise MissingDependencyError(package, package, f"the {self.label}") from error
        except _FAULTS as error:
            said = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, PermissionError) and _HARD_LINK.search(said):
                raise PluginError(
                    f"{self.label}: nltk refuses its data files because they are hard links, as uv "
                    "installs them: set UV_LINK_MODE=copy and reinstall llama-index-core and nltk"
                ) from error
            raise raised(f"{self.label}: {about}{said}") from error

    def _by_name(self, base: type) -> object:
        modules = [import_module(name) for name in _MODULES[self.kind]]
        for module in modules:
            if hasattr(module, self.part):
                return getattr(module, self.part)
        offered = {
            name
            for module in modules
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, base) and value is not base
        }
        hint = did_you_mean(self.part, offered) or "; a class elsewhere is its dotted path"
        raise ConfigError(f"{self.label}: llama_index.core has no {self.part!r}{hint}")

    def _by_path(self) -> object:
        module_name, _, name = self.part.replace(":", ".").rpartition(".")
        try:
            return getattr(import_module(module_name), name)
        except ModuleNotFoundError as error:
            modules = module_name.split(".")
            package = modules[0]
            if package == "llama_index":
                package = "-".join(modules[:_DISTRIBUTION_PARTS])
            package = package.replace("_", "-")
            raise MissingDependencyError(package, package, f"the {self.label}") from error
        except AttributeError as error:
            raise ConfigError(f"{self.label}: {module_name} has no {name!r}") from error

    def _check_names(self, options: Mapping[str, object]) -> None:
        """Refuse arguments that the class does not have; one that takes any checks them itself."""
        takes = self.parameters
        # A field with an alias may be given by its own name, which the signature does not show.
        fields = getattr(self.loaded, "model_fields", ())
        legal = [*takes, *(name for name in fields if name not in takes)]
        unknown = sorted(options.keys() - set(legal))
        if unknown and not any(one.kind is one.VAR_KEYWORD for one in takes.values()):
            nearest = did_you_mean(unknown[0], legal) or f" (legal: {', '.join(takes)})"
            raise ConfigError(f"{self.label}: unknown option {unknown[0]!r}{nearest}")

    def _typed(self, options: Mapping[str, object]) -> dict[str, object]:
        """``options`` with numbers and booleans where the environment gave their strings."""
        typed = dict(options)
        for name, value in options.items():
            if isinstance(value, str) and name in self.parameters:
                wanted = str(self.parameters[name].annotation)
                if "str" not in wanted and _NUMERIC.search(wanted):
                    with suppress(ValueError):
                        typed[name] = json.loads(value.lower())
        return typed
