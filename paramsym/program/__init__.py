"""What a layer computes: its forward pass, traced once into a program, a small immutable value.

A forward pass is ordinary Python over the operations of ``vocabulary``, which are names of this package. Each operation is one class in the
file of its kind; the class states its output shape, its work, and how it runs on arrays. A closed form needs none of them, so they are
loaded with the first one that is used; layers say ``ops.contract`` in their passes, where ``ops`` is this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramsym.program.vocabulary import *  # noqa: F403 - the same names


def __getattr__(name: str) -> object:
    if not name.startswith("__"):
        found = vars(import_module("paramsym.program.vocabulary"))
        globals().update({public: value for public, value in found.items() if not public.startswith("_")})
        if name in found:
            return found[name]
    message = f"module 'paramsym.program' has no attribute {name!r}"
    raise AttributeError(message, name=name)


def __dir__() -> list[str]:
    __getattr__("Value")
    return sorted(globals())
