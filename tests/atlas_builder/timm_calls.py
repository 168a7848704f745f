"""What timm's functions pass to the constructors of its classes: by this, an architecture is a class with arguments.

Some constructors take a dataclass ``cfg``, and further arguments in the place of its fields. Here its fields are arguments as well; those
of a dataclass inside, such as ``conv_cfg``, have the beginning of its name in front: ``conv_kernel_size``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, get_type_hints

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
        opened = {**_opened(given["cfg"]), **given} if _has_cfg(network) else given
        return network, {key: _listed(value) for key, value in opened.items() if key not in {*_OF_TORCH, "cfg"}}
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
    if _has_cfg(network):
        found = {**_fields_of(_cfg_of(network)), **found}
        del found["cfg"]
    return {key: one for key, one in found.items() if one.kind is not one.VAR_POSITIONAL and key not in _OF_TORCH}


def _has_cfg(network: type) -> bool:
    """Whether a constructor takes a dataclass, and the fields of it that change."""
    if not inspect.isclass(network):
        return False
    stated = inspect.signature(network.__init__).parameters  # type: ignore[misc]
    takes_fields = any(one.kind is one.VAR_KEYWORD for one in stated.values())
    return "cfg" in stated and takes_fields and dataclasses.is_dataclass(_cfg_of(network))


@functools.cache
def _cfg_of(network: type) -> Any:
    return get_type_hints(network.__init__).get("cfg")  # type: ignore[misc]


def _inside(of_cfg: type) -> dict[str, type]:
    """Return the dataclasses inside one, under what is in front of their fields."""
    hints = get_type_hints(of_cfg)
    names = [one.name for one in fields(of_cfg) if one.name.endswith("_cfg") and dataclasses.is_dataclass(hints[one.name])]  # type: ignore[arg-type]
    return {name.removesuffix("cfg"): hints[name] for name in names}


@functools.cache
def _fields_of(of_cfg: type) -> dict[str, inspect.Parameter]:
    """Return the fields of a dataclass, and of those inside, as arguments."""
    hints, inside = get_type_hints(of_cfg), _inside(of_cfg)
    found: dict[str, inspect.Parameter] = {}
    for one in fields(of_cfg):  # type: ignore[arg-type]
        prefix = one.name.removesuffix("cfg")
        if prefix in inside:
            found |= {f"{prefix}{key}": each.replace(name=f"{prefix}{key}") for key, each in _fields_of(inside[prefix]).items()}
            continue
        default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
        empty = inspect.Parameter.empty
        plain = empty if default is dataclasses.MISSING else default
        found[one.name] = inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=plain, annotation=hints[one.name])
    return found


def _opened(cfg: Any) -> dict[str, Any]:
    """Return the values of the fields of a dataclass, and of those inside."""
    found: dict[str, Any] = {}
    for one in fields(cfg):
        value, prefix = getattr(cfg, one.name), one.name.removesuffix("cfg")
        if prefix in _inside(type(cfg)):
            found |= {f"{prefix}{key}": inner for key, inner in _opened(value).items()}
        else:
            found[one.name] = value
    return found


def defaults_of(network: type) -> dict[str, Any]:
    """Return the defaults of a constructor that JSON can have."""
    found = {key: _listed(one.default) for key, one in parameters(network).items()}
    return {key: value for key, value in found.items() if is_plain(value)}


def is_plain(value: Any) -> bool:
    """Whether JSON can have a value."""
    return all(map(is_plain, value)) if isinstance(value, list) else isinstance(value, _SCALARS)


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value
