"""What can be asked about, beside files: texts, and models that are written in Python."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Callable, Hashable, Iterable, Mapping, Optional


@dataclass(frozen=True)
class Text:
    """A model as a text; the extension tells its language."""

    text: str
    extension: str = "pml"


class Model:
    """A model in Python, for small systems.

    `initial` gives the states to start in (or is one state), `successors(state)` the steps of a state as pairs of a label and a
    state. States are hashable: numbers, tuples, frozen dataclasses. `predicates` are what invariants and formulas may name;
    `is_end(state)` tells where it is right to stop.

        lift = volee.Model(0, lambda floor: [("up", floor + 1)] if floor < 9 else [("down", 0)], low=lambda f: f < 9)
        volee.check(lift, invariant="low")
    """

    def __init__(
        self,
        initial,
        successors: Callable[[Hashable], Iterable],
        *,
        is_end: Optional[Callable[[Hashable], bool]] = None,
        name: str = "model",
        **predicates: Callable[[Hashable], bool],
    ):
        self._initial = initial
        self._successors = successors
        self._is_end = is_end
        self._predicates = predicates
        self.name = name

    def initial(self):
        given = self._initial() if callable(self._initial) else self._initial
        is_one = isinstance(given, (str, bytes, tuple)) or not hasattr(given, "__iter__")
        return [given] if is_one else given

    def successors(self, state):
        for label, target in self._successors(state):
            yield str(label), target

    def is_end(self, state) -> bool:
        return bool(self._is_end(state)) if self._is_end else False

    def names(self):
        return list(self._predicates)

    def holds(self, name, state) -> bool:
        return bool(self._predicates[name](state))

    def variables(self, state):
        return [(str(name), str(value)) for name, value in _parts(state)]


def _parts(state):
    """What people see of a state: its fields, where it has any."""
    if dataclasses.is_dataclass(state):
        return [(f.name, getattr(state, f.name)) for f in dataclasses.fields(state)]
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        return list(zip(state._fields, state))
    if isinstance(state, Mapping):
        return list(state.items())
    return [("state", state)]
