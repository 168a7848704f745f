"""Everyday edits of FLOPs, activations, memory and caches, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

from sympy import Min, Rational, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.edits import Edit, Habit, Structure, counted_as, fixed, resized, scaled
from paramsym.analysis.ways import blocks_of
from paramsym.core.ledger import Line
from paramsym.core.names import layer_at
from paramsym.errors import ParamsymError
from paramsym.measure.cost import Cost
from paramsym.measure.formats import BYTES, bytes_of
from paramsym.measure.losses import LOSSES, loss_named, of_loss
from paramsym.measure.passes import walked
from paramsym.measure.recompute import RECOMPUTE
from paramsym.measure.shares import Shares
from paramsym.measure.trace import trace
from paramsym.measure.work import PAIRS
from paramsym.program.reductions import Reduce
from paramsym.program.types import ArrayType, flat
from paramsym.program.windows import Pool, PoolTo

_DEVICES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_FLOWS = frozenset({"activations", "recomputed block", "logits", "loss"})
_GROUPS, _HEADS, _ALL, _CHOSEN, _BATCH, _POSITIONS = (BY_NAME[name].symbol for name in "GAEKBS")
_SIDES = (32, 224, 227, 256, 299, 384, 512, 640)


def _windows(structure: Structure) -> Iterator[Edit]:
    """The smaller of a window and the positions, replaced by the positions."""
    subject = structure.subject
    if not isinstance(subject.root, Cost):
        return
    windows = [one for monomial in subject.formula.terms for one, _ in monomial if isinstance(one, Min)]
    for window in dict.fromkeys(windows):
        positions = [symbol for symbol in window.args if isinstance(symbol, Symbol)]
        if len(positions) == 1:
            without: Any = subject.formula.as_expr().xreplace({window: positions[0]})
            yield counted_as(subject, Polynomial.of(without), "windows ignored: every layer keeps or reads all positions", 0.9)


def _pairs(structure: Structure) -> Iterator[Edit]:
    pairs = frozenset(i for i, line in enumerate(structure.lines) if line.role == PAIRS)
    if pairs:
        yield scaled(structure, pairs, Rational(1, 2), "half of the pairs of queries and keys, as under a causal mask", 0.92)
        yield scaled(structure, pairs, 2, "all pairs of queries and keys, where half of them were counted", 0.96)


_EARLY = "strides in the first convolution, of 1 by 1, of each block (v1), in place of the second (v1.5)"
_LATE = "strides in the second convolution of each block (v1.5), in place of the first, of 1 by 1 (v1)"


def _strides(structure: Structure) -> Iterator[Edit]:
    """The stride of a block in its convolution of 1 by 1 (He et al. 2016, v1), or in the next one (torchvision, v1.5)."""
    root = structure.subject.root
    if not isinstance(root, Cost):
        return
    kernels = [line for line in root.layer.lines if line.role == "weight" and len(line.shape) > 2]
    changed, words = root.layer, ""
    for one, other in pairwise(kernels):
        if len(one.path) > 2 and one.path[:-2] == other.path[:-2] and {*one.sizes[2:]} == {1} != {*other.sizes[2:]}:
            names = [".".join(map(str, line.path[:-1])) for line in (one, other)]
            try:
                first, second = (layer_at(root.layer, name) for name in names)
            except ParamsymError:  # several copies, which have no stride
                continue
            steps = [getattr(layer, "stride", 1) for layer in (first, second)]
            if steps[0] != steps[1]:
                for name, layer, step in zip(names, (first, second), reversed(steps), strict=True):
                    changed = changed.replace(name, replace(layer, stride=step))  # type: ignore[type-var]
                words = _EARLY if steps[0] == 1 else _LATE
    if changed is not root.layer:
        found = root.of(changed).polynomial
        yield counted_as(structure.subject, found, words, 0.9)
        if root.unit == "FLOPs":
            halved = found * Polynomial.of(Rational(1, 2))
            yield counted_as(structure.subject, halved, f"{words}, and multiply-adds counted once", 0.95)


def _groups(structure: Structure) -> Iterator[Edit]:
    """A key for each head, without groups; or the number of queries for each key, taken for the number of keys."""
    subject = structure.subject
    heads, groups = subject.used.get(_HEADS) or subject.whole.get(_HEADS), subject.used.get(_GROUPS)
    if isinstance(subject.root, Cost) and heads and groups and heads != groups:
        words = f"a key and a value for each of the {heads} heads, without groups: A in place of G = {groups}"
        yield counted_as(subject, subject.formula.put(_GROUPS, Polynomial.of(_HEADS)), words, 0.95)
    if heads and groups and heads % groups == 0 and heads // groups not in {groups, heads}:
        yield resized(subject, {_GROUPS: heads // groups}, f"A/G = {heads // groups} in place of G = {groups}", 1.02)


def _keys_or_values(structure: Structure) -> Iterator[Edit]:
    """A cache of the keys alone, or twice the cache of something that is not kept in pairs."""
    root = structure.subject.root
    if not isinstance(root, Cost) or root.function.__name__ != "kv_cache":
        return
    halves = [frozenset(i for i, line in enumerate(structure.lines) if line.path[-1] == end) for end in ("value", "key")]
    sizes = [sum(structure.subject.values[i] for i in half) for half in halves]
    if all(sizes) and sizes[0] == sizes[1]:
        yield scaled(structure, halves[0], 0, "keys without values, or values without keys", 0.9)
    elif all(sizes):
        yield scaled(structure, halves[0], 0, "keys without values", 0.9)
        yield scaled(structure, halves[1], 0, "values without keys", 0.9)


def _expanded(structure: Structure) -> Iterator[Edit]:
    """Keys and values of all heads, which latent attention computes again from the latent vectors instead of keeping them."""
    subject, root = structure.subject, structure.subject.root
    if not isinstance(root, Cost) or root.function.__name__ != "kv_cache":
        return
    wide = {line.path[:-2]: Polynomial.of(0) for line in root.layer.lines if line.path[-2:-1] == ("kv_b_proj",)}
    if not wide:
        return
    for line in root.layer.lines:
        if line.path[-2:-1] == ("kv_b_proj",) and line.role == "weight":
            wide[line.path[:-2]] += Polynomial.product(line.axes[0])
    term, unrotated = Polynomial.of(0), Polynomial.of(0)
    heads = next(axis[0] for line in root.layer.lines if line.path[-2:-1] == ("kv_b_proj",) for axis in line.axes if len(axis) == 2)
    for i, line in enumerate(structure.lines):
        if line.path[-1] == "latent" and line.path[:-1] in wide:
            term += subject.polynomials[i] * wide[line.path[:-1]] * Polynomial.product(line.factors[-1:]).inverse() - subject.polynomials[i]
        elif line.path[-1] == "rotary key":
            term += subject.polynomials[i] * Polynomial.of(heads) - subject.polynomials[i]
            unrotated += subject.polynomials[i] * Polynomial.of(heads)
    words = "the latent cache expanded to the keys and values of all heads"
    for changed, more in ((term, ""), (term - unrotated, ", without the rotary part of the keys")):
        if changed:
            yield fixed(subject, changed, f"{words}{more}", 0.9, alone=True)


def _states(structure: Structure) -> Iterator[Edit]:
    """The kinds of memory, each left out or counted alone."""
    root = structure.subject.root
    if not isinstance(root, Cost) or root.function.__name__ != "memory":
        return
    flows = frozenset(i for i, line in enumerate(structure.lines) if line.path[0] in _FLOWS)
    if flows and len(flows) < len(structure.lines):
        words = "without activations and loss: only the weights, their gradients, and the states and copies of the optimizer"
        yield scaled(structure, flows, 0, words, 0.89)
    for kind in dict.fromkeys(str(line.path[0]) for line in structure.lines):
        chosen = frozenset(i for i, line in enumerate(structure.lines) if line.path[0] == kind)
        rest = frozenset(range(len(structure.lines))) - chosen
        if rest:
            yield scaled(structure, chosen, 0, f"without the {kind}", 0.9)
            yield scaled(structure, rest, 0, f"only the {kind}", 0.92)
        if kind == "gradients" and root.chosen.get("dtype") != "float32":
            width = BYTES[root.chosen.get("gradients") or root.chosen["dtype"]]
            yield scaled(structure, chosen, 4 / Rational(width), "the gradients in float32", 0.95)
    if root.chosen.get("use") == "training" and not root.chosen["zero"]:
        yield from _split(structure, flows)


def _split(structure: Structure, flows: frozenset[int]) -> Iterator[Edit]:
    """The stages of ZeRO: states split over devices, or kept by the host."""
    kinds: dict[str, set[int]] = {}
    for i, line in enumerate(structure.lines):
        kinds.setdefault(str(line.path[0]), set()).add(i)
    states, gradients, weights = (
        {*kinds.get("optimizer", ()), *kinds.get("master copy", ())},
        *(kinds[one] for one in ("gradients", "weights")),
    )
    subject = structure.subject
    stages = (
        (states, "ZeRO's stage 1"), (states | gradients, "ZeRO's stage 2"), (states | gradients | weights, "ZeRO's stage 3 (FSDP)"),
        (states | weights, "ZeRO's stage 3 with whole gradients"),
    )  # fmt: skip
    for alone in (False, True):
        rest, told = (subject.total(sorted(flows)), ", without activations and loss") if alone else (Polynomial.of(0), "")
        for chosen, words in stages:
            for number in _DEVICES:
                term = subject.total(sorted(chosen)) * Polynomial.of(Rational(1, number) - 1) - rest
                yield fixed(subject, term, f"{words} over {number} devices{told}", 1.1, alone=True, choice=True)
        for chosen, words in (
            (states, "the states and copies of the optimizer"),
            (states | gradients, "the states and copies of the optimizer, and the gradients,"),
        ):
            yield fixed(subject, -subject.total(sorted(chosen)) - rest, f"{words} kept by the host (offload){told}", 0.94, alone=True)


def _logits(structure: Structure) -> Iterator[Edit]:
    """The scores of the vocabulary and what a loss keeps: left out, counted, or those of another loss."""
    subject, root = structure.subject, structure.subject.root
    if not isinstance(root, Cost) or "loss" not in root.chosen or root.chosen.get("use", "training") != "training":
        return
    if loss_named(True, root.layer) == "none":
        return
    program, width = trace(root.layer, *root.inputs), bytes_of(root.chosen["dtype"])
    shares = Shares(**{one.name: root.chosen[one.name] for one in fields(Shares)})
    counted = [i for i, line in enumerate(structure.lines) if line.path[0] in {"logits", "loss"}]
    now = subject.total(counted)
    if counted:
        yield fixed(subject, -now, "without the logits and the loss, or with a loss that holds no logits", 0.91, alone=True)
    scores, instead = Polynomial.product(program.output_types[0].sizes), ", and nothing else for the loss" if counted else ""
    for times, words in (
        (width, f"the logits counted as well, {width} bytes each"),
        (2 * width, f"the logits and the loss's copy of them counted as well, {width} bytes each"),
        (4 if width != 4 else 0, "the logits in float32 counted as well"),
        (4 + width if width != 4 else 0, f"the logits counted as well, in {width} bytes and again in float32"),
    ):
        if times:
            yield fixed(subject, scores * Polynomial.of(times) - now, f"{words}{instead}", 0.93, alone=True)
    for name, loss in LOSSES.items():
        term = total(of_loss(name, program, width, shares)) - now
        if loss.held and term:
            yield fixed(subject, term, f"the loss {name} counted: {loss.counts}", 0.94, alone=True)


def _inputs(structure: Structure) -> Iterator[Edit]:
    """One text, image or token instead of many, and images of another usual side."""
    subject, root = structure.subject, structure.subject.root
    if not isinstance(root, Cost):
        return
    for symbol, words in ((_BATCH, "one text in place of {:,}"), (_POSITIONS, "one token of each text in place of {:,}")):
        if subject.used.get(symbol, 1) > 1:
            yield resized(subject, {symbol: 1}, words.format(subject.used[symbol]), 1.0)
    if len(root.inputs[0]) != 4:
        return
    images = root.inputs[0]
    batch, channels, height, width = images
    others: dict[tuple[Dim, ...], str] = {(1, *images[1:]): f"one image in place of {batch}"}
    for side in _SIDES if isinstance(height, int) else ():
        others[batch, channels, side, side] = f"images of {side} by {side} in place of {height} by {width}"
    for shape, words in others.items():
        if shape != images:
            try:
                found = root.ask(root.layer, shape, *root.inputs[1:]).polynomial
            except ParamsymError:  # too small for the network
                continue
            yield counted_as(subject, found, words, 1.0 if shape[2:] == images[2:] else 1.05)


def _experts(structure: Structure) -> Iterator[Edit]:
    """All experts for each token, in products or in 2ND and 6ND with the whole number of parameters."""
    subject, root = structure.subject, structure.subject.root
    experts, chosen = (subject.whole.get(symbol, 0) for symbol in (_ALL, _CHOSEN))
    if not isinstance(root, Cost) or root.function.__name__ not in {"flops", "macs"} or not experts > chosen > 0:
        return
    every = subject.formula.put(_CHOSEN, Polynomial.of(_ALL))
    yield counted_as(subject, every, f"all {experts} experts computed for each token, in place of {chosen}", 0.95)
    passes = {"forward": 1, "backward": 2, "both": 3}[root.chosen.get("way", "forward")] * (1 if root.unit == "MACs" else 2)
    tokens = Polynomial.of(1) if root.chosen.get("per") == "token" else Polynomial.product(root.inputs[0])
    found = root.layer.polynomial * tokens * Polynomial.of(passes)
    yield counted_as(subject, found, f"{passes} for each parameter, those of all experts too, and each token", 0.95)


def _recomputed(structure: Structure) -> Iterator[Edit]:
    root = structure.subject.root
    if not isinstance(root, Cost) or root.chosen.get("recompute") is None or root.chosen.get("use") == "inference":
        return
    for name in RECOMPUTE:
        if name != root.chosen["recompute"]:
            try:
                found = root.ask(root.layer, *root.inputs, recompute=name).polynomial
            except ParamsymError:
                continue
            words = "everything kept, and nothing computed again" if name == "none" else f"{name} recomputation: activations computed again"
            yield counted_as(structure.subject, found, words, 0.96)


def _kernels(structure: Structure) -> Iterator[Edit]:
    """An activation that its reference writes with several operators keeps more arrays than a kernel, which keeps its input."""
    root = structure.subject.root
    if not isinstance(root, Cost) or "recompute" not in root.chosen:
        return
    for one in fields(root.layer):  # type: ignore[arg-type]
        name = getattr(root.layer, one.name)
        if isinstance(name, str) and name in _BY_OPERATORS:
            try:
                found = root.of(replace(root.layer, **{one.name: "gelu"}))  # type: ignore[type-var]
            except ParamsymError:
                continue
            words = f"{one.name} as one kernel, which keeps its input alone, in place of {name} by operators"
            yield counted_as(structure.subject, found.polynomial, words, 0.9)
            yield counted_as(structure.subject, blocks_of(found), f"the repeated blocks alone, with {words}", 0.92)


def _rules(structure: Structure) -> Iterator[Edit]:
    """The estimate of Rajbhandari et al. 2020 (arXiv:1910.02054, section 3.2), 12 * width * texts * positions * layers, in 16 bits."""
    subject, root = structure.subject, structure.subject.root
    sizes = [BY_NAME[name].symbol for name in "HBSL"]
    if isinstance(root, Cost) and root.function.__name__ == "activations" and root.unit == "bytes" and {*sizes} <= subject.whole.keys():
        words = "12 numbers of 2 bytes for each width, position and layer, as Rajbhandari et al. 2020 estimate activations"
        yield counted_as(subject, Polynomial.product((24, *sizes)), words, 0.95)


_BY_OPERATORS = frozenset({"gelu_new", "quick_gelu"})


def _pools(structure: Structure) -> Iterator[Edit]:
    """Counters of modules also count a global average pool, thop the sums and one division for each result, ptflops what any pool reads."""
    root = structure.subject.root
    if not isinstance(root, Cost) or root.function.__name__ not in {"flops", "macs"}:
        return
    program = trace(root.layer, *root.inputs)
    pools = [*walked(program, "pools", _pooled)]
    last, every = "the entries of the last average pool", "the entries that pools read"
    for name, ends, what in (
        ("fvcore", {"entries"}, last),
        ("thop", {"entries", "results"}, last),
        ("ptflops", {"entries", "read"}, every),
    ):
        pooled = total(line for line in pools if line.path[-1] in ends)
        if not pooled:
            continue
        found = root.ask(root.layer, *root.inputs, convention=name).polynomial
        words = f"counted as {name}, with {what}"
        yield counted_as(structure.subject, found + pooled, words, 1.0)


def _pooled(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
    if isinstance(operation, Reduce) and operation.name == "mean" and len(operation.over) > 1:
        yield Line(("entries",), flat(taken[0].shape))
        yield Line(("results",), flat(given[0].shape))
    elif isinstance(operation, Pool | PoolTo):
        yield Line(("read",), flat(taken[0].shape))


OF_COSTS: tuple[Habit, ...] = (
    Habit("windows", "a layer with a window keeps at most a window of positions", _windows),
    Habit("pairs of queries and keys", "under a causal mask half of the pairs are hidden", _pairs),
    Habit("strides", "a block that makes the map smaller does so in its first convolution or in its second", _strides),
    Habit("pools", "a counter of modules counts pools, too", _pools),
    Habit("inputs", "a cost is stated for one text, one token or one image, or for pictures of another size", _inputs),
    Habit("experts", "each token uses some of the experts, and rules of thumb count all of them", _experts),
    Habit("recomputation", "activations are kept, or computed again in the backward pass", _recomputed),
    Habit("kernels", "what one kernel keeps and what operators keep differ", _kernels),
    Habit("a rule for activations", "papers estimate activations by one product of sizes", _rules),
    Habit("groups of queries", "queries for each key and keys are mistaken for each other", _groups),
    Habit("keys or values", "a cache has both", _keys_or_values),
    Habit("a latent cache", "latent attention keeps one vector for all heads", _expanded),
    Habit("kinds of memory", "weights, gradients, states of the optimizer and activations add up", _states),
    Habit("logits", "the scores of a large vocabulary are the largest array of training, and the loss keeps them", _logits),
)
"""The everyday edits of costs, and of the groups of attention."""
