"""Times of tracing: every family in letters, a shape of a traced model, depth and experts, and reading a count.

Run it on a quiet machine: ``python docs/benchmarks/trace.py``. Every class is traced once before, so that its parts are built; then the
programs are dropped and it is traced again. Printed is the best processor time of ten, without the garbage collector, as ``timeit``
measures: it would walk through the models that were measured before. The limits: 10 ms for a trace, 0.2 ms for the shape of a traced
model, and the same time for one layer and a million. ``python docs/benchmarks/trace.py 20`` prints only the 20 slowest.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import paramsym as ps
from paramsym.models import family_of, model_types

REPEATS = 10
TRACE, SHAPE = 10.0, 0.2
"""Wanted milliseconds."""


def milliseconds(call: Callable[[], object], before: Callable[[], object] = lambda: None, times: int = 1) -> float:
    """Return the best of some repeats, each of many calls."""
    best = float("inf")
    for _ in range(REPEATS):
        before()
        began = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - began) / times)
    return 1000 * best


def forget(layer: ps.Layer) -> None:
    """Drop the traced programs of a layer and its parts."""
    layer.__dict__.pop("_programs", None)
    for part in layer.own_parts:
        forget(part.layer)


def models() -> Iterator[tuple[str, Any]]:
    """Yield every class of transformers in letters, then every network that is not a family of transformers."""
    seen = set()
    for model_type in model_types():
        for architecture in family_of(model_type).architectures:
            extra = {"out_indices": [3, 5, 7, 11]} if architecture == "BeitForSemanticSegmentation" else {}
            model = ps.from_config({"model_type": model_type, **extra}, architecture).origin[0]
            seen.add(type(model))
            yield architecture, model
    for name in dir(ps.models):
        found = getattr(ps.models, name)
        if isinstance(found, type) and issubclass(found, ps.Layer) and found not in seen:
            yield name, found()


def measured(model: Any) -> tuple[float, float]:
    """Return the milliseconds of a trace, and of the shape of the traced model."""
    shapes = tuple(model.inputs.values())
    asked = shapes if len(shapes) > 1 else shapes[0]
    ps.trace(model)
    traced = milliseconds(lambda: ps.trace(model), lambda: forget(model))
    return traced, milliseconds(lambda: ps.output_shape(model, asked), times=20)


def main() -> None:
    """Print the slowest first, then the times for depth, experts and counts."""
    gc.disable()
    most = int(sys.argv[1]) if len(sys.argv) > 1 else None
    out = sys.stdout.write
    rows = sorted(((*measured(model), name) for name, model in models()), reverse=True)
    out(f"{'class':42} {'trace':>9} {'shape':>9}\n")
    for traced, shape, name in rows[:most]:
        out(f"{name:42} {traced:6.2f} ms {shape:6.3f} ms\n")
    slow, slow_shapes = sum(row[0] > TRACE for row in rows), sum(row[1] > SHAPE for row in rows)
    out(f"{len(rows)} classes: {slow} take more than {TRACE:g} ms to trace, {slow_shapes} more than {SHAPE:g} ms for a shape\n")
    for letter in ("L", "E"):
        models_ = [ps.models.Mixtral(architecture="MixtralForCausalLM").at({letter: number}) for number in (8, 1_000_000)]
        few, many = (milliseconds(lambda model=model: ps.trace(model), lambda model=model: forget(model)) for model in models_)
        out(f"Mixtral with {letter} = 8: {few:.2f} ms, with {letter} = 1,000,000: {many:.2f} ms\n")
    config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32}
    out(f"from_config(...).count of a Llama: {milliseconds(lambda: ps.from_config(config).count):.2f} ms; nothing is traced for it\n")


if __name__ == "__main__":
    main()
