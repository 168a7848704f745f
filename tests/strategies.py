"""Hypothesis strategies for layers: every public layer is found by itself and built from the annotations of its own fields.

A required size becomes a symbol named after its field, an optional argument keeps its default or takes another value its annotation
allows. So a new layer meets every law by existing; ``SEEDS`` holds the few classes whose required fields cannot be guessed.
"""

from __future__ import annotations

import copy
import pickle
import typing
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from amount import ALL
from doors import Door, doors
from hypothesis import assume, strategies as st
from sympy import Expr, Integer, Symbol

import paramsym as ps
from paramsym.errors import ParamsymError

d, e, f, n = ps.dims("d e f n")
SEEDS: dict[str, tuple[Any, ...]] = {
    "Sequential": (ps.Dense(d, e), ps.Dense(e, f)),
    "Block": ({"up": ps.Dense(d, e), "down": ps.Dense(e, f)},),
    "EinsumDense": ("abc,cde->abde", (None, e, f), (None, n, d), "de"),
    "FractionalMaxPool2d": (2, 3),
    "FractionalMaxPool3d": (2, 3),
    "Permute": ((2, 1),),
    "Upsample": (4,),
    "UpsamplingBilinear2d": (4,),
    "UpsamplingNearest2d": (4,),
    "Residual": (ps.Dense(d, d),),
    "SkipConnection": (ps.Dense(d, d), -1),
    "Repeat": (ps.Dense(d, d), n),
    "Runs": ((ps.Dense(d, d), n), (ps.Dense(d, 3), e)),
    "Shared": (ps.Dense(d, d), n),
    "Tied": (ps.Sequential(ps.Embedding(n, d), ps.Dense(d, n, bias=False)), {"1.weight": "0.weight"}),
}
"""Positional arguments of the composites, whose fields are other layers, and of the layers whose fields must fit each other."""

VALUES = (1, 2, 3, 4, 6, 8, 12, 24)


@cache
def layer_classes() -> tuple[type[ps.Layer], ...]:
    """Return every class of layers that is public at the top or in its own file, aliases once."""
    files = [import_module(f"paramsym.layers.{file.name}") for file in iter_modules(import_module("paramsym.layers").__path__)]
    found = [getattr(ps, name) for name in dir(ps)]
    found += [
        thing
        for file in files
        for name, thing in vars(file).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == file.__name__
    ]
    classes = {thing for thing in found if isinstance(thing, type) and issubclass(thing, ps.Layer) and thing is not ps.Layer}
    return tuple(sorted((cls for cls in classes if "__dataclass_fields__" in vars(cls)), key=lambda cls: cls.__name__))


Subject: TypeAlias = "type[ps.Layer] | Door"
"""What the laws are about: a class of layers, or a Keras door to some."""


@cache
def subjects() -> tuple[Subject, ...]:
    """Return every class and every door."""
    return (*layer_classes(), *doors())


@cache
def storing_classes() -> tuple[type[ps.Layer], ...]:
    """Return the classes that store something."""
    return tuple(cls for cls in layer_classes() if plain(cls).lines)


@cache
def storing_subjects() -> tuple[Subject, ...]:
    """Return those that store something; the others meet only the laws of values."""
    return (*storing_classes(), *(door for door in doors() if plain(door).lines))


@cache
def model_classes() -> tuple[type[ps.Layer], ...]:
    """Return every public class of models."""
    found = (getattr(ps.models, name) for name in dir(ps.models))
    classes = {thing for thing in found if isinstance(thing, type) and issubclass(thing, ps.Layer) and thing is not ps.Layer}
    return tuple(sorted(classes, key=lambda cls: cls.__name__))


DISTINCT = {
    *("Albert", "AlexNet", "ConvNeXt", "DCGANGenerator", "Deepseek", "DenseNet", "FCOS", "Falcon", "GptOss", "KerasEfficientNet"),
    *("LeNet5", "Mamba2LM", "MambaLM", "NASNet", "Olmoe", "SSD", "SSDLite", "SwinTransformer3d", "T5", "VisionTransformer", "Vit"),
    "Whisper",
}
"""Models that differ for the laws: of the 7,446 branches outside models/ that the laws of all 98 classes take, these take all but 78, where
every second class leaves 569. They were chosen one after another by the branches that one adds, over the seconds that it takes."""


@cache
def distinct_models() -> tuple[type[ps.Layer], ...]:
    """Return the classes that differ for the laws, or every class with TESTS=all."""
    return tuple(cls for cls in model_classes() if ALL or cls.__name__ in DISTINCT)


@st.composite
def layers(draw: st.DrawFn, cls: Subject) -> ps.Layer:
    """Build a layer of one class or behind one door, its sizes symbols."""
    if isinstance(cls, Door):
        flags = draw(st.fixed_dictionaries({}, optional={name: st.booleans() for name in cls.flags}))
        try:
            return cls.open({**cls.plain, **flags})
        except ParamsymError:
            return plain(cls)
    if cls.__name__ in SEEDS:
        return cls(*SEEDS[cls.__name__])
    default = plain(cls)
    arguments = [getattr(default, field.name) for field in fields(cls) if _default(field) is MISSING]  # type: ignore[arg-type]
    changed = {name: draw(values) for name, values in _choices(cls).items() if draw(st.integers(0, 3)) == 0}  # type: ignore[arg-type]
    if not changed:
        return default
    try:
        return cls(*arguments, **changed)
    except ParamsymError:
        return default


@cache
def _choices(cls: type[ps.Layer]) -> dict[str, st.SearchStrategy[Any]]:
    """Return what each optional argument of a class may be."""
    hints = typing.get_type_hints(cls, include_extras=True)
    optional = [field.name for field in fields(cls) if _default(field) is not MISSING and field.init]  # type: ignore[arg-type]
    found = {name: tuple(_alternatives(hints[name], name)) for name in optional}
    return {name: st.sampled_from(others) for name, others in found.items() if others}


@st.composite
def any_layer(draw: st.DrawFn) -> ps.Layer:
    """Build a layer of any class."""
    return draw(layers(draw(st.sampled_from(layer_classes()))))


@st.composite
def sized(draw: st.DrawFn, layer: ps.Layer) -> tuple[dict[Symbol, int], ps.Layer]:
    """Put numbers in: a few random tries, then one size for everything, which divides and equals whatever it has to."""
    symbols = sorted(layer.symbols, key=lambda symbol: symbol.name)
    tries = [{symbol: draw(st.sampled_from(VALUES)) for symbol in symbols} for _ in range(2)]
    tries += [dict.fromkeys(symbols, value) for value in (4, 24, 96)]
    for sizes in tries:
        try:
            return sizes, layer.at(sizes)
        except ParamsymError:
            continue
    assume(False)
    raise AssertionError


def plain(cls: Subject) -> ps.Layer:
    """Return a layer of one class, or behind one door, with its defaults; it is built once, because layers are values."""
    return _plain(cls)  # type: ignore[arg-type]


@cache
def _plain(cls: Subject) -> ps.Layer:
    if isinstance(cls, Door):
        return cls.open(cls.plain)
    if cls.__name__ in SEEDS:
        return cls(*SEEDS[cls.__name__])
    hints = typing.get_type_hints(cls, include_extras=True)
    return cls(*(_required(hints[field.name], field.name) for field in fields(cls) if _default(field) is MISSING))  # type: ignore[arg-type]


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _required(hint: Any, name: str) -> Any:
    """Return one value that any layer of such a field accepts."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Symbol(name, integer=True, positive=True)
    if origin in {typing.Union, UnionType}:
        return _required(arguments[0], name)
    if origin is tuple:
        items = arguments[:1] * 2 if len(arguments) == 2 and arguments[1] is Ellipsis else arguments
        return tuple(_required(item, f"{name}_{i}") for i, item in enumerate(items))
    if origin is Literal:
        return arguments[0]
    if isinstance(hint, type) and issubclass(hint, ps.Layer):
        return ps.Dense(*ps.dims(f"{name}_in {name}_out"))
    return {bool: True, str: "x", float: 0.5, int: 2}[hint]


def _alternatives(hint: Any, name: str) -> typing.Iterator[Any]:
    """Yield values an optional field might take instead of its default."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is bool:
        yield from (True, False)
    elif origin is Literal:
        yield from arguments
    elif origin is Annotated:
        yield from (1, 2, Symbol(name, integer=True, positive=True))
    elif origin in {typing.Union, UnionType}:
        for argument in arguments:
            if argument is type(None):
                yield None
            elif get_origin(argument) in {Annotated, Literal} or argument is bool:
                yield from _alternatives(argument, name)


def names(layer: ps.Layer) -> dict[str, object]:
    """Return the names that ``eval(repr(layer))`` needs: the public ones, SymPy's functions of sizes, and the layer's symbols."""
    from sympy import Max, Min, Mod, Rational, ceiling, floor

    from paramsym.keras._activations import Activated

    scope: dict[str, object] = {name: getattr(ps, name) for name in dir(ps) if name[0].isupper() or name in {"per", "cat", "stack"}}
    scope |= {cls.__name__: cls for cls in layer_classes()}
    scope |= (
        {model.__name__: model for model in model_classes()}
        if type(layer).__module__.startswith(("paramsym.models", "paramsym.atlas"))
        else {}
    )
    scope |= {
        "Activated": Activated,
        "Max": Max,
        "Min": Min,
        "Mod": Mod,
        "Rational": Rational,
        "ceiling": ceiling,
        "floor": floor,
    }
    return scope | {symbol.name: symbol for symbol in [*layer.symbols, *bound(layer)]}


def assert_value(layer: ps.Layer) -> None:
    """It equals its copy, what a pickle gives back and what its repr builds, and has their hash."""
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), eval(repr(layer), names(layer))):
        assert twin == layer
        assert hash(twin) == hash(layer)


def bound(layer: ps.Layer) -> typing.Iterator[Symbol]:
    """Yield the bound indices of the repeats directly inside a layer."""
    for part in layer.own_parts:
        if part.numbers is not None and part.numbers.index is not None:
            yield part.numbers.index
        yield from bound(part.layer)


def product(sizes: typing.Iterable[int | Expr]) -> Expr:
    """Multiply with SymPy."""
    result: Expr = Integer(1)
    for size in sizes:
        result *= size
    return result
