"""The tensors that a torch module holds, by name."""

from __future__ import annotations

from typing import Any


def unsaved(module: Any) -> set[str]:
    """Return the names of the buffers that a module does not save."""
    return {f"{path}.{name}".lstrip(".") for path, inner in module.named_modules() for name in inner._non_persistent_buffers_set}


def first_names(module: Any) -> set[str]:
    """Return the names of all parameters and buffers; a module that occurs twice has its first path alone."""
    return {f"{path}.{name}".lstrip(".") for path, inner in module.named_modules() for name in (*inner._parameters, *inner._buffers)}
