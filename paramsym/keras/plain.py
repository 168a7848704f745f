"""Layers without tensors that take any input: Keras' name, the layer here, and Keras' arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.algebra.size import Count, count, size
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.keras._arguments import Reader, axes_of, entries, listed, number, one_of, optional, takes, tupled
from paramsym.keras._door import DOORS, Door, Given, anywhere, door, shape_of
from paramsym.layers import activation, adaptive_pooling, dropout, normalization, padding, pooling, preprocessing, reshaping
from paramsym.layers.resampling import Upsample
from paramsym.layers.spatial import per_axis
from paramsym.naming import quoted


def _plain(
    name: str, kind: Any, arguments: Mapping[str, Any], *, fixed: Mapping[str, Any] | None = None, says: str = "", **more: Any
) -> None:
    """Make the door of a layer with Keras' arguments; ``fixed`` are values of arguments that Keras does not have."""

    def opens(given: Given, shape: Any) -> Layer:
        if shape is not None:
            shape_of(shape)
        layer: Layer = given.activation if kind is activation.Activation else kind(**{**given.named(kind), **(fixed or {})})
        return layer

    Door(opens, arguments, name=name, says=f"Return ``paramsym.{kind.__name__}``{says}.", complete=anywhere, **more)


_LAST = {"data_format": "channels_last"}


def _same_axes(value: Any, name: str) -> Any:
    found = axes_of(value, name)
    return value if isinstance(value, int) else found


@door(takes(negative_slope=0.3), {"alpha": None}, reads={"negative_slope": number, "alpha": optional(number)}, complete=anywhere)
def LeakyReLU(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.LeakyReLU``; ``alpha`` is the slope's older name."""
    if shape is not None:
        shape_of(shape)
    return activation.LeakyReLU(given.negative_slope if given.alpha is None else given.alpha)


_plain("Activation", activation.Activation, takes("activation"), says=" or the layer of that name; None is the identity")
_plain("ELU", activation.ELU, takes(alpha=1.0))
_plain(
    "ReLU",
    activation.ReLU,
    takes(max_value=None, negative_slope=0.0, threshold=0.0),
    reads={"max_value": optional(number), "negative_slope": number, "threshold": number},
)
_plain("Softmax", activation.Softmax, takes(axis=-1), reads={"axis": _same_axes})
_plain("UnitNormalization", normalization.UnitNormalization, takes(axis=-1), reads={"axis": _same_axes})
_plain("ActivityRegularization", reshaping.Identity, takes(l1=0.0, l2=0.0), says=": it adds to the loss and does not change its input")
_plain("AlphaDropout", dropout.AlphaDropout, takes("rate", noise_shape=None, seed=None))
_plain("Dropout", dropout.Dropout, takes("rate", noise_shape=None, seed=None))
_plain("GaussianDropout", dropout.GaussianDropout, takes("rate", seed=None))
_plain("GaussianNoise", dropout.GaussianNoise, takes("stddev", seed=None))
_plain("SpatialDropout1D", dropout.Dropout1d, takes("rate", seed=None), fixed=_LAST)
_plain("SpatialDropout2D", dropout.Dropout2d, takes("rate", data_format=None, seed=None))
_plain("SpatialDropout3D", dropout.Dropout3d, takes("rate", data_format=None, seed=None))
_plain("Flatten", reshaping.Flatten, takes(data_format=None))
_plain("Identity", reshaping.Identity, takes())
_plain("Masking", preprocessing.Masking, takes(mask_value=0.0), says=": masked steps are zero; later layers do not skip them here")
_plain("Permute", reshaping.Permute, takes("dims"), reads={"dims": listed})
_plain("RepeatVector", reshaping.RepeatVector, takes("n"))
_plain("Rescaling", preprocessing.Rescaling, takes("scale", offset=0.0), reads={"scale": tupled, "offset": tupled})
_plain("Reshape", reshaping.Reshape, takes("target_shape"), reads={"target_shape": listed})


def _pair(value: Any, name: str) -> tuple[Count, Count]:
    both = tupled(value, name)
    both = both if isinstance(both, tuple) else (both, both)
    if len(both) != 2:
        raise ArgumentError(f"{name} has the entry {quoted(value)}; wanted a number, or one before and one after.")
    return count(both[0], name), count(both[1], name)


def _pairs(rank: int) -> Reader:
    """Return a reader of ``(before, after)`` for each spatial axis: from one number, one per axis, or one pair per axis."""

    def read(value: Any, name: str) -> tuple[tuple[Count, Count], ...]:
        several = entries((value,) if rank == 1 else value, rank, name)
        return tuple(_pair(entry, name) for entry in (several if isinstance(several, tuple) else (several,) * rank))

    return read


def _sides(rank: int) -> Reader:
    """Return a reader that converts Keras' order, first axis first, to torch's, last axis first."""
    return lambda value, name: tuple(side for pair in reversed(_pairs(rank)(value, name)) for side in pair)


def _factors(rank: int) -> Reader:
    """Return a reader of one whole factor per spatial axis."""
    return lambda value, name: tuple(size(factor, name) for factor in per_axis(tupled(value, name), rank, name))


_MODES = one_of("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")


def _spatial(rank: int) -> None:
    def here(module: Any, name: str) -> Any:
        return getattr(module, f"{name}{rank}d")

    two = 2 if rank == 1 else (2,) * rank
    ones = ((1, 1),) * rank
    window = takes(strides=None, padding="valid", data_format=None)
    last, form = (_LAST, {}) if rank == 1 else (None, {"data_format": None})
    sizes = {"size": two} | form | ({"interpolation": "nearest"} if rank == 2 else {})
    margins, cut = {1: 1, 2: (1, 1), 3: ones}[rank], {1: (1, 1), 2: ((0, 0), (0, 0)), 3: ones}[rank]
    _plain(f"MaxPooling{rank}D", here(pooling, "MaxPool"), {"pool_size": two} | window, rank=rank)
    _plain(f"AveragePooling{rank}D", here(pooling, "AvgPool"), takes("pool_size") | window, rank=rank)
    for word, short in (("Average", "Avg"), ("Max", "Max")):
        whole = getattr(adaptive_pooling, f"Global{short}Pool")
        _plain(f"Global{word}Pooling{rank}D", whole, takes(data_format=None, keepdims=False), fixed={"rank": rank})
        adaptive = here(adaptive_pooling, f"Adaptive{short}Pool")
        _plain(f"Adaptive{word}Pooling{rank}D", adaptive, takes("output_size", data_format=None), rank=rank)
        for kind in ("", "Global"):
            DOORS[f"{kind}{short}Pool{rank}D"] = DOORS[f"{kind}{word}Pooling{rank}D"]
    reads: dict[str, Reader] = {"size": _factors(rank), "interpolation": _MODES}
    _plain(f"UpSampling{rank}D", Upsample, sizes, reads=reads, fixed=last, says=" by whole factors")
    reads, says = {"padding": _sides(rank)}, "; Keras names the first axis first"
    _plain(f"ZeroPadding{rank}D", here(padding, "ZeroPad"), takes(padding=margins, data_format=None), reads=reads, says=says)
    _plain(f"Cropping{rank}D", padding.Cropping, {"cropping": cut} | form, reads={"cropping": _pairs(rank)}, fixed=last)


for _rank in (1, 2, 3):
    _spatial(_rank)
