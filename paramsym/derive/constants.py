"""The whole numbers in the code of a build: a law may change there, so these sizes are tried.

Random sizes would miss a comparison such as ``width > 4096``, but the compiled code contains it; no code is run to find it.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_MOST_FUNCTIONS = 400
_LARGEST = 1 << 40
_MOST_ENTRIES = 200
_FRAMEWORKS = frozenset({
    "torch", "keras", "flax", "jax", "numpy", "tensorflow", "transformers", "sympy", "paramsym", "math", "builtins",
    "pytest", "_pytest",  # in asserts that pytest rewrites
})  # fmt: skip


def constants_in(build: Any) -> tuple[int, ...]:
    """Return the whole numbers in the code of a function or class and of all the user's code that it names, the smallest first.

    >>> def build(width):
    ...     return {"w": (width if width < 4096 else 2 * width,)}
    >>> constants_in(build)
    (2, 4096)
    """
    found: set[int] = set()
    waiting: list[Any] = [build]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        thing = waiting.pop()
        if isinstance(thing, int):
            found.add(abs(thing))
            continue
        if id(thing) in seen or (thing is not build and _foreign(thing)):
            continue
        seen.add(id(thing))
        waiting.extend(_inside(thing))
        code = getattr(thing, "__code__", None)
        if isinstance(code, CodeType):
            held = getattr(thing, "__defaults__", None) or ()
            waiting.extend(number for value in (*held, *(getattr(thing, "__kwdefaults__", None) or {}).values()) for number in _held(value))
            for inner in _codes(code):
                found.update(_numbers(inner))
                waiting.extend(_named(inner, thing))
    return tuple(sorted(number for number in found if 2 <= number <= _LARGEST))


def _foreign(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    root = str(module).partition(".")[0]
    return isinstance(thing, ModuleType) or root in _FRAMEWORKS or root in sys.stdlib_module_names - {"__main__"}


def _inside(thing: Any) -> Iterator[Any]:
    if isinstance(thing, type):
        for held in vars(thing).values():
            if isinstance(held, FunctionType | staticmethod | classmethod | property):
                yield getattr(held, "__func__", None) or getattr(held, "fget", None) or held
        yield from thing.__bases__
    elif isinstance(thing, MethodType):
        yield thing.__func__
    elif not isinstance(thing, FunctionType):
        if hasattr(thing, "func"):  # functools.partial
            yield thing.func
        called = vars(type(thing)).get("__call__")
        if isinstance(called, FunctionType):
            yield called


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _numbers(code: CodeType) -> Iterator[int]:
    values = [*code.co_consts, *(i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_SMALL_INT")]
    while values:
        value = values.pop()
        if isinstance(value, tuple | frozenset):
            values.extend(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < _LARGEST:  # noqa: PLR0124 - not NaN
            yield int(abs(value))


def _named(code: CodeType, function: Any) -> Iterator[Any]:
    """Yield the functions and classes that a code names, in its globals and closure."""
    scope = getattr(function, "__globals__", {})
    closure = getattr(function, "__closure__", None) or ()
    held = [cell.cell_contents for cell in closure if _filled(cell)]
    for value in [*(scope[name] for name in code.co_names if name in scope), *held]:
        if isinstance(value, FunctionType | MethodType | type):
            yield value
        else:
            yield from _held(value)
    for name in code.co_names:  # helpers in a named module: `blocks.Attention`
        for value in [scope[other] for other in code.co_names if isinstance(scope.get(other), ModuleType)]:
            inner = getattr(value, name, None)
            if isinstance(inner, FunctionType | type) and not _foreign(inner):
                yield inner


def _held(value: Any) -> Iterator[int]:
    """Yield the whole numbers in a global or a closure, including those in tables."""
    entries = (
        [*value, *value.values()] if isinstance(value, dict) else [*value] if isinstance(value, list | tuple | set | frozenset) else [value]
    )
    yield from (entry for entry in entries[:_MOST_ENTRIES] if isinstance(entry, int) and not isinstance(entry, bool))


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - asking is the test
    except ValueError:
        return False
    return True
