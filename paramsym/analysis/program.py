"""A closed form as a short straight-line program: factored, with its conditions as steps, and with a bound for every intermediate value.

The polynomial is written by Horner's rule in many letters, the letter of most terms first, so that few multiplications are left. One
program runs on Python integers, on columns and, without its checks, on any array that knows ``+``, ``*`` and ``//``.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from math import gcd, lcm
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from sympy import Add, Dummy, Expr, Integer, Max, Mod, Pow, Symbol, ceiling, floor

from paramsym.errors import ArgumentError, DivisibilityError, SizeError
from paramsym.layer import Layer
from paramsym.naming import described
from paramsym.polynomial import Monomial, Polynomial
from paramsym.size import MAX_BITS, Condition, conditions_asked, per, substitute, symbols_in

Quotient: TypeAlias = Literal["divides", "exact"]
Check: TypeAlias = Literal["most", "equal", "differ"]
Kind: TypeAlias = Literal["add", "sub", "mul", "floordiv", "mod", "max", "min", "pow"] | Quotient | Check
Bounds: TypeAlias = "tuple[int, int] | None"
"""The least and the largest value of a register; None where nothing is known."""
QUOTIENTS: tuple[Quotient, ...] = get_args(Quotient)
"""Steps whose quotient must come out whole."""
CHECKS: tuple[Check, ...] = get_args(Check)
"""Steps that give nothing, and refuse what they do not let pass."""
SURE: frozenset[Kind] = frozenset({"divides", "most", "equal"})
"""Steps whose refusal is final; what others refuse may be another layer."""
LIMIT = 2**63
"""Sizes below this are plain: a check that holds for all of them is no step of a program."""
_CHECKED: Mapping[str, Kind] = {"divides": "divides", "at most": "most", "equal": "equal", "differ": "differ"}
_ALWAYS_KNOWN = frozenset({"add", "sub", "mul", "max", "min"})
_Terms: TypeAlias = dict[frozenset[tuple[int, int]], int]
_LONGEST_POWER = 1 << 20  # bits of a power that is still computed
_FACTORED = 256  # terms of a sum that is factored as a whole
_WRITTEN = 1024  # bits of a number that an error writes out


class Op(NamedTuple):
    """One step: its kind and the two registers it reads; ``divides`` and ``exact`` are quotients that must come out whole."""

    kind: Kind
    left: int
    right: int


class Broken(Exception):  # noqa: N818 - it never leaves the engine: what is raised to a user is ``error``
    """What a step refuses: two numbers that contradict a condition."""

    def __init__(self, kind: Kind, left: int, right: int) -> None:
        """Keep what is needed to word the error, which few callers want."""
        super().__init__(kind, left, right)
        self.kind, self.left, self.right = kind, left, right

    @property
    def error(self) -> SizeError:
        """The error to raise where there is no layer to ask."""
        sides: tuple[int, int] = (self.left, self.right)
        if self.kind == "exact" and self.right:
            sides = Fraction(self.left, self.right).as_integer_ratio()  # the value in lowest terms
        left, right = (str(side) if side.bit_length() <= _WRITTEN else f"a number of {side.bit_length()} bits" for side in sides)
        if self.kind == "pow":
            return SizeError(f"{left}**{right} is no whole number, or one too long to write down.")
        if self.kind == "most":
            return SizeError(f"{left} is more than {right}, and must not be.")
        if not self.right:
            return SizeError(f"{left} cannot be divided by zero.")
        if self.kind == "exact":
            return DivisibilityError(f"the value is {left}/{right}, not a whole number.")
        return DivisibilityError(f"{left} is not divisible by {right}.")


@dataclass(frozen=True)
class Program:
    """Registers hold the inputs, then the constants, then one result per step; ``result`` is the register of the answer.

    ``least`` is the least value of each input; the registers ``needed`` are those that the answer depends on.
    """

    inputs: tuple[Symbol, ...]
    least: tuple[int, ...]
    constants: tuple[int, ...]
    ops: tuple[Op, ...]
    result: int
    needed: frozenset[int]

    @cached_property
    def first(self) -> int:
        """The register of the first step."""
        return len(self.inputs) + len(self.constants)

    @cached_property
    def steps(self) -> tuple[tuple[Kind, int, int], ...]:
        """The steps as plain tuples, which are taken apart faster."""
        return tuple((op.kind, op.left, op.right) for op in self.ops)

    def run(self, values: Sequence[int]) -> int:
        """Return the exact value for whole numbers, one per input, in order.

        Raises:
            Broken: numbers that contradict a condition.
        """
        registers = [*values, *self.constants]
        append = registers.append
        for step, left, right in self._calls:
            append(step(registers[left], registers[right]))
        return registers[self.result]

    @cached_property
    def _calls(self) -> list[tuple[Callable[[int, int], int], int, int]]:
        return [(_ON_INTS[kind], left, right) for kind, left, right in self.steps]

    def apply(self, values: Sequence[Any]) -> Any:
        """Return the value for anything that knows ``+``, ``-``, ``*``, ``//``, ``%``, ``**`` and ``abs``: nothing is checked."""
        registers = [*values, *self.constants]
        for position, (kind, left, right) in enumerate(self.steps, self.first):
            registers.append(_ON_ANYTHING[kind](registers[left], registers[right]) if position in self.needed else 0)
        return registers[self.result]

    def bounds(self, inputs: Sequence[Bounds]) -> list[Bounds]:
        """Return bounds of every register from bounds of the inputs."""
        found: list[Bounds] = [*inputs, *((c, c) for c in self.constants)]
        for kind, left, right in self.steps:
            found.append(_bound(kind, found[left], found[right]))
        return found


def always(kind: Kind, left: Bounds, right: Bounds) -> bool:
    """Whether a check holds for all numbers within two bounds."""
    if left is None or right is None:
        return False
    if kind == "most":
        return left[1] <= right[0] and right[1].bit_length() <= MAX_BITS
    return kind == "differ" and (left[1] < right[0] or right[1] < left[0])


def _checked(
    kind: Kind, holds: Callable[[Any, Any], bool], function: Callable[[Any, Any], Any] = lambda _left, _right: 0
) -> Callable[[Any, Any], Any]:
    def step(left: int, right: int) -> int:
        if not holds(left, right):
            raise Broken(kind, left, right)
        return cast("int", function(left, right))

    return step


def _divided(kind: Kind) -> Callable[[int, int], int]:
    def step(left: int, right: int) -> int:
        if not right or left % right:
            raise Broken(kind, left, right)
        return left // right

    return step


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
"""What each step gives for whatever knows the operators."""
_ON_INTS: dict[str, Callable[[Any, Any], Any]] = {
    **_ON_ANYTHING,
    "max": max,
    "min": min,
    "floordiv": _checked("floordiv", lambda _left, right: right != 0, operator.floordiv),
    "mod": _checked("mod", lambda _left, right: right != 0, operator.mod),
    "pow": _checked("pow", lambda left, right: 0 <= right * left.bit_length() <= _LONGEST_POWER, operator.pow),
    "most": _checked("most", lambda left, right: left <= right and right.bit_length() <= MAX_BITS),
    "equal": _checked("equal", operator.eq),
    "differ": _checked("differ", operator.ne),
    "divides": _divided("divides"),
    "exact": _divided("exact"),
}
"""What each step gives for Python integers; it raises ``Broken`` where two numbers contradict a condition."""


def _bound(kind: Kind, left: Bounds, right: Bounds) -> Bounds:
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
    corners = [_ON_ANYTHING[kind](one, other) for one in left for other in right]  # each step rises or falls with each of its operands
    if kind in QUOTIENTS and left[0] > 0:  # what divides a positive number goes into it at least once
        corners = [max(corner, 1) for corner in corners]
    return min(corners), max(corners)


@dataclass(frozen=True)
class Statement:
    """What a layer or an expression says: its value, its symbols, and the conditions between them.

    ``polynomial`` is None where there is no closed form while sizes are symbols.
    """

    polynomial: Polynomial | None
    symbols: tuple[Symbol, ...]
    conditions: tuple[Condition, ...]

    @cached_property
    def needed(self) -> tuple[Symbol, ...]:
        """The symbols that the value depends on; the others cancel, and may be left out."""
        free = () if self.polynomial is None else self.polynomial.free_symbols
        return tuple(symbol for symbol in self.symbols if symbol in free)

    def program(self, inputs: Sequence[Symbol], value: Polynomial | None = None, held: Iterable[Symbol] | None = None) -> Program:
        """Return the program that reads these symbols in this order.

        ``value`` is what it computes in place of the statement's own. Conditions on symbols that are not ``held`` are left out; all inputs
        are, usually.
        """
        known = frozenset(inputs if held is None else held)
        asked = [one for one in self.conditions if symbols_in((one.small, one.large)) <= known]
        asked += (guard for one in self.conditions for guard in _guards(one, known))
        compiler = _Compiler(inputs, asked)
        value = self.polynomial if value is None else value
        if value is None:
            compiler.step("differ", compiler.one, compiler.one)  # lets nothing pass: every count is asked for
        return compiler.finished(compiler.one if value is None else compiler.polynomial(value))


def stated(subject: Layer | Expr | int) -> Statement:
    """Return what a layer or an expression says.

    Raises:
        ArgumentError: neither a layer nor an expression.
        SizeError: an expression that no size is made of.
    """
    if isinstance(subject, Layer):
        return _of_layer(subject)
    if isinstance(subject, bool) or not isinstance(subject, int | Expr):
        message = f"wanted a layer or an expression in symbols from dims(), not {described(subject)}."
        raise ArgumentError(message)
    try:
        return _of_expression(Integer(subject) if isinstance(subject, int) else subject)
    except RecursionError:
        message = "the expression is nested too deeply."
        raise SizeError(message) from None


def compiled(subject: Layer | Expr | int, inputs: tuple[Symbol, ...] | None = None) -> Program:
    """Return the program of a layer's count, or of an expression, with the conditions it was built under as steps.

    It reads ``inputs`` in this order; without them all symbols, by name.

    Raises:
        ArgumentError: neither a layer nor an expression.
        SizeError: an expression that no size is made of; without ``inputs``, a layer without a closed form.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> compiled(MultiHeadAttention(H, A)).run([12, 768])
    2362368
    """
    statement = stated(subject)
    if inputs is None and isinstance(subject, Layer):
        subject.polynomial  # noqa: B018 - raises where there is no closed form, and says why
    return _compiled(subject, statement.symbols if inputs is None else inputs)


@lru_cache(maxsize=1024)
def _compiled(subject: Layer | Expr | int, inputs: tuple[Symbol, ...]) -> Program:
    return stated(subject).program(inputs)


@lru_cache(maxsize=256)
def _of_layer(layer: Layer) -> Statement:
    with conditions_asked() as asked:
        lines = layer.substituted({}).lines  # built and stated anew, so that every size passes its gate again
    written = (*((line.factors, line.stored, line.used, line.shape) for line in lines), *((one.small, one.large) for one in asked))
    asked.extend(_asked_by(_quotients_in(written)))
    inside = {span.index: Dummy(integer=True, positive=True) for line in lines for span in line.spans if span.index is not None}
    found: dict[Condition, None] = {}
    for condition in asked:
        one = replace(condition, small=substitute(condition.small, inside), large=substitute(condition.large, inside))
        # A layer that looks whether a size is zero has nothing to decide where it was asked for more before.
        if one.kind != "differ" or one.large != 0 or Condition("at most", 1, one.small) not in found:
            found[one] = None
    try:
        polynomial = layer.polynomial
    except SizeError:
        polynomial = None
    return Statement(polynomial, _ordered(layer.symbols), tuple(found))


@lru_cache(maxsize=1024)
def _of_expression(expression: Expr) -> Statement:
    symbols = cast("set[Symbol]", expression.free_symbols)
    return Statement(Polynomial.of(expression), _ordered(symbols), tuple(_asked_by(_quotients_in(expression))))


def _ordered(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    return tuple(sorted(symbols, key=lambda symbol: symbol.name))


def numerator_and_denominator(polynomial: Polynomial, inputs: Sequence[Symbol]) -> tuple[Program, Program]:
    """Return programs of two whole numbers whose quotient is the value, whole or not; nothing is checked.

    >>> from paramsym import A, H
    >>> above, below = numerator_and_denominator(Polynomial.of(H / A + 1), [A, H])
    >>> above.run([2, 3]), below.run([2, 3])
    (5, 2)
    """
    sides: list[Program] = []
    for side in (0, 1):
        compiler = _Compiler(inputs, ())
        sides.append(compiler.finished(compiler.fraction(polynomial)[side]))
    return sides[0], sides[1]


def _asked_by(quotients: Iterable[Any]) -> Iterable[Condition]:
    """Yield what ``per`` asks of numbers: both sides positive, and one a divisor of the other."""
    for above, below in sorted((quotient.as_quotient() for quotient in quotients), key=str):
        yield Condition("divides", below, above)
        yield from (Condition("at most", 1, side) for side in (above, below))


def _quotients_in(value: Any) -> set[Any]:
    if isinstance(value, Expr):
        return set(value.atoms(per))
    if isinstance(value, tuple):
        return {atom for item in value for atom in _quotients_in(item)}
    inner = getattr(value, "segments", None)
    return set() if inner is None else _quotients_in(tuple(segment for _, segment in inner))


def _guards(condition: Condition, known: frozenset[Symbol]) -> Iterator[Condition]:
    """Yield what is asked of the sizes known by a condition on others as well: that a size can still be positive."""
    if condition.kind != "at most" or not isinstance(condition.small, int) or isinstance(condition.large, int):
        return
    if not known.intersection(symbols_in(condition.large)) or symbols_in(condition.large) <= known:
        return
    factors: dict[Monomial, Polynomial] = {}
    for monomial, c in Polynomial.of(condition.large).terms.items():
        held = frozenset(pair for pair in monomial if symbols_in(pair[0]) <= known)
        one = Polynomial({held: c})
        factors[monomial - held] = factors[monomial - held] + one if monomial - held in factors else one
    if not any(isinstance(factor.constant, int) and factor.constant > 0 for factor in factors.values()):
        yield Condition("differ", cast("Expr", Max(0, *(factor.as_expr() for factor in factors.values()))), 0)


class _Compiler:
    """Collects nodes, each distinct one once: the inputs, constants, and steps with the two nodes that they read."""

    def __init__(self, inputs: Iterable[Symbol], asked: Sequence[Condition]) -> None:
        self.inputs = tuple(inputs)
        self.nodes: list[tuple[Any, int, int]] = []
        self.bounds: list[Bounds] = []
        self.known: dict[object, Any] = {}
        self.quotients = {(one.large, one.small) for one in asked if one.kind == "divides"}
        least = dict.fromkeys(self.inputs, 0)
        absent = {one.small for one in asked if one.large == 0 and one.kind == "differ"}  # zero makes another layer
        for one in asked:
            if one.kind == "at most" and isinstance(one.large, Symbol) and isinstance(one.small, int) and one.large not in absent:
                least[one.large] = max(least[one.large], one.small)
        self.least = tuple(least.values())
        for place, low in enumerate(self.least):
            self.node("input", place, 0, (low, LIMIT - 1))
        self.one = self.constant(1)
        for one in sorted(asked, key=lambda one: _CHECKED[one.kind] in SURE):  # what is not sure comes first
            small, large = self.whole(one.small), self.whole(one.large)
            if one.kind == "divides":
                self.step("divides", large, small)
            elif not always(_CHECKED[one.kind], self.bounds[small], self.bounds[large]):
                self.step(_CHECKED[one.kind], small, large)

    def finished(self, result: int) -> Program:
        """Return a program with its answer in a register, without what nothing reads and nothing asks."""
        checks = {place for place, (kind, *_) in enumerate(self.nodes) if kind in QUOTIENTS or kind in CHECKS}
        kept = self._reached({result, *checks})
        constants = [place for place in kept if self.nodes[place][0] == "constant"]
        steps = [place for place in kept if self.nodes[place][0] not in {"constant", "input"}]
        register = {place: number for number, place in enumerate([*range(len(self.inputs)), *constants, *steps])}
        return Program(
            self.inputs,
            self.least,
            tuple(self.nodes[place][1] for place in constants),
            tuple(Op(kind, register[left], register[right]) for kind, left, right in (self.nodes[place] for place in steps)),
            register[result],
            frozenset(register[place] for place in self._reached({result})),
        )

    def _reached(self, wanted: set[int]) -> list[int]:
        """Return the nodes that it takes to compute those wanted, these included, in order."""
        for place in range(len(self.nodes) - 1, -1, -1):
            kind, *sides = self.nodes[place]
            if place in wanted and kind not in {"constant", "input"}:
                wanted.update(sides)
        return sorted(wanted)

    def node(self, kind: Any, left: int, right: int, bounds: Bounds) -> int:
        if (kind, left, right) not in self.known:
            self.known[kind, left, right] = len(self.nodes)
            self.nodes.append((kind, left, right))
            self.bounds.append(bounds)
        return cast("int", self.known[kind, left, right])

    def constant(self, value: int) -> int:
        return self.node("constant", value, 0, (value, value))

    def step(self, kind: Kind, left: int, right: int) -> int:
        """Return the register of a step; what is known while compiling is no step."""
        if kind == "mul" and self.one in {left, right}:
            return left if right == self.one else right
        if right == self.one and (kind == "floordiv" or kind in QUOTIENTS):
            return left
        if kind == "pow" and (left == self.one or self.bounds[right] == (0, 0)):
            return self.one
        one, other = (self.nodes[side] for side in (left, right))
        if one[0] == other[0] == "constant" and kind in _ALWAYS_KNOWN:
            return self.constant(_ON_INTS[kind](one[1], other[1]))
        return self.node(kind, left, right, _bound(kind, self.bounds[left], self.bounds[right]))

    def whole(self, value: Expr | int) -> int:
        return self.constant(value) if isinstance(value, int) else self.polynomial(Polynomial.of(value))

    def polynomial(self, polynomial: Polynomial) -> int:
        above, below = self.fraction(polynomial)
        return above if below == self.one else self.step("exact", above, below)

    def generator(self, generator: Expr) -> tuple[int, int]:
        """Return numerator and denominator of a symbol or an atom."""
        if isinstance(generator, Symbol):
            return self.inputs.index(generator), self.one
        if generator not in self.known:
            self.known[generator] = self._atom(generator, [*map(Polynomial.of, cast("tuple[Expr, ...]", generator.args))])
        return cast("tuple[int, int]", self.known[generator])

    def _atom(self, atom: Expr, arguments: list[Polynomial]) -> tuple[int, int]:
        if isinstance(atom, Add):
            return self.fraction(Polynomial.total(arguments))
        if isinstance(atom, Pow):
            return self._exponential(*arguments)
        sides = [self.fraction(argument) for argument in arguments]
        above, below = sides[0]
        if isinstance(atom, floor):
            return self.step("floordiv", above, below), self.one
        if isinstance(atom, ceiling):
            return self.negative(self.step("floordiv", self.negative(above), below)), self.one
        kind: Kind = "mod" if isinstance(atom, Mod) else "max" if isinstance(atom, Max) else "min"
        above, below = self._positive(above, below)
        for other in sides[1:]:  # compared over one denominator
            top, bottom = self._positive(*other)
            above = self.step(kind, self.step("mul", above, bottom), self.step("mul", top, below))
            below = self.step("mul", below, bottom)
        return above, below

    def _positive(self, above: int, below: int) -> tuple[int, int]:
        """Write a quotient with a denominator that is not negative."""
        bounds = self.bounds[below]
        if bounds is not None and bounds[0] >= 0:
            return above, below
        return self.step("mul", above, below), self.step("mul", below, below)

    def _exponential(self, base: Polynomial, exponent: Polynomial) -> tuple[int, int]:
        """A power with symbols in its exponent: what the exponent is above zero goes above, what it is below zero goes below."""
        (above, below), power, zero = self.fraction(base), self.polynomial(exponent), self.constant(0)
        bounds = self.bounds[power]
        signed = bounds is None or bounds[0] < 0
        up = self.step("max", power, zero) if signed else power
        down = self.step("max", self.negative(power), zero) if signed else zero
        return (
            self.step("mul", self.step("pow", above, up), self.step("pow", below, down)),
            self.step("mul", self.step("pow", below, up), self.step("pow", above, down)),
        )

    def negative(self, register: int) -> int:
        return self.step("sub", self.constant(0), register)

    def fraction(self, polynomial: Polynomial) -> tuple[int, int]:
        """Return the registers of a whole numerator and a whole denominator."""
        terms: list[tuple[dict[int, int], Fraction]] = []
        for monomial, c in polynomial.terms.items():
            exponents = dict(monomial)
            registers: dict[int, int] = {}
            for small in [generator for generator, exponent in monomial if exponent < 0]:
                for large in [generator for generator, exponent in monomial if exponent > 0 and (generator, small) in self.quotients]:
                    times = min(exponents[large], -exponents[small])
                    if times > 0:
                        exponents[large] -= times
                        exponents[small] += times
                        registers[self.step("divides", self.whole(large), self.whole(small))] = times
            for generator, exponent in exponents.items():
                above, below = self.generator(generator) if exponent else (self.one, self.one)
                registers[above] = registers.get(above, 0) + exponent
                registers[below] = registers.get(below, 0) - exponent
            registers.pop(self.one, None)
            terms.append((registers, Fraction(c)))
        scale = lcm(*(c.denominator for _, c in terms))
        lifted = {register: 0 for registers, _ in terms for register in registers}
        lifted = {register: -min(registers.get(register, 0) for registers, _ in terms) for register in lifted}
        lifted = {register: exponent for register, exponent in lifted.items() if exponent > 0}
        whole: _Terms = {}
        for registers, c in terms:
            exponents = {r: registers.get(r, 0) + lifted.get(r, 0) for r in registers.keys() | lifted.keys()}
            key = frozenset((r, e) for r, e in exponents.items() if e)
            whole[key] = whole.get(key, 0) + int(c * scale)
        whole = {key: c for key, c in whole.items() if c}  # floor(b/a) is b/a where a divides b, and may cancel only here
        return self.horner(whole), self.horner({frozenset(lifted.items()): scale})

    def horner(self, terms: _Terms) -> int:
        """Return the register of a sum of products, with what most terms share taken out."""
        if not terms:
            return self.constant(0)
        content = gcd(*terms.values())
        if content > 1:
            return self.step("mul", self.horner({monomial: c // content for monomial, c in terms.items()}), self.constant(content))
        if len(terms) == 1:
            ((monomial, c),) = terms.items()
            product = reduce(partial(self.step, "mul"), (self.power(*pair) for pair in sorted(monomial)), self.one)
            return product if c > 0 else self.negative(product)
        if len(terms) > _FACTORED:  # each term that shares nothing would take a look at all others
            ordered = sorted(terms, key=sorted)
            halves = (ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :])
            one, other = (self.horner({monomial: terms[monomial] for monomial in half}) for half in halves)
            return self.step("add", one, other)
        shares = Counter(register for monomial in terms for register, _ in monomial)
        shared = max(shares, key=lambda register: (shares[register], -register))
        if shares[shared] > 1:
            inside = {_lowered(monomial, shared): c for monomial, c in terms.items() if shared in dict(monomial)}
            head = self.step("mul", self.horner(inside), shared)
            rest = {monomial: c for monomial, c in terms.items() if shared not in dict(monomial)}
        else:
            first = min(terms, key=lambda monomial: (terms[monomial] < 0, not monomial, sorted(monomial)))
            head, rest = self.horner({first: terms[first]}), {monomial: c for monomial, c in terms.items() if monomial != first}
        if not rest:
            return head
        if all(c < 0 for c in rest.values()):
            return self.step("sub", head, self.horner({monomial: -c for monomial, c in rest.items()}))
        return self.step("add", head, self.horner(rest))

    def power(self, register: int, exponent: int) -> int:
        if exponent == 1:
            return register
        half = self.power(register, exponent // 2)
        square = self.step("mul", half, half)
        return self.step("mul", square, register) if exponent % 2 else square


def _lowered(monomial: frozenset[tuple[int, int]], register: int) -> frozenset[tuple[int, int]]:
    return frozenset((r, e - 1 if r == register else e) for r, e in monomial if r != register or e > 1)
