"""Bytes that a forward pass keeps for the backward pass: activations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim, canonical
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.core.ledger import Ledger, Line
from paramsym.errors import NotYetError
from paramsym.measure.cost import Cost, cost_of, known_dtype
from paramsym.measure.formats import BYTES, Dtype, bytes_of, narrow
from paramsym.measure.keeping import Attention, Way, stage_of
from paramsym.measure.kept import keeping, of_outputs
from paramsym.measure.losses import loss_in_words, loss_named, of_loss
from paramsym.measure.options import telling_options
from paramsym.measure.passes import check_stated
from paramsym.measure.recompute import RECOMPUTE, Recompute
from paramsym.measure.shares import Shares
from paramsym.measure.trace import ask_for_copies, trace
from paramsym.program.graph import Program


@dataclass(frozen=True)
class Memory:
    """A convention for kept arrays: its source, how attention is computed, the default format, and the bytes of masks and statistics.

    A ``mask`` or ``statistic`` of None takes the bytes of a number. With ``copies``, the float32 copies that references make of narrower
    numbers count. With ``cpu``, the kernels are those of CPUs: some keep other arrays, and their fused attention refuses some inputs. The
    source counts the ``loss``, or leaves it to the model.
    """

    name: str
    source: str
    attention: Attention = "eager"
    dtype: str = "float32"
    statistic: int | None = 4
    index: int = 8
    mask: int | None = 1
    copies: bool = True
    cpu: bool = False
    loss: str = ""
    wrong: str = "temporary arrays of kernels and the cache of the allocator are left out; autocast also keeps a copy of every weight"


_CPU = "torch's autograd on a CPU, which keeps masks and the statistics of kernels in the format of the numbers"
_NATIVE = "the same with torch's native dropout, whose masks take one byte"
_PLAIN = "fused attention only without dropout, without a bias that needs a gradient, and for keys and values of the same width"
_KORTHIKANTI = "Korthikanti et al. 2022, arXiv:2205.05198, section 4.1: 2 bytes per number, 1 per entry of a mask, no statistics of norms"
MEMORY: Mapping[str, Memory] = {
    one.name: one
    for one in (
        Memory("torch-eager", "torch's autograd on plain operations, as saved_tensors_hooks shows it; masks of one byte"),
        Memory("torch-sdpa", "the same with the fused attention of torch.nn.functional.scaled_dot_product_attention on a GPU", "fused"),
        Memory("torch-eager-cpu", _CPU, statistic=None, mask=None, cpu=True),
        Memory("torch-sdpa-cpu", f"{_CPU}; {_PLAIN}", "fused", statistic=None, mask=None, cpu=True),
        Memory("torch-eager-native", f"{_CPU}; {_NATIVE}", statistic=None, cpu=True),
        Memory("torch-sdpa-native", f"{_CPU}; {_NATIVE}; {_PLAIN}", "fused", statistic=None, cpu=True),
        Memory(
            "korthikanti",
            _KORTHIKANTI,
            dtype="float16",
            statistic=0,
            index=0,
            copies=False,
            loss="vocab-parallel",
            wrong="torch keeps the mean and the deviation of each norm as well, 16*s*b bytes in a block, and for GPT-2's own GELU 24*s*b*h",
        ),
    )
}
"""Ways to account for activations, by name."""


@telling_options
def activations(
    layer: Layer,
    *inputs: Any,
    convention: str = "torch-eager",
    dtype: Dtype | None = None,
    recompute: Recompute = "none",
    tensor: Dim = 1,
    sequence: bool = False,
    context: Dim = 1,
    pipeline: Dim = 1,
    interleaved: Dim = 1,
    expert: Dim = 1,
    input_gradients: bool = False,
    loss: bool | str = False,
    **named: Any,
) -> Cost:
    """Return the bytes that a forward pass in training keeps for the backward pass, counting arrays that share storage once.

    Stored tensors and the inputs themselves are left out. Numbers take the bytes of ``dtype``, a format
    or a letter for the bytes; if it is None, the convention chooses it.
    Statistics of norms take 4 bytes, indices 8 and masks 1, unless the convention says otherwise. ``recompute`` is what the backward pass
    computes again instead of keeping it. If the model is split over devices, one device is counted: ``tensor``, ``sequence``,
    ``context``, ``pipeline``, ``interleaved`` and ``expert`` are those of ``Shares``. Inputs need no gradient unless ``input_gradients``.
    Copies in float32 that a reference makes of narrower numbers count: those of Llama's norms and softmax. The scores that a model gives,
    and what a loss makes of them, are left out, unless ``loss`` is True or the name of a loss, as in ``memory``.

    Raises:
        ShapeError: inputs that the layer cannot take; an output that has no classes for a loss.
        NotYetError: a part without a forward pass; tensor sharing of a model that is not split between pairs of matrices.
        ArgumentError: an unknown convention, ``dtype``, ``recompute`` or ``loss``.
        SizeError: an impossible number of devices.

    >>> from paramsym import B, Dense, F, H, S, Sequential
    >>> activations(Sequential(Dense(H, F), Dense(F, H)), (B, S, H)).total
    4*B*F*S
    >>> activations(Sequential(Dense(H, F), Dense(F, H)), (B, S, H), tensor=8).total
    B*F*S/2
    """
    convention, recompute = known_word("convention", convention, MEMORY), known_word("recompute", recompute, RECOMPUTE)
    if dtype is not None:
        dtype = known_dtype("dtype", dtype, BYTES)
    memory, shares = MEMORY[convention], Shares(tensor, sequence, context, pipeline, interleaved, expert)
    program = trace(layer, *inputs, **named)
    check_stated(program)
    ask_for_copies(program)
    width = bytes_of(dtype or memory.dtype)
    widths = {
        "float": width,
        "complex": 2 * width,
        "wide float": 4 if memory.copies and narrow(width) else width,
        "statistic": width if memory.statistic is None else memory.statistic,
        "wide statistic": 0 if memory.statistic == 0 else 4,
        "index": memory.index,
        "ends": min(memory.index, 4),
        "mask": width if memory.mask is None else memory.mask,
        "wide mask": 4 if memory.mask is None else memory.mask,
        "truth": 1,
        "buffer": width if memory.cpu else 0,
    }
    attention: Attention = "recomputed" if recompute == "selective" else memory.attention
    way = Way(attention, recompute == "full", memory.copies and narrow(width), cpu=memory.cpu)
    lines = _counted(_kept(program, way, shares, input_gradients=input_gradients), widths, shares)
    asked = loss_named(loss, layer, memory.loss)
    words = [convention, *([f"{recompute} recomputation"] if recompute != "none" else [])]
    words += [*loss_in_words(asked, layer, shares), *shares.words()]
    chosen = {"convention": convention, "dtype": dtype or memory.dtype, "recompute": recompute, "loss": loss}
    lines = chain(lines, of_loss(asked, program, width, shares))
    return cost_of(
        activations, layer, program, "bytes", ", ".join(words), lines, {**chosen, **asdict(shares), "input_gradients": input_gradients}
    )


def _kept(program: Program, way: Way, shares: Shares, *, input_gradients: bool) -> Iterator[Line]:
    kept = keeping(program, tuple(input_gradients and one.kind == "float" for one in program.input_types), way)
    if kept.mixed and shares.tensor != 1:
        raise NotYetError(
            "an array that is split over devices is added to a whole array: tensor sharing is defined for blocks in which a matrix with a"
            " whole input is followed by one that sums over its output."
        )
    yield from kept.lines
    yield from of_outputs(program, kept)


def _counted(lines: Iterator[Line], widths: Mapping[str, Dim], shares: Shares) -> Iterator[Line]:
    """Yield lines of numbers as lines of bytes on one device."""
    for line in lines:
        stage, role = stage_of(line)
        role = role.removeprefix("split ")
        width = widths[role]
        if width != 0 and shares.holds(stage):
            yield line.but(factors=(*shares.factors(line), *(() if width == 1 else (width,)), *line.factors), role=role)


def one_block(cost: Cost, kept: Cost) -> tuple[Line, ...]:
    """Return the bytes of one repeated block that the first of two lists has and the second has not: those computed again at once.

    If there are several kinds of blocks, take the largest; for sizes in letters, the last one that is not certainly smaller.
    """
    rest = list(kept.ledger)
    groups: dict[str, list[Line]] = {}
    for line in cost.ledger:
        if line in rest:
            rest.remove(line)
            continue
        step = next((step for step in line.path if isinstance(step, Numbers)), None)
        if step is not None and line.path[-1] != "carried":
            used = list(line.used)
            if step.count in used:
                used.remove(step.count)
            name = ".".join(map(str, line.path[: line.path.index(step) + 1]))
            groups.setdefault(name, []).append(line.but(used=tuple(used)))
    found: tuple[Line, ...] = ()
    for group in groups.values():
        more = canonical(Ledger(tuple(group)).used - Ledger(found).used)
        if getattr(more, "is_negative", None) is not True and not (isinstance(more, int) and more < 0):
            found = tuple(group)
    return found
