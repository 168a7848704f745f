"""Edits of a whole model, not of one group of tensors: ties, biases, norms, shards, masks, buffers, another convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.analysis.conventions import conventions
from paramsym.analysis.counted import total
from paramsym.analysis.explain.derivation import shown
from paramsym.analysis.reconcile.edits import Edit, Structure, fixed
from paramsym.analysis.ways import ways
from paramsym.analysis.wording import listed, once_per
from paramsym.core.ledger import Line
from paramsym.measure.cost import Cost
from paramsym.measure.work_conventions import is_position

_SHARDS = (2, 4, 8, 16)
_NAMED = 3  # the most tensors that a convention names


def additional(structure: Structure) -> Iterator[Edit]:
    """Yield the edits of a layer as a whole."""
    kinds = (_ties_undone, _ties_done, _norms_as_matrices, _biases_added, _norms_added, _sharded, _masks, _buffers, _conventions)
    for kind in kinds:
        yield from kind(structure)


def _ties_undone(structure: Structure) -> Iterator[Edit]:
    subject = structure.subject
    aliases = [line for line in subject.root.lines if line.alias_of and not line.buffer]
    names = [line.name for line in aliases]
    for line in aliases:
        words = f"{line.name} counted beside {line.alias_of}, to which it is tied"
        yield fixed(subject, line.polynomial(), words, 0.8, [line.name])
    if len(aliases) > 1:
        yield fixed(subject, total(aliases), f"tied tensors counted under each name: {listed(names)}", 0.75, names)


def _ties_done(structure: Structure) -> Iterator[Edit]:
    for first, *others in structure.alike():
        names = [structure.full[i] for i in others]
        value = -sum(structure.subject.values[i] for i in others)
        yield Edit(f"{listed(names)} tied to {structure.full[first]}", tuple(names), value, 0.95, frozenset(others))


def _masks(structure: Structure) -> Iterator[Edit]:
    """A mask of all pairs of positions, saved with each layer, as in early checkpoints of GPT-2."""
    found = masks_of(structure.lines)
    if found is not None:
        copies, positions = found
        term = Polynomial.product((copies, positions, positions))
        words = f"a mask of {shown(positions)} by {shown(positions)} counted {once_per(copies)}"
        yield fixed(structure.subject, term, words, 1.05)


def masks_of(lines: Sequence[Line]) -> tuple[Dim, Dim] | None:
    """Return the number of masks of all pairs of positions that a checkpoint may have, one for each layer, and the positions."""
    sizes = {size for line in lines if is_position(line) for size in line.sizes[:1]}  # a line of a cost may have no axes
    layers = {line.stored for line in lines if len(line.stored) == 1}
    return (*layers.pop(), sizes.pop()) if len(sizes) == len(layers) == 1 and sizes != {1} else None


def _buffers(structure: Structure) -> Iterator[Edit]:
    buffers = [line for line in structure.subject.root.lines if line.buffer and not line.alias_of and not line.empty]
    saved = [line for line in buffers if line.persistent]
    statistics = [line for line in buffers if line.shape]
    kinds = [("the buffers of the state dict", saved, 0.9)]
    kinds += [("all buffers", buffers, 0.9)] if len(buffers) != len(saved) else []
    kinds += [("the running statistics", statistics, 0.9)] if len(statistics) < len(buffers) else []
    names = dict.fromkeys(line.path[-1] for line in buffers)
    kinds += [(f"the buffers {name}", [line for line in buffers if line.path[-1] == name], 1.1) for name in names if len(names) > 1]
    for words, some, cost in kinds:
        if some:
            yield fixed(structure.subject, total(some), f"{words} counted as well", cost, [line.name for line in some])


def _norms_as_matrices(structure: Structure) -> Iterator[Edit]:
    """The weight of a norm counted as a matrix: H*H instead of H."""
    weights = [i for i, line in enumerate(structure.lines) if line.role == "scale" and len(line.shape) == 1 and not line.spans]
    if weights:
        factors = {i: Polynomial.product(structure.lines[i].factors) - Polynomial.of(1) for i in weights}
        term = Polynomial.total(structure.subject.polynomials[i] * more for i, more in factors.items())
        yield fixed(structure.subject, term, "the weights of norms counted as matrices", 1.2, structure.named(weights))


def _biases_added(structure: Structure) -> Iterator[Edit]:
    """Biases for matrices that have none: Keras' convolutions before a norm, a head with a bias of V."""
    biased = {path[:-1] for path, line in zip(structure.paths, structure.lines, strict=True) if line.role == "bias"}
    bare = [i for i in range(len(structure.lines)) if _could_have_bias(structure, i) and structure.paths[i][:-1] not in biased]
    amounts = {i: _bias_of(structure.lines[i]) for i in bare}
    if len(bare) > 1:
        every = Polynomial.total(amounts.values())
        yield fixed(structure.subject, every, "a bias counted for every matrix that has none", 1.0, structure.named(bare))
    for i, amount in amounts.items():
        words = f"a bias counted for {structure.names.tensor(structure.lines[i])}, which has none"
        yield fixed(structure.subject, amount, words, 1.35, structure.named([i]))


def _norms_added(structure: Structure) -> Iterator[Edit]:
    """A scale and a shift for every output of a convolution, in a network without norms."""
    kernels = [i for i, line in enumerate(structure.lines) if _could_have_bias(structure, i) and len(line.shape) > 2]
    if kernels and "norm" not in structure.kinds:
        term = Polynomial.total(_bias_of(structure.lines[i]) for i in kernels) * Polynomial.of(2)
        yield fixed(structure.subject, term, "a norm counted behind every convolution", 1.2, structure.named(kernels))


def _sharded(structure: Structure) -> Iterator[Edit]:
    """Tensors that tensor parallelism does not split are stored by every shard: norms, and biases after matrices split by their input."""
    gains = {line.factors for line in structure.lines if line.role == "scale" and len(line.factors) == 1}
    kept = [i for i, line in enumerate(structure.lines) if line.factors in gains and not line.label]
    once = structure.subject.total(kept)
    names = structure.named(kept)
    tables = [line for line in structure.lines if line.role == "table" and not line.stored and line.sizes[-1:] in gains]
    for shards in _SHARDS if kept and tables else ():
        words = f"{listed([structure.names.tensor(structure.lines[i]) for i in kept])} kept by each of {shards} shards"
        copies = once * Polynomial.of(shards - 1)
        yield fixed(structure.subject, copies, words, 1.4, names)
        biases = Polynomial.product((shards, tables[0].sizes[-1]))
        beside = f"{words}, as well as a bias for {structure.names.tensor(tables[0])}, which has none"
        yield fixed(structure.subject, copies + biases, beside, 1.44, (*names, tables[0].name))


def _could_have_bias(structure: Structure, i: int) -> bool:
    line = structure.lines[i]
    return line.role == "weight" and len(line.shape) > 1 and not line.spans and structure.paths[i][-1] in {"weight", "kernel"}


def _bias_of(line: Line) -> Polynomial:
    outputs = line.axes[-1 if line.path[-1] == "kernel" else 0]
    return Polynomial.product((*outputs, *line.stored))


def _conventions(structure: Structure) -> Iterator[Edit]:
    root = structure.subject.root
    if isinstance(root, Cost):
        values: set[int] = set()  # one sequence is the whole batch of one: the nearest way is enough
        for way in ways(root):
            term = way.total - root.polynomial
            edit = fixed(structure.subject, term, way.words, way.cost, alone=True)
            if edit.value not in values:
                values.add(edit.value)
                yield edit
        return
    language = any(line.role == "table" for line in structure.lines)
    for position, item in enumerate(conventions(root)):
        if item.formula_difference != 0 and (language or "Kaplan" not in item.name):
            names = (*item.left_out, *item.added, *item.changed)
            lines = frozenset(i for i, line in enumerate(structure.lines) if line.name in names)
            left_out = [structure.names.tensor(structure.lines[i]) for i in sorted(lines) if structure.lines[i].name in item.left_out]
            # Few tensors that are left out are named; otherwise the words of the convention are used.
            plain = 0 < len(left_out) <= _NAMED and len(left_out) == len(names)
            words = f"another convention, {item.name}: {'without ' + listed(left_out) if plain else item.meaning}"
            term = Polynomial.of(item.formula_difference)
            yield fixed(structure.subject, term, words, 0.94 + 0.01 * position, names, lines=lines)
