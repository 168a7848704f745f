"""NASNet-A. Reference: ``keras.applications.NASNetMobile``, ``NASNetLarge``; torchvision has none."""

from __future__ import annotations

from dataclasses import dataclass

from paramsym.algebra.size import Dim, canonical, divides
from paramsym.layers.padding import Cropping
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map, layer
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import down


class _Cell:
    """A cell of NASNet while it is drawn: ``scope`` is the beginning of its layers' names in Keras, ``block`` their end."""

    def __init__(self, kind: str, block: str, width: Dim) -> None:
        """Draw a "normal" or "reduction" cell with a number of channels."""
        self.kind, self.block, self.width = kind, block, width
        self.scope = f"{kind}_A_block_{block}."

    def mixed(self, x: Map) -> Map:
        """Draw ReLU, a convolution of 1x1 to the cell's width, and a norm."""
        name = f"{self.scope}{self.kind}"
        return x.act().conv(self.width, 1, f"{name}_conv_1_{self.block}").norm(f"{name}_bn_1_{self.block}")

    def adjusted(self, past: Map, *, halves: bool) -> Map:
        """Draw the input of the last cell, adjusted to this cell's width and, if that cell ``halves``, to its sides."""
        scope = f"{self.scope}adjust_block."
        if halves:
            scope, half = f"{scope}adjust_reduction_block_{self.block}.", down(self.width, 2)
            past = past.act(name=f"{scope}adjust_relu_1_{self.block}")
            shifted = past.pad(0, 1).to(layer(Cropping, ((1, 0), (1, 0)), "channels_last"), "", "cropping2d")
            one, other = (
                route.avg_pool(1, 2, f"{scope}adjust_avg_pool_{n}_{self.block}").conv(half, 1, f"{scope}adjust_conv_{n}_{self.block}")
                for n, route in enumerate((past, shifted), 1)
            )
            return one.beside(other).norm(f"{scope}adjust_bn_{self.block}")
        if past.width != self.width:
            scope = f"{scope}adjust_projection_block_{self.block}."
            past = past.act().conv(self.width, 1, f"{scope}adjust_conv_projection_{self.block}").norm(f"{scope}adjust_bn_{self.block}")
        return past

    def separable(self, x: Map, number: int, place: str, kernel: int, stride: int = 1) -> Map:
        """Draw two separable convolutions, each after ReLU and before a norm; the first has the stride."""
        name = f"{self.kind}_{place}_{self.block}"
        scope = f"{self.scope}block_{number}.separable_conv_block_{name}.separable_conv_"
        x = x.act()
        x = x.pad_to_halve(kernel, f"{scope}1_pad_{name}") if stride == 2 else x
        x = x.separable(self.width, kernel, f"{scope}1_{name}", stride, "valid" if stride == 2 else "same").norm(f"{scope}1_bn_{name}")
        return x.act().separable(self.width, kernel, f"{scope}2_{name}").norm(f"{scope}2_bn_{name}")

    def named(self, place: str, number: int | str = "") -> str:
        """Return the name of a layer that stores nothing."""
        return f"{self.scope}{f'block_{number}.' if number else ''}{self.kind}_{place}_{self.block}"


def _normal(x: Map, past: Map, width: Dim, block: str, *, halves: bool) -> Map:
    """Draw a normal cell (Zoph et al. 2018, figure 4, left)."""
    cell = _Cell("normal", block, width)
    past = cell.adjusted(past, halves=halves)
    h = cell.mixed(x)
    one = cell.separable(h, 1, "left1", 5).plus(cell.separable(past, 1, "right1", 3), name=cell.named("add_1", 1))
    two = cell.separable(past, 2, "left2", 5).plus(cell.separable(past, 2, "right2", 3), name=cell.named("add_2", 2))
    three = h.avg_pool(3, 1, cell.named("left3", 3), "same").plus(past, name=cell.named("add_3", 3))
    left, right = (past.avg_pool(3, 1, cell.named(f"{side}4", 4), "same") for side in ("left", "right"))
    four = left.plus(right, name=cell.named("add_4", 4))
    five = cell.separable(h, 5, "left5", 3).plus(h, name=cell.named("add_5", 5))
    return past.beside(one, two, three, four, five, name=cell.named("concat"))


def _reduction(x: Map, past: Map | None, width: Dim, block: str, *, halves: bool = False) -> Map:
    """Draw a cell that halves the sides (Zoph et al. 2018, figure 4, right)."""
    cell = _Cell("reduction", block, width)
    past = x if past is None else cell.adjusted(past, halves=halves)
    h = cell.mixed(x)
    padded = h.pad_to_halve(3, cell.named("pad_1"))
    one = cell.separable(h, 1, "left1", 5, 2).plus(cell.separable(past, 1, "right1", 7, 2), name=cell.named("add_1", 1))
    two = padded.max_pool(3, 2, cell.named("left2", 2)).plus(cell.separable(past, 2, "right2", 7, 2), name=cell.named("add_2", 2))
    three = padded.avg_pool(3, 2, cell.named("left3", 3)).plus(cell.separable(past, 3, "right3", 5, 2), name=cell.named("add3", 3))
    four = two.plus(one.avg_pool(3, 1, cell.named("left4", 4), "same"))
    five = cell.separable(one, 5, "left4", 3).plus(padded.max_pool(3, 2, cell.named("right5", 5)), name=cell.named("add4", 5))
    return two.beside(three, four, five, name=cell.named("concat"))


@named
@dataclass(frozen=True)
class NASNet(Application):
    """Two cells that a search found, repeated: normal ones keep the sides, reduction cells halve them and double the width.

    Every cell reads the outputs of the last two. ``penultimate_filters`` is the width before the classifier, ``num_blocks`` the normal
    cells between two reductions, ``stem_block_filters`` the width of the first convolution; ``filter_multiplier`` is the factor by which a
    reduction widens. With ``skip_reduction`` the cell after a reduction reads the cell before the reduction's input.

    Raises:
        DivisibilityError: a ``penultimate_filters`` that is not a multiple of 24 times ``filter_multiplier`` squared.

    Source: Zoph et al. 2018, "Learning Transferable Architectures for Scalable Image Recognition", figures 2 and 4.

    >>> NASNet("NASNetMobile").params, NASNet("NASNetLarge").params
    (5289978, 88753150)
    """

    penultimate_filters: Dim = 4032
    num_blocks: int = 6
    stem_block_filters: Dim = 96
    skip_reduction: bool = True
    filter_multiplier: int = 2

    published, claims = published_in("applications.nasnet")
    usual = 331

    def conditions(self) -> None:
        """The widths of all cells are whole."""
        super().conditions()
        divides(24 * self.filter_multiplier**2, self.penultimate_filters, "24*filter_multiplier**2", "penultimate_filters")

    def drawn(self, x: Map) -> Map:
        """Draw the stem, two reductions, and normal cells with reductions between them."""
        m, filters = self.filter_multiplier, down(self.penultimate_filters, 24)
        x = x.conv(self.stem_block_filters, 3, "stem_conv1", 2, "valid").norm("stem_bn1")
        x, past = _reduction(x, None, down(filters, m**2), "stem_1"), x
        x, past = _reduction(x, past, down(filters, m), "stem_2", halves=True), x
        for stage in range(3):
            width = canonical(filters * m**stage)
            if stage:
                before, name = x, f"reduce_{stage * self.num_blocks}"
                x = _reduction(x, past, width, name)
                past = past if self.skip_reduction else before
            for block in range(self.num_blocks):
                name = str(stage * self.num_blocks + block + bool(stage))
                x, past = _normal(x, past, width, name, halves=block == 0), x
        return self.ended(x.act(), mean="")
