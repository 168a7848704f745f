"""Random sizes against exact fractions: floors, remainders, powers, quotients and indices count what their shapes sum to.

A size is built twice: as an expression for the library, and as a function of numbers in Python's fractions, which share no code.
"""

from __future__ import annotations

import operator
import pickle
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, prod
from typing import Any

import pytest
import sympy
from hypothesis import HealthCheck, given, settings, strategies as st
from sympy import Expr, Integer, Rational

import paramsym as ps
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import symbols_in
from paramsym.errors import DivisibilityError, ParamsymError, SizeError, StructureError

a, b, c, n = ps.dims("a b c n")
i = ps.index("i")
LETTERS = {"a": a, "b": b, "c": c}
Numbers = Mapping[str, int]


class NoSizeError(Exception):
    """The numbers make no size of the expression."""


@dataclass(frozen=True)
class Drawn:
    """An expression, and what it is worth at numbers."""

    expression: Any
    value: Callable[[Numbers], Fraction]


def _quotient(above: Fraction, below: Fraction) -> Fraction:
    if not below:
        raise NoSizeError
    return above / below


def _remainder(above: Fraction, below: Fraction) -> Fraction:
    return above - below * floor(_quotient(above, below))


def _power(base: int, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise NoSizeError
    return Fraction(base) ** exponent.numerator


def _exact(above: Fraction, below: Fraction) -> Fraction:
    found = _quotient(above, below)
    if any(one.denominator != 1 or one < 1 for one in (above, below, found)):
        raise NoSizeError
    return found


def drawn(source: random.Random, depth: int, names: tuple[str, ...]) -> Drawn:
    """Return a random expression in the letters named; ``i`` is the index of a repeat.

    SymPy is kept from simplifying what is written: it takes 2**a/6 for a whole number, and 25/(a**2*b) for more than 2.
    """
    if depth == 0 or source.random() < 0.15:
        if source.random() < 0.3:
            number = source.randint(1, 7)
            return Drawn(Integer(number), lambda _: Fraction(number))
        name = source.choice(names)
        return Drawn(i if name == "i" else LETTERS[name], lambda at: Fraction(at[name]))
    inner = [drawn(source, depth - 1, names) for _ in range(2)]
    return source.choice((_arithmetic, _rounded, _compared, _powered))(source, inner[0], inner[1], names)


def _arithmetic(source: random.Random, x: Drawn, y: Drawn, _: tuple[str, ...]) -> Drawn:
    kind, number = source.choice(("add", "sub", "mul", "per", "over")), source.randint(2, 5)
    if kind == "per":
        return Drawn(ps.per(x.expression, y.expression), lambda at: _exact(x.value(at), y.value(at)))
    if kind == "over":
        return Drawn(x.expression / number, lambda at: x.value(at) / number)
    function = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}[kind]
    return Drawn(function(x.expression, y.expression), lambda at: function(x.value(at), y.value(at)))


def _rounded(source: random.Random, x: Drawn, y: Drawn, _: tuple[str, ...]) -> Drawn:
    number = source.randint(2, 5)
    rounding, exact = source.choice(((sympy.floor, floor), (sympy.ceiling, ceil)))
    below = y if source.random() < 0.4 else Drawn(Integer(number), lambda _: Fraction(number))
    quotient = x.expression / below.expression
    return Drawn(rounding(quotient, evaluate=quotient.is_Number), lambda at: Fraction(exact(_quotient(x.value(at), below.value(at)))))


def _compared(source: random.Random, x: Drawn, y: Drawn, _: tuple[str, ...]) -> Drawn:
    kind = source.choice(("Max", "Min", "Mod"))
    both = x.expression.is_Number and y.expression.is_Number
    if kind == "Mod":
        return Drawn(sympy.Mod(x.expression, y.expression, evaluate=both), lambda at: _remainder(x.value(at), y.value(at)))
    function, exact = (sympy.Max, max) if kind == "Max" else (sympy.Min, min)
    return Drawn(function(x.expression, y.expression, evaluate=both), lambda at: exact(x.value(at), y.value(at)))


def _difference(one: Drawn, other: Drawn) -> Callable[[Numbers], Fraction]:
    return lambda at: one.value(at) - other.value(at)


def _powered(source: random.Random, x: Drawn, _: Drawn, names: tuple[str, ...]) -> Drawn:
    number, z, other = source.randint(2, 5), drawn(source, 0, names), drawn(source, 0, names)
    if source.random() < 0.4:  # no powers inside: SymPy would look for the primes of what they are worth
        z = Drawn(z.expression - other.expression, _difference(z, other))
    if source.random() < 0.5:
        return Drawn(Integer(number) ** z.expression, lambda at: _power(number, z.value(at)))
    return Drawn(x.expression / Integer(number) ** z.expression, lambda at: x.value(at) / _power(number, z.value(at)))


def size(source: random.Random, depth: int, names: tuple[str, ...]) -> Drawn:
    """Return a random expression, most often rounded and kept positive, as sizes are."""
    inner = drawn(source, depth, names)
    if source.random() < 0.25:
        return inner
    least = source.randint(1, 3)
    if source.random() < 0.5:
        rounded = sympy.floor(inner.expression, evaluate=inner.expression.is_Number)
        return Drawn(
            sympy.Max(least, rounded, evaluate=rounded.is_Number), lambda at: max(Fraction(least), Fraction(floor(inner.value(at))))
        )
    rounded = sympy.Mod(sympy.ceiling(inner.expression, evaluate=False), 7, evaluate=False)
    return Drawn(least + rounded, lambda at: Fraction(least + ceil(inner.value(at)) % 7))


def of_expression(value: Any, numbers: Mapping[sympy.Symbol, int]) -> Fraction:
    """Return what a formula is worth, node by node: the answer of the library read by somebody else."""
    if isinstance(value, sympy.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Symbol):
        return Fraction(numbers[value])
    sides = [of_expression(argument, numbers) for argument in value.args]
    if isinstance(value, sympy.Add):
        return sum(sides, Fraction(0))
    if isinstance(value, sympy.Mul):
        return prod(sides, start=Fraction(1))
    if isinstance(value, sympy.Pow):
        if sides[0] == 0 and sides[1] < 0:
            raise NoSizeError
        return sides[0] ** int(sides[1]) if sides[1].denominator == 1 else _power(0, sides[1])
    if isinstance(value, sympy.Max | sympy.Min):
        return (max if isinstance(value, sympy.Max) else min)(sides)
    if isinstance(value, sympy.Mod):
        return _remainder(sides[0], sides[1])
    return Fraction((floor if isinstance(value, sympy.floor) else ceil)(sides[0]))


def checked(source: random.Random) -> bool:
    """Draw a layer and sizes, and compare; say whether they made a layer at all."""
    copies = source.randint(0, 4)
    try:
        one, two = size(source, 3, ("a", "b", "c")), size(source, 2, ("a", "b", "c"))
        three, four = size(source, 3, ("a", "b", "i")), size(source, 2, ("c", "i"))
    except (ParamsymError, ZeroDivisionError, ValueError, RecursionError):  # SymPy's own trouble while the user writes
        return False
    try:
        plain = ps.Dense(one.expression, two.expression)
        repeated = ps.Repeat(ps.Dense(three.expression, four.expression, bias=False), source.choice((copies, n)), index=i)
    except ParamsymError:  # no size
        return False
    layer = ps.Block(plain=plain, repeated=repeated)
    sizes = {name: source.randint(1, 9) for name in "abc"} | {"n": copies}
    given = {name: size for name, size in sizes.items() if name in {symbol.name for symbol in layer.symbols}}
    try:
        shapes = [(one.value(sizes), two.value(sizes)), (two.value(sizes), Fraction(1))]
        for position in range(copies):
            numbered = {**sizes, "i": position}
            shapes.append((three.value(numbered), four.value(numbered)))
    except NoSizeError:  # the library may have cancelled what is divided by
        with suppress(ParamsymError):
            layer.at(given).shapes()
        return False
    if not all(side.denominator == 1 and side >= 1 for shape in shapes for side in shape):
        with pytest.raises(ParamsymError):
            assert layer.at(given).shapes() is None
        return False
    if max(side for shape in shapes for side in shape) >= 1 << 4096:  # beyond what a size may be
        return False
    expected = sum(side * other for side, other in shapes)
    first = dict(list(given.items())[: source.randint(0, len(given))])
    try:
        sized = layer.at(first)
        left = {symbol.name for symbol in sized.symbols}  # another one may have cancelled by now
        sized = sized.at({name: size for name, size in given.items() if name in left})
    except SizeError:
        assert copies == 0 and not _sound(three, four, sizes)  # noqa: PT018 - a block that is never copied is looked at all the same
        return False
    assert sum(prod(shape) for shape in sized.shapes().values()) == expected, (shapes, sized.shapes())
    assert sized.params == expected, (shapes, sized.params)
    formula = _closed(layer)
    if formula is not None:
        assert of_expression(formula, {symbol: sizes[symbol.name] for symbol in symbols_in(formula)}) == expected
    return True


def _closed(layer: ps.Layer) -> Expr | None:
    """Return the closed form; None if a symbolic number of copies has none, or its index divides by zero."""
    try:
        return layer.params
    except SizeError as error:
        if "no closed form" not in str(error) and "quotient by zero" not in str(error):
            raise
        return None


def _sound(three: Drawn, four: Drawn, sizes: Numbers) -> bool:
    try:
        found = [one.value({**sizes, "i": position}) for one in (three, four) for position in range(3)]
    except NoSizeError:
        return False
    return all(one.denominator == 1 and one >= 1 for one in found)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_params_are_the_sum_of_the_shapes(seed: int) -> None:
    """The closed form, the count and the shapes are what exact fractions say."""
    source = random.Random(seed)
    for _ in range(4):
        checked(source)


def one_by(value: Any, index: sympy.Symbol | None = None, copies: Any = 1) -> ps.Layer:
    """Return a layer, or numbered copies of one, that hold as many parameters as the size says."""
    dense = ps.Dense(value, 1, bias=False)
    return dense if index is None else ps.Repeat(dense, copies, index=index)


def test_a_negative_power_stays_inside_its_floor() -> None:
    """Of 7, 3 and 1, each doubled: 2 * (7 + 3 + 1) inputs of 2 are 44."""
    layer = ps.Repeat(ps.Dense(2 * sympy.floor(7 / 2 ** ps.dims("i")), 2, bias=False), 3, index=ps.dims("i"))
    assert layer.count == sum(2 * (7 // 2**position) * 2 for position in range(3)) == 44
    halved = one_by(2 * sympy.floor(a / 2**b))
    assert [halved.at(a=7, b=power).count for power in (1, 2)] == [6, 2]
    with pytest.raises(SizeError, match="in_features is 0"):
        halved.at(a=7, b=3)


def test_a_quotient_by_a_power_has_one_form() -> None:
    """``H/2**L`` and ``per(H, 2**L)`` are one polynomial, and every language refuses what is not whole."""
    assert Polynomial.of(a / 2**b) == Polynomial.of(ps.per(a, 2**b)) == Polynomial.of(a * Rational(1, 2) ** b)
    assert Polynomial.of(4**b / 2**b) == Polynomial.of(2**b)
    assert Polynomial.of(12**b / 4**b) == Polynomial.of(3**b)
    assert Polynomial.of(2 ** (a - b) * 2**b) == Polynomial.of(2**a)
    for written in (a / 2**b, ps.per(a, 2**b)):
        scope: dict[str, Any] = {}
        exec(str(ps.export(one_by(written))), scope)  # noqa: S102 - what we wrote
        assert scope["params"](12, 2) == 3
        with pytest.raises(ValueError, match=r"not a whole number|not divisible"):
            scope["params"](7, 1)


def test_an_exponent_that_may_be_negative_is_exact() -> None:
    """12 * 2**floor((a - b)/2) is 6 where the exponent is -1, everywhere."""
    layer = one_by(12 * 2 ** sympy.floor((a - b) / 2))
    scope: dict[str, Any] = {}
    exec(str(ps.export(layer)), scope)  # noqa: S102 - what we wrote
    for one, other in ((1, 2), (1, 4), (5, 1), (2, 2)):
        expected = Fraction(12) * Fraction(2) ** ((one - other) // 2)
        assert layer.at(a=one, b=other).count == ps.evaluate(layer, a=one, b=other) == scope["params"](one, other) == expected


def test_searches_keep_what_is_rounded_inside_a_minimum() -> None:
    """An odd H is no reason to leave out floor(Min(H/2, 10))."""
    layer = one_by(sympy.floor(sympy.Min(a / 2, 10)))
    assert [solution["a"] for solution in ps.solve(layer, 7, {a: range(1, 40)})] == [14, 15]
    found = ps.sweep(layer, {a: range(2, 40)})
    assert found["params"] == tuple(min(size // 2, 10) for size in range(2, 40))
    assert ps.evaluate(sympy.Max(8, b / c), b=8, c=16) == 8


@pytest.mark.parametrize("index", [ps.dims("i"), ps.index("i")])
def test_the_first_copy_has_the_number_zero(index: sympy.Symbol) -> None:
    """Of min(3, 2 + i) inputs and 3 outputs with their bias, for i in 0 and 1: 9 + 12."""
    layer = ps.Repeat(ps.Dense(sympy.Min(3, a + index), 3), 2, index=index)
    sized = layer.at(a=2)
    assert sized.count == 21
    assert [shape for name, shape in sized.shapes().items() if "weight" in name] == [(3, 2), (3, 3)]
    assert pickle.loads(pickle.dumps(sized)).count == 21
    assert sized.at({}) == sized


def test_an_index_that_sympy_simplified_away_is_refused() -> None:
    """``Min(3, i + 2)`` is 3 before the repeat sees it where ``i`` is positive, and right where it may be zero."""
    positive = ps.dims("i")
    with pytest.raises(StructureError, match=r"the index i is not in the block.*index\('i'\)"):
        one_by(sympy.Min(3, positive + 2), positive, 2)
    assert one_by(sympy.Min(3, i + 2), i, 2).params == 5
    assert ps.Repeat(ps.Dense(sympy.Min(3, positive + 2), 1, bias=False), 2, index=None).params == 6


@pytest.mark.parametrize(
    ("value", "numbers", "expected"),
    [
        (5 / (5 - i), {"i": 0}, 1),
        (ps.per(a, 5 - b), {"a": 6, "b": 3}, 3),
        (-sympy.floor((3 - a) / 2), {"a": 7}, 2),
        (-sympy.ceiling((3 - a) / 2), {"a": 7}, 2),
        (-sympy.Mod(a, -7), {"a": 9}, 5),
        (-sympy.Max(-a, -b), {"a": 9, "b": 4}, 4),
    ],
)
def test_a_minus_before_what_may_be_negative_is_a_size(value: Expr, numbers: dict[str, int], expected: int) -> None:
    """A negative coefficient does not make a term negative if its factor may be negative, too."""
    layer = one_by(value, i, 1) if i in value.free_symbols else one_by(value).at(numbers)
    assert layer.count == expected
    for below in (-a, -a / (b + 1), -sympy.floor(a / 2), -sympy.Mod(a, 7), -(2**a)):
        with pytest.raises(SizeError, match="is never positive"):
            one_by(below)


def test_a_number_of_copies_may_be_zero_inside_a_minimum() -> None:
    """Min(3, a + n) at a = 2 and no copies is 2."""
    layer = ps.Block(wide=one_by(sympy.Min(3, a + n)), deep=ps.Repeat(ps.Dense(1, 1, bias=False), n))
    assert layer.at(a=2).at(n=0).count == layer.at(a=2, n=0).count == 2


def test_sums_divided_by_stay_apart() -> None:
    """Two quotients, one by a power, are added; forty take no time, and each is exact."""
    layer = ps.Block(a=ps.Dense(ps.per(a, b + c), 2), b=ps.Dense(ps.per(a, 2**b), 2))
    assert layer.at(a=12, b=2, c=4).count == (2 * 2 + 2) + (3 * 2 + 2)
    letters = ps.dims(" ".join(f"d{position}" for position in range(40)))
    many = ps.Block({f"x{position}": one_by(ps.per(a, b + letter)) for position, letter in enumerate(letters)})
    assert len(many.polynomial.terms) == 40
    sizes = {letter: position % 5 + 1 for position, letter in enumerate(letters)}
    assert many.at({a: 2520, b: 2, **sizes}).count == sum(2520 // (2 + size) for size in sizes.values())


def test_many_copies_under_a_floor_close() -> None:
    """The floors of ten thousand copies are summed period by period, as they are one by one."""
    layer = one_by(sympy.floor((a + i) / 3) + sympy.Mod(i, 4), i, 10_000)
    assert len(layer.polynomial.terms) < 10
    assert layer.params.xreplace({a: Integer(7)}) == sum((7 + position) // 3 + position % 4 for position in range(10_000))


def test_what_is_nested_too_deep_is_refused() -> None:
    """Thirty-two functions inside each other are a size; hundreds are an error of this library."""
    nested: Any = a
    for position in range(300):
        nested = sympy.Mod(nested + position, b + position + 1, evaluate=False)
    with pytest.raises(SizeError, match="more than 32 nested functions"):
        one_by(nested)
    with pytest.raises(SizeError, match="division by zero"):
        one_by(sympy.Mod(a, b) + 1).at(b=ps.dims("x")).substituted({ps.dims("x"): Integer(0)})


def test_numbers_too_long_to_write_are_named_by_their_length() -> None:
    """Python refuses to write more than 4,300 digits, and a message need not."""
    with pytest.raises(DivisibilityError, match="a number of 16610 bits is not divisible by 2"):
        ps.evaluate(ps.per(a, b), a=10**5000 + 1, b=2)
    with pytest.raises(SizeError, match="16610 bits"):
        one_by(a * 10**5000)
    with pytest.raises(SizeError, match="something too long to write"):
        one_by(b / 4 ** (4**c)).at(b=1, c=7)
