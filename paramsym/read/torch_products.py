"""Torch's products: matrices, Einstein sums, attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, canonical, product, same
from paramsym.errors import NotYetError
from paramsym.program import Kept, Mask, Value, apply, attend, contract, rearrange, reduce, region, roll, solve
from paramsym.program.arithmetic import broadcast
from paramsym.program.named_axes import Diagonal
from paramsym.program.state import past
from paramsym.program.tracing import record
from paramsym.program.types import ArrayType
from paramsym.read.operators import expanded, reshaped
from paramsym.read.torch_entries import TORCH


@TORCH("linear")
def _linear(input: Value, weight: Value, bias: Value | None = None) -> Value:
    y = contract("... i, o i -> ... o", input, weight) if weight.rank == 2 else contract("... i, i -> ...", input, weight)
    return y if bias is None else y + bias


@TORCH("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul", "vdot")
def _matmul(
    self: Value, other: Value | None = None, mat2: Value | None = None, vec: Value | None = None, tensor: Value | None = None
) -> Value:
    right = next(one for one in (other, mat2, vec, tensor) if one is not None)
    if right.rank == 1:
        return contract("... i, i -> ...", self, right)
    if self.rank == 1:
        return contract("i, ... i j -> ... j", self, right)
    if min(self.rank, right.rank) > 2:  # torch stretches the axes before the matrices to the same sizes
        sizes = ArrayType(broadcast(ArrayType(self.shape[:-2]), ArrayType(right.shape[:-2]))).sizes
        self, right = (expanded(one, (*sizes, *one.sizes[-2:])) for one in (self, right))
    return contract("... i k, ... k j -> ... i j", self, right)


@TORCH("addmm", "addmv", "baddbmm")
def _addmm(
    self: Value,
    mat1: Value | None = None,
    mat2: Value | None = None,
    mat: Value | None = None,
    vec: Value | None = None,
    batch1: Value | None = None,
    batch2: Value | None = None,
    beta: Any = 1,
    alpha: Any = 1,
) -> Value:
    left, right = next((a, b) for a, b in ((mat1, mat2), (mat, vec), (batch1, batch2)) if a is not None and b is not None)
    return _scaled_sum(self, _matmul(left, right), beta, alpha)


@TORCH("addbmm")
def _addbmm(self: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    keeps = (Kept("taken", wanted=(1,)), Kept("taken", 1, wanted=(0,)))
    y = region("sum of products", lambda x, y: contract("b i k, b k j -> i j", x, y), batch1, batch2, keeps=keeps)
    return _scaled_sum(self, y, beta, alpha)


@TORCH("_euclidean_dist")
def _euclidean_dist(x1: Value, x2: Value) -> Value:
    """Return ``cdist`` as torch computes it for more than 25 points: by one product of matrices."""

    def kernel(x: Value, y: Value) -> Value:
        left, right = (reduce("sum", one * one, -1, keep=True) for one in (x, y))
        turned = [rearrange(one, "... j d -> ... d j") for one in (y, right)]
        return apply("sqrt", apply("relu", left + turned[1] - _matmul(x, turned[0]) * 2))

    return region("distances", kernel, x1, x2, keeps=(Kept("taken"), Kept("taken", 1), Kept("given")))


def _scaled_sum(x: Value, y: Value, beta: Any, alpha: Any) -> Value:
    y = y if alpha == 1 else y * alpha
    return y if beta == 0 else y + (x if beta == 1 else x * beta)


@TORCH("bilinear")
def _bilinear(input1: Value, input2: Value, weight: Value, bias: Value | None = None) -> Value:
    def kernel(x: Value, other: Value, weight: Value) -> Value:
        return contract("... o j, ... j -> ... o", contract("... i, o i j -> ... o j", x, weight), other)

    keeps = (Kept("taken", 0, wanted=(1, 2)), Kept("taken", 1, wanted=(0, 2)), Kept("taken", 2, wanted=(0, 1)))
    y: Value = region("bilinear", kernel, input1, input2, weight, keeps=keeps)
    return y if bias is None else y + bias


@TORCH("linalg_solve_triangular")
def _solve_triangular(self: Value, B: Value, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Value:
    if left:
        return solve(self, B, upper=upper, ones=unitriangular)
    return _turned(solve(_turned(self), _turned(B), upper=not upper, ones=unitriangular))


def _turned(x: Value) -> Value:
    return rearrange(x, "... i j -> ... j i")


@TORCH("linalg_cross")
def _cross(self: Value, other: Value, dim: int = -1) -> Value:
    over = (self.type.axis(dim),)

    def kernel(x: Value, y: Value) -> Value:
        return roll(x, (-1,), over) * roll(y, (-2,), over) - roll(x, (-2,), over) * roll(y, (-1,), over)

    return region("cross product", kernel, self, other, keeps=(Kept("taken", wanted=(1,)), Kept("taken", 1, wanted=(0,))))


# Einstein sums -------------------------------------------------------------------------------------------------------------------


@TORCH("einsum")
def _einsum(equation: str, tensors: Sequence[Value], path: Any = None) -> Value:
    terms, result = _parsed(equation, [one.rank for one in tensors])
    values = list(tensors)
    for place, term in enumerate(terms):
        values[place], terms[place] = _without_diagonals(values[place], term)
    steps = list(path or ())
    while len(values) > 1:
        # Torch takes the pairs of a path from the list and puts their product at its end; without a path it goes from left to right.
        first, second = sorted((steps.pop(0), steps.pop(0))) if steps else (0, 1)
        others = [n for n in range(len(values)) if n not in {first, second}]
        later = {*result, *(letter for n in others for letter in terms[n])}
        both = sorted({*terms[first], *terms[second]} - {*result})
        after = [letter for letter in (*result, *both) if letter in later and letter in {*terms[first], *terms[second]}]
        product = _pair(terms[first], terms[second], after, values[first], values[second])
        order = [*others, None] if path else [None, *others]
        values, terms = ([product if n is None else values[n] for n in order], [after if n is None else terms[n] for n in order])
    return _ordered(*_summed(values[0], terms[0], set(result)), result)


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return the letters of every term and of the result; the axes of dots are numbered from the last one on."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    listed = left.split(",")
    dots = max([0, *(rank - len(term) + 3 for term, rank in zip(listed, ranks, strict=True) if "..." in term)])

    def letters(term: str, count: int) -> list[str]:
        before, found, behind = term.partition("...")
        return [*before, *(f"...{n}" for n in reversed(range(count if found else 0))), *behind]

    terms = [letters(term, rank - len(term) + 3) for term, rank in zip(listed, ranks, strict=True)]
    if arrow:
        return terms, letters(right, dots)
    once = sorted(letter for letter in set(left) - set(",.") if left.count(letter) == 1)
    return terms, [*(f"...{n}" for n in reversed(range(dots))), *once]


def _without_diagonals(x: Value, term: Sequence[str]) -> tuple[Value, list[str]]:
    """Return the diagonal of an array for every letter that a term has twice."""
    letters = list(term)
    for letter in dict.fromkeys(term):
        while letters.count(letter) > 1:
            one = letters.index(letter)
            other = letters.index(letter, one + 1)
            x = record(Diagonal(x.sizes[one], (one, other)), x)
            letters = [each for n, each in enumerate(letters) if n not in {one, other}] + [letter]
    return x, letters


def _pair(one: list[str], other: list[str], after: list[str], x: Value, y: Value) -> Value:
    """Return the product of two terms as torch computes it: sums over an axis of one factor first, without a common sum entry by entry."""
    sizes = [dict(zip(term, value.sizes, strict=True)) for term, value in ((one, x), (other, y))]
    common = [letter for letter in one if letter in other and letter not in after and not any(same(size[letter], 1) for size in sizes)]
    (x, one), (y, other) = (_summed(value, term, {*after, *common}) for value, term in ((x, one), (y, other)))
    if not common:
        return _aligned(x, one, after) * _aligned(y, other, after)
    (x, one), (y, other) = (_merging(*factor, common, [*after, *sorted(common)]) for factor in ((x, one), (y, other)))
    words = {letter: letter if _alike(letter, sizes) else f"...{letter}" for letter in (*one, *other)}
    order = _multiplied(one, other, after, sizes)
    return _ordered(contract(f"{_words(one, words)}, {_words(other, words)} -> {_words(order, words)}", x, y), order, after)


def _merging(x: Value, term: list[str], common: Sequence[str], order: Sequence[str]) -> tuple[Value, list[str]]:
    """Return a factor with the axes that torch sums over in the order of their letters, and others in that of the result.

    Torch merges them to one axis of a matrix, and an order that is not the factor's own needs a copy.
    """
    ordered = sorted(term, key=order.index)
    summed, left = ([letter for letter in term if (letter in common) is gone] for gone in (True, False))
    return (x, term) if [*left, *summed] == ordered else (_aligned(x, term, ordered), ordered)


def _multiplied(one: Sequence[str], other: Sequence[str], after: Sequence[str], sizes: Sequence[Mapping[str, Dim]]) -> list[str]:
    """Return the axes of a product in the order in which torch lays them out: those of both factors, then rows, then columns.

    The factors are exchanged if the result has all columns before all rows (ATen, Linear.cpp, sumproduct_pair).
    """
    left, right = ({letter for letter in term if not same(size[letter], 1)} for term, size in zip((one, other), sizes, strict=True))
    both, rows = left & right, left - right
    columns = {*after} - left
    groups = (both, rows, columns)
    if rows and columns and max(map(after.index, columns)) < min(map(after.index, rows)):
        groups = (both, columns, rows)
    return [letter for group in groups for letter in after if letter in group]


def _alike(letter: str, sizes: Sequence[Mapping[str, Dim]]) -> bool:
    """Return whether an axis has one size in both factors; dots of the vocabulary mark axes that are stretched."""
    return letter.startswith("...") or len({size[letter] for size in sizes if letter in size}) == 1


def _words(term: Sequence[str], words: Mapping[str, str]) -> str:
    return " ".join(words[letter] for letter in term)


def _aligned(x: Value, term: Sequence[str], after: Sequence[str]) -> Value:
    """Return an array with its axes in the order of a result, and axes of size 1 for the letters that it lacks."""
    places = {letter: f"a{n}" for n, letter in enumerate(term)}
    return rearrange(x, f"{' '.join(places.values())} -> {' '.join(places.get(letter, '()') for letter in after)}")


def _summed(x: Value, term: Sequence[str], left: set[str]) -> tuple[Value, list[str]]:
    """Return the sum of an array over the letters that are not left, and the letters that are."""
    single = {n for n, letter in enumerate(term) if letter not in left and same(x.sizes[n], 1)}
    x = reshaped(x, [size for n, size in enumerate(x.sizes) if n not in single])
    term = [letter for n, letter in enumerate(term) if n not in single]
    gone = [n for n, letter in enumerate(term) if letter not in left]
    return (reduce("sum", x, *gone) if gone else x), [letter for letter in term if letter in left]


def _ordered(x: Value, term: Sequence[str], result: Sequence[str]) -> Value:
    return x if list(term) == list(result) else _aligned(x, term, result)


@TORCH("scaled_dot_product_attention", ignored="enable_gqa")
def _attention(
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Value:
    if is_causal and past() == 0 and differ(query.sizes[-2], key.sizes[-2]):
        raise NotYetError("a causal attention with other numbers of queries and keys is not known: torch lets the first query see one key.")
    # Torch takes any number of leading axes; the vocabulary takes a batch and heads.
    q, k, v = (rearrange(_four(one), "b a s d -> b s a d") for one in (query, key, value))
    bias = None if attn_mask is None else _four(attn_mask)
    y = attend(q, k, v, mask=Mask(causal=is_causal), scale=scale, bias=bias, dropout=dropout_p)
    return reshaped(rearrange(y, "b s (a d) -> b a s d", a=q.sizes[2]), (*query.sizes[:-1], value.sizes[-1]))


def _four(x: Value) -> Value:
    """Return an array with exactly four axes, the leading ones merged."""
    lead = x.sizes[:-3]
    return reshaped(x, ((1,) * (4 - x.rank) + x.sizes) if x.rank <= 4 else (canonical(product(lead)), *x.sizes[-3:]))
