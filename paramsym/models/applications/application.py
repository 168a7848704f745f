"""The common base of ``keras.applications``: arguments, the check of the images, parts from the drawing, the last layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

from paramsym.algebra.size import Dim, Shape, within
from paramsym.algebra.symbols import B, N
from paramsym.core.declared import Declared
from paramsym.core.layer import Part
from paramsym.errors import ArgumentError
from paramsym.models.applications.drawing import Map, in_keras_order
from paramsym.models.vision.blocks import Pictures, kept
from paramsym.naming import described
from paramsym.program import Own, Value, axes


class Application(Declared, Pictures):
    """A network of Keras, abstract, with their common arguments; images have the channels last.

    ``input_shape`` is (height, width, channels) of the images, with None for a side of any length; by default three channels and any
    sides. ``include_top=False`` leaves out the classifier. ``pooling`` then gives the mean ("avg") or the maximum ("max") of each channel;
    None gives the whole map. ``classifier_activation=None`` gives scores instead of probabilities.

    Raises:
        ArgumentError: an ``input_shape`` without three sizes, without channels, or with a side that is too small for Keras.
    """

    _: KW_ONLY
    classes: Dim = N
    include_top: bool = True
    pooling: Literal["avg", "max"] | None = None
    classifier_activation: Literal["softmax", "sigmoid"] | None = "softmax"
    input_shape: tuple[Dim | None, ...] | None = None

    least: ClassVar[int] = 32
    """The smallest side of an image."""

    def conditions(self) -> None:
        super().conditions()
        given = self.input_shape
        if given is not None and (len(given) != 3 or given[2] is None):
            raise ArgumentError(f"input_shape is {described(given)}; wanted (height, width, channels), as in (224, 224, 3).")
        for side in (given or ())[:2]:
            if side is not None and not within(self.least, side):
                message = f"input_shape has the side {side}; {type(self).__name__} takes images from {self.least} by {self.least} on."
                raise ArgumentError(message)

    @property
    def image(self) -> tuple[Dim, Dim, Dim]:
        """Height, width and channels of an image, with default sides for those that are None."""
        height, width, channels = self.input_shape or (None, None, 3)
        assert channels is not None  # noqa: S101 - checked above
        return self.usual if height is None else height, self.usual if width is None else width, channels

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, *self.image)}

    def drawn(self, x: Map) -> Map:
        """Draw the network, from its input to its output."""
        raise NotImplementedError

    def parts(self) -> Iterator[Part]:
        for one in _drawing(self):
            if one.name:
                yield Part(one.name, one.layer)

    def forward(self, own: Own, x: Value) -> Value:
        """Probabilities of classes, (batch, classes); without the classifier the last map, or its ``pooling``."""
        found: dict[Map, Any] = {}
        result: Any = axes(x, "batch height width channels", channels=self.image[2])[0]
        for one in _drawing(self):
            if one.layer is not None:
                result = (own[one.name] if one.name else one.layer)(*[found[before] for before in one.takes])
            found[one] = result
        last: Value = result
        return last

    def ended(self, x: Map, mean: str = "avg_pool", kept: str = "", drop: float = 0, dropped: str = "") -> Map:
        """Draw the classifier, or ``pooling``; ``mean`` names the pooling before the classifier, ``kept`` ends the name of the other."""
        if not self.include_top:
            return x.pool_all(self.pooling, kept and f"{self.pooling}_{kept}") if self.pooling else x
        x = x.pool_all("avg", mean)
        x = x.drop(drop, dropped) if drop else x
        return x.dense(self.classes, "predictions", self.classifier_activation or "")

    def labelled(self, x: Map) -> Map:
        """Draw the last activation as a separate layer; without an activation it is the identity."""
        return x.act(self.classifier_activation or "linear", "predictions")


@kept(64)
def _drawing(network: Application) -> tuple[Map, ...]:
    return tuple(in_keras_order(network.drawn(Map(network.image[2]))))
