"""A closed form as a short straight-line program: factored, with its conditions as steps, and with a bound for every intermediate value.

The polynomial is written by Horner's rule in many letters, the letter of most terms first, so that few multiplications are left. A step
that divides says what must divide what; ``run`` raises there. One program runs on Python integers, on columns and, without its checks, on
any array that knows ``+``, ``*`` and ``//``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from sympy import Add, Expr, Integer, Max, Min, Mod, Pow, Symbol, ceiling, floor

from paramsym.errors import ArgumentError, DivisibilityError, SizeError, StructureError
from paramsym.layer import Layer
from paramsym.naming import described, digits
from paramsym.polynomial import Polynomial
from paramsym.size import Condition, conditions_asked, per, symbols_in

Quotient: TypeAlias = Literal["divides", "exact"]
Check: TypeAlias = Literal["most", "equal", "differ"]
Kind: TypeAlias = Literal["add", "sub", "mul", "floordiv", "mod", "max", "min", "pow"] | Quotient | Check
Bounds: TypeAlias = tuple[int, int]
QUOTIENTS: tuple[Quotient, ...] = get_args(Quotient)
"""Steps whose quotient must come out whole."""
CHECKS: tuple[Check, ...] = get_args(Check)
"""Steps that give nothing, and refuse what they do not let pass."""
REFUSED = (SizeError, StructureError)
"""What is raised for numbers that contradict a condition."""
_STEPS: Mapping[str, Kind] = {"divides": "divides", "at most": "most", "equal": "equal", "differ": "differ"}
_Terms: TypeAlias = dict[frozenset[tuple[int, int]], int]

_HUGE = 1 << 4096  # stands for a power too large to write down
LONGEST_POWER = 1 << 20
"""Bits of a power that is still computed."""


class Op(NamedTuple):
    """One step: its kind and the two registers it reads; ``divides`` and ``exact`` are quotients that must come out whole."""

    kind: Kind
    left: int
    right: int


@dataclass(frozen=True)
class Program:
    """Registers hold the inputs, then the constants, then one result per step; ``result`` is the register of the answer."""

    inputs: tuple[Symbol, ...]
    constants: tuple[int, ...]
    ops: tuple[Op, ...]
    result: int
    conditions: tuple[Condition, ...]
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
            DivisibilityError, SizeError: numbers that contradict a condition.
        """
        registers = [*values, *self.constants]
        for kind, left, right in self.steps:
            if kind == "mul":
                registers.append(registers[left] * registers[right])
            elif kind == "add":
                registers.append(registers[left] + registers[right])
            else:
                registers.append(_ON_INTS[kind](registers[left], registers[right]))
        return registers[self.result]

    @staticmethod
    def step(kind: Kind, left: int, right: int) -> int:
        """Return one step on two whole numbers.

        Raises:
            DivisibilityError, SizeError: numbers that contradict a condition.
        """
        return int(_ON_INTS[kind](left, right))

    def reading(self, inputs: Sequence[Symbol]) -> Program:
        """Return the same program with its inputs in another order, and with inputs that no step reads.

        >>> from paramsym import A, H, MultiHeadAttention
        >>> compiled(4 * H).reading([A, H]).run([12, 768])
        3072
        """
        places = {register: inputs.index(symbol) for register, symbol in enumerate(self.inputs)}
        moved = len(inputs) - len(self.inputs)

        def place(register: int) -> int:
            return places[register] if register in places else register + moved

        ops = tuple(Op(op.kind, place(op.left), place(op.right)) for op in self.ops)
        return Program(tuple(inputs), self.constants, ops, place(self.result), self.conditions, frozenset(map(place, self.needed)))

    def apply(self, values: Sequence[Any]) -> Any:
        """Return the value for anything that knows ``+``, ``-``, ``*``, ``//``, ``%``, ``**`` and ``abs``: nothing is checked."""
        registers = [*values, *self.constants]
        for position, (kind, left, right) in enumerate(self.steps, self.first):
            registers.append(_ON_ANYTHING[kind](registers[left], registers[right]) if position in self.needed else 0)
        return registers[self.result]

    def bounds(self, inputs: Sequence[Bounds]) -> list[Bounds] | None:
        """Return bounds of every register from bounds of the inputs; None where a divisor may be zero."""
        found: list[Bounds] = [*inputs, *((c, c) for c in self.constants)]
        for op in self.ops:
            bound = _bound(op.kind, found[op.left], found[op.right])
            if bound is None:
                return None
            found.append(bound)
        return found


def reached(steps: Sequence[tuple[Kind, int, int]], first: int, wanted: Iterable[int]) -> set[int]:
    """Return the registers that it takes to compute those wanted, these included; ``first`` is that of the first step."""
    found = set(wanted)
    for place, (_, left, right) in reversed([*enumerate(steps, first)]):
        if place in found:
            found |= {left, right}
    return found


def fault(kind: Kind, left: int, right: int, where: str = "") -> SizeError | StructureError:
    """Return the error of a step that numbers contradict."""
    prefix = f"{where}: " if where else ""
    above, below = digits(left), digits(right)
    if kind == "most":
        return SizeError(f"{prefix}{above} is more than {below}, and must not be.")
    if kind == "equal":
        return SizeError(f"{prefix}{above} is not {below}, and must be.")
    if kind == "differ":
        return StructureError(
            f"{prefix}two sizes that this formula takes to differ are both {above}, which changes which tensors exist;"
            " build the layer with them instead."
        )
    if kind == "pow":
        return SizeError(f"{prefix}{above}**{below} is no whole number, or one too long to write down.")
    if not right:
        return SizeError(f"{prefix}{above} cannot be divided by zero.")
    if kind == "exact":
        value = Fraction(left, right)
        return DivisibilityError(f"{prefix}the value is {digits(value.numerator)}/{digits(value.denominator)}, not a whole number.")
    quotient, rest = map(digits, divmod(left, right))
    return DivisibilityError(f"{prefix}{above} is not divisible by {below} ({above} = {quotient}*{below} + {rest}).")


def holds(kind: Kind, left: int, right: int) -> bool:
    """Whether a step lets two numbers pass."""
    if kind in QUOTIENTS:
        return right != 0 and left % right == 0
    if kind == "most":
        return left <= right
    if kind == "pow":
        return 0 <= right * left.bit_length() <= LONGEST_POWER
    return right != 0 if kind in {"floordiv", "mod"} else (left == right) is (kind == "equal")


def _checked(kind: Kind, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def step(left: int, right: int) -> int:
        if not holds(kind, left, right):
            raise fault(kind, left, right)
        return function(left, right)

    return step


_ON_INTS: dict[str, Any] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": _checked("floordiv", operator.floordiv),
    "mod": _checked("mod", operator.mod),
    "max": max,
    "min": min,
    "pow": _checked("pow", operator.pow),
    **{kind: _checked(kind, operator.floordiv) for kind in QUOTIENTS},
    **{kind: _checked(kind, lambda _left, _right: 0) for kind in CHECKS},
}
"""What each step does with Python integers."""
_ON_ANYTHING: dict[str, Any] = _ON_INTS | {
    **dict.fromkeys(("floordiv", *QUOTIENTS), operator.floordiv),
    "mod": operator.mod,
    "pow": operator.pow,
    "max": lambda left, right: right + (left - right + abs(left - right)) // 2,
    "min": lambda left, right: right + (left - right - abs(left - right)) // 2,
}
"""What each step does with whatever knows the operators, unchecked."""


def _bound(kind: Kind, left: Bounds, right: Bounds) -> Bounds | None:
    if kind in CHECKS:
        return 0, 0
    if kind == "add":
        return left[0] + right[0], left[1] + right[1]
    if kind == "sub":
        return left[0] - right[1], left[1] - right[0]
    if kind == "mul":
        corners = [a * b for a in left for b in right]
        return min(corners), max(corners)
    if kind in {"max", "min"}:
        choose = max if kind == "max" else min
        return choose(left[0], right[0]), choose(left[1], right[1])
    if kind == "pow":
        return _power_bound(left, right)
    if right[0] <= 0:
        return None
    if kind == "mod":
        return 0, right[1] - 1
    corners = [a // b for a in left for b in right]
    return min(corners), max(corners)


def _power_bound(left: Bounds, right: Bounds) -> Bounds | None:
    if left[0] < 0 or right[0] < 0:
        return None
    low, high = (base**exponent if exponent < 4096 else None for base, exponent in zip(left, right, strict=True))
    return low or 0, _HUGE if high is None else high


def compiled(subject: Layer | Expr | int) -> Program:
    """Return the program of a layer's count, or of an expression, with the conditions it was built under as steps.

    Raises:
        ArgumentError: neither a layer nor an expression.
        SizeError: an expression that no size is made of.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> compiled(MultiHeadAttention(H, A)).run([12, 768])
    2362368
    """
    if isinstance(subject, Layer):
        return _of_layer(subject)
    if isinstance(subject, bool) or not isinstance(subject, int | Expr):
        message = f"wanted a layer or an expression in symbols from dims(), not {described(subject)}."
        raise ArgumentError(message)
    return _of_expression(Integer(subject) if isinstance(subject, int) else subject)


@lru_cache(maxsize=256)
def _of_layer(layer: Layer) -> Program:
    with conditions_asked() as asked:
        layer.substituted({})
    quotients = {atom for line in layer.lines for atom in _quotients_in((line.factors, line.stored, line.used, line.shape))}
    bound = {span.index for line in layer.lines for span in line.spans}
    known = layer.symbols - bound
    free = [one for one in (*asked, *_asked_by(quotients)) if symbols_in((one.small, one.large)) <= known]
    return _Compiler(layer.symbols, free).program(layer.polynomial)


@lru_cache(maxsize=1024)
def _of_expression(expression: Expr) -> Program:
    symbols = cast("set[Symbol]", expression.free_symbols)
    return _Compiler(symbols, _asked_by(_quotients_in(expression))).program(Polynomial.of(expression))


def narrowed(subject: Layer | Expr | int, held: frozenset[Symbol]) -> Program:
    """Return the program that reads only the symbols held, without the conditions that read others.

    Raises:
        ArgumentError: neither a layer nor an expression.
    """
    whole = compiled(subject)
    polynomial = subject.polynomial if isinstance(subject, Layer) else Polynomial.of(subject)
    return _Compiler(held, [one for one in whole.conditions if symbols_in((one.small, one.large)) <= held]).program(polynomial)


def conditions_on(subject: Layer | Expr | int, held: frozenset[Symbol]) -> Program:
    """Return the program that checks the conditions between the symbols held, and counts nothing."""
    asked = compiled(subject).conditions
    return _Compiler(held, [one for one in asked if symbols_in((one.small, one.large)) <= held]).program(Polynomial.of(0))


def numerator_and_denominator(polynomial: Polynomial) -> tuple[Program, Program]:
    """Return programs of two whole numbers whose quotient is the value, whole or not; nothing is checked.

    >>> from paramsym import A, H
    >>> above, below = numerator_and_denominator(Polynomial.of(H / A + 1))
    >>> above.run([2, 3]), below.run([2, 3])
    (5, 2)
    """
    sides: list[Program] = []
    for side in (0, 1):
        compiler = _Compiler(polynomial.free_symbols, ())
        register = compiler.fraction(polynomial)[side]
        sides.append(compiler.finished(register))
    return sides[0], sides[1]


def _asked_by(quotients: Iterable[Any]) -> list[Condition]:
    sides = [quotient.as_quotient() for quotient in quotients]
    return [Condition("divides", below, above) for above, below in sorted(sides, key=str)]


def _quotients_in(value: Any) -> set[Any]:
    if isinstance(value, Expr):
        return set(value.atoms(per))
    if isinstance(value, tuple):
        return {atom for item in value for atom in _quotients_in(item)}
    inner = getattr(value, "segments", None)
    return set() if inner is None else _quotients_in(tuple(segment for _, segment in inner))


class _Compiler:
    """Collects steps, each distinct one once."""

    def __init__(self, symbols: Iterable[Symbol], asked: Iterable[Condition]) -> None:
        self.asked = tuple(dict.fromkeys(asked))
        held = set(symbols).union(*(symbols_in((condition.small, condition.large)) for condition in self.asked))
        self.inputs = tuple(sorted(held, key=lambda symbol: symbol.name))
        self.constants: list[int] = []
        self.steps: list[tuple[Kind, int, int]] = []
        self.known: dict[object, int] = {}
        self.quotients: dict[tuple[Symbol, Symbol], int] = {}

    def program(self, polynomial: Polynomial) -> Program:
        for condition in self.asked:
            small, large = self.whole(condition.small), self.whole(condition.large)
            sides = (large, small) if condition.kind == "divides" else (small, large)
            register = self.step(_STEPS[condition.kind], *sides)
            if condition.kind == "divides" and isinstance(condition.small, Symbol) and isinstance(condition.large, Symbol):
                self.quotients[condition.large, condition.small] = register
        return self.finished(self.polynomial(polynomial))

    def finished(self, result: int) -> Program:
        """Return the steps so far as a program with its answer in a register."""
        # Constants were numbered from -1 downwards while their number was not known yet; steps from the inputs upwards.
        inputs, constants = len(self.inputs), len(self.constants)

        def place(register: int) -> int:
            if register < 0:
                return inputs - register - 1
            return register if register < inputs else register + constants

        ops = tuple(Op(kind, place(left), place(right)) for kind, left, right in self.steps)
        needed = reached(ops, inputs + constants, {place(result)})
        return Program(self.inputs, tuple(self.constants), ops, place(result), self.asked, frozenset(needed))

    def constant(self, value: int) -> int:
        if value not in self.constants:
            self.constants.append(value)
        return -1 - self.constants.index(value)

    def step(self, kind: Kind, left: int, right: int) -> int:
        key = (kind, left, right)
        if key not in self.known:
            self.steps.append(key)
            self.known[key] = len(self.inputs) + len(self.steps) - 1
        return self.known[key]

    def whole(self, value: Expr | int) -> int:
        return self.constant(value) if isinstance(value, int) else self.polynomial(Polynomial.of(value))

    def generator(self, generator: Expr) -> int:
        """Return the register of a symbol or an atom."""
        if isinstance(generator, Symbol):
            return self.inputs.index(generator)
        if generator not in self.known:
            self.known[generator] = self._atom(generator)
        return self.known[generator]

    def _atom(self, atom: Expr) -> int:
        arguments = cast("tuple[Expr, ...]", atom.args)
        if isinstance(atom, floor | ceiling):
            above, below = self.fraction(Polynomial.of(arguments[0]))
            if isinstance(atom, floor):
                return self.step("floordiv", above, below)
            return self.step("sub", self.constant(0), self.step("floordiv", self.step("sub", self.constant(0), above), below))
        if isinstance(atom, Add):
            return self.polynomial(Polynomial.of(atom))
        kinds: dict[Any, Kind] = {Max: "max", Min: "min", Mod: "mod", Pow: "pow"}
        registers = [self.polynomial(Polynomial.of(argument)) for argument in arguments]
        result = registers[0]
        for register in registers[1:]:
            result = self.step(kinds[atom.func], result, register)
        return result

    def polynomial(self, polynomial: Polynomial) -> int:
        above, below = self.fraction(polynomial)
        return above if below == self.constant(1) else self.step("exact", above, below)

    def fraction(self, polynomial: Polynomial) -> tuple[int, int]:
        """Return the registers of a whole numerator and a whole denominator."""
        terms: list[tuple[dict[int, int], Fraction]] = []
        for monomial, c in polynomial.terms.items():
            exponents = dict(monomial)
            registers: dict[int, int] = {}
            for (large, small), register in self.quotients.items():
                times = min(exponents.get(large, 0), -exponents.get(small, 0))
                if times > 0:
                    exponents[large] -= times
                    exponents[small] += times
                    registers[register] = times
            for generator, exponent in exponents.items():
                if exponent:
                    registers[self.generator(generator)] = exponent
            terms.append((registers, Fraction(c)))
        scale = lcm(*(c.denominator for _, c in terms))
        lowest: dict[int, int] = {}
        for registers, _ in terms:
            for register, exponent in registers.items():
                lowest[register] = min(lowest.get(register, 0), exponent)
        lifted = {register: -exponent for register, exponent in lowest.items() if exponent < 0}
        whole: _Terms = {}
        for registers, c in terms:
            exponents = {r: registers.get(r, 0) + lifted.get(r, 0) for r in registers.keys() | lifted.keys()}
            key = frozenset((r, e) for r, e in exponents.items() if e)
            whole[key] = whole.get(key, 0) + int(c * scale)
        return self.horner(whole), self.horner({frozenset(lifted.items()): scale})

    def horner(self, terms: _Terms) -> int:
        """Return the register of a sum of products, with what most terms share taken out."""
        if not terms:
            return self.constant(0)
        if len(terms) == 1:
            ((monomial, c),) = terms.items()
            return self.product(monomial, c)
        content = gcd(*terms.values())
        if content > 1:
            return self.times(self.horner({monomial: c // content for monomial, c in terms.items()}), content)
        shares: dict[int, int] = {}
        for monomial in terms:
            for register, _ in monomial:
                shares[register] = shares.get(register, 0) + 1
        shared = max(shares, key=lambda register: (shares[register], -register)) if shares else -1
        if not shares or shares[shared] < 2:
            return self._sum(terms)
        inside = {_lowered(monomial, shared): c for monomial, c in terms.items() if shared in dict(monomial)}
        rest = {monomial: c for monomial, c in terms.items() if shared not in dict(monomial)}
        product = self.step("mul", self.horner(inside), shared)
        return self._add(product, rest)

    def _add(self, register: int, rest: _Terms) -> int:
        """Add what is left, a lone constant or letter at a time, which costs one step each."""
        if not rest:
            return register
        if all(c < 0 for c in rest.values()):
            return self.step("sub", register, self.horner({monomial: -c for monomial, c in rest.items()}))
        return self.step("add", register, self.horner(rest))

    def _sum(self, terms: _Terms) -> int:
        """Add terms that share no letter; those of one coefficient are multiplied by it together."""
        by_size: dict[int, _Terms] = {}
        for monomial, c in terms.items():
            by_size.setdefault(abs(c) if c < 0 else c, {})[monomial] = c
        total: int | None = None
        for size, group in sorted(by_size.items()):
            ordered = sorted(group.items(), key=lambda item: (item[1] < 0, len(item[0]) == 0, sorted(item[0])))
            part: int | None = None
            for monomial, c in ordered:
                one = self.product(monomial, 1)
                if part is None:
                    part = one if c > 0 else self.step("sub", self.constant(0), one)
                else:
                    part = self.step("add" if c > 0 else "sub", part, one)
            scaled = self.times(cast("int", part), size)
            total = scaled if total is None else self.step("add", total, scaled)
        return cast("int", total)

    def product(self, monomial: frozenset[tuple[int, int]], coefficient: int) -> int:
        result: int | None = None
        for register, exponent in sorted(monomial):
            power = self._power(register, exponent)
            result = power if result is None else self.step("mul", result, power)
        return self.constant(coefficient) if result is None else self.times(result, coefficient)

    def _power(self, register: int, exponent: int) -> int:
        if exponent == 1:
            return register
        half = self._power(register, exponent // 2)
        square = self.step("mul", half, half)
        return self.step("mul", square, register) if exponent % 2 else square

    def times(self, register: int, factor: int) -> int:
        return register if factor == 1 else self.step("mul", register, self.constant(factor))


def _lowered(monomial: frozenset[tuple[int, int]], register: int) -> frozenset[tuple[int, int]]:
    return frozenset((r, e - 1 if r == register else e) for r, e in monomial if r != register or e > 1)
