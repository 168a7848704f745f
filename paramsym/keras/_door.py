"""A door: a function with Keras' name and arguments that returns the layer here."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any, TypeAlias

from sympy import Basic

from paramsym.algebra.size import Dim, size
from paramsym.core.fields import field_names
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, SizeError
from paramsym.keras._arguments import CALLED, PER_AXIS, READ, Reader, entries, wrong
from paramsym.naming import quoted

Shape: TypeAlias = tuple[Dim | None, ...]
_EVERY_LAYER = frozenset({"activity_regularizer", "autocast", "dtype", "name", "trainable"})
DOORS: dict[str, Door] = {}
"""The functions of all layers, by Keras' name."""


@dataclass(frozen=True)
class Given:
    """The arguments of a call, under Keras' names and with checked values."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.values[name]

    def named(self, kind: Any) -> dict[str, Any]:
        """Return the arguments that the layer has, under its names; all others change neither storage nor computation."""
        known = field_names(kind)
        ours = {name: [called for called in CALLED.get(name, (name,)) if called in known] for name in self.values}
        return {called[0]: self.values[name] for name, called in ours.items() if called}


class Door:
    """A Keras layer as a callable: it takes Keras' arguments and returns the layer, or, without ``input_shape``, an unbuilt layer.

    ``takes`` are the arguments with their defaults, ``keywords`` keyword-only arguments after them, ``rank`` is the number of spatial axes.
    ``opens`` builds the layer from the values and the input shape; its name and docstring are used, unless others are given. ``complete``
    checks the values, as Keras does before an input, and returns whether the layer needs no input shape.
    """

    def __init__(
        self,
        opens: Callable[[Given, Any], Layer],
        takes: Mapping[str, Any],
        keywords: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        says: str = "",
        rank: int = 0,
        reads: Mapping[str, Reader] | None = None,
        complete: Callable[[Given], object] = lambda _: False,
    ) -> None:
        self.__name__ = self.__qualname__ = name or opens.__name__
        self.__doc__ = says or opens.__doc__
        self.__module__ = "paramsym.keras"
        asked = [Parameter(one, Parameter.POSITIONAL_OR_KEYWORD, default=default) for one, default in takes.items()]
        more = {**(keywords or {}), "input_shape": None}
        named = [Parameter(one, Parameter.KEYWORD_ONLY, default=default) for one, default in more.items()]
        self.__signature__ = Signature([*asked, *named, Parameter("base", Parameter.VAR_KEYWORD)])
        self._opens, self._complete, self._rank, self._reads = opens, complete, rank, {**READ, **(reads or {})}
        DOORS[self.__name__] = self

    def __repr__(self) -> str:
        return f"<keras.{self.__name__}>"

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Return the layer, or an unbuilt layer without its input shape.

        Raises:
            ParamsymError: arguments that Keras refuses.
            TypeError: too many or too few arguments.
        """
        where = f"keras.{self.__name__}"
        try:
            bound = self.__signature__.bind(*positional, **named)
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        input_shape, base = values.pop("input_shape"), values.pop("base")
        with _located(where):
            trainable = _trainable(base, quantised="quantization_config" in values)
            given = Given({**base, **{name: self._read(name, value) for name, value in values.items()}})
            complete = self._complete(given)

        def build(shape: Any) -> Layer:
            with _located(where):
                layer = self._opens(given, shape)
            return layer if trainable else layer.freeze()

        return build(input_shape) if complete or input_shape is not None else Unbuilt(self.__name__, build, {**base, **values})

    def _read(self, name: str, value: Any) -> Any:
        if isinstance(value, Basic) and isinstance(self.__signature__.parameters[name].default, bool):  # the truth of H > F is unknown
            _check_flag(name, value)
        value = entries(value, self._rank, name) if name in PER_AXIS else value
        return self._reads[name](value, name) if name in self._reads else value


def door(
    takes: Mapping[str, Any], keywords: Mapping[str, Any] | None = None, **more: Any
) -> Callable[[Callable[[Given, Any], Layer]], Door]:
    """Make a door of a function that builds the layer."""
    return lambda opens: Door(opens, takes, keywords, **more)


def anywhere(_: Given) -> bool:
    """Return True: the layer needs no input shape."""
    return True


@contextmanager
def _located(where: str) -> Generator[None]:
    """Add the name of the layer to an error that has no origin yet."""
    try:
        yield
    except ParamsymError as error:
        if hasattr(error, "where"):
            raise
        located = type(error)(f"{where}: {error}")
        located.where = where  # type: ignore[attr-defined]
        raise located from None


@dataclass(frozen=True)
class Unbuilt:
    """A layer without its input shape; ``build(input_shape)`` gives the layer, as Keras builds on first use.

    ``options`` are the arguments, which a wrapper reads: ``name``, ``go_backwards``.

    >>> import paramsym as ps
    >>> waiting = ps.keras.Dense(4)
    >>> waiting.build((None, 3)).params
    16
    """

    name: str
    build: Callable[[Any], Layer]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<keras.{self.name} waiting for its input_shape>"

    def __getattr__(self, asked: str) -> Any:
        """Raise the error for an attribute that needs the input shape, such as a count or a table."""
        message = f"keras.{self.__dict__.get('name')} has no {asked!r} before its input shape is known: give it input_shape=(None, ...)."
        raise AttributeError(message)


def _trainable(base: Mapping[str, Any], *, quantised: bool) -> bool:
    """Check the arguments that every Keras layer has; of these, only ``trainable`` changes what is stored.

    Raises:
        ArgumentError: an argument that the layer does not have.
        NotYetError: a quantised ``dtype`` such as "int8_from_float32" for a layer that then stores other tensors.
    """
    unknown = sorted(set(base) - _EVERY_LAYER)
    if unknown:
        raise ArgumentError(f"the layer has no argument {unknown[0]!r}.")
    dtype, trainable = base.get("dtype"), base.get("trainable", True)
    if quantised and isinstance(dtype, str) and "_from_" in dtype:
        raise NotYetError(f"dtype {quoted(dtype)} stores a quantised kernel and its scales, which this library does not support yet.")
    _check_flag("trainable", trainable)
    return bool(trainable)


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise wrong(value, name, "True or False")


def shape_of(input_shape: object, rank: int | None = None, name: str = "input_shape") -> Shape:
    """Return an input shape as a checked tuple; unknown extents are None."""
    if isinstance(input_shape, str | Mapping) or not isinstance(input_shape, Sequence):
        raise wrong(input_shape, name, "a tuple such as (None, 10, 16), batch first")
    checked = tuple(None if extent is None else size(extent, f"{name}[{i}]") for i, extent in enumerate(input_shape))
    if rank is not None and len(checked) != rank:
        raise ArgumentError(f"{name} {checked} has {len(checked)} axes; wanted {rank}, batch first.")
    return checked


def axis_size(shape: Shape, axis: int) -> Dim:
    """Return the extent of an axis on which the weights depend; it must be known."""
    if not -len(shape) <= axis < len(shape):
        raise ArgumentError(f"axis {quoted(axis)} is outside the input shape {shape}.")
    extent = shape[axis]
    if extent is None:
        raise SizeError(f"axis {axis} of the input shape {shape} is None, but the weights depend on it; give a size or a symbol.")
    return extent
