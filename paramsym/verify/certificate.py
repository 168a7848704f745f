r"""Proof by finitely many instances.

If two functions of coordinates :math:`z_1, \dots, z_n` are polynomials of degree at most :math:`d_i` in :math:`z_i`, and they agree on a
grid of :math:`d_i + 1` different values of each, they agree everywhere: with all other coordinates held, their difference is a polynomial
in one coordinate with more zeros than its degree, and so on for each. Floors and ceilings of a quotient by m are polynomials on each
residue class modulo m; then m times as many consecutive values are taken.
"""

from __future__ import annotations

import platform
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any, Literal

import sympy
from sympy import Expr, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import substitute, text
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.render.table import Table
from paramsym.render.tabular import Tabular
from paramsym.verify.agreement import Rival
from paramsym.verify.degrees import Movement, movement
from paramsym.verify.lattice import Lattice, lattice
from paramsym.verify.rename import Renaming
from paramsym.verify.templates import templates

MOST_INSTANCES = 5000
_STARTS = (1, 2, 3, 5, 9, 17, 33, 65)
_TRIED = 200  # small instances that are built if no proof is possible
_ATTEMPTS = 200  # the most grids that are tried

Degree = int | Mapping[Any, int]


@dataclass(frozen=True)
class Certificate(Tabular):
    """A proof that a formula and a build agree on every valid size, under ``assumption``; made by ``certify`` alone.

    ``degrees`` bounds the degree in each coordinate, ``values`` are the values of each; ``instances`` is the number of built instances.
    ``compared`` is either every tensor or only the count. Prints all of it, with versions.
    """

    subject: str
    formula: Expr
    variables: tuple[Symbol, ...]
    lattice: Lattice
    degrees: Mapping[Symbol, Movement]
    values: Mapping[Symbol, tuple[int, ...]]
    instances: int
    compared: Literal["tensors", "count"]
    tensors: int
    versions: Mapping[str, str]

    @property
    def assumption(self) -> str:
        """The assumptions of the proof, which cannot be seen from outside the build."""
        bounds = ", ".join(_bound(symbol, found) for symbol, found in self.degrees.items() if found.values > 1)
        if not bounds:
            return "none: there is only one instance, and it was built."
        if self.compared == "count":
            return f"in the build, the count is a polynomial of degree {bounds}."
        what = f"each axis of each tensor, the number of copies and the count are polynomials of degree {bounds}"
        return f"in the build, {what}; further numbered copies are named as the first ones are."

    @property
    def reach(self) -> str:
        """The sizes for which it is proven."""
        if not self.variables:
            return "the only instance"
        if self.lattice.left:
            kept = "; ".join(f"{text(c.small)} {'divides' if c.kind == 'divides' else '<='} {text(c.large)}" for c in self.lattice.left)
            return f"every point of the lattice that the layer accepts ({kept})"
        if self.lattice.whole:
            return "every valid size"
        rest = "it is a part of the valid sizes, and the rest follows if the build is one formula in the variables"
        return f"every point of the lattice; {rest}"

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the certificate: what a statement is about, such as "lattice" or "compared", and the statement."""
        yield "proven for", self.reach
        yield "formula", text(self.formula)
        yield "variables", ", ".join(symbol.name for symbol in self.variables) or "none"
        if self.variables:
            yield "lattice", str(self.lattice)
            yield "degrees", ", ".join(_bound(symbol, found) for symbol, found in self.degrees.items())
            some = {symbol: [*map(str, values[:6]), *(["..."] if len(values) > 6 else [])] for symbol, values in self.values.items()}
            yield "grid", "; ".join(f"{symbol} in {', '.join(values)}" for symbol, values in some.items())
        yield "instances", f"{self.instances:,}"
        agreed = f"names and every axis of {self.tensors} tensors, numbered copies counted once, and the count"
        yield "compared", agreed if self.compared == "tensors" else "the count alone"
        yield "assumed", self.assumption
        yield "versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def __str__(self) -> str:
        return "\n".join([f"Certificate for {self.subject}", *(f"  {name:<10}  {words}" for name, words in self.rows())])

    def table(self) -> Table:
        """Return the certificate as a table of two columns."""
        return Table(("", "certificate"), tuple(self.rows()), caption=f"Certificate for {self.subject}")


def certify(
    layer: Layer,
    build: Callable[..., Any],
    degree: Degree | None = None,
    *,
    rename: Renaming | None = None,
    by: Literal["name", "order"] = "name",
) -> Certificate:
    """Prove that a layer and a build agree on every valid size, by building finitely many instances.

    ``build`` is called with the layer's symbols by name and returns a module, a dictionary of shapes, another layer, or only a count.
    ``degree`` bounds the degree of the build in every coordinate, or in those that a mapping names; by default it is the degree of the
    layer's formula, at least one. ``rename`` and ``by`` are those of ``match``.

    Raises:
        RefutedError: an instance with a difference; the message names the sizes and the tensors.
        NotYetError: a count that is not a polynomial on any lattice; more than 5000 instances; no grid with only valid sizes.
        ArgumentError: a degree below the formula's own, or a build that does not take the layer's symbols.

    >>> from paramsym import Dense, F, H
    >>> proof = certify(Dense(H, F), lambda F, H: F * H + F)
    >>> proof.instances, proof.assumption
    (4, 'in the build, the count is a polynomial of degree 1 in F, 1 in H.')
    >>> certify(Dense(H, F), lambda F, H: F * H + H)
    Traceback (most recent call last):
        ...
    paramsym.errors.RefutedError: Dense(H, F): at F=1, H=2, build counts 4 parameters; the layer has F*H + F = 3 (difference +1, \
as many as there are in bias).
    """
    __tracebackhide__ = True
    rival = Rival(build, rename, by)
    rival.check_call(layer)
    points = lattice(layer)
    try:
        degrees = _degrees(layer, points, degree)
        values, grid = _valid_grid(layer, points, degrees)
    except NotYetError:
        _try_to_refute(layer, points, rival)  # without a proof, a counterexample may still be found
        raise
    built: Any = None
    for sizes in grid:
        built = rival.check(layer, sizes)
    variables, tensors = tuple(sorted(layer.symbols, key=lambda symbol: symbol.name)), len(templates(layer))
    compared: Literal["tensors", "count"] = "count" if hasattr(built, "__index__") else "tensors"
    built_with = versions(built)
    return Certificate(repr(layer), layer.params, variables, points, degrees, values, len(grid), compared, tensors, built_with)


def _try_to_refute(layer: Layer, points: Lattice, rival: Rival) -> None:
    """Build some small instances, the smallest first."""
    __tracebackhide__ = True
    taken = [coordinate.choices or (1, 2, 3, 4, 5) for coordinate in points.coordinates]
    for point in islice(sorted(islice(product(*taken), MOST_INSTANCES), key=sum), _TRIED):
        sizes = points.sizes(dict(zip((c.symbol for c in points.coordinates), point, strict=True)))
        try:
            layer.at(sizes)
        except ParamsymError:
            continue
        rival.check(layer, sizes)


def _degrees(layer: Layer, points: Lattice, degree: Degree | None) -> dict[Symbol, Movement]:
    """Return the degrees of count, axes and numbers of copies in each coordinate, raised to the requested degree."""
    placed = {symbol: formula for symbol, formula in points.formulas.items() if formula != symbol}
    sizes = [extent for template in templates(layer) for extent in template.sizes((0,) * len(template.numbers))]
    copies = [step.count for line in layer.lines for step in line.path if isinstance(step, Numbers)]
    moving = [Polynomial.of(substitute(value, placed)) for value in {layer.params, *sizes, *copies}]
    own = {coordinate.symbol: movement(moving, coordinate.symbol) for coordinate in points.coordinates}
    return {symbol: _raised(symbol, found, degree) for symbol, found in own.items()}


def _raised(symbol: Symbol, own: Movement, degree: Degree | None) -> Movement:
    asked = degree
    if isinstance(degree, Mapping):
        asked = next((bound for key, bound in degree.items() if getattr(key, "name", key) == symbol.name), None)
    if asked is None:
        # A size that cancels from every shape is still tried at two values, because the cancellation is part of the claim.
        return Movement(max(own.degree, 1), own.modulus)
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < own.degree:
        message = f"degree is {asked!r} in {symbol}; wanted a whole number of at least {own.degree}, the degree of the formula itself."
        raise ArgumentError(message)
    return Movement(asked, own.modulus)


def _valid_grid(
    layer: Layer, points: Lattice, degrees: Mapping[Symbol, Movement]
) -> tuple[dict[Symbol, tuple[int, ...]], list[dict[str, int]]]:
    """Return the values of each coordinate, and the sizes at every point of their grid, all valid."""
    number = prod(found.values for found in degrees.values())
    if number > MOST_INSTANCES:
        example = ", ".join(f"{symbol}=..." for symbol in list(degrees)[:2])
        limit = f"{MOST_INSTANCES:,} are the limit. Put numbers in for some: layer.at({example})."
        raise NotYetError(f"the proof would take {number:,} instances; {limit}")
    chance = random.Random(0)  # noqa: S311 - the same grid every time, no secret
    problem: ParamsymError | None = None
    for attempt in range(_ATTEMPTS):
        starts = _STARTS[: 2 + attempt // 25]
        values = {}
        for one in points.coordinates:
            number, start = degrees[one.symbol].values, chance.choice(starts) if attempt else 1
            values[one.symbol] = one.choices[:number] or tuple(range(start, start + number))
        grid = [points.sizes(dict(zip(values, point, strict=True))) for point in product(*values.values())]
        try:
            for sizes in grid:
                layer.at(sizes)
        except ParamsymError as error:
            problem = problem or error
            continue
        return values, grid
    raise NotYetError(f"no grid was found whose sizes are all valid for {type(layer).__name__}; the first refusal was: {problem}")


def _bound(symbol: Symbol, found: Movement) -> str:
    classes = f" on each residue class modulo {found.modulus}" if found.modulus > 1 else ""
    return f"{found.degree} in {symbol}{classes}"


def versions(built: Any) -> dict[str, str]:
    """Return the versions of this library, SymPy, Python, and the packages that define the built object's classes.

    For a dictionary, the classes are those of its values.
    """
    from paramsym import __version__

    while isinstance(built, Mapping) and built:
        built = next(iter(built.values()))
    roots = dict.fromkeys(cls.__module__.partition(".")[0] for cls in type(built).__mro__)
    frameworks = {root: getattr(sys.modules.get(root), "__version__", None) for root in roots if root not in {"builtins", "paramsym"}}
    known = {root: str(version) for root, version in frameworks.items() if isinstance(version, str)}
    return {"paramsym": __version__, **known, "sympy": str(sympy.__version__), "python": platform.python_version()}
