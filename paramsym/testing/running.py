"""Comparison by running: a layer's forward pass and its reference compute the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from sympy import Integer, Symbol

from paramsym.algebra.size import Shape, substitute, symbols_in, text
from paramsym.core.layer import Layer
from paramsym.core.tensor import Tensor
from paramsym.errors import ArgumentError, ParamsymError, RefutedError, ShapeError
from paramsym.measure.run import run
from paramsym.measure.trace import trace
from paramsym.measure.walk import checked_shape
from paramsym.naming import described, short
from paramsym.optional import available, needed
from paramsym.program.graph import Program, bodies
from paramsym.program.inputs import each_input
from paramsym.program.lookups import Lookup
from paramsym.program.signature import stated_inputs
from paramsym.verify.agreement import Rival
from paramsym.verify.lattice import lattice


@dataclass(frozen=True)
class RunCertificate:
    """The number of runs of a layer and its reference, and the largest difference relative to the largest entry of an output."""

    layer: Layer
    runs: int
    difference: float

    def __str__(self) -> str:
        return f"{type(self.layer).__name__}: {self.runs} runs agree; the largest relative difference is {self.difference:.1e}."


def certify_run(
    layer: Layer, build: Callable[..., Any], *inputs: Shape, times: int = 5, tolerance: float = 1e-9, seed: int = 0
) -> RunCertificate:
    """Run a layer and its reference on the same random tensors and inputs, in float64 and in evaluation mode; fail if they differ.

    ``build`` is called with the sizes by symbol name, as in ``certify``. It returns a ``torch.nn.Module``, or a function of the tensors (by
    their names) and the inputs. ``inputs`` are shapes in the layer's symbols and further ones; by default a model's own. An input whose
    entries select rows of a table gets whole numbers below its number of rows.

    Raises:
        RefutedError: an output that differs by more than ``tolerance``, relative to the largest entry of the reference's output; a module
            that stores tensors under other names.
        ArgumentError: neither a module nor a function, an impossible number of runs, no inputs.
        ShapeError: inputs that are not shapes, or that the layer cannot take.

    With ``pip install numpy``, ``certify_run(Dense(H, F), lambda H, F: torch.nn.Linear(H, F), (B, H))`` says that 5 runs agree.
    """
    xp = needed("numpy", "certify_run", "numpy")
    if hasattr(build, "load_state_dict") and not isinstance(build, type):
        message = f"build is {described(build)}; wanted a function that takes the sizes and returns a module, such as lambda H: Mine(H)."
        raise ArgumentError(message)
    Rival(build).check_call(layer)
    inputs = tuple(_input(shape) for shape in inputs or stated_inputs(layer).values())
    number: Any
    for what, number, least in (("times", times, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise ArgumentError(f"{what} is {described(number)}; wanted a whole number from {least} on.")
    limit: Any = tolerance
    if not isinstance(limit, int | float) or not limit >= 0:
        raise ArgumentError(f"tolerance is {described(tolerance)}; wanted a number such as 1e-9.")
    random, worst = Random(seed), 0.0  # noqa: S311 - test data
    for _ in range(times):
        sizes = _drawn(layer, random)
        for symbol in sorted(symbols_in(inputs) - sizes.keys(), key=str):
            sizes[symbol] = random.randint(1, 6)
        known = {symbol: size for symbol, size in sizes.items() if symbol in layer.symbols}
        sized = layer.at(known) if known else layer
        generator = xp.random.default_rng(random.randrange(2**32))
        shapes = [substitute(shape, {symbol: Integer(size) for symbol, size in sizes.items()}) for shape in inputs]
        arrays = _inputs(generator, trace(sized, *shapes), shapes)
        stored = (entry for entry in sized.entries() if not entry.alias_of and entry.tensor.persistent)
        tensors = {entry.name: _tensor(generator, entry.tensor) for entry in stored}
        wanted = _wanted(xp, sized, partial(build, **{symbol.name: size for symbol, size in known.items()}), tensors, arrays)
        found = run(sized, tensors, *arrays)
        worst = max(worst, largest_difference(xp, sized, found, wanted, tolerance))
    return RunCertificate(layer, times, worst)


def _input(shape: Any) -> Shape:
    found = checked_shape(shape)
    if len(each_input(found)) > 1 or None in found:
        raise ShapeError(f"an input is {text(found)}; wanted one shape whose sizes are known or letters, such as (B, H).")
    return found


def _inputs(generator: Any, program: Program, shapes: list[Any]) -> list[Any]:
    """Return random arrays: whole numbers if they select rows of tables, otherwise normal ones."""
    arrays = []
    for number, shape in zip(program.inputs, shapes, strict=True):
        rows = min(map(int, _rows(program, number)), default=0)
        arrays.append(generator.integers(0, rows, shape) if rows else generator.standard_normal(shape))
    return arrays


def _rows(program: Program, number: int) -> Iterator[Any]:
    """Yield the number of rows of every table from which a value of the program selects rows."""
    same = {number}
    for step in program.steps:
        for body in bodies(step.operation):
            for taken, inner in zip(step.takes, body.inputs, strict=False):
                if taken in same:
                    yield from _rows(body, inner)
        if isinstance(step.operation, Lookup) and step.takes[1] in same:
            yield program.types[step.takes[0]].sizes[0]
        elif getattr(step.operation, "view", False) and not same.isdisjoint(step.takes):
            same.update(step.gives)


def _tensor(generator: Any, tensor: Tensor) -> Any:
    """Return random entries; statistics are positive, because a variance is."""
    if tensor.role == "statistic":
        return generator.uniform(0.5, 1.5, tensor.sizes)
    return generator.standard_normal(tensor.sizes)


def _drawn(layer: Layer, random: Random) -> dict[Symbol, int]:
    """Return small valid sizes of the layer.

    Raises:
        ArgumentError: none are found in a thousand tries.
    """
    points = lattice(layer)
    for _ in range(1000):
        point = {c.symbol: random.choice(c.choices) if c.choices else random.randint(1, 4) for c in points.coordinates}
        named = points.sizes(point)
        try:
            layer.at(named)
        except ParamsymError:
            continue
        return {symbol: named[symbol.name] for symbol in layer.symbols}
    raise ArgumentError(f"no sizes were found that {layer} accepts; put some in with .at(...).")


def largest_difference(xp: Any, layer: Layer, found: Any, wanted: Any, tolerance: float) -> float:
    """Return the largest difference of two outputs, relative to the largest entry of each wanted one.

    Raises:
        RefutedError: another number of outputs, another shape, or a difference above the tolerance.
    """
    found, wanted = (outputs if isinstance(outputs, tuple) else (outputs,) for outputs in (found, wanted))
    kind = type(layer).__name__
    if len(found) < len(wanted):
        raise RefutedError(f"{layer}: the reference returns {len(wanted)} arrays; {kind} returns {len(found)}.")
    worst = 0.0
    for position, (ours, theirs) in enumerate(zip(found, wanted, strict=False)):
        if ours.shape != theirs.shape:
            raise RefutedError(f"{layer}: output {position} of the reference has shape {theirs.shape}; that of {kind} {ours.shape}.")
        if theirs.size == 0:
            continue
        difference = float(xp.abs(ours - theirs).max() / max(float(xp.abs(theirs).max()), 1e-30))
        if not difference <= tolerance:
            raise RefutedError(f"{layer}: output {position} differs from the reference by {difference:.1e} of its largest entry.")
        worst = max(worst, difference)
    return worst


def _wanted(xp: Any, sized: Layer, build: Callable[[], Any], tensors: Mapping[str, Any], arrays: list[Any]) -> Any:
    """Build the reference and run it; an error there is one of the reference."""
    try:
        return _reference(xp, build(), tensors, arrays)
    except ParamsymError:
        raise
    except Exception as error:
        raise RefutedError(f"{sized!r:.200}: the reference raised {type(error).__name__}: {error}") from error


def _reference(xp: Any, reference: Any, tensors: Mapping[str, Any], arrays: list[Any]) -> Any:
    if hasattr(reference, "load_state_dict"):
        torch = available("torch")
        reference = reference.double().eval()
        state = {name: torch.from_numpy(xp.asarray(array)) for name, array in tensors.items()}
        missing, unexpected = reference.load_state_dict(state, strict=False)
        if missing or unexpected:
            named = [short(", ".join(names) or "nothing") for names in (missing, unexpected)]
            message = f"the module stores what the layer does not: {named[0]}; the layer stores what the module does not: {named[1]}."
            raise RefutedError(message)
        with torch.no_grad():
            outputs = reference(*map(torch.from_numpy, arrays))
        return tuple(one.detach().numpy() for one in (outputs if isinstance(outputs, tuple | list) else (outputs,)))
    if callable(reference):
        outputs = reference(tensors, *arrays)
        return tuple(map(xp.asarray, outputs if isinstance(outputs, tuple) else (outputs,)))
    raise ArgumentError(f"build returned {described(reference)}; wanted a torch module, or a function of tensors and inputs.")
