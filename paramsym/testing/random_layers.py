"""Random layers and compositions of them; every public layer is included automatically."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from paramsym.algebra.symbols import dims
from paramsym.analysis.reconcile.options import choices
from paramsym.core.compose import Block, Repeat, Residual, Sequential, Shared
from paramsym.core.fields import hints_of
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.errors import ParamsymError
from paramsym.testing.random_sizes import hypothesis

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_SIZES = ("size", "axis", "count")


def layers(*, compositions: bool = True, depth: int = 2) -> SearchStrategy[Layer]:
    """Return a strategy for layers with random flags, whose sizes are symbols named after their fields.

    With ``compositions`` the layers are also composed: in sequence, in blocks, repeated, shared, tied, frozen, nested at most ``depth``
    deep.

    >>> from hypothesis import given
    >>> @given(layers())
    ... def test(layer):
    ...     assert layer.at({}).params == layer.params
    """
    st = hypothesis().strategies
    found = leaf = st.sampled_from(_leaf_classes()).flatmap(_of_class)
    for _ in range(depth if compositions else 0):
        found = st.one_of(leaf, _composed(found))
    return found


@cache
def _leaf_classes() -> tuple[type[Layer], ...]:
    """Return the public layers that need only sizes, in the order of their names."""
    package = import_module("paramsym")
    found = {thing for name in dir(package) if isinstance(thing := getattr(package, name, None), type) and issubclass(thing, Layer)}
    return tuple(sorted((cls for cls in found if _plain(cls) is not None), key=lambda cls: cls.__name__))


def _plain(cls: type[Layer]) -> Layer | None:
    """Build a class from symbols if all its required fields are sizes."""
    if not cls.__module__.startswith("paramsym.layers"):
        return None
    required = [name for name, (default, _) in _arguments(cls).items() if default is MISSING]
    hints = [_arguments(cls)[name][1] for name in required]
    if not all(get_origin(hint) is Annotated and get_args(hint)[1] in _SIZES for hint in hints):
        return None
    try:
        return cls(*map(dims, required))
    except ParamsymError:
        return None


def _of_class(cls: type[Layer]) -> SearchStrategy[Layer]:
    """Return a strategy for one class: flags and options vary; if they contradict each other, the layer with defaults is taken."""
    st = hypothesis().strategies
    plain = _plain(cls)
    optional = {name: choices(hint) for name, (default, hint) in _arguments(cls).items() if default is not MISSING}

    def changed(choice: dict[str, Any]) -> Layer:
        assert plain is not None  # noqa: S101 - for the type checker; classes without a plain layer were left out
        required, _ = plain.arguments()
        try:
            return cls(*required, **choice)
        except ParamsymError:
            return plain

    flags = {name: st.sampled_from(options) for name, options in optional.items() if options}
    return st.fixed_dictionaries({}, optional=flags).map(changed)


def _arguments(cls: Any) -> dict[str, tuple[Any, Any]]:
    """Return the default and the annotation of each argument."""
    hints = hints_of(cls)
    found = ((field, field.default if field.default_factory is MISSING else field.default_factory) for field in fields(cls) if field.init)
    return {field.name: (default, hints[field.name]) for field, default in found}


def _composed(inner: SearchStrategy[Layer]) -> SearchStrategy[Layer]:
    st = hypothesis().strategies
    depth = dims("depth")
    kinds = (
        st.lists(inner, min_size=1, max_size=3).map(lambda found: Sequential(*found)),
        st.dictionaries(st.sampled_from(("body", "head", "norm")), inner, min_size=1).map(Block),
        inner.map(Residual),
        st.builds(Repeat, inner, st.one_of(st.just(depth), st.integers(0, 3))),
        st.builds(lambda one, two: Repeat((one, two), depth), inner, inner),
        st.builds(Shared, inner, st.just(depth)),
        inner.map(_tied),
        inner.map(lambda layer: layer.freeze()),
    )
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


def _tied(layer: Layer) -> Layer:
    """Return two equal layers with one tied tensor, the first that is not a numbered copy; open widths have one letter in both."""
    layer = layer.at(dict.fromkeys(layer.open_letters, dims("width")))
    both = Block(one=layer, two=layer)
    names = [line.name for line in layer.ledger() if all(isinstance(step, str) for step in line.path)]
    return Tied(both, {f"two.{names[0]}": f"one.{names[0]}"}) if names else both
