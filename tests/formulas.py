"""Recorded formulas as SymPy: the arithmetic of Python, read from its syntax tree, with letters of the reader's choice."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import sympy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a / b,  # recorded formulas divide where it comes out even
    ast.Pow: lambda a, b: a**b,
}


_COMPARISONS = {ast.Eq: lambda a, b: a == b, ast.Gt: lambda a, b: a > b}


def formula(text: str, letters: Mapping[str, Any]) -> sympy.Expr:
    """Return a recorded formula; ``letters`` says which symbol each name stands for.

    >>> from paramsym import H
    >>> formula("2*d*d + d", {"d": H})
    2*H**2 + H
    """
    return _read(ast.parse(text, mode="eval").body, letters)


def _read(node: ast.expr, letters: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_read(node.left, letters), _read(node.right, letters))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_read(node.operand, letters)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return sympy.Integer(node.value)
    if isinstance(node, ast.Name):
        return letters[node.id]
    if isinstance(node, ast.Subscript):
        return _read(node.value, letters)[int(_read(node.slice, letters))]
    if isinstance(node, ast.IfExp):
        return _read(node.body if _holds(node.test, letters) else node.orelse, letters)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node.func.id, node.args[0], letters)
    message = f"{ast.unparse(node)!r} is no arithmetic."
    raise ValueError(message)


def _holds(test: ast.expr, letters: Mapping[str, Any]) -> bool:
    """Decide a condition between numbers; a symbol is there, so it is true."""
    if isinstance(test, ast.Compare):
        return bool(_COMPARISONS[type(test.ops[0])](_read(test.left, letters), _read(test.comparators[0], letters)))
    return bool(_read(test, letters) != 0)


def _call(name: str, argument: ast.expr, letters: Mapping[str, Any]) -> Any:
    if name == "int":  # recorded formulas round where it comes out even
        return _read(argument, letters)
    if name == "sum" and isinstance(argument, ast.GeneratorExp):
        (loop,) = argument.generators
        return sympy.Add(*(_read(argument.elt, {**letters, **bound}) for bound in _loop(loop, letters)))
    message = f"{name!r} is no arithmetic."
    raise ValueError(message)


def _loop(loop: ast.comprehension, letters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a loop binds: a number of a range, or the items of a row of a list."""
    if isinstance(loop.iter, ast.Call):
        rows = [(number,) for number in range(int(_read(loop.iter.args[0], letters)))]
    else:
        rows = [row if isinstance(row, (list, tuple)) else (row,) for row in _read(loop.iter, letters)]
    names = [item.id for item in (loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]) if isinstance(item, ast.Name)]
    for row in rows:
        yield {name: sympy.Integer(value) if isinstance(value, int) else value for name, value in zip(names, row, strict=True)}
