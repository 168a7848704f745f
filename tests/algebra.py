"""Recorded formulas as SymPy: the arithmetic of Python, read from its syntax tree, with letters of the reader's choice."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import sympy

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a / b,  # recorded formulas divide where it comes out even
    ast.Pow: lambda a, b: a**b,
}


def formula(text: str, letters: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return a recorded formula; ``letters`` says which symbol each name stands for.

    >>> from paramsym import H
    >>> formula("2*d*d + d", {"d": H})
    2*H**2 + H
    """
    return _read(ast.parse(text, mode="eval").body, letters)


def _read(node: ast.expr, letters: Mapping[str, sympy.Expr]) -> sympy.Expr:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_read(node.left, letters), _read(node.right, letters))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_read(node.operand, letters)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return sympy.Integer(node.value)
    if isinstance(node, ast.Name):
        return letters[node.id]
    message = f"{ast.unparse(node)!r} is no arithmetic."
    raise ValueError(message)
