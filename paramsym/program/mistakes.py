"""Errors for mistakes in forward passes, found by an operation, a traced array, or Python itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from paramsym.errors import ArgumentError, StructureError
from paramsym.naming import nearest

if TYPE_CHECKING:
    from paramsym.program.statement import Statement

_MOVE, _OVER, _EACH = 'rearrange(x, "b s h -> b h s")', 'reduce("mean", x, -1)', 'apply("exp", x)'
INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("T", "transpose", "permute", "reshape", "view", "flatten", "squeeze", "unsqueeze", "swapaxes"), _MOVE),
    **dict.fromkeys(("mean", "sum", "max", "prod"), _OVER),
    **dict.fromkeys(("exp", "log", "sqrt", "abs", "tanh", "sigmoid", "relu"), _EACH),
    **dict.fromkeys(("dot", "matmul", "mm", "bmm"), 'contract("... i, o i -> ... o", x, own.weight)'),
    **dict.fromkeys(("split", "chunk"), "segments(x)"),
    **dict.fromkeys(("size", "ndim", "dim"), "x.sizes or x.rank"),
    "softmax": "softmax(x)",
    "repeat": "copies(x, times, axis)",
}
"""What to write instead of methods of NumPy and torch arrays."""
_ANY = "an operation of paramsym.program"


def unknown(name: str) -> StructureError:
    """Return the error for a method or property that traced arrays do not have."""
    return StructureError(f"an array of a forward pass has no {name!r}; write {INSTEAD.get(name, _ANY)}.")


def check_word(word: str, known: Iterable[str], what: str) -> None:
    """Raise ``ArgumentError`` for an unknown word in an operation; the message has the nearest one."""
    names = tuple(known)
    if word not in names:
        near = nearest(word, names)
        raise ArgumentError(f"{word!r} is not a known {what}{f'; did you mean {near[0]!r}?' if near else '.'} Known: {', '.join(names)}.")


def refused(what: str, instead: str) -> Callable[..., NoReturn]:
    """Return the method of an operator that traced arrays do not have."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise StructureError(f"{what} is not an operation of forward passes; write {instead}.")

    return refuse


def explained(layer: Statement, error: Exception) -> StructureError | None:
    """Return a clearer error for a forward pass; None if the error is clear already."""
    forward, words = f"{type(layer).__name__}.forward", str(error)
    name: Any = getattr(error, "name", None)
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is layer and isinstance(name, str):
        stored = {tensor.name for tensor in layer.own_tensors} | {part.name for part in layer.own_parts}
        return StructureError(f"{forward} reads self.{name}, which is not a field; write own.{name}.") if name in stored else None
    if words.startswith("cannot determine truth value"):
        return StructureError(
            f"{forward} branches on a size that is a letter, {words.partition(': ')[2]}; branch on a flag, or state it in conditions()."
        )
    if "cannot be interpreted as an integer" in words or words.startswith("Cannot convert"):
        return StructureError(
            f"{forward} needs the number of a size that is a letter ({words}); a loop is a Repeat or scan(...), a root size**0.5."
        )
    return None
