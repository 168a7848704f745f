"""A recording as values of JSON, and back. Nothing in a file is run: sizes are trees of known operations.

An operator is ``[name, arguments, results]``, a call ``{"path": ..., "kind": ..., "items": [...]}``. Equal copies have ``calls``,
``count``, ``place`` and ``carried``; layers of several kinds have ``stack``, ``kinds``, ``passed``, ``first`` and ``last``. An array is
``[number, kind, size, ...]``; ``held`` has the numbers of constants that are buffers, ``entries`` constants with the rule of their entries
and its numbers. In arguments ``{"array": n}`` is an array,
``{"size": n}`` the size of this number in the list of sizes, ``{"float": text}`` infinity or no number, and ``{"of": {...}}`` arguments
by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from sympy import Add, Expr, Float, Integer, Mul, Pow, Rational, Symbol, ceiling, floor

from paramsym.algebra.size import per
from paramsym.errors import NotYetError
from paramsym.program.types import Kind
from paramsym.read.made import Made
from paramsym.read.merging import Path
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated
from paramsym.read.stacks import Stack

_OPERATIONS: Mapping[str, Any] = {"+": Add, "*": Mul, "^": Pow, "per": per, "floor": floor, "ceiling": ceiling}
_NAMES = {kind: name for name, kind in _OPERATIONS.items()}
_LARGEST_POWER = 8
_ENDLESS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Writer:
    """Writes recordings; ``names`` are the names of letters, and ``sizes`` the expressions, each once."""

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        self.names = names
        self.sizes: list[Any] = []
        self.places: dict[Expr, int] = {}

    def recording(self, one: Recording) -> dict[str, Any]:
        """Return a recording as JSON; entries of arrays are left out."""
        return {
            "inputs": [self.array(array) for array in one.inputs],
            "stored": [[number, *map(self.path, names)] for number, names in one.stored.items()],
            "constants": [self.array(array) for array in one.constants.values()],
            **({"held": held} if (held := [number for number, array in one.constants.items() if array.held]) else {}),
            "top": self.item(one.top),
            "outputs": list(one.outputs),
            "several": one.several,
        }

    def array(self, one: Array) -> list[Any]:
        """Return an array: its number, the kind of its entries, its sizes."""
        return [one.number, one.kind, *map(self.value, one.shape)]

    def path(self, one: str) -> Any:
        """Return a path: its text, or its steps if one of them is a size."""
        steps = getattr(one, "steps", None)
        return str(one) if steps is None else [str(one), *map(self.value, steps)]

    def item(self, one: Done | Called | Repeated | Stack) -> Any:
        """Return an operator, a call, equal copies or layers of several kinds."""
        if isinstance(one, Stack):
            passed = [[list(pair) for pair in pairs] for pairs in one.passed]
            kinds = [self.item(each) for each in one.kinds]
            return {"stack": one.path, "kinds": kinds, "passed": passed, "first": list(one.first), "last": list(one.last)}
        if isinstance(one, Done):
            made = [one.name, {name: self.value(each) for name, each in one.arguments.items()}, [self.array(each) for each in one.results]]
            return made if one.graded is True else [*made, one.graded]
        if isinstance(one, Called):
            return {"path": self.path(one.path), "kind": one.kind, "items": [self.item(each) for each in one.items]}
        carried = [[list(pair) for pair in pairs] for pairs in one.carried]
        return {"calls": [self.item(each) for each in one.calls], "count": self.value(one.count), "place": one.place, "carried": carried}

    def value(self, one: Any) -> Any:
        """Return an argument.

        Raises:
            NotYetError: one that cannot be written.
        """
        if isinstance(one, Ref):
            return {"array": one.number}
        if isinstance(one, Integer):
            return int(one)
        if isinstance(one, Expr):
            if one not in self.places:
                self.sizes.append(self.size(one))
                self.places[one] = len(self.sizes) - 1
            return {"size": self.places[one]}
        if isinstance(one, Mapping):
            return {"of": {name: self.value(each) for name, each in one.items()}}
        if isinstance(one, tuple):
            return [self.value(each) for each in one]
        if isinstance(one, float) and not math.isfinite(one):
            return {"float": str(one)}
        if one is None or isinstance(one, bool | int | float | str):
            return one
        raise NotYetError(f"an argument of the kind {type(one).__name__} cannot be written.")

    def size(self, one: Any) -> Any:
        """Return the tree of an expression.

        Raises:
            NotYetError: an operation that is not known.
        """
        if isinstance(one, Integer):
            return int(one)
        if isinstance(one, Float):
            return float(one)
        if isinstance(one, Rational):
            return ["/", int(one.p), int(one.q)]
        if isinstance(one, Symbol):
            return self.names[one]
        if type(one) not in _NAMES:
            raise NotYetError(f"a size with the operation {type(one).__name__} cannot be written.")
        return [_NAMES[type(one)], *map(self.size, one.args)]


class Reader:
    """Reads what ``Writer`` wrote; ``letters`` are the letters by name, and ``sizes`` the trees of the sizes."""

    def __init__(self, letters: Mapping[str, Symbol], sizes: list[Any]) -> None:
        self.letters = letters
        self.sizes = [self.size(tree) for tree in sizes]

    def recording(self, one: Mapping[str, Any]) -> Recording:
        """Return the recording."""
        held = frozenset(one.get("held", ()))
        made = {int(number): Made(str(rule), tuple(map(self.value, numbers))) for number, rule, *numbers in one.get("entries", ())}
        return Recording(
            tuple(map(self.array, one["inputs"])),
            {number: tuple(map(self.path, names)) for number, *names in one["stored"]},
            {array[0]: replace(self.array(array, held=array[0] in held), data=made.get(array[0])) for array in one["constants"]},
            cast("Called", self.item(one["top"])),
            tuple(map(int, one["outputs"])),
            bool(one["several"]),
        )

    def array(self, one: list[Any], *, held: bool = False) -> Array:
        """Return an array without entries."""
        number, kind, *shape = one
        return Array(int(number), tuple(map(self.value, shape)), cast("Kind", str(kind)), held=held)

    def path(self, one: Any) -> str:
        """Return a path, or its steps."""
        return one if isinstance(one, str) else Path.of(one[0], tuple(map(self.value, one[1:])))

    def item(self, one: Any) -> Done | Called | Repeated | Stack:
        """Return an operator, a call, equal copies or layers of several kinds."""
        if isinstance(one, list):
            name, arguments, results, *graded = one
            stated = {key: self.value(each) for key, each in arguments.items()}
            return Done(str(name), stated, tuple(map(self.array, results)), graded="within" if graded == ["within"] else not graded)
        if "stack" in one:
            kinds = tuple(cast("Called", self.item(each)) for each in one["kinds"])
            passed = tuple(tuple((int(a), int(b)) for a, b in pairs) for pairs in one["passed"])
            return Stack(str(one["stack"]), kinds, passed, tuple(map(int, one["first"])), tuple(map(int, one["last"])))
        if "calls" in one:
            carried = tuple(tuple((int(a), int(b)) for a, b in pairs) for pairs in one["carried"])
            calls = [cast("Called", self.item(each)) for each in one["calls"]]
            return Repeated(calls, self.value(one["count"]), int(one["place"]), carried)
        items: list[Any] = [self.item(each) for each in one["items"]]
        return Called(self.path(one["path"]), str(one["kind"]), items)

    def value(self, one: Any) -> Any:
        """Return an argument."""
        if isinstance(one, list):
            return tuple(map(self.value, one))
        if not isinstance(one, dict):
            return one
        ((kind, held),) = one.items()
        if kind == "of":
            return {name: self.value(each) for name, each in held.items()}
        return Ref(int(held)) if kind == "array" else _ENDLESS[held] if kind == "float" else self.sizes[held]

    def size(self, tree: Any) -> Any:
        """Return the expression of a tree."""
        if isinstance(tree, int):
            return Integer(tree)
        if isinstance(tree, float):
            return Float(tree)
        if isinstance(tree, str):
            return self.letters[tree]
        kind, *operands = tree
        if kind == "/":
            return Rational(*map(int, operands))
        found = [self.size(one) for one in operands]
        if kind == "^" and not abs(found[1]) <= _LARGEST_POWER:
            raise ValueError(f"a power of {found[1]} is not a size")
        return _OPERATIONS[kind](*found)
