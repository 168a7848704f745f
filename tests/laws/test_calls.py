"""Random calls of everything public, wrong arguments included: an answer that can be shown, or one error of this library.

Each seed is one call. Some run every time; ``RANDOM_CALLS=20000`` runs so many.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import os
import random
import warnings
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy
from doors import doors
from strategies import layer_classes, model_classes, plain

import paramsym as ps
import paramsym.testing
from paramsym import A, F, H, K, L, V
from paramsym.errors import ParamsymError

CALLS = int(os.environ.get("RANDOM_CALLS", "240"))
BATCHES = 4
SECONDS = 0.2
"""How long a form may be looked for."""


def derive(build: Any, sizes: Any = None, /, *, held: Any = None, seconds: Any = SECONDS, tests: Any = 10, **named: Any) -> Any:
    """Derive in a short time."""
    return ps.derive(build, sizes, held=held, seconds=seconds, tests=tests, **named)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"ps.{name}": getattr(ps, name) for name in dir(ps) if inspect.isfunction(getattr(ps, name))},
    "ps.derive": derive,
    "ps.testing.assert_matches": ps.testing.assert_matches,
    "ps.testing.certify": ps.testing.certify,
    "ps.testing.certify_run": ps.testing.certify_run,
    "ps.testing.sizes": ps.testing.sizes,
}
PICTURES = ("share", "compare", "growth", "cancellation", "convolution", "spread")
METHODS = ("at", "part", "replace", "freeze", "table", "to_latex", "shapes", "ledger")
FACTS = ("params", "trainable", "active", "formula", "sizes", "count", "tied", "symbols", "origin", "lines", "polynomial", "__doc__")
FURTHER = ("at", "table", "to_latex", "to_html", "part")
"""What an answer can be asked."""
NAMED = ("H", "F", "A", "L", "x", "input_ids", "pixel_values", "hidden_states")
SHOWN = ("table", "to_latex", "to_markdown", "_repr_html_", "_repr_markdown_", "_repr_latex_", "_ipython_display_")


class Foreign:
    """An object of another library, with names that ours have, too, and nothing behind them."""

    shape = None
    symbols = None
    name = 3
    layer = "layer"


class Unprintable:
    """An object whose ``repr`` fails."""

    def __repr__(self) -> str:
        raise RuntimeError


class Own(ps.Layer):
    """A layer that forgot its decorator."""


def junk() -> tuple[Any, ...]:
    """Return what nobody should give, and what somebody will."""
    endless: list[Any] = []
    endless.append(endless)
    x = sympy.Symbol("x")
    return (
        None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, 2**64, 10**30, 10**400, -(10**400), 10**5000, -(10**5000), 0.5, 1.0, -0.0, 1e308,
        math.nan, math.inf, -math.inf, 1j, Fraction(1, 3), Fraction(4), "", "H", "h", "0", "weight", "0.weight", "bert-base-uncased",
        "110M", "1,3B", "x" * 5000, "\x00", "\x1b[2J", "\u202e", "\ud800", "{}", "../..", "__import__('os')", "a.b..c", b"H", b"",
        (), [], {}, set(), (1,), [1, 2], (1, 2, 3), ("H", 2), [None], [[1, 2], [3, 4]], endless, range(0), range(3), range(10**12),
        {"H": 4}, {H: 4}, {"H": "4"}, {H: 0}, {H: -1}, {H: 1.5}, {H: None}, {H: 10**400}, {1: 2}, {None: None}, {"H": [1, 2, 3]},
        {H: range(1, 5)}, {"H": 4, H: 5}, {"weight": (2, 3)}, {"weight": None}, {"a": {"b": (2,)}}, {"model_type": "bert"}, {x: 3},
        H, L, x, sympy.Symbol("H"), sympy.Symbol("y", positive=False), sympy.Symbol("c", commutative=False), H + 1, 4 * H, H - 5, -H,
        H / 2, 1 / H, ps.per(H, A), 2**L, L**H, H**100, sympy.floor(H / 2), sympy.ceiling(H / 3), sympy.Max(H, 3), sympy.Min(H, F),
        sympy.Mod(H, 3), sympy.sqrt(H), sympy.pi, sympy.oo, sympy.zoo, sympy.nan, sympy.I, sympy.Integer(5), sympy.Integer(0),
        sympy.Rational(1, 2), sympy.Float(2.0), sympy.log(H), sympy.Sum(H, (x, 1, 3)), H > F, sympy.Eq(H, F), sympy.true,
        ps.cat(a=H, b=2), ps.stack(5, used=2), ps.Tensor("w", (H, 2)), ps.Part("p", ps.Dense(2, 3)), ps.Dense, ps.Layer, int, Foreign,
        Foreign(), Unprintable(), Own, object(), len, lambda *_: 1, (n for n in ()), iter([1]), Path("nowhere"), Path(), math, ps,
    )  # fmt: skip


@cache
def subjects() -> tuple[ps.Layer, ...]:
    """Return layers of all kinds: plain ones, compositions, models, with sizes and without, some of depth zero."""
    d, i, n = ps.dims("d i n")
    dense = ps.Dense(H, F)
    least = ps.Block(
        w=ps.Dense(sympy.Max(1, n, evaluate=False), ps.per(H, A), bias=False),
        r=ps.Repeat(ps.Dense(sympy.Min(3, d + 2, evaluate=False), H), n, index=d),
    )
    found: list[Any] = [
        dense,
        dense.at(H=4, F=6),
        ps.Dense(2, 3),
        ps.Dense(10**300, 10**300),
        ps.Sequential(),
        ps.Sequential(ps.Dense(H, F), ps.ReLU(), ps.Dense(F, H)),
        ps.Repeat(ps.Dense(H, H), L),
        ps.Repeat(ps.Dense(H, H), 0),
        ps.Repeat(ps.Dense(H, H), L).at(L=0),
        ps.Repeat(ps.Dense(d + i, 3), 4, index=i),
        ps.Repeat((ps.Dense(H, H), ps.LayerNorm(H)), L),
        ps.Runs((ps.Dense(H, H), L), (ps.Dense(H, 3), K)),
        ps.Shared(ps.Dense(H, H), L),
        ps.Residual(ps.Conv2d(8, 8, 3, padding=1)),
        ps.Sequential(ps.Conv2d(3, H, 3), ps.BatchNorm2d(H), ps.ReLU(), ps.MaxPool2d(2), ps.Flatten(), ps.Dense(H * 9, 10)),
        ps.MultiHeadAttention(H, A),
        ps.MultiHeadAttention(12, 3),
        ps.Tied(ps.Sequential(ps.Embedding(V, H), ps.Dense(H, V, bias=False)), {"1.weight": "0.weight"}),
        ps.Dense(H, F).freeze(),
        ps.MixtureOfExperts(H, F, 8, 2),
        ps.FastFeedForward(H, F, L),
        ps.Embedding(V, H),
        ps.Dense(ps.per(H, A), 2 * sympy.floor(H / 3)),
        ps.Dense(2**L, sympy.Max(H, 3)),
        ps.LSTM(3, 4),
        ps.TransformerEncoderLayer(H, A, F, batch_first=True),
        ps.Repeat(ps.Dense(sympy.Mod(H, d) + 1, 2), 3, index=d),
        least,
        least.at(n=0, H=6, A=2),
    ]
    published = {"Bert": "bert-base-uncased", "Gpt2": "gpt2"}
    for name in ("Bert", "Gpt2", "LeNet5", "T5", "ResNet", "Swin", "Llama", "Deepseek", "ClipVision"):
        model = getattr(ps.models, name)()
        found += [model, model.at(published[name])] if name in published else [model]
    found.append(ps.models.Bert().at({"V": 9, "P": 4, "T": 2, "H": 4, "A": 2, "L": 0, "F": 5}))
    return tuple(found)


@cache
def modules() -> tuple[Any, ...]:
    """Return what may be read as a module: torch's own, where it is there, trees of shapes, and objects that only look like one."""
    found: list[Any] = [{"a": {"weight": (2, 3)}, "b": (4,)}, {"weight": ps.Dense(2, 3)}, {"up.weight": (8, 4), "up": (3,)}, Half(), Half]
    if importlib.util.find_spec("torch"):
        from torch import nn

        tied = nn.Sequential(nn.Embedding(7, 3), nn.Linear(3, 7, bias=False))
        tied[1].weight = tied[0].weight
        itself = nn.Sequential(nn.Linear(2, 3))
        itself.append(itself)
        found += [
            nn.Linear(2, 3),
            nn.LSTM(2, 3, 2),
            nn.MultiheadAttention(4, 2),
            nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)),
            tied,
        ]
        found += [nn.LazyLinear(3), itself, nn.Linear, nn.ModuleDict({"a": nn.ReLU()}), nn.Identity(), nn.ParameterList()]
    return tuple(found)


class Half:
    """An object that says the words of a module, and then nothing."""

    trainable_weights = None
    weights = None

    def named_parameters(self) -> None:
        """Name nothing."""

    def state_dict(self) -> int:
        """Return no dictionary."""
        return 3


def _failing(n: Any) -> Any:
    return {"weight": (n, 2)} if n < 5 else {"weight": None}


def _raising(n: Any) -> Any:
    raise KeyError(n)


BUILDS: tuple[Any, ...] = (
    lambda H, F: {"weight": (F, H), "bias": (F,)},
    lambda H=4: {"weight": (H, H)},
    lambda n, depth: {f"{number}.weight": (n, n) for number in range(depth)} | {"out": (10, n)},
    lambda n: n * (n + 1) // 2,
    lambda n, bias=True: {"weight": (n,), **({"bias": (1,)} if bias else {})},
    lambda n: {"weight": (n / 2,)},
    lambda n: {"weight": (n, -n)},
    lambda n: [][n:],
    dict,
    lambda **_: {"weight": (2, 3)},
    lambda n: n**n,
    lambda n: "n" * min(n, 9),
    lambda n: modules()[n % 3],
    lambda n, kind="a": ps.Block({kind: ps.Dense(n, 2)}),
    _failing,
    _raising,
)
"""Functions that build something, or not."""


def zeros(shape: Any) -> Any:
    """Return an array of zeros as nested lists."""
    return [zeros(shape[1:]) for _ in range(shape[0])] if shape else 0.0


def filled(layer: ps.Layer) -> dict[str, Any]:
    """Return arrays for a small layer with sizes."""
    if layer.symbols or layer.count > 10_000:
        return {"weight": [[1.0, 2.0]]}
    return {name: zeros(shape) for name, shape in layer.shapes(buffers=True).items()}


class Caller:
    """Random calls, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        """Start from the seed."""
        self.draw = random.Random(seed)
        self.said = ""
        self.asked: ps.Layer = ps.Dense(2, 3)

    def value(self, name: str) -> Any:
        """Return an argument that suits its name, or does not."""
        draw = self.draw
        if name.endswith("_name"):
            return "x"  # words for a message, which an author of a layer writes
        if draw.random() < 0.3:
            return draw.choice(junk())
        layer = draw.choice(subjects())
        if name == "layer":
            self.asked = layer
        symbol = draw.choice([H, "H", F, "A", L, "L", V])
        number = draw.choice([0, 1, 2, 3, 8, 12])
        shape = draw.choice([(1, 4), (2, 3, 4), (None, 4), (1, 3, 8, 8), (H, 3), (2, 5, H), (1, 3, 12, 12), ((1, 2, 4), (1, 2, 4))])
        symbols = sorted(layer.symbols, key=str)  # a set has another order in every process
        sizes = {one: draw.choice([1, 2, 3, 4, 8, 12, 24]) for one in (*symbols, *draw.sample([H, "F", "L"], draw.randint(0, 2)))}
        many = {one: draw.choice([[1, 2, 3], range(1, 6), (2, 4, 8)]) for one in (*symbols[:2], H)}
        fitting: dict[str, Any] = {
            "claim": draw.choice([109_786_368, "110M", 7, 27, 0, "12*768*12 = 110M", layer, {"weight": (2, 3)}, {"weight": (3,)}]),
            "target": draw.choice([27, 100, "1M", "110M", 10**6]),
            "symbol": symbol,
            "symbols": symbol,
            "shapes": draw.choice([{"weight": (3, 2), "bias": (3,)}, layer, {"0.weight": [2, 2]}, {}]),
            "rename": draw.choice(["auto", None, {"a": "b"}, {"weight": "bias"}]),
            "source": draw.choice(
                ["gpt2", "bert-base-uncased", {"model_type": "bert"}, {"model_type": "gpt2", "n_embd": 12, "n_head": 3}, "nowhere"]
            ),
            "path": draw.choice(["", "0", "encoder.layer.0", "weight", "1", "encoder", "embeddings"]),
            "sizes": draw.choice([sizes, many, None]),
            "over": many,
            "values": draw.choice([[1, 2, 3], range(1, 9)]),
            "at": draw.choice([sizes, None, "bert-base-uncased"]),
            "others": {"F": [3, 4]},
            "mapping": sizes,
            "input_shape": shape,
            "depth": draw.choice([None, 0, 1, 2]),
            "kind": draw.choice(["bars", "icicle"]),
            "language": draw.choice(["python", "c", "javascript", "numpy", "excel"]),
            "form": draw.choice(["expanded", "factored", "collected", "parts", "annotated", "align", "steps"]),
            "letters": draw.choice([None, "bert", "megatron", "cs231n", {"H": "h"}, {3: H, 2: "F"}, {("in_features", 2): H}]),
            "names": draw.choice(["a b", "x"]),
            "tolerance": sympy.Rational(1, 100),
            "inputs": draw.choice([shape, shape, (shape, shape), symbol]),
            "past": draw.choice([0, 1, 7, symbol]),
            "convention": draw.choice(["matmul", "multiply-adds", "torch-eager", "torch-fused", "korthikanti"]),
            "dtype": draw.choice(["float32", "float16", "bfloat16", "int8"]),
            "way": draw.choice(["forward", "backward", "both"]),
            "use": draw.choice(["training", "inference"]),
            "optimizer": draw.choice(["adamw", "sgd", "adafactor"]),
            "tensors": filled(self.asked) if name == "tensors" else None,
            "arrays": zeros(shape if all(isinstance(one, int) for one in shape) else (2, 3)) if name == "arrays" else None,
            "module": draw.choice(modules()),
            "module_or_shapes": draw.choice(modules()),
            "build": draw.choice(BUILDS),
            "held": draw.choice([{"n": 3}, {"bias": False}, None]),
            "seconds": SECONDS,
            "degree": draw.choice([None, 1, 2, {"H": 1}]),
            "architecture": draw.choice([None, "BertModel", "BertForMaskedLM", "GPT2LMHeadModel"]),
            "where": draw.choice([(), (H > F,), H > F]),
        }
        if name in fitting:
            return fitting[name]
        return draw.choice([layer, layer, number, symbol, symbol])

    def call(self, function: Callable[..., Any], where: str) -> Any:
        """Call with arguments by name, now and then with one too few or too many."""
        chance = self.draw.random()
        arguments, named = self.arguments(function)
        if chance < 0.02:
            named["abacus"] = 3
        elif chance < 0.04:
            arguments.append(self.value("more"))
        elif chance < 0.06 and arguments:
            arguments.pop()
        self.said = f"{where}({', '.join([*map(shown, arguments), *(f'{key}={shown(value)}' for key, value in named.items())])})"
        return function(*arguments, **named)

    def arguments(self, function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
        """Draw what a function asks for, and some of what it may be given."""
        wanted = list(inspect.signature(function).parameters.values())
        arguments: list[Any] = []
        named: dict[str, Any] = {}
        for one in wanted:
            if one.kind is one.VAR_POSITIONAL:
                arguments += [self.value(one.name) for _ in range(self.draw.randint(0, 3))]
            elif one.kind is one.VAR_KEYWORD:
                if one.name == "options":
                    continue  # they go to another signature, where Python itself refuses names
                named |= {
                    key: self.value("number" if key.isupper() else "inputs")
                    for key in self.draw.sample(NAMED, self.draw.choice((0, 0, 1, 2, 3)))
                }
            elif one.kind is one.KEYWORD_ONLY:
                if self.draw.random() < 0.3:
                    named[one.name] = self.value(one.name)
            elif one.default is one.empty or (len(arguments) == wanted.index(one) and self.draw.random() < 0.4):
                arguments.append(self.value(one.name))
        return arguments, named

    def layer(self, cls: Any) -> Any:
        """Build one layer with some of its arguments changed."""
        if not isinstance(cls, type):
            arguments = dict(cls.plain)
            for key in self.draw.sample(sorted(cls.signature.parameters), min(2, len(cls.signature.parameters))):
                if key != "base":
                    arguments[key] = self.draw.choice(junk())
            self.said = f"keras.{cls.__name__}({', '.join(f'{key}={shown(value)}' for key, value in arguments.items())})"
            return getattr(ps.keras, cls.__name__)(**arguments)
        positional, _ = plain(cls).arguments()
        names = [field.name for field in fields(cls) if field.init]
        given: dict[str, Any] = dict(zip(names, positional, strict=False))
        for name in self.draw.sample(names, min(len(names), self.draw.choice([1, 1, 2]))):
            given[name] = self.draw.choice(junk())
        self.said = f"{cls.__name__}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})"
        return cls(**given)

    def once(self) -> Any:
        """Make one call, and look at what comes out as a notebook would."""
        kind = self.draw.random()
        if kind < 0.4:
            name = self.draw.choice([*FUNCTIONS])
            return self.call(FUNCTIONS[name], name)
        if kind < 0.6:
            return self.layer(self.draw.choice([*layer_classes(), *model_classes(), *doors()]))
        if kind < 0.62:
            name = self.draw.choice(PICTURES)
            return self.call(getattr(ps.plot, name), f"ps.plot.{name}")
        layer = self.draw.choice(subjects())
        if kind < 0.7:
            name = self.draw.choice(FACTS)
            self.said = f"{shown(layer)}.{name}"
            return getattr(layer, name)
        name = self.draw.choice(METHODS)
        return self.call(getattr(layer, name), f"{shown(layer)}.{name}")

    def look(self, answer: Any) -> None:
        """Show an answer in one of its ways, and ask a layer what it counts."""
        if type(answer).__module__ == "builtins" or isinstance(answer, sympy.Basic):
            return  # they show themselves, except numbers of more than 4,300 digits, which Python does not write
        repr(answer)
        str(answer)
        further = [name for name in FURTHER if hasattr(type(answer), name)] if type(answer).__module__.startswith("paramsym") else []
        if further and self.draw.random() < 0.3:
            name = self.draw.choice(further)
            said, answer = self.said, self.call(getattr(answer, name), f".{name}")
            self.said = f"{said} -> {self.said}"
        ways = [name for name in SHOWN if hasattr(type(answer), name)]
        if isinstance(answer, ps.Layer):
            ways += ["params", "symbols", "shapes"]
        if ways:
            name = self.draw.choice(ways)
            self.said += f" -> .{name}"
            found = getattr(answer, name)
            if callable(found):
                found()


def shown(value: Any) -> str:
    """Return a value in short, whatever it is."""
    try:
        return repr(value)[:80]
    except Exception as error:  # noqa: BLE001 - some are made to fail
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


def misses_the_signature(error: BaseException) -> bool:
    """Whether Python itself refused the call: the traceback ends at the call, or at the function that passes the options on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not isinstance(error, TypeError):
        return False
    where = trace.tb_frame.f_code
    return "unexpected keyword argument 'abacus'" in str(error) or where.co_filename == __file__ or where.co_name == "asked"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_foreign_exception(batch: int) -> None:
    """Whatever is called with whatever, what is raised is this library's, or Python's for arguments that a signature does not have."""
    failures = []
    for seed in range(batch, CALLS, BATCHES):
        caller = Caller(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                caller.look(caller.once())
        except ParamsymError:
            continue
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            if not misses_the_signature(error):
                failures.append(f"{seed}: {caller.said[:300]}: {type(error).__name__}: {shown(error)}")
    assert not failures, "\n".join(failures)
