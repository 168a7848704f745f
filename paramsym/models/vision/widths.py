"""Widths of networks for images: ratios as exact fractions, and the roundings of the references."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Annotated, Any, TypeAlias, cast

from sympy import Expr, Float, Max, Rational, ceiling, floor

from paramsym.algebra.convolution import scaled_length
from paramsym.algebra.size import Dim, canonical
from paramsym.errors import ArgumentError
from paramsym.naming import described, short

Ratio: TypeAlias = Annotated[int | Expr, "ratio"]
"""A multiplier: an exact fraction, such as 1, ``Rational(3, 4)`` or ``w/4`` with a letter w; a ``Fraction`` becomes a Rational."""


def ratio(value: object, where: str) -> int | Expr:
    """Return a multiplier as an int or an exact expression.

    Raises:
        ArgumentError: a float, because its exact value is rarely the written one; a value that is not a number; zero or less.

    >>> ratio(Fraction(3, 4), "width_mult")
    3/4
    """
    if isinstance(value, Fraction):
        value = Rational(value.numerator, value.denominator)
    exact = isinstance(value, int | Expr) and not isinstance(value, bool)
    if isinstance(value, Expr):
        exact = bool(value.is_commutative and not value.has(Float) and (value.is_Rational or not value.is_Number))
    if not exact:
        finite = isinstance(value, float) and isfinite(value)
        hint = f", as in Rational({Fraction(str(value)).limit_denominator(10**6)!s})".replace("/", ", ") if finite else ""
        raise ArgumentError(f"{where} is {described(value)}; wanted an exact fraction{hint}.")
    if cast("Any", value) <= 0 if not isinstance(value, Expr) or value.is_Number else False:
        raise ArgumentError(f"{where} is {short(value)}; wanted more than zero.")
    return int(value) if isinstance(value, Expr) and value.is_Integer else cast("int | Expr", value)


def scaled(width: Dim, multiplier: int | Expr) -> int | Expr:
    """Return a width times a multiplier. For numbers, this is the product of floats, as in the references, as an exact fraction.

    >>> from paramsym import dims
    >>> scaled(64, Rational(3, 4)), scaled(200, Rational(29, 50)) < 116, scaled(64, dims("w"))
    (48, True, 64*w)
    """
    exact = width * multiplier
    if isinstance(width, int) and isinstance(multiplier, Rational) and not multiplier.is_Integer and bool(exact < 2**53):
        return Rational(width * float(multiplier))
    return exact


def scaled_down(width: Dim, multiplier: int | Expr, name: str) -> Dim:
    """Return a width times a multiplier, rounded down as references do.

    Raises:
        ShapeError: a letter times a fraction such as 29/100: no formula gives the rounding of the products of floats.

    >>> from paramsym import C
    >>> scaled_down(100, Rational(29, 100), "mlp_ratio"), scaled_down(C, Rational(1, 4), "mlp_ratio")
    (28, floor(C/4))
    """
    if isinstance(multiplier, Rational) and not multiplier.is_Integer:
        return scaled_length(width, float(multiplier), name)
    return down(canonical(width * multiplier), 1)


def divisible(width: int | Expr, divisor: int = 8) -> Dim:
    """Return the multiple of ``divisor`` next to a width, halves up; the next one above if this is less than 90 % of the width.

    With q = width/divisor this is divisor * max(1, floor(q + 1/2), ceil(9*q/10)): rounding down gives less than 90 % exactly if the last of
    the three is the largest. Reference: ``_make_divisible`` of ``torchvision.models._utils``.

    >>> from paramsym import dims
    >>> divisible(83), divisible(84), divisible(12), divisible(Rational(72, 5))
    (80, 88, 16, 16)
    >>> divisible(32 * dims("w"))
    32*w
    """
    q = width * Rational(1, divisor) if isinstance(width, Expr) else Rational(width, divisor)
    if q.is_Number:
        return divisor * int(max(1, floor(q + Rational(1, 2)), ceiling(Rational(9, 10) * q)))
    if canonical(floor(q, evaluate=False)) == canonical(q):
        return canonical(width)
    return canonical(divisor * Max(1, floor(q + Rational(1, 2)), ceiling(Rational(9, 10) * q)))


def last_width(width: Dim, multiplier: int | Expr, divisor: int = 8) -> Dim:
    """Return the width before a MobileNet's classifier: a multiplier above 1 multiplies it, one below leaves it.

    >>> last_width(1280, Rational(1, 2)), last_width(1280, Rational(7, 5))
    (1280, 1792)
    """
    return divisible(scaled(width, multiplier if isinstance(multiplier, int) and multiplier > 1 else Max(1, multiplier)), divisor)


def down(value: int | Expr, divisor: int) -> Dim:
    """Return a quotient rounded down.

    >>> from paramsym import C
    >>> down(7, 2), down(8 * C, 2), down(C, 2)
    (3, 4*C, floor(C/2))
    """
    return value // divisor if isinstance(value, int) else canonical(floor(value * Rational(1, divisor)))


def up(value: int | Expr) -> Dim:
    """Return a number rounded up.

    >>> up(Rational(22, 5))
    5
    """
    return value if isinstance(value, int) else canonical(cast("Dim", ceiling(value)))


def nearest_whole(value: int | Expr) -> Dim:
    """Return the nearest whole number, and the even one of two, as Python's ``round`` does.

    With t = (2*value - 1)/4, which is whole exactly if a half is to be rounded down: floor(value + 1/2) + ceil(t) - floor(t) - 1.

    >>> from paramsym import C
    >>> nearest_whole(Rational(5, 2)), nearest_whole(Rational(7, 2)), nearest_whole(Rational(8, 3)), nearest_whole(C)
    (2, 4, 3, C)
    """
    if isinstance(value, int):
        return value
    if value.is_Number:
        whole, rest = divmod(cast("Any", value), 1)
        return int(whole) + (1 if rest > Rational(1, 2) or (rest == Rational(1, 2) and whole % 2 == 1) else 0)
    if canonical(floor(value, evaluate=False)) == canonical(value):
        return canonical(value)
    t = (2 * value - 1) * Rational(1, 4)
    return canonical(floor(value + Rational(1, 2)) + ceiling(t) - floor(t) - 1)
