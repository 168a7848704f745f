"""The sparse polynomials against SymPy's own expand, diff and summation."""

from __future__ import annotations

from math import gcd

import pytest
import sympy
from amount import tries
from hypothesis import given, settings, strategies as st
from sympy import Integer, Max, Min, Mod, Rational, Symbol, ceiling, expand, floor, symbols

from paramsym import A, G, H, L, per
from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import SizeError

x, y, z = symbols("x y z")
letters = st.sampled_from([A, G, H, L, x, y])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    """Build sums and products of letters and integers, with powers from -2 to 3."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(letters, st.integers(-5, 5).map(Integer)))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    kind = draw(st.sampled_from(["add", "mul", "sub", "pow"]))
    if kind == "pow":
        base = left if not left.is_zero else Integer(1)
        single = base.is_Symbol or base.is_Integer
        return base ** draw(st.integers(-2 if single else 0, 3))
    return {"add": left + right, "mul": left * right, "sub": left - right}[kind]


@given(expressions())
def test_the_canonical_form_is_the_expanded_one(value: sympy.Expr) -> None:
    """What comes out is SymPy's expansion, structurally."""
    assert Polynomial.of(value).as_expr() == expand(value)


@given(expressions(), expressions())
def test_arithmetic_is_sympys(left: sympy.Expr, right: sympy.Expr) -> None:
    """Sums, differences and products agree with SymPy's."""
    one, two = Polynomial.of(left), Polynomial.of(right)
    assert (one + two).as_expr() == expand(left + right)
    assert (one - two).as_expr() == expand(left - right)
    assert (one * two).as_expr() == expand(left * right)
    assert (-one).as_expr() == expand(-left)
    assert Polynomial.total([one, two, one]).as_expr() == expand(2 * left + right)
    assert Polynomial.product([left, right]) == one * two


@given(expressions(), letters)
def test_the_derivative_is_sympys(value: sympy.Expr, letter: Symbol) -> None:
    """Differentiation agrees with SymPy's."""
    assert Polynomial.of(value).diff(letter).as_expr() == expand(sympy.diff(value, letter))


@given(expressions(), expressions())
def test_equal_values_have_equal_forms_and_hashes(left: sympy.Expr, right: sympy.Expr) -> None:
    """Two ways of writing one product meet in one value."""
    one = Polynomial.of((left + right) * (left - right))
    two = Polynomial.of(left**2 - right**2)
    assert one == two
    assert hash(one) == hash(two)
    assert one.as_expr() == two.as_expr()
    assert bool(one) == (one != Polynomial.of(0))


@settings(max_examples=tries(40))
@given(
    power=st.integers(0, 5),
    start=st.integers(0, 4),
    step=st.integers(1, 3),
    number=st.one_of(st.integers(0, 7), st.just(L), st.just(2 * L + 1)),
)
def test_sums_are_sympys_summation(power: int, start: int, step: int, number: int | sympy.Expr) -> None:
    """Faulhaber's sums agree with ``sympy.summation``, also with a symbolic number of terms."""
    index, position = symbols("i j", integer=True)
    term = 3 * H * index**power + A
    expected = sympy.summation(expand(term.subs(index, start + step * position)), (position, 0, number - 1))
    found = Polynomial.of(term).sum_over(index, Polynomial.of(start), Polynomial.of(number), step)
    assert found.as_expr() == expand(expected)


def test_sums_over_a_symbolic_start() -> None:
    """Copies may start at a symbol."""
    index, position = symbols("i j", integer=True)
    found = Polynomial.of(H * index).sum_over(index, Polynomial.of(A), Polynomial.of(L))
    assert found.as_expr() == expand(sympy.summation(H * (A + position), (position, 0, L - 1)))


i = Symbol("i", integer=True, positive=True)
MOVING = st.sampled_from([2**i, 2 ** (L - i), 3 ** (2 * i + 1), 2**i * A, i * 2**i, i**2 * 3**i, 2**i + i, G * 2 ** (2 * L - i)])


@given(value=MOVING, start=st.integers(0, 3), step=st.integers(1, 3), length=st.integers(0, 6))
@settings(max_examples=tries(40))
def test_sums_of_powers_close(value: sympy.Expr, start: int, step: int, length: int) -> None:
    """Widths that double: the closed form for L copies is, at every number of copies, what adding them up gives."""
    closed = Polynomial.of(value).sum_over(i, Polynomial.of(start), Polynomial.of(L), step).as_expr()
    added = sum((value.subs({i: start + step * k, L: length}) for k in range(length)), Integer(0))
    assert expand(closed.subs({L: length}) - added) == 0


def test_sums_of_powers_without_a_closed_form_are_refused() -> None:
    """Two bases in one term, or an exponent that is no line."""
    for value in (2**i * 3 ** (2 * i), 2**i * A**i, 2 ** (i**2)):
        with pytest.raises(SizeError, match="no closed form"):
            Polynomial.of(value).sum_over(i, Polynomial.of(0), Polynomial.of(L))


def test_sums_of_steps_are_written_out_where_the_number_is_known() -> None:
    """A floor of the index has no polynomial sum; a known number of copies is added up."""
    index = Symbol("i", integer=True, positive=True)
    term = Polynomial.of(H * floor(index / 2) + H / (index + 1))
    found = term.sum_over(index, Polynomial.of(0), Polynomial.of(4))
    assert found.as_expr() == H * (0 + 0 + 1 + 1) + H * (1 + Rational(1, 2) + Rational(1, 3) + Rational(1, 4))
    with pytest.raises(SizeError, match="no closed form"):
        term.sum_over(index, Polynomial.of(0), Polynomial.of(L))
    with pytest.raises(SizeError, match="no closed form"):
        term.sum_over(index, Polynomial.of(A), Polynomial.of(4))


def test_remainders_are_added_up_by_periods() -> None:
    """0 + 1 + 2 is repeated 333,333,333 times, and one 0 is left."""
    index = Symbol("i", integer=True, positive=True)
    total = Polynomial.of(Mod(index, 3)).sum_over(index, Polynomial.of(0), Polynomial.of(10**9))
    assert total.constant == 3 * 333_333_333


def test_quotients_stay_exact() -> None:
    """H/A times A is H, whether written plainly or as an exact quotient."""
    assert Polynomial.of(per(H, A)) == Polynomial.of(H / A)
    assert (Polynomial.of(A) * Polynomial.of(per(H, A))).as_expr() == H
    assert Polynomial.of(Rational(1, 2) * H).as_expr() == H / 2
    assert Polynomial.of(H / A - per(H, A)) == Polynomial.of(0)


def test_reciprocals_of_sums_cancel() -> None:
    """A*H/(A + G) + G*H/(A + G) is H, and a common factor of the sum does not hide that."""
    assert Polynomial.of(A * H / (A + G) + G * H / (A + G)).as_expr() == H
    assert Polynomial.of(A * H / (2 * A + 2 * G) + G * H / (2 * A + 2 * G)).as_expr() == H / 2
    assert Polynomial.of((A + G) / (A + G)).as_expr() == 1
    assert (Polynomial.of(A + G) * Polynomial.of(A + G).inverse()).as_expr() == 1
    assert Polynomial.of(H / (A - G)) == -Polynomial.of(H / (G - A))
    assert (Polynomial.of(A + G) ** -2 * Polynomial.of((A + G) ** 2)).as_expr() == 1
    found = Polynomial.of(H / (A + G) + L / (A * G + G**2))
    assert sympy.simplify(found.as_expr() - (H / (A + G) + L / (A * G + G**2))) == 0


def test_a_reciprocal_of_a_sum_can_be_differentiated() -> None:
    """The derivative of the atom 1/(A + G) is minus its square."""
    found = Polynomial.of(H / (A + G)).diff(A)
    assert sympy.simplify(found.as_expr() + H / (A + G) ** 2) == 0


def test_inverse_of_nothing_is_refused() -> None:
    """Nothing can be divided by zero."""
    with pytest.raises(SizeError, match="quotient by zero"):
        Polynomial.of(0).inverse()


@pytest.mark.parametrize("step", [floor, ceiling])
def test_whole_terms_leave_floor_and_ceiling(step: type[sympy.Function]) -> None:
    """floor(x + 1/2) and floor(x/2 + 3) have one form each, whatever assumptions the symbol carries."""
    for symbol in (H, x):
        assert Polynomial.of(step(symbol / 2 + 3)) == Polynomial.of(step(symbol / 2)) + Polynomial.of(3)
        assert Polynomial.of(step(symbol / A + symbol)) == Polynomial.of(step(symbol / A)) + Polynomial.of(symbol)
        assert Polynomial.of(step(symbol * A)) == Polynomial.of(symbol * A)


def test_other_whole_functions_are_atoms() -> None:
    """Max, Min, Mod and powers of whole bases are generators of their own."""
    for value in (Max(H, A), Min(H, A), Mod(H, A), 2**H, A**H):
        assert Polynomial.of(3 * value + H).as_expr() == 3 * value + H
    assert Polynomial.of(2 ** (H + 1) - 2 * 2**H).as_expr() == 0
    assert Polynomial.of(Max(H + H, 2 * H)).as_expr() == 2 * H


@pytest.mark.parametrize("value", [floor(H / 2), 2**H, Max(H, A)])
def test_steps_have_no_derivative(value: sympy.Expr) -> None:
    """A derivative through a step is refused instead of guessed."""
    with pytest.raises(SizeError, match="has no derivative"):
        Polynomial.of(value * L).diff(H)
    assert Polynomial.of(value * L).diff(L).as_expr() == value


@pytest.mark.parametrize(
    "value", [sympy.Float(1.5) * H, sympy.sqrt(H), sympy.sin(H), sympy.pi, sympy.I, sympy.oo, sympy.zoo, sympy.nan, x**H, (-2) ** H]
)
def test_what_no_size_is_made_of_is_refused(value: sympy.Expr) -> None:
    """Floats, roots and functions other than floor and its kin are named in the error."""
    with pytest.raises(SizeError):
        Polynomial.of(value)


def test_absurd_powers_are_refused() -> None:
    """(A + H)**1000 would only fill the memory; A**1000 is one term."""
    with pytest.raises(SizeError, match="too large for a size"):
        Polynomial.of((A + H) ** 1000)
    assert Polynomial.of(A**1000).as_expr() == A**1000


def test_constants() -> None:
    """A polynomial knows whether any generator is left."""
    assert Polynomial.of(7).constant == 7
    assert Polynomial.of(0).constant == 0
    assert Polynomial.of(Rational(1, 2)).constant == Rational(1, 2)
    assert Polynomial.of(H).constant is None
    assert Polynomial.of(H + 1).constant is None
    assert Polynomial.of(H * floor(A / 2)).free_symbols == {H, A}


def test_replacing_a_generator() -> None:
    """A polynomial put in for a symbol is multiplied out."""
    found = Polynomial.of(H**2 + A).put(H, Polynomial.of(A + 1))
    assert found.as_expr() == expand((A + 1) ** 2 + A)


def test_repr_shows_the_expression() -> None:
    """The repr is a call."""
    assert repr(Polynomial.of(H * A)) == "Polynomial.of(A*H)"
    assert Polynomial.of(1) != 1


def test_constants_inside_floors_are_canonical() -> None:
    """Two ways to write one strided length are one expression: floor((n - 3)/2) + 1 is floor((n - 1)/2)."""
    n = sympy.Symbol("n")
    one, other = floor((n - 3) / 2) + 1, floor((n - 1) / 2)
    assert Polynomial.of(one).as_expr() == Polynomial.of(other).as_expr()
    for value in range(1, 12):
        assert Polynomial.of(one).as_expr().subs(n, value) == (value - 1) // 2


@given(above=st.integers(-9, 9), below=st.integers(1, 6), more=st.integers(-9, 9), value=st.integers(1, 40))
def test_a_quotient_of_whole_numbers_is_rounded_in_one_way(above: int, below: int, more: int, value: int) -> None:
    """ceil(p/q) is floor((p + q - 1)/q); of both the one without a constant is kept, as ceiling(n/2) for floor((n - 1)/2) + 1."""
    n = sympy.Symbol("n", integer=True, positive=True)
    number = above * n + more
    down, up = floor(number / below, evaluate=False), ceiling((number - below + 1) / sympy.Integer(below), evaluate=False)
    assert Polynomial.of(down) == Polynomial.of(up)
    assert Polynomial.of(down).as_expr().subs(n, value) == (above * value + more) // below
    if gcd(above, below) == 1 and below > 1:
        assert Polynomial.of(floor((n * above + below - 1) / below)).as_expr().atoms(ceiling)


def test_a_maximum_keeps_its_sign() -> None:
    """G - H is -1: the larger of 1/(-1)**3 and 2/(-1)**3 is -1."""
    value = Polynomial.of(Max(A / (G - H) ** 3, L / (G - H) ** 3)).as_expr()
    assert value.subs({A: 1, L: 2, G: 1, H: 2}) == -1
