"""Times of evaluating closed forms: five million Llama configurations, one configuration, and models of any depth.

Run it with NumPy installed: ``python docs/benchmarks/evaluate.py``; transformers and torch are used if they are installed. Everything is
measured alternately in one process, and the best time counts; ratios matter, absolute times depend on the machine. The values are compared
first.
"""

from __future__ import annotations

import itertools
import time
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sympy

import paramsym as ps
from paramsym import A, F, G, H, L, V
from paramsym.models import Llama, Mixtral

ROWS = 5_000_000
LLAMA = {"V": 32000, "H": 4096, "L": 32, "A": 32, "G": 8, "F": 11008}


def columns(rows: int) -> dict[str, Any]:
    """Return columns of sizes that a Llama can have."""
    draw = np.random.default_rng(0)
    groups = 2 ** draw.integers(0, 4, rows)
    heads = groups * draw.integers(1, 9, rows)
    return {
        "V": draw.integers(1000, 256_000, rows),
        "H": heads * draw.integers(8, 257, rows),
        "L": draw.integers(1, 127, rows),
        "A": heads,
        "G": groups,
        "F": draw.integers(64, 65_536, rows),
    }


def naive(V: Any, H: Any, L: Any, A: Any, G: Any, F: Any) -> Any:
    """Llama's count as it is usually written; nothing is checked."""
    return V * H + L * (H * H + 2 * H * (G * (H // A)) + H * H + 3 * H * F + 2 * H) + H


def factored(V: Any, H: Any, L: Any, A: Any, G: Any, F: Any) -> Any:
    """The same, factored by hand; nothing is checked."""
    return H * (V + 1 + L * (2 * (H + G * (H // A) + 1) + 3 * F))


def without_division(V: Any, H: Any, L: Any, D: Any, G: Any, F: Any) -> Any:
    """The same, factored by hand, with the head size given, so that nothing is divided; nothing is checked."""
    return H * (V + 1 + L * (2 * (H + G * D + 1) + 3 * F))


def agree(condition: object) -> None:
    """Stop if two ways of counting differ."""
    if not condition:
        message = "the values differ"
        raise SystemExit(message)


def best(rounds: int, tasks: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return each task's best time in seconds of the processor, which depends less on other programs; the tasks alternate."""
    found = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            found[name] = min(found[name], time.process_time() - start)
    return found


def show(title: str, times: dict[str, float], unit: float, name: str) -> None:
    """Print the times and their ratios to the first."""
    print(title)
    first = next(iter(times.values()))
    for task, seconds in times.items():
        print(f"  {task:<48}{seconds / unit:10.2f} {name}   {seconds / first:10.2f}")


def many() -> None:
    """Five million configurations."""
    sizes = columns(ROWS)
    model = Llama()
    width = {name: column for name, column in sizes.items() if name != "A"} | {"D": sizes["H"] // sizes["A"]}
    symbols = [V, H, L, A, G, F]
    as_written = sympy.lambdify(symbols, model.params.subs(1 / A, sympy.Symbol("a")).subs("a", 1 / A), "numpy")
    exact = ps.evaluate(model, sizes)
    agree((exact == naive(**sizes)).all() and (exact == factored(**sizes)).all())
    times = best(
        9,
        {
            "evaluate, overflow and divisibility checked": lambda: ps.evaluate(model, sizes),
            "NumPy, factored by hand": lambda: factored(**sizes),
            "NumPy, factored by hand, no division": lambda: without_division(**width),
            "NumPy, naive": lambda: naive(**sizes),
            "lambdify (float64)": lambda: as_written(*(sizes[symbol.name] for symbol in symbols)),
        },
    )
    show(f"{ROWS:,} Llama configurations, ns each, and ratio to evaluate", times, ROWS * 1e-9, "ns")


def training_memory(V: Any, H: Any, L: Any, A: Any, G: Any, F: Any, B: Any, S: Any) -> Any:
    """Bytes of training Llama in bfloat16 with AdamW and a fused attention, factored by hand; nothing is checked."""
    width, tokens = H // A, B * S
    kept = tokens * (A + 2 * F + 5 * H + 2 + G * width)
    stored = 4 * H * (3 * F + 2 * (H + 1 + G * width))
    return 4 * S * (width + B) + H * (16 * (V + 1) + 6 * tokens) + 4 * L * (kept + stored)


def memory() -> None:
    """Five million configurations of a formula of training memory."""
    draw, sizes = np.random.default_rng(1), columns(ROWS)
    sizes |= {"H": 2 * sizes["A"] * draw.integers(4, 129, ROWS), "B": draw.integers(1, 9, ROWS), "S": draw.integers(128, 4097, ROWS)}
    cost = ps.memory(Llama(), dtype="bfloat16", convention="torch-sdpa")
    agree((ps.evaluate(cost, sizes) == training_memory(**sizes)).all())
    tasks: dict[str, Callable[[], object]] = {
        "evaluate, overflow and divisibility checked": lambda: ps.evaluate(cost, sizes),
        "NumPy, factored by hand": lambda: training_memory(**sizes),
    }
    show(f"{ROWS:,} configurations of training memory, ns each, and ratio to evaluate", best(9, tasks), ROWS * 1e-9, "ns")


def one() -> None:
    """One configuration."""
    model = Llama()
    formula = model.params
    values = {symbol: LLAMA[symbol.name] for symbol in formula.free_symbols}
    integers = {symbol: sympy.Integer(value) for symbol, value in values.items()}
    function = sympy.lambdify(list(values), formula)

    def cold(task: Callable[[], object]) -> Callable[[], object]:
        def run() -> object:
            sympy.core.cache.clear_cache()
            return task()

        return run

    fresh = itertools.count(1)
    agree(ps.evaluate(model, LLAMA) == formula.subs(values) == formula.xreplace(integers))
    # Caches are warm unless they are cleared: the tasks that clear them do not alternate with the others.
    often: dict[str, tuple[int, Callable[[], object]]] = {
        "evaluate": (1000, partial(ps.evaluate, model, LLAMA)),
        "evaluate, another depth each time": (1000, lambda: ps.evaluate(model, LLAMA | {"L": next(fresh)})),
        "lambdify, called: nothing checked": (1000, lambda: function(*values.values())),
        "expr.subs, the same sizes again": (100, partial(formula.subs, values)),
        "expr.subs, another depth each time": (100, lambda: formula.subs(values | {L: next(fresh)})),
        "expr.subs, other sizes each time": (100, lambda: formula.subs({symbol: next(fresh) * LLAMA["A"] for symbol in values})),
        "expr.xreplace": (100, lambda: formula.xreplace(integers)),
    }
    turns = best(20, {name: partial(timeit.timeit, task, number=number) for name, (number, task) in often.items()})
    times = {name: seconds / often[name][0] for name, seconds in turns.items()}
    times |= best(
        50,
        {
            "expr.subs, caches cleared": cold(lambda: formula.subs(values)),
            "expand, caches cleared": cold(lambda: sympy.expand(formula)),
            "diff, caches cleared": cold(lambda: formula.diff(H)),
            "layer.polynomial.diff": lambda: model.polynomial.diff(H),
            "lambdify, built": lambda: sympy.lambdify(list(values), formula),
        },
    )
    try:
        import torch
        import transformers
    except ImportError:
        print("transformers is not installed: its instantiation was left out")
    else:
        config = transformers.LlamaConfig(num_key_value_heads=8)

        def built() -> object:
            with torch.device("meta"):
                return transformers.LlamaModel(config)

        times |= best(3, {"transformers, built on the meta device": built})
    show("one Llama configuration, microseconds, and ratio to evaluate", times, 1e-6, "us")


def growth() -> None:
    """Models of any depth and of any number of experts."""
    sizes = {"V": 32000, "H": 4096, "A": 32, "G": 8, "F": 14336, "K": 2}
    deep = {f"{layers:,} layers": lambda layers=layers: ps.evaluate(Llama(), LLAMA | {"L": layers}) for layers in (2, 200, 2_000_000)}
    names = {symbol.name for symbol in Mixtral().symbols}
    wide = {
        f"{experts:,} experts": lambda experts=experts: ps.evaluate(
            Mixtral(), {name: size for name, size in (sizes | {"L": 32, "E": experts}).items() if name in names}
        )
        for experts in (8, 800, 8_000_000)
    }
    show("growth: building and evaluating, microseconds", best(200, deep | wide), 1e-6, "us")


if __name__ == "__main__":
    many()
    memory()
    one()
    growth()
