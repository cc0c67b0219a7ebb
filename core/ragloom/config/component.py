"""A component as settings name it: its options, and where each was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ragloom.errors import MissingDependencyError, RagloomError
from ragloom.types import Json

ENVIRONMENT = "RAGLOOM_"
"""What every variable begins with."""

COMPONENTS = ("chunker", "embedder", "store", "reranker", "formatter", "runner")
NONE = "none"
"""The name that stands for no component, where there may be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """Which plugin's component to use, and its options.

    Attributes:
        name: Of the component.
        options: What is set for it.
        places: Where each option stands, for messages about it, and under ``""`` the component: a
            file and line, a variable, or an option of a command.
    """

    name: str
    options: Mapping[str, Json] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    def instead(self, name: str, place: str) -> Component:
        """The component ``name``, which ``place`` names, with the options of this one that apply to it.

        All apply if it is the same one, or ``none``, which is set up for whoever names one; otherwise those
        of variables do.
        """
        same = self.name in (name, NONE)
        options = {
            option: value
            for option, value in self.options.items()
            if same or self.places.get(option, "").startswith(ENVIRONMENT)
        }
        places = {option: self.places[option] for option in options if option in self.places}
        return Component(name=name, options=options, places={**places, "": place})

    def with_option(self, option: str, value: Json, place: str) -> Component:
        """The same component with an option, which ``place`` sets."""
        options, places = {**self.options, option: value}, {**self.places, option: place}
        return Component(name=self.name, options=options, places=places)


@contextmanager
def located(places: Mapping[str, str]) -> Iterator[None]:
    """Begin an error that is raised inside with the place of the option that it names, or of the component.

    Args:
        places: As :attr:`Component.places`.
    """
    try:
        yield
    except MissingDependencyError:
        raise  # no setting is wrong
    except RagloomError as error:
        said = str(error)
        found = {name: re.search(rf"\b{re.escape(name)}\b", said) for name in places if name}
        named = [(match.start(), name) for name, match in found.items() if match]
        place = places.get(min(named)[1] if named else "")
        if place is not None:
            error.args = (f"{place}: {said}",)
        raise
