"""Parameter counts as algebra: every layer states its tensors with symbolic shapes, everything else follows.

Names are loaded when they are first used, so that importing the package costs next to nothing; SymPy is imported by the first name that
needs it. The list of names is ``__init__.pyi``.
"""

from __future__ import annotations

import sys
from importlib import import_module

__version__ = "0.1.0"

_HOME_OF: dict[str, str] = {}


def _home_of() -> dict[str, str]:
    """Return the module of each public name: the package itself for a room, and the other name for an alias."""
    if not _HOME_OF:
        module = alias = before = ""
        for word in __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode().split():  # also from an archive
            if before == "from":
                module = word
            elif before == "as":
                _HOME_OF[word.rstrip(",")] = module
            elif before == "=":
                _HOME_OF[alias] = word
            alias, before = before, word
    return _HOME_OF


def __getattr__(name: str) -> object:
    homes = _home_of()
    if name == "__all__":  # a star import brings no submodules: it must not replace a user's own `keras`
        return [public for public, home in homes.items() if home != "paramsym"]
    if name not in homes:
        message = f"module 'paramsym' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # so that Python adds the nearest name
    home = homes[name]
    if home == "paramsym":
        return import_module(f"paramsym.{name}")
    value = __getattr__(home) if home in homes else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_home_of(), "__version__"])
