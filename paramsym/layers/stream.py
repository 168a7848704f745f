"""Blocks over a stream of positions of one width: what reaches each layer inside follows from the layer's own width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from paramsym.errors import NotYetError, ShapeError
from paramsym.extents import View, differ
from paramsym.flow import Step, applied, each_input, standing, together
from paramsym.layer import Layer, Part
from paramsym.layers.features import over_features
from paramsym.size import Count, Dim, Shape, canonical, text


class OneWidth(Layer):
    """What keeps the positions and their width."""

    width: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """Positions are kept, and their width is, too."""
        stream, *others = each_input(input_shape)
        if others and differ(others[-1][0], stream[0]):
            message = f"what is attended to is {text(others[-1])}; wanted the batch of the stream, {text(stream)}."
            raise ShapeError(message)
        return over_features(stream, (self.width,))

    def reached(self, places: Shape) -> Shape:
        """The positions and the width."""
        return (*places, self.width)


class OverPositions(OneWidth):
    """What treats all positions alike and adds to what passes by, as a transformer's block does.

    Every layer inside maps the features of one position, so that its own width says what reaches it, whatever the order. ``from_memory``
    are the paths of those that read what a decoder attends to instead: the keys and values of cross attention. Given one shape, that is
    as long as the stream; but what stands under ``crosses`` is left out then, as language models leave it out that stand alone.
    """

    from_memory: tuple[str, ...] = ()
    crosses: tuple[str, ...] = ()

    def views(self) -> tuple[View, ...]:
        """A block with attention sees every position; those without say so.

        Raises:
            NotYetError: always, here.
        """
        message = f"a position of {type(self).__name__} sees every other one, as through attention."
        raise NotYetError(message)

    @property
    def takes_several(self) -> bool:
        """What is attended to may have a shape of its own."""
        return bool(self.from_memory)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Every layer inside that says what it takes.

        Raises:
            NotYetError: a layer inside that stores weights and does not say.
        """
        stream, *others = each_input(input_shape)
        memory = others[-1] if others else stream
        for path, layer, used, stored in _inside(self.own_parts):
            left_out = not others and any(path == name or path.startswith(f"{name}.") for name in self.crosses)
            from_memory = path in self.from_memory
            step = standing(path, layer, (memory if from_memory else stream)[:-1])
            if from_memory and layer.takes_several:  # a whole attention, whose queries are the stream's
                arrived = together((*stream[:-1], *step.arrived[-1:]), step.arrived)
                step = Step(path, layer, arrived, applied(path, layer, arrived))
            yield replace(step, used=0 if left_out else used, stored=stored)


@dataclass(frozen=True)
class Stream(OverPositions):
    """The layers of ``body``, on its own level, as a block over positions of one ``width``.

    >>> from paramsym import B, Block, Dense, F, H, S
    >>> block = Stream(H, Block(up=Dense(H, F), down=Dense(F, H)))
    >>> block.output_shape((B, S, H)), [step.arrived for step in block.applications((B, S, H))]
    ((B, S, H), [(B, S, H), (B, S, F)])
    """

    width: Dim
    body: Layer
    from_memory: tuple[str, ...] = ()
    crosses: tuple[str, ...] = ()

    def parts(self) -> Iterator[Part]:
        """The body."""
        yield Part("", self.body)


def _inside(parts: Iterable[Part], above: str = "", used: Count = 1, stored: Count = 1) -> Iterator[tuple[str, Layer, Count, Count]]:
    """Yield path, layer, uses and copies of every layer that says what it takes, or has to; through those that only hold others."""
    for part in parts:
        path = ".".join(name for name in (above, str(part.step)) if name)
        copies = 1 if part.numbers is None else part.numbers.count
        times = canonical(used * (copies if part.used is None else part.used))
        held = canonical(stored * copies)
        if part.layer.reached(()) is not None or any(not tensor.buffer for tensor in part.layer.own_tensors):
            yield path, part.layer, times, held
        else:
            yield from _inside(part.layer.own_parts, path, times, held)
