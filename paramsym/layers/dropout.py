"""Layers that add noise to their input in training and return it unchanged in evaluation. They store nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from paramsym import program as ops
from paramsym.layers.axes import DataFormat, check_rank
from paramsym.layers.siblings import Sibling, Variant

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class _Dropout(Variant):
    kept: ClassVar[Literal["mask", "float"] | None] = "mask"
    """How the backward pass keeps the random numbers: as a mask of one byte each, as floats, or not at all."""

    p: float

    def _refused(self) -> Iterator[str]:
        if not 0 <= self.p <= 1:
            yield f"p is {self.p}; a probability is between 0 and 1."

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.drop(x, self.p, kind=self.kept)


@dataclass(frozen=True)
class _InPlace(_Dropout):
    p: float = 0.5
    inplace: bool = False


@dataclass(frozen=True)
class _OfChannels(_InPlace):
    """Dropout of whole channels: each is multiplied by one random number."""

    alone: ClassVar[int | None] = None
    """The number of axes of one example without a batch axis, if torch takes such an example."""

    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        check_rank(x, x.rank >= 2, "at least 2 axes, one of them the channels")
        channel = x.rank - 1 if self.data_format == "channels_last" else 1
        return ops.drop(x, self.p, over=(0,) if x.rank == self.alone else (0, channel), kind="float")


@dataclass(frozen=True)
class Dropout(_InPlace):
    """Each entry becomes zero with probability ``p`` (Srivastava et al. 2014). Reference: ``torch.nn.Dropout``.

    Raises:
        ArgumentError: a ``p`` outside 0 to 1.
    """


class Dropout1d(_OfChannels, alone=2):
    """Each channel of a sequence becomes zero as a whole. Reference: ``torch.nn.Dropout1d``."""


@dataclass(frozen=True)
class Dropout2d(_OfChannels):
    """Each channel of an image becomes zero as a whole (Tompson et al. 2015). Reference: ``torch.nn.Dropout2d``."""


class Dropout3d(_OfChannels, alone=4):
    """Each channel of a volume becomes zero as a whole. Reference: ``torch.nn.Dropout3d``."""


class AlphaDropout(_InPlace, kept="float"):
    """Entries are dropped with mean and variance preserved (Klambauer et al. 2017). Reference: ``torch.nn.AlphaDropout``.

    Training multiplies by noise, which is kept, and adds noise, which is not kept.
    """


@dataclass(frozen=True)
class FeatureAlphaDropout(_OfChannels):
    """Whole channels are dropped with mean and variance preserved. Reference: ``torch.nn.FeatureAlphaDropout``."""


@dataclass(frozen=True)
class GaussianDropout(_Dropout, kept="float"):
    """Each entry is multiplied by noise around one (Srivastava et al. 2014, section 10). Reference: Keras ``GaussianDropout``."""

    p: float


@dataclass(frozen=True)
class GaussianNoise(Sibling):
    """Noise of standard deviation ``stddev`` is added, and not kept. Reference: Keras ``GaussianNoise``.

    Raises:
        ArgumentError: a ``stddev`` outside 0 to 1, which Keras refuses.
    """

    stddev: float

    def _refused(self) -> Iterator[str]:
        if not 0 <= self.stddev <= 1:
            yield f"stddev is {self.stddev}; wanted a number between 0 and 1."

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.drop(x, self.stddev, kind=None)
