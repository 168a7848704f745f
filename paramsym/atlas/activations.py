"""The words for activations in configurations, and what each computes; one is put in a recording in place of another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from paramsym.read.merging import Path
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated, refs, with_refs

_X, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14 = map(Ref, range(15))
"""The array that an activation takes, and the results of its operators in order."""


class Own(NamedTuple):
    """A tensor that the module of an activation stores, by its name in the module."""

    name: str


Steps = tuple[tuple[str, Mapping[str, Any]], ...]


class Word(NamedTuple):
    """The class of an activation's module in the reference, its operators there, and the functions of a program that compute it.

    ``functions`` are names with settings, applied in order; None is the function with the name of the activation.
    """

    kind: str
    operators: Steps
    functions: tuple[tuple[Any, ...], ...] | None = None

    @property
    def stores(self) -> bool:
        """Whether the module stores tensors."""
        return any(isinstance(one, Own) for _, arguments in self.operators for one in arguments.values())


def _by_tanh(exponent: float, one: float) -> Steps:
    return (
        ("mul", {"self": _X, "other": 0.5}),
        ("pow", {"self": _X, "exponent": exponent}),
        ("mul", {"self": _2, "other": 0.044715}),
        ("add", {"self": _X, "other": _3, "alpha": 1}),
        ("mul", {"self": _4, "other": 0.7978845608028654}),
        ("tanh", {"self": _5}),
        ("add", {"self": _6, "other": one, "alpha": 1}),
        ("mul", {"self": _1, "other": _7}),
    )


_GELU = ("gelu", {"self": _X, "approximate": "none"})
_SILU = ("silu", {"self": _X})
WORDS: Mapping[str, Word] = {
    "gelu": Word("GELUActivation", (_GELU,)),
    "gelu_10": Word("ClippedGELUActivation", (_GELU, ("clamp", {"self": _1, "min": -10, "max": 10})), (("gelu",), ("clip", -10.0, 10.0))),
    "gelu_accurate": Word("AccurateGELUActivation", _by_tanh(3, 1), (("gelu_tanh",),)),
    "gelu_fast": Word(
        "FastGELUActivation",
        (
            ("mul", {"self": _X, "other": 0.5}),
            ("mul", {"self": _X, "other": 0.7978845608}),
            ("mul", {"self": _X, "other": 0.044715}),
            ("mul", {"self": _3, "other": _X}),
            ("add", {"self": _4, "other": 1.0, "alpha": 1}),
            ("mul", {"self": _2, "other": _5}),
            ("tanh", {"self": _6}),
            ("add", {"self": _7, "other": 1.0, "alpha": 1}),
            ("mul", {"self": _1, "other": _8}),
        ),
        (("gelu_tanh", 0.7978845608),),
    ),
    "gelu_new": Word("NewGELUActivation", _by_tanh(3.0, 1.0)),
    "gelu_python": Word(
        "GELUActivation",
        (
            ("mul", {"self": _X, "other": 0.5}),
            ("div", {"self": _X, "other": 1.4142135623730951}),
            ("erf", {"self": _2}),
            ("add", {"self": _3, "other": 1.0, "alpha": 1}),
            ("mul", {"self": _1, "other": _4}),
        ),
        (("gelu",),),
    ),
    "gelu_python_tanh": Word("GELUTanh", _by_tanh(3.0, 1.0), (("gelu_tanh",),)),
    "gelu_pytorch_tanh": Word("GELUTanh", (("gelu", {"self": _X, "approximate": "tanh"}),), (("gelu_tanh",),)),
    "hardswish": Word("Hardswish", (("hardswish", {"self": _X}),)),
    "laplace": Word(
        "LaplaceActivation",
        (
            ("sub", {"self": _X, "other": 0.707107, "alpha": 1}),
            ("div", {"self": _1, "other": 0.39894257487763823}),
            ("erf", {"self": _2}),
            ("add", {"self": _3, "other": 1.0, "alpha": 1}),
            ("mul", {"self": _4, "other": 0.5}),
        ),
    ),
    "leaky_relu": Word("LeakyReLU", (("leaky_relu", {"self": _X, "negative_slope": 0.01}),)),
    "linear": Word("LinearActivation", (("alias", {"self": _X}),), ()),
    "mish": Word("MishActivation", (("mish", {"self": _X}),)),
    "prelu": Word(
        "PReLU",
        (
            ("view", {"self": Own("weight"), "size": ()}),
            ("_prelu_kernel", {"self": _X, "weight": _1}),
        ),
    ),
    "quick_gelu": Word(
        "QuickGELUActivation", (("mul", {"self": _X, "other": 1.702}), ("sigmoid", {"self": _1}), ("mul", {"self": _X, "other": _2}))
    ),
    "relu": Word("ReLU", (("relu", {"self": _X}),)),
    "relu2": Word("ReLUSquaredActivation", (("relu", {"self": _X}), ("pow", {"self": _1, "exponent": 2})), (("relu_squared",),)),
    "relu6": Word("ReLU6", (("hardtanh", {"self": _X, "min_val": 0.0, "max_val": 6.0}),)),
    "sigmoid": Word("Sigmoid", (("sigmoid", {"self": _X}),)),
    "silu": Word("SiLUActivation", (_SILU,)),
    "sqrtsoftplus": Word(
        "SqrtSoftplusActivation",
        (("softplus", {"self": _X, "beta": 1, "threshold": 20}), ("sqrt", {"self": _1})),
        (("softplus",), ("sqrt",)),
    ),
    "swish": Word("SiLU", (_SILU,), (("silu",),)),
    "tanh": Word("Tanh", (("tanh", {"self": _X}),)),
    "xielu": Word(
        "XIELUActivation",
        (
            ("softplus", {"self": Own("alpha_p"), "beta": 1, "threshold": 20}),
            ("softplus", {"self": Own("alpha_n"), "beta": 1, "threshold": 20}),
            ("add", {"self": Own("beta"), "other": _2, "alpha": 1}),
            ("gt", {"self": _X, "other": 0}),
            ("mul", {"self": _1, "other": _X}),
            ("mul", {"self": _5, "other": _X}),
            ("mul", {"self": Own("beta"), "other": _X}),
            ("add", {"self": _6, "other": _7, "alpha": 1}),
            ("minimum", {"self": _X, "other": Own("eps")}),
            ("expm1", {"self": _9}),
            ("sub", {"self": _10, "other": _X, "alpha": 1}),
            ("mul", {"self": _11, "other": _3}),
            ("mul", {"self": Own("beta"), "other": _X}),
            ("add", {"self": _12, "other": _13, "alpha": 1}),
            ("where", {"condition": _4, "self": _8, "other": _14}),
        ),
    ),
}
"""Every name that ``transformers.activations.ACT2CLS`` knows (5.23).

The size of a view of a module's own tensor is one for each axis of the array that the module takes.
"""


def with_activation(recording: Recording, old: str, new: str, paths: Collection[str]) -> Recording:
    """Return a recording with another activation in modules at these paths, which are without numbers."""
    kind, free, stored = WORDS[old].kind, count(recording.unused), dict(recording.stored)

    def saved(path: str, name: str) -> int:
        steps = getattr(path, "steps", None)
        whole = f"{path}.{name}" if steps is None else Path.of(f"{path}.{name}", (*steps, name))
        stored[number := next(free)] = (whole,)
        return number

    def changed(item: Any) -> Any:
        if isinstance(item, Repeated):
            return replace(item, calls=[changed(one) for one in item.calls])
        if not isinstance(item, Called):
            return item
        if item.kind == kind and without_numbers(item.path) in paths:
            return _instead(item, new, free, saved)
        return Called(item.path, item.kind, [changed(one) for one in item.items])

    top = changed(recording.top)
    return replace(recording, top=top, stored=stored)


def without_numbers(path: str) -> str:
    """Return a path without the numbers of copies.

    >>> without_numbers("model.layers.0.mlp.act_fn")
    'model.layers.mlp.act_fn'
    """
    return ".".join(step for step in path.split(".") if not step.isdecimal())


def _instead(called: Called, word: str, free: Iterator[int], saved: Callable[[str, str], int]) -> Called:
    """Return the module of another activation, with the same array taken and given."""
    steps = [*called.steps()]
    given = steps[-1].results[0]
    inside = {array.number for step in steps for array in step.results}
    (taken,) = {one for step in steps for one in refs(step.arguments)} - inside
    kind, others, _ = WORDS[word]
    numbers = [taken, *(next(free) for _ in others[1:]), given.number]
    own: dict[str, int] = {}
    single: set[int] = set()
    items: list[Any] = []
    for number, (name, arguments) in zip(numbers[1:], others, strict=True):
        put: dict[str, Any] = {}
        for key, one in arguments.items():
            if isinstance(one, Own) and one.name not in own:
                own[one.name] = saved(called.path, one.name)
                single.add(own[one.name])
            put[key] = Ref(own[one.name]) if isinstance(one, Own) else with_refs(one, lambda each: Ref(numbers[each]))
        shape = given.shape
        if single.issuperset(refs(put)):  # of tensors with one entry
            single.add(number)
            shape = (1,) * (len(shape) if name == "view" else 1)
            put |= {"size": shape} if name == "view" else {}
        items.append(Done(name, put, (Array(number, shape, "truth" if name == "gt" else given.kind),), steps[-1].line))
    return Called(called.path, kind, items)
