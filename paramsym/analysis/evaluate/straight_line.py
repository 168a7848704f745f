"""A closed form as a short straight-line program: factored, with its conditions as steps, and with a bound for every intermediate value.

The polynomial is written by Horner's rule in many letters, the letter of most terms first, then the number of most terms, which leaves
few multiplications. One program runs on Python integers, on columns and, without its checks, on any array that knows ``+``, ``*`` and
``//``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from sympy import Symbol

from paramsym.algebra.size import MAX_BITS, Condition
from paramsym.analysis.evaluate.refusal import refusal
from paramsym.errors import DivisibilityError, SizeError

Quotient: TypeAlias = Literal["divides", "exact"]
Check: TypeAlias = Literal["most", "equal", "differ"]
Kind: TypeAlias = Literal["add", "sub", "mul", "floordiv", "mod", "max", "min", "pow"] | Quotient | Check
Bounds: TypeAlias = "tuple[int, int] | None"
"""The least and the largest value of a register; None if they are unknown."""
QUOTIENTS: tuple[Quotient, ...] = get_args(Quotient)
"""Steps whose quotient must be whole."""
CHECKS: tuple[Check, ...] = get_args(Check)
"""Steps without a result, which only check."""
SURE: frozenset[Kind] = frozenset({"divides", "most"})
"""Steps whose refusal is final; sizes that other steps refuse may give another layer."""
LIMIT = 2**63
"""Usual sizes are below this: a check that holds for all of them is left out of the program."""
_LONGEST_POWER = 1 << 20  # the most bits of a computed power
_WRITTEN = 1024  # the most bits of a number in an error


class Op(NamedTuple):
    """One step: its kind and the two registers it reads; ``divides`` and ``exact`` are quotients that must be whole."""

    kind: Kind
    left: int
    right: int


class Broken(Exception):  # noqa: N818 - it never leaves the engine: what is raised to a user is ``error``
    """The refusal of a step: two numbers that contradict a condition."""

    def __init__(self, kind: Kind, left: int, right: int) -> None:
        """Keep the numbers; the message is made only if it is needed."""
        self.kind, self.left, self.right = kind, left, right
        self.asked: Condition | None = None

    @property
    def error(self) -> SizeError:
        """The error to raise if there is no layer with a better one."""
        sides: tuple[int, int] = (self.left, self.right)
        if self.kind == "exact" and self.right:
            sides = Fraction(self.left, self.right).as_integer_ratio()  # the value in lowest terms
        left, right = (str(side) if side.bit_length() <= _WRITTEN else f"a number of {side.bit_length()} bits" for side in sides)
        if self.kind == "pow":
            return SizeError(f"{left}**{right} is not a whole number, or is too long to write.")
        if self.kind == "most":
            return SizeError(f"{left} is more than {right}." if self.asked is None else refusal("most", self.asked, left, right, "", ""))
        if not self.right:
            return SizeError(f"{left} cannot be divided by zero.")
        if self.kind == "exact":
            return DivisibilityError(f"the value is {left}/{right}, not a whole number.")
        return DivisibilityError(f"{left} is not divisible by {right}.")


@dataclass(frozen=True, eq=False)
class StraightLine:
    """Registers hold the inputs, then the constants, then one result per step; ``results`` are the registers of the answers.

    ``least`` is the least value of each input. ``asked`` are the conditions behind checks and least values, by register.
    """

    inputs: tuple[Symbol, ...]
    least: tuple[int, ...]
    constants: tuple[int, ...]
    ops: tuple[Op, ...]
    results: tuple[int, ...]
    asked: Mapping[int, Condition]

    @property
    def result(self) -> int:
        """The register of the first answer."""
        return self.results[0]

    @cached_property
    def first(self) -> int:
        """The register of the first step."""
        return len(self.inputs) + len(self.constants)

    @cached_property
    def last_read(self) -> dict[int, int]:
        """The last step that reads each register."""
        return {register: place for place, op in enumerate(self.ops, self.first) for register in (op.left, op.right)}

    def run(self, values: Sequence[int]) -> int:
        """Return the exact value for whole numbers, one per input, in order.

        Raises:
            Broken: numbers that contradict a condition.
        """
        registers = [*values, *self.constants]
        append = registers.append
        try:
            for step, left, right in self._calls:
                append(step(registers[left], registers[right]))
        except Broken as broken:
            broken.asked = self.asked.get(len(registers))
            raise
        return registers[self.result]

    @cached_property
    def _calls(self) -> list[tuple[Callable[[int, int], int], int, int]]:
        return [(ON_INTS[kind], left, right) for kind, left, right in self.ops]

    def apply(self, values: Sequence[Any]) -> Any:
        """Return the value for any type with ``+``, ``-``, ``*``, ``//``, ``%``, ``**`` and ``abs``, without checks."""
        registers = [*values, *self.constants]
        for kind, left, right in self.ops:
            registers.append(0 if kind in CHECKS else _ON_ANYTHING[kind](registers[left], registers[right]))
        return registers[self.result]

    def bounds(self, inputs: Sequence[Bounds]) -> list[Bounds]:
        """Return bounds of every register from bounds of the inputs."""
        found: list[Bounds] = [*inputs, *((c, c) for c in self.constants)]
        for kind, left, right in self.ops:
            found.append(bound(kind, found[left], found[right]))
        return found


def always(kind: Kind, left: Bounds, right: Bounds) -> bool:
    """Whether a check holds for all numbers within two bounds."""
    if left is None or right is None:
        return False
    if kind == "most":
        return left[1] <= right[0] and right[1].bit_length() <= MAX_BITS
    return kind == "differ" and (left[1] < right[0] or right[1] < left[0])


_ON_ANYTHING: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mod": operator.mod,
    "pow": operator.pow,
    "max": lambda left, right: right + (left - right + abs(left - right)) // 2,
    "min": lambda left, right: right + (left - right - abs(left - right)) // 2,
    "floordiv": operator.floordiv,
    "divides": operator.floordiv,
    "exact": operator.floordiv,
}
"""The result of each step for any type with the operators."""


def _where(kind: Kind, holds: Callable[[int, int], bool]) -> Callable[[int, int], int]:
    value = _ON_ANYTHING.get(kind)

    def step(left: int, right: int) -> int:
        if not holds(left, right):
            raise Broken(kind, left, right)
        return 0 if value is None else cast("int", value(left, right))

    return step


ON_INTS: dict[str, Callable[[Any, Any], Any]] = {
    **_ON_ANYTHING,
    "max": max,
    "min": min,
    "floordiv": _where("floordiv", lambda _left, right: right != 0),
    "mod": _where("mod", lambda _left, right: right != 0),
    "pow": _where("pow", lambda left, right: 0 <= right * left.bit_length() <= _LONGEST_POWER),
    "most": _where("most", lambda left, right: left <= right and right.bit_length() <= MAX_BITS),
    "equal": _where("equal", operator.eq),
    "differ": _where("differ", operator.ne),
    "divides": _where("divides", lambda left, right: right != 0 and not left % right),
    "exact": _where("exact", lambda left, right: right != 0 and not left % right),
}
"""The result of each step for Python integers."""


def bound(kind: Kind, left: Bounds, right: Bounds) -> Bounds:
    """Return the bounds of a step's result; None if they are unknown."""
    if kind in CHECKS:
        return 0, 0
    if left is None or right is None:
        return None
    if kind == "pow" and (left[0] < 0 or right[0] < 0 or right[1] * left[1].bit_length() > 2 * MAX_BITS):
        return None
    if kind in {"floordiv", "mod", *QUOTIENTS} and right[0] <= 0:
        return None
    if kind == "mod":
        return 0, right[1] - 1
    corners = [_ON_ANYTHING[kind](one, other) for one in left for other in right]  # each step is monotonic in each operand
    if kind in QUOTIENTS and left[0] > 0:  # the quotient of a positive number and its divisor is at least 1
        corners = [max(corner, 1) for corner in corners]
    return min(corners), max(corners)
