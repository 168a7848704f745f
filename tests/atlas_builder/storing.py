"""What a torch module stores: every tensor of its state dict, with its kind and its shape."""

from __future__ import annotations

from typing import Any


def stored(model: Any) -> dict[str, tuple[str, Any]]:
    """Return every tensor of a model's state dict, and the parameters that are in none of its files."""
    found: dict[str, tuple[str, Any]] = {}
    first: dict[int, str] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        for name, parameter in module._parameters.items():
            if parameter is None:
                continue
            whole = dot + name
            known = first.setdefault(id(parameter), whole)
            if known != whole:
                found[whole] = ("tie", known)
            else:
                found[whole] = ("parameter" if parameter.requires_grad else "frozen", tuple(parameter.shape))
        for name, buffer in module._buffers.items():
            if buffer is not None and name not in module._non_persistent_buffers_set:
                found[dot + name] = ("buffer", tuple(buffer.shape))
    return found
