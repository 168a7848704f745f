"""The length of an axis after a sliding window: which kernels fit, and exact floors and ceilings, simplified if the algebra allows it.

Lengths are ints or expressions; W = 2*m with a stride of 2 gives m, and "same" padding gives W back. A number that would be negative is
an error; symbols are checked once numbers arrive. Sources: Dumoulin and Visin 2016, "A guide to convolution arithmetic for deep learning";
the documentation of ``torch.nn.Conv2d``, ``MaxPool2d`` and ``ConvTranspose2d``; ``keras.src.ops.operation_utils``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from sympy import Add, Integer, Max, Min, Mod, Rational, Symbol, ceiling, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, canonical, conditions_are_asked, equal, per, within
from paramsym.errors import DivisibilityError, ShapeError, StructureError

_TENSOR = 2**53
"""No tensor has more entries; a float holds every whole number up to here exactly."""


@dataclass(frozen=True)
class View:
    """The receptive field of one output entry along one axis: the number of input entries, and the step to the next output's field.

    >>> View(3, 2).then(View(3, 1))
    View(size=7, stride=2)
    """

    size: Dim = 1
    stride: Dim = 1

    def then(self, later: View) -> View:
        """Return the receptive field through this layer and a later one (Araujo, Norris and Sim 2019, equation 2)."""
        return View(canonical(self.size + (later.size - 1) * self.stride), canonical(self.stride * later.stride))

    def repeated(self, times: Count) -> View:
        """Return the receptive field through ``count`` equal layers one after another.

        Raises:
            StructureError: a symbolic number of layers with a stride.
        """
        if self.stride == 1:
            return View(canonical(1 + times * (self.size - 1)), 1)
        if not isinstance(times, int):
            raise StructureError(f"a block with a stride of {self.stride} cannot be repeated a symbolic number of times.")
        return reduce(View.then, [self] * times, View())


def widest_view(paths: Sequence[tuple[View, ...]]) -> tuple[View, ...]:
    """Return the receptive field of paths whose results are added: along each axis the largest.

    Raises:
        StructureError: paths of different strides.

    >>> widest_view([(View(3, 1),), ()])
    (View(size=3, stride=1),)
    """
    rank = max(map(len, paths), default=0)
    result: list[View] = []
    for views in zip(*(views or (View(),) * rank for views in paths), strict=True):
        if len({view.stride for view in views}) > 1:
            raise StructureError(f"paths with strides {', '.join(str(view.stride) for view in views)} cannot be added.")
        result.append(View(canonical(Max(*(view.size for view in views))), views[0].stride))
    return tuple(result)


def differ(one: Count | None, other: Count | None) -> bool:
    """Return whether two extents cannot be equal. Their equality becomes a condition for the numbers that are put in later.

    A symbol may be any positive number. None is an unknown extent, which may equal any other.

    >>> from paramsym import H
    >>> differ(3, 4), differ(H, H + 1), differ(H, 2*H), differ(H, 4), differ(None, 4)
    (True, True, True, False, False)
    """
    if one is None or other is None or one is other:
        return False
    if isinstance(one, int) and isinstance(other, int):
        return one != other
    if conditions_are_asked():
        equal(one, other)
    return _differ(one, other)


@lru_cache(maxsize=1 << 12)
def _differ(one: Count, other: Count) -> bool:
    return len(_signs(Polynomial.of(one) - Polynomial.of(other))) == 1


def negative(length: Count) -> bool:
    """Return whether a length is negative for all positive values of its symbols. Zero or more becomes a condition for later numbers.

    >>> from paramsym import W
    >>> negative(-1), negative(-2*W), negative(W - 5)
    (True, True, False)
    """
    if isinstance(length, int):
        return length < 0
    if conditions_are_asked():
        within(0, length)
    return _signs(Polynomial.of(length)) == {-1}


def _signs(polynomial: Polynomial) -> set[int]:
    """Return the signs of the terms; both signs if a rounding function leaves them open."""
    if any(not isinstance(generator, Symbol) for monomial in polynomial.terms for generator, _ in monomial):
        return {-1, 1}
    return {1 if coefficient > 0 else -1 for coefficient in polynomial.terms.values()}


def exactly(total: Count, divisor: Dim, what: str) -> Count:
    """Return ``total / divisor`` if it is a whole number.

    Raises:
        ShapeError: numbers that leave a remainder.

    >>> from paramsym import C
    >>> exactly(12, 4, "the channels"), exactly(4*C, 4, "the channels"), exactly(0, 4, "the channels")
    (3, C, 0)
    """
    if total == 0:
        return 0
    try:
        return canonical(per(total, divisor))
    except DivisibilityError:
        raise ShapeError(f"{what} are {total}, which is not divisible by {divisor}.") from None


def over(length: Count, divisor: Count) -> Count:
    """Return ``floor(length / divisor)``, exactly; a floor inside a floor is one: floor(floor(n/2)/2) is floor(n/4).

    SymPy treats some fractions, such as 2**n/6, as whole numbers, so the rounding is done here.

    >>> from paramsym import dims
    >>> m, n = dims("m n")
    >>> over(7, 2), over(2*m - 1, 2), over(n, 2), over(over(n, 2) + 1, 2)
    (3, m - 1, floor(n/2), floor(n/4 - 1/2) + 1)
    """
    if isinstance(length, int) and isinstance(divisor, int):
        return length // divisor
    return _rounded(length, divisor, floor)


def up_over(length: Count, divisor: Count) -> Count:
    """Return ``ceil(length / divisor)``, exactly; a ceiling inside a ceiling is one.

    >>> from paramsym import H
    >>> up_over(7, 2), up_over(H, 16), up_over(up_over(H, 2), 2)
    (4, ceiling(H/16), ceiling(H/4))
    """
    if isinstance(length, int) and isinstance(divisor, int):
        return -(-length // divisor)
    return _rounded(length, divisor, ceiling)


@lru_cache(maxsize=1 << 12)
def _rounded(length: Count, divisor: Count, rounding: Any) -> Count:
    opened = _opened(length, rounding)
    return canonical(rounding(opened * Rational(1, divisor) if isinstance(divisor, int) else opened / divisor, evaluate=False))


def effective_kernel(kernel: Count, dilation: Count = 1) -> Count:
    """Return the number of entries that a dilated kernel spans: ``dilation*(kernel - 1) + 1``.

    >>> effective_kernel(3), effective_kernel(3, 2)
    (3, 5)
    """
    return canonical(dilation * (kernel - 1) + 1)


def window_count(length: Count, kernel: Count, stride: Count = 1, padding: Count = 0, dilation: Count = 1) -> Count:
    """Return the number of positions of a kernel: ``floor((length + padding - reach) / stride) + 1``.

    ``padding`` is the total of both sides.

    Raises:
        ShapeError: the padded length is shorter than the kernel's reach.

    >>> from paramsym import K, W
    >>> window_count(227, 11, stride=4), window_count(W, K), window_count(W, 3, padding=2)
    (55, -K + W + 1, W)
    """
    span = effective_kernel(kernel, dilation)
    if padding == span - 1 and stride == 1 and not (isinstance(length, int) and length == 0):
        return canonical(length)
    room = canonical(length + padding - span)
    if not within(span, length + padding):
        raise ShapeError(f"the padded length {canonical(length + padding)} is shorter than the kernel, which spans {span} entries.")
    return canonical(over(room, stride) + 1)


def window_count_ceil(length: Count, kernel: Count, stride: Count, padding: Count = 0, dilation: Count = 1) -> Count:
    """Return the number of positions with ``ceil_mode``: a last, partial window counts if it starts inside the input or the left padding.

    ``padding`` is the padding of one side, as in torch's pooling layers.

    >>> window_count_ceil(29, 1, 2), window_count_ceil(5, 2, 2), window_count_ceil(4, 2, 2)
    (15, 3, 2)
    >>> from paramsym import W
    >>> window_count_ceil(W, 2, 2), window_count_ceil(W, 3, 2, 1)
    (ceiling(W/2), floor(W/2) + 1)
    """
    span = effective_kernel(kernel, dilation)
    places = canonical(up_over(canonical(length + 2 * padding - span), stride) + 1)
    if isinstance(places, int) and isinstance(stride, int) and isinstance(length, int) and isinstance(padding, int):
        places -= (places - 1) * stride >= length + padding
        if places < 1:
            message = f"not even a partial window fits: the kernel spans {span} entries, the padded input has {length + 2 * padding}."
            raise ShapeError(message)
        return places
    # The last window must start before length + padding. Both bounds are a length over the stride, rounded up, so the shorter length gives
    # the smaller bound. With symbols, both bounds remain.
    starts = canonical(up_over(length + padding, stride))
    shorter = canonical(padding + stride - span)
    if isinstance(shorter, int):
        return starts if shorter >= 0 else places
    return canonical(Min(places, starts))


def same_length(length: Count, stride: Count = 1) -> Count:
    """Return the length that padding "same" keeps: ``ceil(length / stride)``.

    >>> from paramsym import W
    >>> same_length(W), same_length(W, 2), same_length(7, 2)
    (W, ceiling(W/2), 4)
    """
    return up_over(length, stride)


def transposed_length(
    length: Count, kernel: Count, stride: Count = 1, padding: Count = 0, dilation: Count = 1, output_padding: Count = 0
) -> Count:
    """Return the length after a transposed convolution: ``(length - 1)*stride + reach - padding + output_padding``.

    ``padding`` is the total of both sides.

    Raises:
        ShapeError: padding that cuts away more than the whole output.

    >>> from paramsym import W
    >>> transposed_length(W, 2, stride=2), transposed_length(4, 3, stride=2, padding=2, output_padding=1)
    (2*W, 8)
    """
    result = canonical((length - 1) * stride + effective_kernel(kernel, dilation) - padding + output_padding)
    if isinstance(result, int) and result < 0:
        raise ShapeError(f"the padding {padding} cuts away more than the {result + padding} entries that a length of {length} spreads to.")
    return result


def transposed_length_by_word(
    length: Count, kernel: Count, stride: Count, padding: str, dilation: Count = 1, output_padding: Count | None = None
) -> Count:
    """Return the length after Keras' transposed convolution, whose padding is a name; with ``output_padding=None`` Keras chooses it.

    With "same" and None, W becomes W*stride; with a given ``output_padding`` an even kernel adds nothing
    (``keras.src.backend.common.backend_utils``).

    >>> from paramsym import K, W
    >>> transposed_length_by_word(W, 3, 2, "same"), transposed_length_by_word(W, K, 1, "valid")
    (2*W, K + W - 1)
    >>> transposed_length_by_word(W, 3, 2, "same", output_padding=1)
    2*W
    """
    width = effective_kernel(kernel, dilation)
    if output_padding is not None:
        odd = width % 2 if isinstance(width, int) else Mod(width, 2, evaluate=False)
        return canonical((length - 1) * stride + (odd if padding == "same" else width) + output_padding)
    if padding == "same":
        return canonical(length * stride)
    both = isinstance(width, int) and isinstance(stride, int)
    return canonical((length - 1) * stride + (max(width, stride) if both else Max(width, stride)))


def scaled_length(length: Count, factor: Dim | float, name: str = "the factor") -> Count:
    """Return ``length * factor`` rounded down as the references compute it, ``int(length * factor)``: a float's product is a float.

    So 100 * 0.29 is 28. A symbolic length has an exact floor if ``exact_ratio`` finds one.

    Raises:
        ShapeError: a symbolic length and a float whose products are not a floor; a product that is too large.

    >>> from paramsym import W
    >>> scaled_length(100, 0.29), scaled_length(3, 1/3), scaled_length(W, 2), scaled_length(W, 1.5)
    (28, 1, 2*W, floor(3*W/2))
    """
    if not isinstance(factor, float):
        return canonical(length * factor)
    ratio = exact_ratio(factor)
    if ratio is not None:
        return over(canonical(length * ratio.numerator), ratio.denominator)
    if not isinstance(length, int):
        raise ShapeError(
            f"{name} is {factor}, and the reference rounds its products in floating point, which no formula in {length} gives;"
            f" give a number instead of {length}, or a factor that a float holds exactly, such as 0.25."
        )
    if length > _TENSOR or not length * factor <= _TENSOR:
        raise ShapeError(f"{name} is {factor}; times {length} it is more than {_TENSOR} entries.")
    return int(length * factor)


@lru_cache(maxsize=1024)
def exact_ratio(factor: float) -> Fraction | None:
    """Return the fraction with ``floor(length * fraction) == int(length * factor)`` for every length; None if none is known.

    Let p/q be the simplest fraction whose nearest float is the factor, and k = length*p/q. If k is not whole, it is at least 1/q away from
    a whole number, more than the rounding error of a float. If k is whole and the factor is p/q*(1 - d), the product k*(1 - d) is rounded
    to k if k*d is at most half the distance from k to the float below, which is the case for every k if d <= 2**-54. For a larger d, as in
    0.29, some products fall below k. All products are taken to be below 2**32.

    >>> exact_ratio(2.4), exact_ratio(0.29)
    (Fraction(12, 5), None)
    """
    simple = Fraction(factor).limit_denominator(10**6)
    near = float(simple) == factor and Fraction(factor) >= simple * (1 - Fraction(1, 2**54))
    return simple if near and factor <= _TENSOR else None


def _opened(length: Count, rounding: Any) -> Count:
    """Leave out a rounding that the next one includes: floor((floor(x) + z)/n) is floor((x + z)/n) for whole z and n.

    A ceiling inside a floor is a floor first, which needs the denominator: ceiling(n/2) is floor((n + 1)/2).
    """
    terms = [] if isinstance(length, int) else list(Add.make_args(length))
    rounded = [term for term in terms if isinstance(term, (floor, ceiling))]
    if len(rounded) != 1 or not all(term is rounded[0] or term.is_integer for term in terms):
        return length
    (inside,) = rounded[0].args
    if not isinstance(rounded[0], rounding):
        above, below = inside.as_numer_denom()
        if not (above.is_integer and isinstance(below, Integer)):
            return length
        inside += (1 if rounding is floor else -1) * (1 - 1 / below)
    return canonical(length - rounded[0] + inside)
