"""``explain``: the derivation of a count in one symbol: why the symbol cancels, or through which tensors it stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, per, symbols_in
from paramsym.algebra.symbols import BY_NAME
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.counted import Counted, check_counted, holder, lines as lines_of, title, total, words as words_of
from paramsym.analysis.explain import lecture, sentences
from paramsym.analysis.explain.derivation import Product, Step, Sum
from paramsym.analysis.explain.explanation import Explanation
from paramsym.analysis.explain.groups import Group, grouped, quotients, tensors
from paramsym.analysis.explain.sentences import aside
from paramsym.analysis.formula import formula_of, one_more
from paramsym.analysis.meaning import meaning
from paramsym.analysis.named import named
from paramsym.arguments import known_word
from paramsym.errors import ArgumentError
from paramsym.naming import quoted

STYLES: dict[str, Any] = {"terms": sentences, "lecture": lecture}
"""The modules of the sentences."""


def explain(layer: Counted, symbol: Symbol | str, *, style: str = "terms") -> Explanation:
    """Derive how the count of a layer, or a cost, depends on a symbol: tensor by tensor, operation by operation.

    The steps have the sentences of a list of terms; with ``style="lecture"`` they have those of a lecture.

    On a layer with sizes put in, the formula is explained and the numbers are shown beside it. ``symbol`` may also be
    the name of an argument, such as ``"num_heads"``: it means what was passed for it, a symbol or a number.

    Raises:
        ArgumentError: neither a layer nor a cost, not a symbol, or an unknown style.
        UnknownNameError: a name that is neither the layer's nor a shared letter, or a different symbol of the same name.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> why = explain(MultiHeadAttention(H, A), A)
    >>> why.cancels, why.derivative
    (True, 0)
    >>> print(why.verdict)
    A (number of attention heads) cancels from the count of MultiHeadAttention. It enters 3 of 4 tensors, always as A slices of width H/A, \
and cancels in every sum.
    >>> print(explain(MultiHeadAttention(H, A), A, style="lecture").steps[0].words)
    Each head has width H/A; A of them give H. So A cancels from in_proj_weight [query, key, value].
    >>> explain(MultiHeadAttention(768, 12), "num_heads").derivative
    0
    >>> from paramsym import B, S, activations
    >>> explain(activations(MultiHeadAttention(H, A, batch_first=True), (B, S, H)), A).derivative  # attention scores kept for training
    4*B*S**2
    """
    check_counted(layer)
    style = known_word("style", style, STYLES)
    root, sizes = named(layer, symbol if isinstance(symbol, str) else "").origin
    found = _symbol(root, symbol)
    lines = lines_of(root)
    closed = root.polynomial.as_expr()
    entered = [
        line for line in lines if found in set(symbols_in((line.factors, line.stored, tuple((s.start, s.count) for s in line.spans))))
    ]
    groups = tuple(grouped(entered))
    in_steps = bool(root.polynomial.steps(found))
    derivative = (one_more(root.polynomial, found) if in_steps else root.polynomial.diff(found)).as_expr()
    return Explanation(
        title(root),
        found,
        closed,
        derivative,
        tuple(_steps(root, found, groups, derivative, sizes, STYLES[style])),
        groups,
        tensors(lines),
        tuple(sizes.items()),
        meaning=meaning(found, holder(root)),
        aside="" if groups else aside(root, found, [] if root is layer.origin[0] else [symbol.name for symbol in sizes]),
        in_steps=in_steps,
        spoken=words_of(root),
    )


def _symbol(layer: Counted, symbol: Symbol | str) -> Symbol:
    if not isinstance(symbol, Symbol | str):
        raise ArgumentError(f"wanted a symbol or its name, not {quoted(symbol)}.")
    name = symbol if isinstance(symbol, str) else symbol.name
    if name not in {known.name for known in layer.symbols}:
        if isinstance(symbol, Symbol):
            return symbol
        given = next((one for one in layer.symbols if holder(layer).argument_of(one) == name), None)
        if given is not None:
            return given
        if name in BY_NAME:
            return BY_NAME[name].symbol
    return symbol_of(type(holder(layer)).__name__, symbol, layer.symbols)


def _steps(
    layer: Counted, symbol: Symbol, groups: tuple[Group, ...], derivative: Expr, sizes: dict[Symbol, Dim], say: Any
) -> Iterator[Step]:
    closed = layer.polynomial.as_expr()
    terms: list[tuple[int, Product]] = []
    for place, group in enumerate(groups):
        left = Sum(((len(group.lines), group.product),))
        yield Step(say.of_group(group, symbol, words_of(layer), groups[:place]), left, group.amount.as_expr(), _numbers(left, sizes))
        terms.append((1, Product((group.amount.as_expr(),))))
    inside = {id(line) for group in groups for line in group.lines}
    rest = total(line for line in lines_of(layer) if id(line) not in inside)
    if groups:
        yield from _chain_rule(groups, symbol, derivative, sizes, say)
    else:
        terms.extend((1, Product((amount.as_expr(),))) for amount in formula_of(layer).parts.values())
    if rest and groups:
        terms.append((1, Product((rest.as_expr(),))))
    yield Step(
        say.together(symbol, entered=bool(groups), rest=bool(rest)),
        Sum(tuple(terms)),
        closed,
        _numbers(Sum(((1, Product((closed,))),)), sizes),
    )


def _chain_rule(groups: tuple[Group, ...], symbol: Symbol, derivative: Expr, sizes: dict[Symbol, Dim], say: Any) -> Iterator[Step]:
    """Split the derivative into the direct effect and the effect through quotients: one more head, and thinner heads."""
    if not any(True for group in groups for _ in quotients(group.factors, symbol)):
        return
    terms: dict[bool, list[Polynomial]] = {False: [], True: []}
    for group in groups:
        if any(line.spans for line in group.lines):
            return
        for position, factor in enumerate(group.factors):
            if not isinstance(factor, Expr) or symbol not in factor.free_symbols:
                continue
            size = Polynomial.of(factor)
            if size.steps(symbol):
                return
            slope = size.diff(symbol)
            others = Polynomial.product((*group.factors[:position], *group.factors[position + 1 :], len(group.lines)))
            terms[bool(factor.atoms(per))].append(slope * others)
    direct, through = (Polynomial.total(terms[kind]).as_expr() for kind in (False, True))
    left = Sum(tuple((1, Product((side,))) for side in (direct, through) if side != 0))
    if Polynomial.of(direct) + Polynomial.of(through) != Polynomial.of(derivative):
        return
    yield Step(say.two_parts(groups, symbol), left, derivative, _numbers(left, sizes))


def _numbers(left: Sum, sizes: dict[Symbol, Dim]) -> str:
    """Write a sum with sizes put in and its value, if every symbol has a size."""
    if not sizes:
        return ""
    placed = Sum(tuple((times, product.at(sizes)) for times, product in left.terms))
    value = placed.value.constant
    if not isinstance(value, int):
        return ""
    return f"{placed} = {value:,}" if str(placed) != str(value) else f"= {value:,}"
