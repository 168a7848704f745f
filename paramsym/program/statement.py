"""What a program, a table and a formula read of a layer: ``paramsym.core.layer`` defines layers above them, and has these members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

from sympy import Expr, Symbol

from paramsym.algebra.line import Line
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, Shape


class Statement(Protocol):
    """A layer: what it stores, contains and computes, and its count."""

    @cached_property
    def own_tensors(self) -> tuple[Any, ...]: ...
    @cached_property
    def own_parts(self) -> tuple[StatedPart, ...]: ...
    @property
    def forward(self) -> Callable[..., Any]: ...
    @property
    def computes(self) -> bool: ...
    @property
    def computed_as(self) -> Statement: ...
    def output_shape(self, input_shape: Shape) -> Shape: ...
    def part(self, path: str) -> Statement: ...

    @cached_property
    def lines(self) -> tuple[Line, ...]: ...
    @cached_property
    def polynomial(self) -> Polynomial: ...
    @cached_property
    def params(self) -> Expr: ...
    @property
    def count(self) -> int: ...

    @cached_property
    def symbols(self) -> frozenset[Symbol]: ...
    @cached_property
    def origin(self) -> tuple[Statement, dict[Symbol, Dim]]: ...
    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self: ...


class StatedPart(Protocol):
    """A layer inside a layer, by name: alone, or as numbered copies of which ``used`` are used."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def layer(self) -> Statement: ...
    @property
    def numbers(self) -> Numbers | None: ...
    @property
    def used(self) -> Count | None: ...
    @property
    def frozen(self) -> bool: ...


def class_name(layer: Statement) -> str:
    """Return the class name for a result; for a model with several classes in its reference, the reference's class.

    >>> from paramsym import Dense, H
    >>> from paramsym.models import Bert
    >>> class_name(Dense(H, H)), class_name(Bert())
    ('Dense', 'BertModel')
    """
    held: Any = layer  # an edited model has the inner model's attributes without being of its class, so its own fields decide
    return str(held.architecture) if any(field.name == "architecture" for field in fields(held)) else held._who
