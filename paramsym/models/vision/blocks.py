"""The common base of the networks for images, and blocks that most of them use.

Reference: ``torchvision.ops.misc`` and ``torchvision.models._utils``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import lru_cache, wraps
from typing import Any, ClassVar, Literal, ParamSpec, TypeAlias, TypeVar, cast, get_args

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, Shape, conditions_are_asked, text
from paramsym.algebra.symbols import B, W, dims
from paramsym.atlas.published import KERAS, Claim
from paramsym.core.compose import Block, Sequential
from paramsym.core.fields import hints_of
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.activation import GELU, ReLU
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d, AdaptiveAvgPool3d
from paramsym.layers.axes import per_channel, spatial
from paramsym.layers.batch_norm import BatchNorm2d, BatchNorm3d
from paramsym.layers.convolution import Conv2d, Conv3d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import MaxPool2d
from paramsym.layers.spatial import Extents
from paramsym.models.blocks import Holder
from paramsym.models.vision.widths import ratio
from paramsym.naming import nearest
from paramsym.program import Own, Value, apply, axes, rearrange, reduce

Norm: TypeAlias = Literal["BatchNorm2d", "FrozenBatchNorm2d"]
_Model = TypeVar("_Model", bound=type[Layer])
_P = ParamSpec("_P")
_Built = TypeVar("_Built")
RELU = ReLU()
EXACT_GELU = GELU()
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Statistics of ImageNet's red, green and blue, between 0 and 1."""
BLOCKS: tuple[Dim, Dim, Dim, Dim] = dims("n1 n2 n3 n4")
LAYERS: tuple[Dim, Dim, Dim, Dim] = dims("L_1 L_2 L_3 L_4")
HEADS: tuple[Dim, Dim, Dim, Dim] = dims("A_1 A_2 A_3 A_4")
CHANNELS: tuple[Dim, Dim, Dim, Dim] = dims("C_1 C_2 C_3 C_4")
"""The letters of four stages: residual blocks, layers of transformers, heads, channels."""


def kept(most: int) -> Callable[[Callable[_P, _Built]], Callable[_P, _Built]]:
    """Cache the last ``most`` layers that a function built.

    While conditions are collected nothing is cached, so that every size is checked again.
    """

    def keeping(build: Callable[_P, _Built]) -> Callable[_P, _Built]:
        known: Any = lru_cache(maxsize=most)(build)

        @wraps(build)
        def built(*arguments: _P.args, **named: _P.kwargs) -> _Built:
            return cast("_Built", (build if conditions_are_asked() else known)(*arguments, **named))

        return built

    return keeping


remembered = kept(4096)
"""For functions that build blocks: layers are values, and many in a network and across networks are equal."""


# Names ------------------------------------------------------------------------------------------------------------------------


def named(cls: _Model) -> _Model:
    """Let a class of models take one of its published names as first argument: it means that model's sizes, which other arguments change.

    Names of Keras' networks may leave out ``keras.applications.``.
    """
    plain: Any = cls.__init__

    @wraps(plain)
    def __init__(self: Layer, *given: Any, **changed: Any) -> None:  # noqa: N807 - it replaces the one wrapped
        first, *rest = given or (None,)
        if not isinstance(first, str):
            return plain(self, *given, **changed)
        name = first if first in cls.published else KERAS + first
        if name not in cls.published and _takes(cls, first):
            return plain(self, *given, **changed)
        if name not in cls.published:
            near = nearest(first, cls.published)
            raise ArgumentError(f"{cls.__name__}: there is no size {first[:60]!a}; wanted one of {', '.join(near or cls.published)}.")
        if rest:
            raise ArgumentError(f"{cls.__name__}: after the name {first!r} arguments are given by keyword, as in num_classes=10.")
        return plain(self, **{**cls.published[name], **changed})

    cls.__init__ = __init__  # type: ignore[assignment]
    return cls


def _takes(cls: Any, word: str) -> bool:
    first = next((one.name for one in fields(cls) if not one.kw_only), "")
    return word in get_args(hints_of(cls).get(first))


# Models -----------------------------------------------------------------------------------------------------------------------


class Pictures(Layer):
    """A network that reads images, (batch, channels, height, width)."""

    ratios: ClassVar[tuple[str, ...]] = ()
    """The arguments that are multipliers."""
    staged: ClassVar[tuple[str, ...]] = ()
    """The arguments with one entry for every stage."""
    claims: ClassVar[Sequence[Claim]] = ()
    usual: ClassVar[Dim] = 32 * W
    """The default side of the images: one without floors in the formula, or the only one."""
    frames: ClassVar[tuple[Dim, ...]] = ()
    """The default number of frames of a video."""

    def __post_init__(self) -> None:
        for name in self.ratios:
            optional = type(self).__dataclass_fields__[name].default is None  # type: ignore[attr-defined]
            if not optional or getattr(self, name) is not None:
                object.__setattr__(self, name, ratio(getattr(self, name), f"{type(self).__name__}: {name}"))
        super().__post_init__()

    def conditions(self) -> None:
        """Each of the ``staged`` arguments has an entry for every stage, of which there is at least one."""
        lengths = [len(getattr(self, name)) for name in self.staged]
        if self.staged and (len({*lengths}) > 1 or 0 in lengths):
            *others, last = (f"{length} {name}" for length, name in zip(lengths, self.staged, strict=True))
            raise ArgumentError(f"there are {', '.join(others)} and {last}; wanted one of each for every stage.")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, getattr(self, "in_channels", 3), *self.frames, self.usual, self.usual)}

    def seen(self, x: Value) -> Value:
        """Return the images, after a check of their axes."""
        frames = "frames " if self.frames else ""
        return axes(x, f"batch channels {frames}height width", channels=getattr(self, "in_channels", 3))[0]


class Videos(Pictures):
    """A network that reads videos, (batch, channels, frames, height, width)."""

    frames = (16,)


@dataclass(frozen=True)
class Coloured(Pictures):
    """A network that reads images of any number of channels; the reference's have three."""

    _: KW_ONLY
    in_channels: Dim = 3


class Averaged(Pictures):
    """Layers one after another, the mean of every channel, and one matrix: scores of classes, (batch, classes)."""

    num_classes: Dim
    aside: ClassVar[tuple[str, ...]] = ()
    """The parts that are used only in training."""

    def ended(self, width: Dim, dropout: float | None = None) -> Iterator[Part]:
        """Yield the end of the network: the mean, a dropout if its rate is given, and the matrix."""
        yield Part("avgpool", (AdaptiveAvgPool3d if self.frames else AdaptiveAvgPool2d)(1))
        if dropout is not None:
            yield Part("dropout", Dropout(dropout))
        yield Part("fc", Dense(width, self.num_classes))

    def forward(self, own: Own, x: Value) -> Value:
        x = self.seen(x)
        for part in self.own_parts:
            if part.name in {"dropout", "fc"}:
                break
            x = x if part.name in self.aside else own[part.name](x)
        x = rearrange(x, f"b c {'() ' * (x.rank - 2)}-> b c")
        return own.fc(own.dropout(x) if "dropout" in own else x)


class Classifier(Coloured):
    """Features, their means if there is an ``avgpool``, and a classifier of the flattened features: scores of classes, (batch, classes)."""

    def forward(self, own: Own, x: Value) -> Value:
        x = own.features(self.seen(x))
        x = own.avgpool(x) if "avgpool" in own else reduce("mean", x, 2, 3, keep=True)
        return own.classifier(rearrange(x, "b c h w -> b (c h w)"))


# Blocks -----------------------------------------------------------------------------------------------------------------------


@remembered
def conv_norm(
    incoming: Dim,
    outgoing: Dim,
    kernel: Extents = 3,
    stride: Extents = 1,
    activation: Layer | None = RELU,
    *,
    groups: Dim = 1,
    dilation: int = 1,
    padding: Any = None,
    eps: float = 1e-5,
    norm: Norm = "BatchNorm2d",
    rank: Literal[2, 3] = 2,
) -> Sequential:
    """Return a convolution without bias, a norm and an activation, named 0, 1, 2; odd kernels keep the extents at stride 1.

    Reference: ``torchvision.ops.misc.Conv2dNormActivation`` and ``Conv3dNormActivation``.

    >>> from paramsym import C, F
    >>> conv_norm(C, F).params
    9*C*F + 2*F
    """
    if padding is None:
        padding = tuple((size - 1) // 2 * dilation for size in kernel) if isinstance(kernel, tuple) else (kernel - 1) // 2 * dilation
    convolution = Conv2d if rank == 2 else Conv3d
    layers: list[Layer] = [
        convolution(incoming, outgoing, kernel, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=False),
        norm_of(norm if rank == 2 else "BatchNorm3d", outgoing, eps),
    ]
    return Sequential(*layers, *(() if activation is None else (activation,)))


@remembered
def norm_of(kind: Norm | Literal["BatchNorm3d"], channels: Dim, eps: float = 1e-5) -> Layer:
    """Return batch normalisation by its name in the reference."""
    if kind == "FrozenBatchNorm2d":
        return FrozenBatchNorm2d(channels)
    return (BatchNorm2d if kind == "BatchNorm2d" else BatchNorm3d)(channels, eps=eps)


def stem(width: Dim, norm: Norm = "BatchNorm2d") -> tuple[Layer, Layer, Layer, Layer]:
    """Return the first layers of ResNet and DenseNet: a convolution of 7x7 and a pooling, which both halve the extents."""
    return Conv2d(3, width, 7, stride=2, padding=3, bias=False), norm_of(norm, width), RELU, MaxPool2d(3, stride=2, padding=1)


@dataclass(frozen=True)
class FrozenBatchNorm2d(Layer):
    """Frozen batch normalisation: all four vectors are buffers. Reference: ``torchvision.ops.FrozenBatchNorm2d``."""

    channels: Dim

    def tensors(self) -> Iterator[Tensor]:
        for name, role in (("weight", "scale"), ("bias", "bias"), ("running_mean", "statistic"), ("running_var", "statistic")):
            yield Tensor(name, (self.channels,), role=role, buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        x, restored = spatial(x, 2, channels=self.channels)
        scale = own.weight * apply("rsqrt", own.running_var + 1e-5)
        return restored(x * per_channel(scale, 2) + per_channel(own.bias - own.running_mean * scale, 2))


def in_row(sequence: Layer) -> tuple[Layer, ...]:
    """Return the layers of a sequence, to put them into another one."""
    return tuple(part.layer for part in sequence.own_parts)


class Projected(Holder):
    """The layer ``body`` added to the shortcut, which has a projection ``proj`` if the extents change; then the ``activation``, if any."""

    body: str

    def forward(self, own: Own, x: Value) -> Value:
        y: Value = (own.proj(x) if "proj" in own else x) + own[self.body](x)
        return own.activation(y) if "activation" in own else y


class Tapped(Holder):
    """Layers one after another, some of which also return their output. Reference: ``IntermediateLayerGetter``."""

    taps: tuple[str, ...]

    def forward(self, own: Own, x: Value) -> Any:
        found = []
        for name in dict(self.layers):
            x = own[name](x)
            found += [x] if name in self.taps else []
        return tuple(found) if len(found) > 1 else found[0]


def tapped(network: Layer, taps: tuple[str, ...]) -> Tapped:
    """Return a network without its classifier: its ``features``, or the parts before the ``avgpool``."""
    parts = {part.name: part.layer for part in network.own_parts if part.name not in {"avgpool", "fc", "classifier"}}
    features = parts.get("features")
    return Tapped(parts if features is None else features.items, taps)  # type: ignore[attr-defined]


def numbered(layers: Sequence[Layer]) -> Block:
    """Return layers under their numbers."""
    return Block({str(number): layer for number, layer in enumerate(layers)})


def check_extents(found: Sequence[Dim], wanted: Sequence[Dim], message: str) -> None:
    """Raise ``ShapeError`` if extents differ from the wanted ones; the message has a place {} for each."""
    if any(map(differ, found, wanted)):
        raise ShapeError(message.format(text(found), text(wanted)))


@remembered
def mlp(width: Dim, inner: Dim, outgoing: Dim | None = None) -> Sequential:
    """Return two matrices with an activation between them, named 0 to 4 with the dropouts. Reference: ``torchvision.ops.MLP``.

    >>> from paramsym import F, H
    >>> mlp(H, F).params
    2*F*H + F + H
    """
    return Sequential({"0": Dense(width, inner), "1": EXACT_GELU, "3": Dense(inner, width if outgoing is None else outgoing)})
