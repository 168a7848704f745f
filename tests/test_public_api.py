"""What is public resolves, is documented, shows its count, and is the same for people, tools and type checkers."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from strategies import layer_classes, model_classes, plain

import paramsym as ps
import paramsym.errors
from paramsym.errors import ParamsymError

LISTED = ast.parse(Path(ps.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
PLAIN = {"LETTERS", "LETTER_SETS", "Count", "Dim", "Width", "Axis", "Factor", "Shape"} | {letter.name for letter in ps.LETTERS}
"""Letters and annotations: values that carry no docstring of their own."""


def homes() -> dict[str, str]:
    """Return ``{public name: module}``, as type checkers read it."""
    return {alias.asname or "": str(node.module) for node in LISTED if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.parametrize("name", sorted(set(dir(ps)) - {"__version__"}))
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    """A docstring of at least a sentence stands behind every name."""
    thing = getattr(ps, name)
    if name not in PLAIN:
        documentation = inspect.getdoc(thing) or ""
        assert documentation.split("\n")[0].rstrip().endswith((".", "?", ":")), f"{name}: {documentation[:80]!r}"


def test_the_list_of_types_is_the_list() -> None:
    """``dir`` and ``*`` agree with what type checkers read."""
    aliases = {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in LISTED if isinstance(node, ast.Assign)}
    assert dir(ps) == sorted({*homes(), *aliases, "__version__"})
    assert all(getattr(ps, alias) is getattr(ps, name) for alias, name in aliases.items())
    scope: dict[str, object] = {}
    exec("from paramsym import *", scope)  # noqa: S102 - what a notebook types
    rooms = {name for name, home in homes().items() if home == "paramsym"}
    assert scope.keys() - {"__builtins__"} == set(dir(ps)) - {*rooms, "__version__"}  # a star must not hide the user's own keras


def test_no_answer_is_at_the_top() -> None:
    """Classes at the top are what a user writes: layers, their pieces, errors. An answer stays in the module that gives it."""
    classes = {name for name in dir(ps) if isinstance(thing := getattr(ps, name), type) and not issubclass(thing, ps.Layer)}
    assert classes == {"Machine", "Numbers", "ParamsymError", "ParamsymWarning", "Part", "Tensor", "cat", "per", "stack"}


def test_torchs_spelling_is_the_same_class() -> None:
    """An alias is not a subclass."""
    assert ps.Linear is ps.Dense
    assert ps.MultiheadAttention is ps.MultiHeadAttention


def test_unknown_names_are_attribute_errors() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="has no attribute 'Convolution'"):
        _ = ps.Convolution
    with pytest.raises(AttributeError, match="has no attribute 'Convolution'"):
        _ = ps.keras.Convolution
    assert not hasattr(ps, "_private")


PUBLIC = (*layer_classes(), *model_classes())


@pytest.mark.parametrize("cls", PUBLIC, ids=lambda cls: cls.__name__)
def test_every_layer_shows_its_count(cls: type[ps.Layer]) -> None:
    """A docstring, with a doctest where there is something to count, else with the reference; the decorator that makes a value."""
    assert cls.__doc__ is not None
    assert ">>> " in cls.__doc__ or ("Reference: " in cls.__doc__ and not plain(cls).lines), f"{cls.__name__} shows nothing"
    assert fields(cls) is not None  # type: ignore[arg-type]
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert not set(cls.__mro__[1:]).intersection(PUBLIC), "a concrete layer is never subclassed"


@pytest.mark.parametrize("name", sorted(dir(ps.keras)))
def test_every_door_is_documented(name: str) -> None:
    """Keras' spelling, with a docstring."""
    assert inspect.getdoc(getattr(ps.keras, name))


@pytest.mark.parametrize("name", [name for name in dir(paramsym.errors) if name.endswith("Error")])
def test_every_error_is_documented_and_ours(name: str) -> None:
    """One base for all."""
    error = getattr(paramsym.errors, name)
    assert issubclass(error, paramsym.errors.ParamsymError)
    assert inspect.getdoc(error)


ASKED: dict[str, Callable[[Any], object]] = {
    "explain": lambda it: ps.explain(it, "A"),
    "reconcile": lambda it: ps.reconcile(it, 100),
    "conventions": ps.conventions,
    "evaluate": lambda it: ps.evaluate(it, H=3),
    "sensitivity": lambda it: ps.sensitivity(it, "H"),
    "asymptotics": lambda it: ps.asymptotics(it, "H"),
    "compare": lambda it: ps.compare(ps.Dense(2, 3), it),
    "solve": lambda it: ps.solve(it, 100, {"H": [1, 2]}),
    "sweep": lambda it: ps.sweep(it, {"H": [1, 2]}),
    "export": lambda it: ps.export(it, "c"),
    "match": lambda it: ps.match(it, {"weight": (3, 2)}),
    "output_shape": lambda it: ps.output_shape(it, (1, 2)),
    "neurons": lambda it: ps.neurons(it, (1, 2)),
    "connections": lambda it: ps.connections(it, (1, 2)),
    "summary": lambda it: ps.summary(it, (1, 2)),
    "receptive_field": ps.receptive_field,
    "infer": lambda it: ps.infer(it, (1, 2)),
    "Sequential": ps.Sequential,
    "Repeat": lambda it: ps.Repeat(it, 3),
    "Residual": ps.Residual,
    "Tied": lambda it: ps.Tied(it, {}),
}


@pytest.mark.parametrize("wrong", ["bert", None, 1.5, [1], ps.Dense], ids=repr)
@pytest.mark.parametrize("name", ASKED)
def test_what_is_no_layer_is_refused_in_words(name: str, wrong: object) -> None:
    """Whatever stands in a layer's place, the error is ours and shows it."""
    with pytest.raises(ParamsymError, match=r"bert|None|1|Dense"):
        ASKED[name](wrong)


@pytest.mark.parametrize("name", ASKED)
def test_a_number_that_python_does_not_write_is_refused_in_words(name: str) -> None:
    """Python refuses to write numbers of more than 4,300 digits; no message tries to."""
    with pytest.raises(ParamsymError):
        ASKED[name](10**5000)


@pytest.mark.parametrize(
    "call",
    [
        lambda huge: ps.Dense(2, huge),
        ps.Dropout,
        ps.ReflectionPad1d,
        lambda huge: ps.Dense(2, 3).table(depth=-huge),
        lambda huge: ps.Dense(2, 3).part(huge),
        lambda huge: ps.Dense(ps.H, 3).at(H=huge),
        ps.dims,
        lambda huge: ps.reconcile(ps.Dense(2, 3), huge),
        lambda huge: ps.solve(ps.Dense(ps.H, 3), 100, {"H": [1, 2]}, best=-huge),
        lambda huge: ps.keras.Dense(huge, input_shape=(None, 3)),
        lambda huge: ps.from_config({"model_type": "bert", "hidden_size": huge}),
    ],
    ids=itertools.count(),
)
def test_a_huge_argument_is_refused_in_words(call: Callable[[int], object]) -> None:
    """The same in the place of an argument."""
    with pytest.raises(ParamsymError):
        call(10**5000)


@pytest.mark.parametrize("depth", ["2", 1.5, -1, True, [1]])
def test_a_depth_is_a_number_of_levels(depth: Any) -> None:
    """Tables and summaries refuse anything else."""
    with pytest.raises(ParamsymError, match="depth is"):
        ps.Dense(2, 3).table(depth=depth)
    with pytest.raises(ParamsymError, match="depth is"):
        ps.summary(ps.Dense(2, 3), (1, 2), depth=depth)


@pytest.mark.parametrize("symbol", [3, None, ["A"], ps.Dense])
def test_a_symbol_is_a_symbol_or_its_name(symbol: Any) -> None:
    """What is neither is refused in words; so is what is no path."""
    with pytest.raises(ParamsymError, match="symbol"):
        ps.explain(ps.Dense(ps.H, 3), symbol)
    with pytest.raises(ParamsymError, match="symbol"):
        ps.sensitivity(ps.Dense(ps.H, 3), symbol)
    with pytest.raises(ParamsymError, match="path"):
        ps.Dense(2, 3).part(symbol if symbol is not None else 0)


@pytest.mark.parametrize("module", [ps, ps.models])
def test_a_name_that_does_not_exist_lets_python_name_the_nearest(module: ModuleType) -> None:
    """Python adds "Did you mean" where the error says which name was asked of what."""
    with pytest.raises(AttributeError, match="has no attribute 'Conv2D'") as error:
        _ = module.Conv2D
    assert (error.value.name, error.value.obj) == ("Conv2D", module)
