"""Random layers and inputs, against what torch and Keras return when they are called: the same shape, or an error of ours."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from frameworks import imported, only_with, refused_empty

import paramsym as ps
from paramsym.errors import ParamsymError

only_with("torch")

TRIES = 60
Case = tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]


def chance_of(name: str) -> random.Random:
    """Return a source of choices that is the same in every run."""
    return random.Random(name)


def lengths(rnd: random.Random, rank: int, most: int = 9) -> tuple[int, ...]:
    """Return extents, small ones often, an empty one rarely."""
    return tuple(0 if rnd.random() < 0.02 else rnd.randint(1, most) for _ in range(rank))


def each(rnd: random.Random, rank: int, least: int, most: int) -> Any:
    """Return one number, or one for each axis."""
    return rnd.randint(least, most) if rnd.random() < 0.5 else tuple(rnd.randint(least, most) for _ in range(rank))


def batch(rnd: random.Random) -> tuple[int, ...]:
    """Return a batch axis, sometimes empty, sometimes missing."""
    return rnd.choice([(1,), (1,), (2,), (3,), (0,), ()])


def convolution(rnd: random.Random, name: str, rank: int) -> Case:
    """Draw a convolution, transposed or not."""
    groups = rnd.choice([1, 1, 1, 2, 3])
    wide = (groups * rnd.randint(1, 2), groups * rnd.randint(1, 2))
    named: dict[str, Any] = {"groups": groups, "stride": each(rnd, rank, 1, 4), "dilation": each(rnd, rank, 1, 3)}
    if "Transpose" in name:
        named |= {"padding": each(rnd, rank, 0, 4), "output_padding": each(rnd, rank, 0, 2), "bias": rnd.random() < 0.5}
    else:
        named["padding"] = rnd.choice(["same", "valid", each(rnd, rank, 0, 4), each(rnd, rank, 0, 4)])
        named["padding_mode"] = rnd.choice(["zeros", "zeros", "reflect", "replicate", "circular"])
        named["stride"] = 1 if named["padding"] == "same" and rnd.random() < 0.8 else named["stride"]
    channels = wide[0] if rnd.random() < 0.95 else wide[0] + 1
    return name, (*wide, each(rnd, rank, 1, 5)), named, (*batch(rnd), channels, *lengths(rnd, rank))


def pooling(rnd: random.Random, name: str, rank: int) -> Case:
    """Draw a pooling by windows."""
    named: dict[str, Any] = {"ceil_mode": rnd.random() < 0.5}
    kernel = each(rnd, rank, 1, 5)
    if rnd.random() < 0.7:
        named["stride"] = each(rnd, rank, 1, 5)
    if "LP" in name:
        kernel = kernel if rank > 1 or isinstance(kernel, int) else kernel[0]  # torch multiplies by it, which a tuple cannot
        return name, (2, kernel), named, (*batch(rnd), 2, *lengths(rnd, rank))
    named["padding"] = each(rnd, rank, 0, 2)
    if "Max" in name:
        named["dilation"] = each(rnd, rank, 1, 3)
    return name, (kernel,), named, (*batch(rnd), rnd.choice([1, 2, 0]), *lengths(rnd, rank))


def adaptive(rnd: random.Random, name: str, rank: int) -> Case:
    """Draw a pooling to a wanted size."""
    wanted = rnd.randint(1, 5) if rank == 1 else tuple(rnd.choice([None, 1, 3]) for _ in range(rank))
    return name, (wanted,), {}, (*batch(rnd), 2, *lengths(rnd, rank))


def padding(rnd: random.Random, name: str, rank: int) -> Case:
    """Draw a padding, negative sides included."""
    sides = rnd.randint(0, 3) if rnd.random() < 0.3 else tuple(rnd.randint(-3, 4) for _ in range(2 * rank))
    front = (*batch(rnd), 2) if rnd.random() < 0.9 else ()
    return name, (sides, 0.5) if "Constant" in name else (sides,), {}, (*front, *lengths(rnd, rank, 6))


def resampling(rnd: random.Random, name: str, rank: int) -> Case:
    """Draw an upsampling, by fractions too."""
    mode = rnd.choice(["nearest", "nearest-exact", "area", {1: "linear", 2: "bilinear", 3: "trilinear"}[rank], "bicubic"])
    named: dict[str, Any] = {"mode": mode}
    if rnd.random() < 0.4:
        named["size"] = each(rnd, rank, 1, 9)
    else:
        named["scale_factor"] = rnd.choice([2, 1.5, 0.5, 0.3, 1 / 3, 2.7, 1.1, 0.7, math.sqrt(2)])
    if rnd.random() < 0.2:
        named["align_corners"] = True
    return name, (), named, (*rnd.choice([(1,), (2,), (0,), ()]), 2, *lengths(rnd, rank))


def reshaping(rnd: random.Random, name: str, rank: int) -> Case:  # noqa: ARG001 - drawn like the others
    """Draw a layer that moves entries about."""
    shape = tuple(rnd.choice([1, 2, 4, 6, 8, 9]) for _ in range(rnd.randint(1, 5)))
    if name == "Flatten":
        return name, (rnd.randint(-4, 4), rnd.randint(-4, 4)), {}, shape
    if name == "Unflatten":
        return name, (rnd.randint(-3, 3), rnd.choice([(2, -1), (2, 3), (4, 2), (-1,), (3, -1, 2)])), {}, shape
    if name == "Unfold":
        named = {"dilation": each(rnd, 2, 1, 2), "padding": each(rnd, 2, 0, 2), "stride": each(rnd, 2, 1, 3)}
        return name, (each(rnd, 2, 1, 3),), named, (*batch(rnd), rnd.randint(1, 3), *lengths(rnd, 2))
    if name == "Fold":
        size, kernel = (rnd.randint(2, 5), rnd.randint(2, 5)), rnd.randint(1, 2)
        right = (size[0] - kernel + 1) * (size[1] - kernel + 1)
        return name, (size, kernel), {}, (*batch(rnd), rnd.choice([2, 3]) * kernel**2, rnd.choice([right, right, 7]))
    if name == "GLU":
        return name, (rnd.randint(-3, 3),), {}, shape
    return name, (rnd.choice([1, 2, 3]),), {}, shape


def norm(rnd: random.Random, name: str, rank: int) -> Case:  # noqa: ARG001 - drawn like the others
    """Draw a norm; the numbers are those of inference, where torch does not ask for more than one value."""
    shape = (*batch(rnd), rnd.choice([4, 4, 4, 6]), *(rnd.randint(2, 4) for _ in range(rnd.randint(0, 3))))
    if name == "LayerNorm":
        return name, (rnd.choice([(4,), (4, 2), shape[-1:]]),), {}, shape
    return name, (2, 4) if name == "GroupNorm" else (4,), {}, shape


def recurrent(rnd: random.Random, name: str, rank: int) -> Case:  # noqa: ARG001 - drawn like the others
    """Draw a recurrent layer; its first output is compared."""
    named: dict[str, Any] = {"num_layers": rnd.randint(1, 3), "batch_first": rnd.random() < 0.5, "bidirectional": rnd.random() < 0.5}
    if name == "LSTM":
        named["proj_size"] = rnd.choice([0, 2])
    shape = tuple(rnd.choice([0, 1, 2, 3, 4]) for _ in range(rnd.choice([1, 2, 2, 2, 3])))
    return name, (3, 4), named, (*shape[:2], rnd.choice([3, 3, 3, 2]))


DRAWN: list[tuple[Callable[[random.Random, str, int], Case], str, int]] = [
    *((convolution, f"Conv{kind}{rank}d", rank) for kind in ("", "Transpose") for rank in (1, 2, 3)),
    *((pooling, f"{kind}Pool{rank}d", rank) for kind in ("Max", "Avg", "LP") for rank in (1, 2, 3)),
    *((adaptive, f"Adaptive{kind}Pool{rank}d", rank) for kind in ("Max", "Avg") for rank in (1, 2, 3)),
    *((padding, f"{kind}Pad{rank}d", rank) for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular") for rank in (1, 2, 3)),
    *((resampling, "Upsample", rank) for rank in (1, 2, 3)),
    *(
        (reshaping, name, 0)
        for name in ("Flatten", "Unflatten", "Unfold", "Fold", "PixelShuffle", "PixelUnshuffle", "ChannelShuffle", "GLU")
    ),
    *((norm, name, 0) for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm2d", "GroupNorm", "LayerNorm")),
    *((recurrent, name, 0) for name in ("RNN", "LSTM", "GRU")),
]


def returned(torch: Any, case: Case) -> tuple[int, ...] | None:
    """Return the shape that torch returns, or None if it raises."""
    name, arguments, named, shape = case
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            output = getattr(torch.nn, name)(*arguments, **named).eval()(torch.zeros(shape))
    except (RuntimeError, ValueError, IndexError, NotImplementedError, AssertionError) as error:
        extents = refused_empty(error) if "Transpose" in name else None
        rank = int(name[-2]) if extents else 0
        return None if extents is None else (*shape[: -rank - 1], arguments[1], *extents[-rank:])
    found = tuple((output[0] if isinstance(output, tuple) else output).shape)
    return None if min(found, default=0) < 0 else found  # ReflectionPad2d makes tensors of negative extent from an empty batch


def ours(case: Case) -> tuple[Any, ...] | None:
    """Return the shape that we say, or None if we raise."""
    name, arguments, named, shape = case
    try:
        return ps.output_shape(getattr(ps, name)(*arguments, **named), shape)
    except ParamsymError:
        return None


@pytest.mark.parametrize(("draw", "name", "rank"), DRAWN, ids=[f"{name}-{rank}" for _, name, rank in DRAWN])
def test_torch(draw: Callable[[random.Random, str, int], Case], name: str, rank: int) -> None:
    """Our shape is torch's; where torch raises, so do we."""
    torch = imported("torch")
    rnd = chance_of(f"{name}{rank}")
    cases = [draw(rnd, name, rank) for _ in range(TRIES)]
    if name.startswith("BatchNorm"):  # of an empty batch torch does not look at the channels
        cases = [case for case in cases if 0 not in case[-1]]
    wrong = [(case, returned(torch, case), ours(case)) for case in cases if returned(torch, case) != ours(case)]
    assert not wrong, f"{len(wrong)} of {TRIES}, such as {wrong[0]}"


KERAS = {
    "Conv1D": 1,
    "Conv2D": 2,
    "Conv3D": 3,
    "Conv1DTranspose": 1,
    "Conv2DTranspose": 2,
    "Conv3DTranspose": 3,
    "DepthwiseConv1D": 1,
    "DepthwiseConv2D": 2,
    "SeparableConv1D": 1,
    "SeparableConv2D": 2,
    "MaxPooling1D": 1,
    "MaxPooling2D": 2,
    "MaxPooling3D": 3,
    "AveragePooling1D": 1,
    "AveragePooling2D": 2,
    "AveragePooling3D": 3,
    "Cropping1D": 1,
    "Cropping2D": 2,
    "Cropping3D": 3,
    "ZeroPadding1D": 1,
    "ZeroPadding2D": 2,
    "ZeroPadding3D": 3,
    "UpSampling1D": 1,
    "UpSampling2D": 2,
    "UpSampling3D": 3,
    "GlobalAveragePooling2D": 2,
    "AdaptiveMaxPooling2D": 2,
}


def keras_case(rnd: random.Random, name: str) -> tuple[dict[str, Any], tuple[int, ...]]:  # noqa: C901, PLR0912 - one branch a kind
    """Draw arguments and an input of a Keras layer."""
    rank = KERAS[name]
    named: dict[str, Any] = {}
    if name not in {"Cropping1D", "UpSampling1D"}:
        named["data_format"] = rnd.choice([None, "channels_last", "channels_first"])
    if "Conv" in name:
        named |= {"kernel_size": each(rnd, rank, 1, 4), "padding": rnd.choice(["valid", "same"]), "strides": rnd.randint(1, 3)}
        if not name.startswith("Depthwise"):
            named["filters"] = 2 * rnd.randint(1, 2)
        if name == "Conv1D" and rnd.random() < 0.3:
            named["padding"] = "causal"
        if named["strides"] == 1 and not name.startswith(("Depthwise", "Separable")):
            named["dilation_rate"] = rnd.randint(1, 3)
        if "Transpose" in name and named["strides"] > 1 and rnd.random() < 0.5:
            named["output_padding"] = rnd.randint(0, named["strides"] - 1)
    elif name.startswith(("Max", "Average")):
        named |= {"pool_size": each(rnd, rank, 1, 4), "padding": rnd.choice(["valid", "same"]), "strides": rnd.choice([None, 1, 2, 3])}
    elif name.startswith("Adaptive"):
        named["output_size"] = rnd.randint(1, 3)
    elif name.startswith("Cropping"):
        named["cropping"] = rnd.choice([rnd.randint(0, 3), tuple((rnd.randint(0, 3), rnd.randint(0, 3)) for _ in range(rank))])
    elif name.startswith("ZeroPadding"):
        named["padding"] = rnd.choice([rnd.randint(0, 3), tuple((rnd.randint(0, 3), rnd.randint(0, 3)) for _ in range(rank))])
    elif name.startswith("UpSampling"):
        named["size"] = each(rnd, rank, 1, 3) if rank > 1 else rnd.randint(1, 3)
    elif rnd.random() < 0.5:
        named["keepdims"] = True
    if rank == 1 and name.startswith(("Cropping", "ZeroPadding")):
        which = "cropping" if name.startswith("Cropping") else "padding"
        named[which] = named[which] if isinstance(named[which], int) else named[which][0]
    extents = tuple(rnd.randint(1, 8) for _ in range(rank))
    shape = (rnd.randint(1, 2), 2, *extents) if named.get("data_format") == "channels_first" else (rnd.randint(1, 2), *extents, 2)
    return named, shape


@pytest.mark.parametrize("name", KERAS)
def test_keras(name: str) -> None:
    """Our shape is what Keras returns on torch; where it raises, so do we."""
    keras, torch = imported("keras"), imported("torch")
    rnd = chance_of(name)
    wrong = []
    for _ in range(TRIES // 2):
        named, shape = keras_case(rnd, name)
        try:
            with torch.no_grad():
                expected: tuple[Any, ...] | None = tuple(getattr(keras.layers, name)(**named)(torch.zeros(shape)).shape)
        except (RuntimeError, ValueError):
            expected = None
        try:
            found: tuple[Any, ...] | None = ps.output_shape(getattr(ps.keras, name)(**named, input_shape=shape), shape)
        except ParamsymError:
            found = None
        if found != expected:
            wrong.append((named, shape, expected, found))
    assert not wrong, f"{len(wrong)} of {TRIES // 2}, such as {wrong[0]}"


def attention(rnd: random.Random) -> tuple[Any, Any, tuple[tuple[int, ...], ...]]:
    """Draw an attention, its module, and shapes for queries, keys and values, most of which go together."""
    torch, width, first = imported("torch"), 2 * rnd.randint(1, 4), rnd.random() < 0.5
    named: dict[str, Any] = {"batch_first": first}
    if rnd.random() < 0.5:
        named |= {"kdim": rnd.randint(1, 5), "vdim": rnd.randint(1, 5)}
    sizes, batches, lengths = [width, named.get("kdim", width), named.get("vdim", width)], [rnd.randint(1, 3)] * 3, [rnd.randint(1, 4)] * 3
    lengths[1] = lengths[2] = rnd.randint(1, 4)
    if rnd.random() < 0.3:
        rnd.choice((sizes, batches, lengths))[rnd.randrange(3)] += 1
    shapes = tuple((n, t, e) if first else (t, n, e) for n, t, e in zip(batches, lengths, sizes, strict=True))
    if rnd.random() < 0.2:
        shapes = tuple(shape[1:] if first else (shape[0], shape[2]) for shape in shapes)
    return ps.MultiheadAttention(width, 2, **named), torch.nn.MultiheadAttention(width, 2, **named), shapes


def stacks(rnd: random.Random) -> tuple[Any, Any, tuple[tuple[int, ...], ...]]:
    """Draw a decoder layer or a whole Transformer, its module, and shapes of its two inputs."""
    torch, width, first = imported("torch"), 2 * rnd.randint(1, 3), rnd.random() < 0.5
    name, arguments = rnd.choice([("TransformerDecoderLayer", (width, 2, 5)), ("Transformer", (width, 2, 1, 1, 5))])
    batches, sizes = [rnd.randint(1, 3)] * 2, [width] * 2
    if rnd.random() < 0.3:
        rnd.choice((sizes, batches))[rnd.randrange(2)] += 1
    pairs = zip(batches, (rnd.randint(1, 4), rnd.randint(1, 4)), sizes, strict=True)
    shapes = tuple((n, t, e) if first else (t, n, e) for n, t, e in pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = getattr(torch.nn, name)(*arguments, batch_first=first)
    return getattr(ps, name)(*arguments, batch_first=first), module, shapes


@pytest.mark.parametrize("draw", [attention, stacks])
def test_several_inputs(draw: Callable[[random.Random], Any]) -> None:
    """Queries, keys and values, or source and target, each with a shape of its own: torch's output, or an error where torch has one."""
    torch, rnd, wrong = imported("torch"), chance_of(draw.__name__), []
    for _ in range(TRIES):
        layer, module, shapes = draw(rnd)
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                output = module(*(torch.zeros(shape) for shape in shapes))
            expected: tuple[int, ...] | None = tuple((output[0] if isinstance(output, tuple) else output).shape)
        except (RuntimeError, AssertionError):
            expected = None
        try:
            found: tuple[Any, ...] | None = ps.output_shape(layer, shapes)  # type: ignore[arg-type]
        except ParamsymError:
            found = None
        if found != expected:
            wrong.append((layer, shapes, expected, found))
    assert not wrong, f"{len(wrong)} of {TRIES}, such as {wrong[0]}"
