"""The Python that builds a model, as its reader types it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import paramsym
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError
from paramsym.loading import load


def published_name(root: Layer, sizes: Mapping[str, int]) -> str:
    """Return the published name of these sizes; empty if they have none.

    >>> gpt2 = load("gpt2")
    >>> published_name(gpt2.origin[0], {symbol.name: size for symbol, size in gpt2.sizes.items()})
    'gpt2'
    """
    for name in getattr(root, "published", ()):
        try:
            found, its = load(name).origin
        except ParamsymError:
            continue
        if found == root and {symbol.name: size for symbol, size in its.items()} == sizes:
            return str(name)
    return ""


def python(root: Layer) -> str:
    """Return an expression that builds the layer after ``import paramsym as ps``; empty if it has none, as for a module that was read.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> python(MultiHeadAttention(H, A))
    'ps.MultiHeadAttention(H, A)'
    """
    recorded = getattr(root, "model_type", "")
    if recorded:
        try:
            return f"ps.load({recorded!r})" if load(recorded).origin[0] == root else ""
        except ParamsymError:
            return ""
    try:
        written = ast.parse(repr(root), mode="eval")
    except SyntaxError:
        return ""
    homes = _Homes({symbol.name for symbol in root.symbols})
    named = ast.unparse(homes.visit(written))
    return "" if homes.unknown else named


class _Homes(ast.NodeTransformer):
    """Puts the home of every class before its name."""

    def __init__(self, letters: set[str]) -> None:
        self.letters, self.unknown = letters, False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.letters:
            return node
        home = next((one for one, names in (("ps", dir(paramsym)), ("ps.models", dir(paramsym.models))) if node.id in names), "")
        self.unknown |= not home
        return ast.parse(f"{home}.{node.id}", mode="eval").body if home else node
