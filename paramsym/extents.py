"""How long an axis is after a window has slid over it: exact floors and ceilings, simplified where the algebra allows.

Lengths are ints or expressions; W = 2*m with a stride of 2 gives m, and "same" padding gives W back. A number that would be negative is
an error; symbols are checked once numbers arrive. Sources: Dumoulin and Visin 2016, "A guide to convolution arithmetic for deep learning";
the documentation of ``torch.nn.Conv2d``, ``MaxPool2d`` and ``ConvTranspose2d``; ``keras.src.ops.operation_utils``.
"""

from __future__ import annotations

from sympy import Min, Rational, ceiling, floor

from paramsym.errors import ShapeError
from paramsym.size import Count, canonical


def over(length: Count, divisor: Count) -> Count:
    """Return ``floor(length / divisor)``, exactly.

    >>> from paramsym import dims
    >>> m, n = dims("m n")
    >>> over(7, 2), over(2*m - 1, 2), over(n, 2)
    (3, m - 1, floor(n/2))
    """
    if isinstance(length, int) and isinstance(divisor, int):
        return length // divisor
    return canonical(floor(_quotient(length, divisor)))


def up_over(length: Count, divisor: Count) -> Count:
    """Return ``ceil(length / divisor)``, exactly.

    >>> from paramsym import H
    >>> up_over(7, 2), up_over(H, 16)
    (4, ceiling(H/16))
    """
    if isinstance(length, int) and isinstance(divisor, int):
        return -(-length // divisor)
    return canonical(ceiling(_quotient(length, divisor)))


def reach(kernel: Count, dilation: Count = 1) -> Count:
    """Return how many entries a dilated kernel spans: ``dilation*(kernel - 1) + 1``.

    >>> reach(3), reach(3, 2)
    (3, 5)
    """
    return canonical(dilation * (kernel - 1) + 1)


def windows(length: Count, kernel: Count, stride: Count = 1, padding: Count = 0, dilation: Count = 1) -> Count:
    """Return the number of places of a kernel: ``floor((length + padding - reach) / stride) + 1``.

    ``padding`` is the total of both sides.

    Raises:
        ShapeError: the padded length is shorter than the kernel's reach.

    >>> from paramsym import K, W
    >>> windows(227, 11, stride=4), windows(W, K), windows(W, 3, padding=2)
    (55, -K + W + 1, W)
    """
    room = canonical(length + padding - reach(kernel, dilation))
    if isinstance(room, int) and room < 0:
        span = f"{reach(kernel, dilation)} entries"
        message = f"the padded length {canonical(length + padding)} is shorter than the kernel, which spans {span}."
        raise ShapeError(message)
    return canonical(over(room, stride) + 1)


def windows_ceil(length: Count, kernel: Count, stride: Count, padding: Count = 0, dilation: Count = 1) -> Count:
    """Return the number of places with ``ceil_mode``: a last, partial window counts if it starts inside the input or the left padding.

    ``padding`` is that of one side, as torch's pooling layers take it.

    >>> windows_ceil(29, 1, 2), windows_ceil(5, 2, 2), windows_ceil(4, 2, 2)
    (15, 3, 2)
    >>> from paramsym import W
    >>> windows_ceil(W, 2, 2), windows_ceil(W, 3, 2, 1)
    (ceiling(W/2), Min(ceiling(W/2 - 1/2) + 1, ceiling(W/2 + 1/2)))
    """
    room = canonical(length + 2 * padding - reach(kernel, dilation))
    places = canonical(up_over(room, stride) + 1)
    if isinstance(places, int) and isinstance(stride, int) and isinstance(length, int) and isinstance(padding, int):
        return places - 1 if (places - 1) * stride >= length + padding else places
    # The last window must start before length + padding; with symbols both bounds stand.
    starts = canonical(up_over(length + padding, stride))
    if places == starts:
        return places
    return canonical(Min(places, starts))


def same(length: Count, stride: Count = 1) -> Count:
    """Return the length that padding "same" keeps: ``ceil(length / stride)``.

    >>> from paramsym import W
    >>> same(W), same(W, 2), same(7, 2)
    (W, ceiling(W/2), 4)
    """
    return up_over(length, stride)


def spread(
    length: Count, kernel: Count, stride: Count = 1, padding: Count = 0, dilation: Count = 1, output_padding: Count = 0
) -> Count:
    """Return the length after a transposed convolution: ``(length - 1)*stride + reach - padding + output_padding``.

    ``padding`` is the total of both sides.

    Raises:
        ShapeError: more padding than there is to cut away.

    >>> from paramsym import W
    >>> spread(W, 2, stride=2), spread(4, 3, stride=2, padding=2, output_padding=1)
    (2*W, 8)
    """
    result = canonical((length - 1) * stride + reach(kernel, dilation) - padding + output_padding)
    if isinstance(result, int) and result < 0:
        message = f"the padding {padding} cuts away more than the {result + padding} entries that a length of {length} spreads to."
        raise ShapeError(message)
    return result


def _quotient(length: Count, divisor: Count) -> Count:
    return length * Rational(1, divisor) if isinstance(divisor, int) else length / divisor
