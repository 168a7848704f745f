"""The receptive field of one output entry along each spatial axis, followed through the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paramsym.algebra.convolution import View, effective_kernel, widest_view
from paramsym.algebra.size import Dim, extent, product
from paramsym.core.layer import Layer, unstated
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, RankError, ShapeError, StructureError
from paramsym.measure.trace import types_for
from paramsym.program.arithmetic import Combine
from paramsym.program.conditions import Where
from paramsym.program.graph import Call, Loop, Opaque, Program, Region, Route, Scan
from paramsym.program.lookups import Best, Choose, Lookup, Pick, Put
from paramsym.program.named_axes import Diagonal, Named, Rearrange, groups
from paramsym.program.own import trace_layer
from paramsym.program.products import Contract, spelled
from paramsym.program.reductions import Cumulate, Normalise, Reduce, Softmax
from paramsym.program.resampling import Resample, Sample
from paramsym.program.routing import At, Collect, Places, PutAt, Weights
from paramsym.program.signature import stated
from paramsym.program.slices import Copies, Flip, Join, Replace, Roll, Take
from paramsym.program.spectra import Fourier
from paramsym.program.types import ArrayType, opened
from paramsym.program.windows import Convolve, ConvolveTransposed, Fold, Pool, PoolTo, Unfold

_OWN = View()
_NOT_SPATIAL = {"batch", "one", "channels", "features"}


@dataclass(frozen=True)
class Dependence:
    """One axis of a value: the input axis that it comes from, and the receptive field of its entries; None is the whole axis.

    ``spatial`` means that a window slid along it, or that a layer calls it spatial; ``slid`` means that a window did. ``mixed`` is the
    layer that makes it depend on the whole axis, at once or when a window slides along it.
    """

    source: int
    view: View | None = _OWN
    spatial: bool = False
    slid: bool = False
    mixed: str = ""


@dataclass(frozen=True)
class Field:
    """The receptive field of a value: one ``Dependence`` per axis, None for an axis that does not come from the input.

    ``gathered`` are the spatial axes that were reduced or merged with others, as they were before.
    """

    axes: tuple[Dependence | None, ...]
    gathered: Mapping[int, Dependence] = field(default_factory=dict)

    def gather(self, gone: Iterable[Dependence | None], axes: Iterable[Dependence | None]) -> Field:
        """Return the field with other axes; removed spatial axes are remembered once."""
        # If an axis was gathered before any window slid along it, the result depends on the whole axis.
        lost = {one.source: replace(one, view=None if one.view == View() else one.view) for one in gone if one is not None and one.spatial}
        return Field(tuple(axes), {**lost, **self.gathered})


def views(layer: Layer, input_shape: Any = None) -> tuple[View, ...]:
    """Return the receptive field of an output entry along every spatial axis of the input; () if it depends on one position only.

    Without an ``input_shape``, every size is open, or the layer's own inputs are taken.

    Raises:
        NotYetError: outputs with different receptive fields, or with the whole input; a layer without a forward pass, or with more inputs.
        StructureError: a symbolic number of blocks with a stride.
    """
    if not layer.computes:
        raise unstated(layer)
    program = _open(layer) if input_shape is None else trace_layer(layer, *types_for(layer, (input_shape,), {}))
    if len(program.inputs) != 1:
        raise NotYetError(f"{type(layer).__name__} takes {len(program.inputs)} inputs; an output has a field in each of them.")
    rank = len(program.input_types[0].shape)
    return _views(layer, followed(program, [Field(tuple(Dependence(number) for number in range(rank)))])[0])


def _open(layer: Layer) -> Program:
    """Return the program of a layer for an input of open sizes, or for the inputs that the layer states."""
    error: ParamsymError | None = None
    for rank in (4, 3, 5, 2, 1):
        try:
            return trace_layer(layer, ArrayType(tuple(opened(f"extent{n}") for n in range(rank))))
        except RankError as found:
            error = error or found
        except ParamsymError as found:
            error = found
            break
    if stated(layer):
        return trace_layer(layer, *types_for(layer, (), {}))
    if isinstance(error, ShapeError) and not isinstance(error, RankError):
        raise StructureError(str(error)) from None
    if isinstance(error, ArgumentError):  # a module that was read takes other sizes
        raise ArgumentError(f"{type(layer).__name__} takes no input of any size; give its shape, such as (B, 3, W, W).") from None
    if isinstance(error, RankError):
        raise NotYetError(f"{type(layer).__name__} takes no input with at most three spatial axes: {error}")
    assert error is not None  # noqa: S101 - for the type checker
    raise error


def _views(layer: Layer, seen: Field) -> tuple[View, ...]:
    spatial = {one.source: one for one in seen.axes if one is not None and one.spatial}
    found = {**spatial, **seen.gathered}
    everything = [one for one in (*seen.axes, *found.values()) if one is not None and one.view is None]
    if everything:
        through = next((one.mixed for one in everything if one.mixed), type(layer).__name__)
        raise _everything(through)
    mixed = [one.mixed for one in seen.axes if one is not None and one.mixed]
    if len(mixed) > 1:  # at most one of several axes that are normalised together is the channels
        raise _everything(mixed[0])
    if not any(one.slid for one in found.values()):
        return ()
    return tuple(one.view for _, one in sorted(found.items()) if one.view is not None)


def followed(program: Program, inputs: list[Field], owner: str = "") -> list[Field]:
    """Return the fields of a program's outputs from those of its inputs; ``owner`` is the layer that a region belongs to."""
    owner = owner if program.layer is None else type(program.layer).__name__
    at = dict(zip(program.inputs, inputs, strict=True))
    for step in program.steps:
        taken = [at[number] for number in step.takes]
        results = _step(step.operation, taken, program.taken(step), program.given(step), owner)
        at.update(zip(step.gives, (_mixed(one, owner) for one in results), strict=True))
    return [at[number] for number in program.outputs]


def _mixed(seen: Field, owner: str) -> Field:
    """Return the field in which every whole axis names the layer that caused it."""
    if all(one is None or one.view is not None or one.mixed for one in seen.axes):
        return seen
    return replace(
        seen, axes=tuple(one if one is None or one.view is not None or one.mixed else replace(one, mixed=owner) for one in seen.axes)
    )


def _step(  # noqa: C901, PLR0912 - one case for each kind of operation
    operation: Any, taken: list[Field], types: tuple[ArrayType, ...], given: tuple[ArrayType, ...], owner: str
) -> list[Field]:
    match operation:
        case Region(name="attention") if any(one.gathered for one in taken):
            raise _everything(owner)  # all positions of a flattened map attend to each other
        case Call(body=body) | Region(body=body):
            return followed(body, taken, owner)
        case Loop():
            return _loop(operation, taken)
        case Opaque():
            if not taken[0].gathered or any(one is not None and one.spatial for one in taken[0].axes):
                raise unstated(operation.layer)
            # After a flattened map, outputs depend on the whole map.
            return [Field((*taken[0].axes[:1], *(None,) * len(one.shape))[: len(one.shape)], taken[0].gathered) for one in given]
        case Route(body=body):
            return followed(body, taken[:1])
        case Scan(carry=carry, scanned=scanned, axis=axis):
            return [_scanned(taken[: carry + scanned], axis, n < carry, len(one.shape), owner) for n, one in enumerate(given)]
        case Convolve():
            slid = _windows(types[1].sizes[2:], operation)
            if any(one is None and view != View() for one, view in zip(taken[0].axes[2:], slid, strict=True)):
                raise NotYetError("a kernel slides along channels, or along an axis whose entries depend on the whole axis.")
            return [_slid(taken[0], slid, len(given[0].shape))]
        case Pool() | Unfold():
            more = (None,) * (len(given[0].shape) - len(types[0].shape))
            one = _slid(taken[0], _windows(operation.kernel, operation), len(types[0].shape))
            return [replace(one, axes=(*one.axes, *more))] * len(given)
        case At() | ConvolveTransposed() | Fourier() | Diagonal() | Fold() | PutAt() | PoolTo() | Put() | Resample() | Sample():
            kind, _, _ = str(operation).partition(" to ")  # this place does not know the lengths of the outputs
            raise NotYetError(f"the outputs of {kind} depend on different numbers of entries.")
        case Named(words=words):
            named = zip(words, taken[0].axes, strict=True)
            return [replace(taken[0], axes=tuple(one and replace(one, spatial=word not in _NOT_SPATIAL) for word, one in named))]
        case Contract(spec=spec):
            return [_contracted(spec, taken, types, owner)]
        case Rearrange(pattern=pattern):
            return [_rearranged(pattern, dict(operation.sizes), taken[0])]
        case Reduce(over=over, keep=keep):
            gone = {types[0].axis(axis) for axis in over}
            axes = [None if n in gone else one for n, one in enumerate(taken[0].axes) if keep or n not in gone]
            return [taken[0].gather((one for n, one in enumerate(taken[0].axes) if n in gone), axes)]
        case Normalise(over=over) | Roll(over=over):
            return [_blurred(taken[0], {types[0].axis(axis) for axis in over}, owner)]
        case Softmax(axis=axis) | Flip(axis=axis) | Cumulate(axis=axis) | Best(axis=axis):
            return [_blurred(taken[0], {types[0].axis(axis)}, owner)] * len(given)
        case Take(axis=axis, count=count, step=step):
            position = types[0].axis(axis)
            if count is None:
                kept = [one for n, one in enumerate(taken[0].axes) if n != position]
                return [taken[0].gather([taken[0].axes[position]], kept)]
            return [_at_axis(taken[0], position, View(1, step))]
        case Places() | Weights():
            more = (None,) * (len(given[0].shape) - len(types[0].shape))
            return [replace(taken[0], axes=(*taken[0].axes[:-1], *more, taken[0].axes[-1]))]
        case Collect():
            return [taken[0].gather([taken[0].axes[-2]], [*taken[0].axes[:-2], taken[0].axes[-1]])]
        case Lookup() | Choose():
            return [replace(taken[1], axes=(*taken[1].axes, *(None,) * (len(given[0].shape) - len(types[1].shape))))]
        case Copies(axis=axis):
            message = f"copies along an axis: outputs of {operation} have different receptive fields."
            position = types[0].axis(axis)
            if taken[0].axes[position] is not None and types[0].sizes[position] != 1:
                raise NotYetError(message)
            return [taken[0]]
        case Combine() if any(source in _places(other) for one in taken for source in one.gathered for other in taken):
            raise _everything(owner)  # a mean over all positions is combined with the positions, as in squeeze-and-excitation
        case Combine() | Where() | Join() | Pick() | Replace():
            return [_merged(taken, len(given[0].shape))]
        case _ if not taken:
            return [Field((None,) * len(one.shape)) for one in given]
        case _:
            return [taken[0]] * len(given)


def _everything(owner: str) -> NotYetError:
    return NotYetError(f"an output of {owner} depends on a whole axis.")


def _places(seen: Field) -> set[int]:
    """Return the spatial axes of the input that the axes of a value still come from."""
    return {one.source for one in seen.axes if one is not None and one.spatial}


def _windows(kernel: Sequence[Dim], operation: Convolve | Pool | Unfold) -> list[View]:
    return [View(effective_kernel(k, d), s) for k, d, s in zip(kernel, operation.dilation, operation.stride, strict=True)]


def _then(one: Dependence | None, view: View) -> Dependence | None:
    if one is None:
        return None
    return replace(one, spatial=True, slid=True, view=None if one.view is None or one.mixed else one.view.then(view))


def _at_axis(seen: Field, position: int, view: View) -> Field:
    return replace(seen, axes=tuple(_then(one, view) if n == position and view != View() else one for n, one in enumerate(seen.axes)))


def _slid(seen: Field, windows: Sequence[View], rank: int) -> Field:
    """Return the field after windows over the last axes; channels are mixed and come from no axis of the input."""
    if not windows:
        return replace(seen, axes=(*seen.axes, *(None,) * rank)[:rank])
    lead = len(seen.axes) - len(windows)
    behind = (_then(one, view) for one, view in zip(seen.axes[lead:], windows, strict=True))
    return replace(seen, axes=(*seen.axes[:1], *(None,) * (lead - 1), *behind))


def _scanned(taken: list[Field], axis: int, last: bool, rank: int, owner: str) -> Field:
    """Return the field of a state or an output of a scan: it depends on the whole scanned axis."""
    seen = next((one for one in reversed(taken) if len(one.axes) > axis and one.axes[axis] is not None), taken[0])
    blurred = [None if one is None else replace(one, view=None, mixed=one.mixed or owner) for one in seen.axes[axis : axis + 1]]
    behind = seen.axes[:axis] if last else (*seen.axes[:axis], *blurred)
    return Field((*behind, *(None,) * rank)[:rank])


def _blurred(seen: Field, over: set[int], owner: str) -> Field:
    """Return the field in which entries depend on whole spatial axes; other axes follow when a window slides along them."""
    axes = list(seen.axes)
    for n in over:
        one = axes[n]
        axes[n] = None if one is None else replace(one, view=None if one.spatial else one.view, mixed=one.mixed or owner)
    return replace(seen, axes=tuple(axes))


def _contracted(spec: str, taken: list[Field], types: tuple[ArrayType, ...], owner: str) -> Field:
    terms, output = spelled(spec, tuple(len(one.shape) for one in types))
    where: dict[str, list[Dependence | None]] = {}
    for term, one in zip(terms, taken, strict=True):
        for word, axis in zip(term, one.axes, strict=True):
            where.setdefault(word, []).append(axis)
    summed = [axis for word, several in where.items() if word not in output for axis in several if axis is not None]
    sources = {axis.source for axis in summed}
    axes = [_widest(where[word]) for word in output]
    # A sum over an axis that the result still has, such as the keys of attention, depends on the whole axis.
    axes = [replace(one, view=None) if one is not None and one.source in sources else one for one in axes]
    kept = {one.source for one in axes if one is not None}
    if any(axis.spatial and axis.source not in kept for axis in summed):
        raise _everything(owner)
    return Field(tuple(axes), _gathered(taken))


def _rearranged(pattern: str, sizes: Mapping[str, Any], seen: Field) -> Field:
    """Return the field with the axes of the right side; a spatial axis that is split has the stride of its inner part.

    Raises:
        NotYetError: a spatial axis that is merged with a part of another axis, as when channels become resolution.
    """
    before, behind = groups(pattern)
    where: dict[str, Dependence | None] = {}
    for words, one in zip(before, seen.axes, strict=True):
        where |= {word: one if len(words) == 1 else None for word in words}
        if len(words) > 1 and one is not None and one.spatial:
            inner = product(extent(sizes[word]) for word in words[1:])
            where[words[0]] = _then(one, View(inner, inner))
    parts = {word for words in before for word in words[1:]}
    gone: list[Dependence | None] = []
    axes: list[Dependence | None] = []
    for words in behind:
        axes.append(where[words[0]] if len(words) == 1 else None)
        merged = [where[word] for word in words] if len(words) > 1 else []
        if parts.intersection(words) and any(one is not None and one.spatial for one in merged):
            raise NotYetError("neighbouring entries that were channels have the same receptive field.")
        gone += merged
    return seen.gather(gone, axes)


def _merged(taken: list[Field], rank: int) -> Field:
    wide = [(*(None,) * (rank - len(one.axes)), *one.axes) for one in taken]
    return Field(tuple(_widest(list(several)) for several in zip(*wide, strict=True)), _gathered(taken))


def _widest(several: list[Dependence | None]) -> Dependence | None:
    known = [one for one in several if one is not None]
    if not known or len({one.source for one in known}) > 1:
        return None
    flags = any(one.spatial for one in known), any(one.slid for one in known)
    seen = [one.view for one in known if one.view is not None]
    if len(seen) < len(known):
        return Dependence(known[0].source, None, *flags)
    (view,) = widest_view([(one,) for one in seen])
    return Dependence(known[0].source, view, *flags)


def _gathered(taken: list[Field]) -> dict[int, Dependence]:
    return {source: one for each in taken for source, one in each.gathered.items()}


def _loop(loop: Loop, taken: list[Field]) -> list[Field]:
    """Return the field through equal copies: one copy's growth, times the number of copies."""
    carried, along = taken[: loop.carry], taken[loop.carry :]
    behind: list[Field] = []
    for numbers, body in loop.bodies:
        fresh = [Field(tuple(None if one is None else replace(one, view=View()) for one in each.axes), each.gathered) for each in carried]
        behind = followed(body, [*fresh, *along][: len(body.inputs)])
        carried = [
            Field(
                tuple(_repeated(old, new, numbers.count) for old, new in zip(before.axes, after.axes, strict=True)),
                {**after.gathered, **before.gathered},
            )
            for before, after in zip(carried, behind, strict=False)
        ]
    return [*carried, *(Field((None, *one.axes), one.gathered) for one in behind[loop.carry :])]  # the others are stacked


def _repeated(old: Dependence | None, new: Dependence | None, times: Any) -> Dependence | None:
    if old is None or new is None:
        return None
    if old.source != new.source and times != 1:
        raise NotYetError("the copies swap axes: the channels of one are spatial for the next.")
    flags = old.spatial or new.spatial, old.slid or new.slid
    if old.view is None or new.view is None:
        return Dependence(old.source, None, *flags)
    return Dependence(old.source, old.view.then(new.view.repeated(times)), *flags)
