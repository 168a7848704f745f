"""Scaled dot-product attention, its masks, and rotary positions."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from sympy import Expr, Integer, Pow, Rational

from paramsym.algebra.convolution import differ, negative, up_over
from paramsym.algebra.size import Dim, canonical, per
from paramsym.errors import ShapeError
from paramsym.program.activations import apply
from paramsym.program.conditions import Where, where
from paramsym.program.constants import constant
from paramsym.program.graph import Operation
from paramsym.program.lookups import drop
from paramsym.program.masks import ALL, Mask
from paramsym.program.named_axes import rearrange
from paramsym.program.products import contract
from paramsym.program.reductions import reduce, softmax
from paramsym.program.rotary import Rope
from paramsym.program.slices import compact, copies, join, segments, take
from paramsym.program.state import past
from paramsym.program.tracing import Value, record, region


@dataclass(frozen=True, slots=True)
class Hide(Operation):
    """Scores of hidden pairs become minus infinity; the last two axes are queries and keys."""

    unit = "add"

    mask: Mask

    def run(self, xp: Any, *arrays: Any) -> Any:
        (scores,) = arrays
        return xp.where(self.mask.visible(xp, *scores.shape[-2:]), scores, -inf).astype(scores.dtype)

    def __str__(self) -> str:
        return (
            "hide" + (" later keys" if self.mask.causal else "") + (f" beyond {self.mask.window}" if self.mask.window is not None else "")
        )


@dataclass(frozen=True, slots=True)
class Added(Where):
    """The scores that a mask shows; torch adds numbers that it makes from the mask, so that no gradient reads the mask."""

    kept = ()


def hide(scores: Value, mask: Mask) -> Value:
    """Hide pairs of queries and keys from the softmax; the last two axes of the scores are queries and keys."""
    return record(Hide(mask), scores) if mask else scores


def attend(
    q: Value,
    k: Value,
    v: Value,
    *,
    mask: Mask = ALL,
    scale: float | Expr | None = None,
    bias: Value | None = None,
    seen: Value | None = None,
    cap: float | None = None,
    dropout: float = 0.0,
    sinks: Value | None = None,
    wide: bool = False,
    fused: bool = True,
) -> Value:
    """Return the softmax of scaled dot products of queries with keys, times the values (Vaswani et al. 2017, equation 1).

    Queries are (batch, positions, heads, width); keys and values may have fewer heads, each shared by a group of query heads. ``scale`` is
    1/sqrt(width) by default; ``bias`` is added to the scores (batch or 1, heads or 1, queries, keys), and ``seen`` is the mask of visible
    scores, if the reference keeps it; ``cap`` limits scores to cap*tanh(scores/cap). ``sinks`` (heads,) are one more score per head in the
    softmax, without a value (Xiao et al. 2023, arXiv:2309.17453, section 3.3). ``wide`` means that the reference computes the softmax in
    float32. Without ``fused`` it is never one kernel. The result is (batch, positions, (heads, width)).
    """
    factor = root_reciprocal(q.sizes[-1]) if scale is None else scale
    groups = per(q.sizes[-2], k.sizes[-2])

    def core(q: Value, k: Value, v: Value, *more: Value) -> Value:
        q, k, v = (rearrange(one, "b s a d -> b a s d") for one in (q, k, v))
        k, v = (one if groups == 1 else copies(one, canonical(groups), axis=1) for one in (k, v))
        scores = contract("b a q d, b a k d -> b a q k", q, k, within=("q", "k", mask))
        scores = scores if factor == 1 else scores * factor
        scores = scores if cap is None else apply("tanh", scores / cap) * cap
        for one in more:
            of_mask = one.type.kind == "truth"
            scores = scores + one if not of_mask else where(one, scores, -inf) if seen is not None else record(Added(-inf), one, scores)
        scores = scores if seen is not None else hide(scores, mask)
        weights = drop(softmax(scores, wide=wide) if sinks is None else beside(scores, sinks), dropout)
        return rearrange(contract("b a q k, b a k d -> b a q d", weights, v, within=("q", "k", mask)), "b a s d -> b s (a d)")

    return region("attention" if fused else "plain attention", core, q, k, v, *(one for one in (bias, seen) if one is not None))


def beside(scores: Value, sinks: Value) -> Value:
    """Return the softmax of (batch, heads, queries, keys) with one more score per head, without the weights of these scores."""
    more = rearrange(sinks, "a -> () a () ()")
    for axis in (0, 2):
        more = copies(more, scores.sizes[axis], axis=axis)
    both = join(scores, more)
    return take(softmax(both - reduce("max", both, keep=True)), -1, 0, scores.sizes[-1])


def root_reciprocal(width: Dim) -> float | Expr:
    """Return 1/sqrt(width), as a float for a number."""
    return 1 / sqrt(width) if isinstance(width, int | Integer) else Pow(width, Rational(-1, 2))


def rotation(length: Dim, width: Dim, rope: Rope | float = 10000.0, *, halves: bool = False, odd: bool = False) -> tuple[Value, Value]:
    """Return the cosines and sines of rotary positions, each (positions, width) (Su et al. 2021, section 3.2.2).

    Every angle occurs twice; with ``halves`` once, for both entries of a pair. ``rope`` is the base, or all settings. With ``odd``, the
    width may be odd; the result then has one more entry.

    Raises:
        ShapeError: an odd width without ``odd``.
    """
    rope = rope if isinstance(rope, Rope) else Rope(rope)
    if not odd and isinstance(width, int) and width % 2:
        raise ShapeError(f"rotation takes pairs; found {width} entries of a head to rotate, wanted an even width.")
    half = up_over(width, 2) if odd else canonical(per(width, 2))
    positions = rearrange(constant("positions", (length,), past()), "s -> s ()")
    angles = positions * constant("frequencies", (half,), rope, width, canonical(length + past()))
    angles = angles if halves else join(angles, angles)
    cos, sin = apply("cos", angles), apply("sin", angles)
    return (cos, sin) if rope.amplitude == 1 else (cos * rope.amplitude, sin * rope.amplitude)


def rotate(x: Value, cos: Value, sin: Value, *, partly: bool = False, halves: bool = False) -> Value:
    """Rotate the halves of every head against each other: x is (batch, positions, heads, width), cos and sin (positions, width).

    Cosines and sines are as wide as the heads. With ``partly``, they may be narrower: the first entries of each head are rotated and joined
    with the others, even if there are no others. With ``halves`` an angle occurs once for both entries of a pair.

    Raises:
        ShapeError: more entries to rotate than a head has; without ``partly``, fewer.
    """
    if halves:
        left, right = segments(x, cos.sizes[-1], cos.sizes[-1])
        cos, sin = (rearrange(one, "s d -> s () d") for one in (cos, sin))
        parts = (rearrange(one, "b s a d -> b a s d") for one in (left * cos - right * sin, right * cos + left * sin))
        return rearrange(join(*parts), "b a s d -> b s a d")  # references have heads first in memory
    width, turned = x.sizes[-1], cos.sizes[-1]
    if partly and turned == width:
        return rearrange(compact(rearrange(rotate(x, cos, sin), "b s a d -> b a s d")), "b a s d -> b s a d")
    if partly:
        rest = canonical(width - turned)
        if negative(rest):
            raise ShapeError(f"found {turned} entries of a head to rotate; wanted at most {width}, the width of the head.")
        x, still = (rearrange(one, "b s a d -> b a s d") for one in segments(x, turned, rest))
        x = rotate(rearrange(x, "b a s d -> b s a d"), cos, sin)
        return rearrange(join(rearrange(x, "b s a d -> b a s d"), still), "b a s d -> b s a d")  # references have heads first in memory
    if differ(turned, width):
        raise ShapeError(f"found {turned} entries of a head to rotate; wanted {width}, because the reference rotates whole heads.")
    half = canonical(per(turned, 2))
    left, right = segments(x, half, half)
    cos, sin = (rearrange(one, "s d -> s () d") for one in (cos, sin))
    return x * cos + join(-right, left) * sin
