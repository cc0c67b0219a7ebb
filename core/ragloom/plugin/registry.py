"""Who provides what: (kind, name) -> provider.

A name is unique within its kind. What plugins offer, and what their providers make, is checked at
once, so that a component without a method is named where it is made and not in the middle of a run.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, TypeAlias, cast, get_args, get_origin

from ragloom.config.settings import SETTINGS
from ragloom.config.spelling import unknown
from ragloom.errors import PluginError
from ragloom.hookspecs import Provider
from ragloom.protocols import Chunker, Embedder, Formatter, Loader, Reranker, Runner, Store

Kind: TypeAlias = Literal[
    "chunkers", "embedders", "formatters", "loaders", "rerankers", "runners", "stores"
]

PROTOCOLS: Mapping[Kind, type] = {
    "chunkers": Chunker,
    "embedders": Embedder,
    "formatters": Formatter,
    "loaders": Loader,
    "rerankers": Reranker,
    "runners": Runner,
    "stores": Store,
}
"""What a component of each kind must have; a kind's hook is ``ragloom_<kind>``."""

OWN_SETTINGS = frozenset({"spaces", *SETTINGS})
"""The keys of ``ragloom.yaml`` that no section may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A provider, and the plugin and distribution that it came from.

    Attributes:
        kind: Such as ``embedders``.
        provider: What the plugin offered.
        owner: For messages, such as ``plugin 'onnx' (ragloom 0.1.0)``.
    """

    kind: Kind
    provider: Provider[object]
    owner: str

    @property
    def label(self) -> str:
        """``embedder 'onnx'``."""
        return f"{singular(self.kind)} {self.provider.name!r}"


class Registry:
    """Components by kind and name."""

    def __init__(self) -> None:
        self._offers: dict[tuple[Kind, str], Offer] = {}

    def add(self, offers: Sequence[Offer]) -> None:
        """Take all that a plugin offers, or none of them.

        Raises:
            PluginError: One is already there, or twice in ``offers``; both owners are named.
        """
        accepted = dict(self._offers)
        for part in offers:
            key = (part.kind, part.provider.name)
            if key in accepted:
                raise PluginError(
                    f"the {part.label} is provided twice, by {accepted[key].owner} "
                    f"and by {part.owner}; disable one of them"
                )
            accepted[key] = part
        self._offers = accepted

    def remove(self, offers: Sequence[Offer]) -> None:
        """Take back a plugin's offers."""
        self._offers = {key: one for key, one in self._offers.items() if one not in offers}

    def offers(self, kind: Kind) -> tuple[Offer, ...]:
        """The components of a kind, sorted by name."""
        parts = (part for (known, _), part in self._offers.items() if known == kind)
        return tuple(sorted(parts, key=lambda part: part.provider.name))

    def names(self, kind: Kind) -> tuple[str, ...]:
        """The names of a kind, sorted."""
        return tuple(part.provider.name for part in self.offers(kind))

    def find(self, kind: Kind, name: str) -> Offer | None:
        """The component of that name, or None."""
        return self._offers.get((kind, name))

    def find_member(
        self, kind: Kind, name: str, options: Mapping[str, object]
    ) -> tuple[Offer | None, Mapping[str, object]]:
        """The component of that name and its options, where one provider may stand for many.

        A provider ``family`` whose options have the fields ``part`` and ``options`` answers to
        ``family:member``, too: ``part`` is the member then, and what is no field of its own is in
        ``options``.
        """
        part = self.find(kind, name)
        family, colon, member = name.partition(":")
        if part is not None or not (colon and member):
            return part, options
        part = self.find(kind, family)
        fields = (
            {known.name for known in dataclasses.fields(part.provider.options)} if part else set()
        )
        if not {"part", "options"} <= fields:
            return None, options
        own = {key: value for key, value in options.items() if key in fields}
        others = {key: value for key, value in options.items() if key not in fields}
        return part, {"options": others, **own, "part": member}

    def unknown(self, kind: Kind, name: str) -> str:
        """The message for a name that nobody provides, with the nearest one that somebody does."""
        return unknown(singular(kind), name, self.names(kind))


def singular(kind: Kind) -> str:
    """``embedder`` for ``embedders``."""
    return kind.removesuffix("s")


def offer_from(kind: Kind, offered: object, owner: str) -> Offer:
    """Check what a hook returned.

    Raises:
        PluginError: It is not a provider, or its options are not a dataclass.
    """
    if not isinstance(offered, Provider):
        raise PluginError(f"ragloom_{kind} must return Providers, not {type(offered).__name__}")
    if not dataclasses.is_dataclass(offered.options):
        raise PluginError(
            f"the options of the {singular(kind)} {offered.name!r} must be a dataclass, "
            f"not {offered.options!r}"
        )
    if not offered.name:
        raise PluginError(f"a Provider from ragloom_{kind} has no name")
    return Offer(kind=kind, provider=offered, owner=owner)


def missing_modules(provider: Provider[object]) -> tuple[str, ...]:
    """Those of ``provider.requires`` that cannot be found. Imports none of them."""
    return tuple(module for module in provider.requires if not _is_there(module))


def lacking(part: Offer, made: object) -> str:
    """The methods and properties of the kind's protocol that ``made`` has not, for a message.

    They are looked up without running a property: asking for a dimension may load a model. An
    object that answers through ``__getattr__`` is taken at its word.
    """
    if hasattr(type(made), "__getattr__"):
        return ""
    absent = object()
    return ", ".join(
        sorted(
            name
            for name in vars(PROTOCOLS[part.kind])
            if not name.startswith("_") and inspect.getattr_static(made, name, absent) is absent
        )
    )


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def check_section(name: str, section: object) -> None:
    """Refuse a section that is none, or that is a setting of ragloom's own."""
    if name in OWN_SETTINGS:
        raise PluginError(f"ragloom_settings: {name!r} is a setting of ragloom itself")
    item = next(iter(get_args(section)), None) if get_origin(section) is tuple else section
    if not (isinstance(item, type) and dataclasses.is_dataclass(item)):
        raise PluginError(f"ragloom_settings must map {name!r} to a dataclass, not {section!r}")
    cast("type", section)()  # raises where a field has no default
