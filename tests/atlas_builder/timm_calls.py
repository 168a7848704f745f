"""What timm's functions pass to the constructors of its classes: by this, an architecture is a class with arguments."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from atlas_builder.timm_building import RefusedError, quickly, timm
from timm.models import _builder

_SCALARS = (bool, int, float, str, type(None))
_OF_TORCH = frozenset({"device", "dtype"})


class _PassedError(Exception):
    """A call of a constructor: the class, and the keyword arguments."""


def _stopped(build: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builder that raises what the real one would pass to the class."""

    def stopped(model_cls: type, variant: str, pretrained: bool, **arguments: Any) -> Any:
        def passed(*_: Any, **found: Any) -> None:
            raise _PassedError(model_cls, found)

        return build(passed, variant, pretrained, **arguments)

    return stopped


@contextlib.contextmanager
def _stopping() -> Iterator[None]:
    """Let each module of timm use the builder that stops."""
    real = _builder.build_model_with_cfg
    users = [one for name, one in sys.modules.items() if name.startswith("timm.") and vars(one).get("build_model_with_cfg") is real]
    try:
        for one in users:
            one.build_model_with_cfg = _stopped(real)  # type: ignore[attr-defined]
        yield
    finally:
        for one in users:
            one.build_model_with_cfg = real  # type: ignore[attr-defined]


def passed(name: str, **arguments: Any) -> tuple[type, dict[str, Any]]:
    """Return the class and the arguments that timm gives it for an architecture and arguments of ``create_model``.

    Raises:
        RefusedError: timm's function refuses them, or gives the arguments another way.
    """
    try:
        with quickly(), _stopping():
            timm.create_model(name, **arguments)
    except _PassedError as found:
        network, given = found.args
        return network, {key: _listed(value) for key, value in given.items() if key not in _OF_TORCH}
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        raise RefusedError(f"{type(error).__name__}: {str(error)[:160]}") from None
    raise RefusedError(f"{name} is not built by timm's builder")


@functools.cache
def named() -> Mapping[type, Mapping[str, Mapping[str, Any]]]:
    """Return, for each class, its architectures with the arguments that they pass."""
    found: dict[type, dict[str, dict[str, Any]]] = {}
    for name in timm.list_models():
        with contextlib.suppress(RefusedError):
            network, arguments = passed(name)
            if inspect.isclass(network):
                found.setdefault(network, {})[name] = arguments
    return found


def class_named(name: str) -> type:
    """Return a class by its name."""
    return next(one for one in named() if one.__name__ == name)


def parameters(network: type) -> dict[str, inspect.Parameter]:
    """Return the arguments of a constructor, those that it hands on to the class above included; not those of torch."""
    found: dict[str, inspect.Parameter] = {}
    for one in network.__mro__:
        if "__init__" not in vars(one):
            continue
        stated = list(inspect.signature(one.__init__).parameters.values())[1:]  # type: ignore[misc]
        found |= {each.name: each for each in stated if each.name not in found and each.kind is not each.VAR_KEYWORD}
        if not any(each.kind is each.VAR_KEYWORD for each in stated):
            break
    return {key: one for key, one in found.items() if one.kind is not one.VAR_POSITIONAL and key not in _OF_TORCH}


def defaults_of(network: type) -> dict[str, Any]:
    """Return the defaults of a constructor that JSON can have."""
    found = {key: _listed(one.default) for key, one in parameters(network).items()}
    return {key: value for key, value in found.items() if is_plain(value)}


def is_plain(value: Any) -> bool:
    """Whether JSON can have a value."""
    return all(map(is_plain, value)) if isinstance(value, list) else isinstance(value, _SCALARS)


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value
