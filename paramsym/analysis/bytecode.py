"""A program as a Python function of ordinary sizes, for a closed form that is asked again and again.

The function is put together from the nodes of a syntax tree, whose only names are numbered registers: no text is read or run. It knows no
errors: what it has no plain answer for it hands back as None, and ``Program.run`` says what is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import TypeAlias, cast

from paramsym.analysis.program import LONGEST_POWER, QUOTIENTS, Kind, Program, reached

Quick: TypeAlias = Callable[..., int | None]
_Pair: TypeAlias = Callable[[ast.expr, ast.expr], ast.expr]


def function_of(program: Program) -> Quick:
    """Return a function of one int per input, in order: the exact value, or None where something has to be looked at.

    That is a size which is not an int or is below 1, a condition that does not hold, or a power too long to write down.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> from paramsym.analysis.program import compiled
    >>> count = function_of(compiled(MultiHeadAttention(H, A)))
    >>> count(12, 768), count(12, 770), count(12, 768.0)
    (2362368, None, None)
    """
    sizes = [_register(place) for place in range(len(program.inputs))]
    constants = dict(enumerate(program.constants, len(sizes)))
    asked = {place for kind, *pair in program.steps if kind in _REFUSED or kind in _DIVIDING for place in pair}
    wanted = reached(program.steps, program.first, {program.result, *asked})

    def read(place: int) -> ast.expr:
        return ast.Constant(constants[place]) if place in constants else _register(place)

    body: list[ast.stmt] = [_hand_back(ast.UnaryOp(ast.Not(), _all_sizes(sizes)))] if sizes else []
    for place, (kind, left, right) in enumerate(program.steps, program.first):
        if kind in _DIVIDING and right >= len(sizes):  # a size is 1 or more
            body.append(_hand_back(ast.UnaryOp(ast.Not(), read(right))))
        if kind in _REFUSED:
            body.append(_hand_back(_REFUSED[kind](read(left), read(right))))
        if place in wanted:
            body.append(ast.Assign([_register(place, ast.Store())], _VALUE[kind](read(left), read(right))))
    tree = ast.parse("def count(): pass")
    function = cast("ast.FunctionDef", tree.body[0])
    function.args.args = [ast.arg(register.id) for register in sizes]
    function.body = [*body, ast.Return(read(program.result))]
    code = compile(ast.fix_missing_locations(tree), "<closed form>", "exec")
    inner = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return FunctionType(inner, {"int": int, "type": type})


def _register(place: int, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(f"r{place}", context or ast.Load())


def _hand_back(where: ast.expr) -> ast.stmt:
    return ast.If(where, [ast.Return(ast.Constant(None))], [])


def _all_sizes(sizes: list[ast.Name]) -> ast.expr:
    """Whether all are ints, exactly (True is none), and 1 or more."""
    types: list[ast.expr] = [ast.Call(ast.Name("type", ast.Load()), [size], []) for size in sizes]
    ints = ast.Compare(ast.Name("int", ast.Load()), [ast.Is()] * len(types), types)
    return ast.BoolOp(ast.And(), [ints, *(ast.Compare(size, [ast.GtE()], [ast.Constant(1)]) for size in sizes)])


def _operator(one: ast.operator) -> _Pair:
    return lambda left, right: ast.BinOp(left, one, right)


def _comparison(one: ast.cmpop) -> _Pair:
    return lambda left, right: ast.Compare(left, [one], [right])


def _chosen(one: ast.cmpop) -> _Pair:
    return lambda left, right: ast.IfExp(ast.Compare(left, [one], [right]), left, right)


def _too_long(left: ast.expr, right: ast.expr) -> ast.expr:
    bits = ast.BinOp(right, ast.Mult(), ast.Call(ast.Attribute(left, "bit_length", ast.Load()), [], []))
    return ast.UnaryOp(ast.Not(), ast.Compare(ast.Constant(0), [ast.LtE(), ast.LtE()], [bits, ast.Constant(LONGEST_POWER)]))


_VALUE: Mapping[Kind, _Pair] = {
    "add": _operator(ast.Add()),
    "sub": _operator(ast.Sub()),
    "mul": _operator(ast.Mult()),
    "floordiv": _operator(ast.FloorDiv()),
    **dict.fromkeys(QUOTIENTS, _operator(ast.FloorDiv())),
    "mod": _operator(ast.Mod()),
    "max": _chosen(ast.GtE()),
    "min": _chosen(ast.LtE()),
    "pow": _operator(ast.Pow()),
}
_DIVIDING: frozenset[Kind] = frozenset({"floordiv", "mod", *QUOTIENTS})
_REFUSED: Mapping[Kind, _Pair] = {
    **dict.fromkeys(QUOTIENTS, _operator(ast.Mod())),
    "most": _comparison(ast.Gt()),
    "equal": _comparison(ast.NotEq()),
    "differ": _comparison(ast.Eq()),
    "pow": _too_long,
}
