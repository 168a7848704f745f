"""Reading a live module as a layer, and deriving the closed form of a build from its results."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This package, which can be called like the function ``derive`` of the same name, so that importing it does not hide ``ps.derive``."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from paramsym.read.deriving import derive

        return derive(*arguments, **named)


sys.modules[__name__].__class__ = _Room
