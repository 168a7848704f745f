"""Layers that add noise to their input in training and return it unchanged in evaluation. They store nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from paramsym.algebra.size import text
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, RankError
from paramsym.layers.axes import DataFormat
from paramsym.program import Own, Value, drop


class _Dropout(Layer):
    """The common base: a probability."""

    p: float

    def conditions(self) -> None:
        if not 0 <= self.p <= 1:
            message = f"p is {self.p}; a probability is between 0 and 1."
            raise ArgumentError(message)

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input; in training with a random mask."""
        return drop(x, self.p)


@dataclass(frozen=True)
class _InPlace(_Dropout):
    """The arguments of torch's layers."""

    p: float = 0.5
    inplace: bool = False


@dataclass(frozen=True)
class _OfChannels(_InPlace):
    """Dropout of whole channels: each is multiplied by one random number."""

    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    alone: ClassVar[int | None] = None
    """The number of axes of one example without a batch axis, if torch takes such an example."""

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input; in training, times one random number for each channel."""
        if x.rank < 2:
            message = f"wanted at least 2 axes, one of them the channels; found {x.rank}, {text(x.sizes)}."
            raise RankError(message)
        channel = x.rank - 1 if self.data_format == "channels_last" else 1
        return drop(x, self.p, over=(0,) if x.rank == self.alone else (0, channel), kind="float")


@dataclass(frozen=True)
class Dropout(_InPlace):
    """Each entry becomes zero with probability ``p`` (Srivastava et al. 2014). Reference: ``torch.nn.Dropout``.

    Raises:
        ArgumentError: a ``p`` outside 0 to 1; the same holds for the classes below.
    """


@dataclass(frozen=True)
class Dropout1d(_OfChannels):
    """Each channel of a sequence becomes zero as a whole. Reference: ``torch.nn.Dropout1d``."""

    alone = 2


@dataclass(frozen=True)
class Dropout2d(_OfChannels):
    """Each channel of an image becomes zero as a whole (Tompson et al. 2015). Reference: ``torch.nn.Dropout2d``."""


@dataclass(frozen=True)
class Dropout3d(_OfChannels):
    """Each channel of a volume becomes zero as a whole. Reference: ``torch.nn.Dropout3d``."""

    alone = 4


@dataclass(frozen=True)
class AlphaDropout(_InPlace):
    """Entries are dropped with mean and variance preserved (Klambauer et al. 2017). Reference: ``torch.nn.AlphaDropout``."""

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input; in training, times noise, which is kept, plus noise, which is not kept."""
        return drop(x, self.p, kind="float")


@dataclass(frozen=True)
class FeatureAlphaDropout(_OfChannels):
    """Whole channels are dropped with mean and variance preserved. Reference: ``torch.nn.FeatureAlphaDropout``."""


@dataclass(frozen=True)
class GaussianDropout(_Dropout):
    """Each entry is multiplied by noise around one (Srivastava et al. 2014, section 10). Reference: Keras ``GaussianDropout``."""

    p: float

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input; in training, times noise."""
        return drop(x, self.p, kind="float")


@dataclass(frozen=True)
class GaussianNoise(Layer):
    """Noise of standard deviation ``stddev`` is added. Reference: Keras ``GaussianNoise``.

    Raises:
        ArgumentError: a ``stddev`` outside 0 to 1, which Keras refuses.
    """

    stddev: float

    def conditions(self) -> None:
        if not 0 <= self.stddev <= 1:
            message = f"stddev is {self.stddev}; wanted a number between 0 and 1."
            raise ArgumentError(message)

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input; in training, plus noise, which is not kept."""
        return drop(x, self.stddev, kind=None)
