"""NASNet-A. Reference: ``keras.applications.NASNetMobile``, ``NASNetLarge``; torchvision has none."""

from __future__ import annotations

from paramsym.algebra.size import Dim, canonical, divides
from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import down


class _Cell:
    """A cell of NASNet while it is drawn: ``scope`` is the beginning of its layers' names in Keras, ``block`` their end."""

    def __init__(self, kind: str, block: str, width: Dim) -> None:
        self.kind, self.block, self.width = kind, block, width
        self.scope = f"{kind}_A_block_{block}."

    def named(self, place: str, number: int | str = "") -> str:
        """Return the name of a layer, in a numbered block if it adds two maps."""
        return f"{self.scope}{f'block_{number}.' if number else ''}{self.kind}_{place}_{self.block}"

    def inputs(self, x: Map, past: Map | None, *, halves: bool) -> tuple[Map, Map]:
        """Draw the outputs of the last two cells, brought to this cell's width and, if the last one ``halves``, to the same sides."""
        scope = f"{self.scope}adjust_block.adjust_{'reduction' if halves else 'projection'}_block_{self.block}.adjust_"
        if past is None:
            past = x
        elif halves:
            past = past.act(name=f"{scope}relu_1_{self.block}")
            one, other = (
                route.avg_pool(1, 2, f"{scope}avg_pool_{n}_{self.block}").conv(down(self.width, 2), 1, f"{scope}conv_{n}_{self.block}")
                for n, route in enumerate((past, past.pad(0, 1).crop(1, 0)), 1)
            )
            past = one.beside(other).norm(f"{scope}bn_{self.block}")
        elif past.width != self.width:
            past = past.act().conv(self.width, 1, f"{scope}conv_projection_{self.block}").norm(f"{scope}bn_{self.block}")
        return x.act().conv(self.width, 1, self.named("conv_1")).norm(self.named("bn_1")), past

    def separable(self, x: Map, number: int, place: str, kernel: int, stride: int = 1) -> Map:
        """Draw two separable convolutions, each after ReLU and before a norm; the first has the stride."""
        name = f"{self.kind}_{place}_{self.block}"
        to = f"{self.scope}block_{number}.separable_conv_block_{name}.separable_conv_"
        for n, step in ((1, stride), (2, 1)):
            x = x.act().separable(self.width, kernel, f"{to}{n}_{name}", step, padded=f"{to}1_pad_{name}").norm(f"{to}{n}_bn_{name}")
        return x

    def normal(self, x: Map, past: Map, *, halves: bool) -> Map:
        """Draw a normal cell (Zoph et al. 2018, figure 4, left)."""
        h, past = self.inputs(x, past, halves=halves)
        one = self.separable(h, 1, "left1", 5).plus(self.separable(past, 1, "right1", 3), name=self.named("add_1", 1))
        two = self.separable(past, 2, "left2", 5).plus(self.separable(past, 2, "right2", 3), name=self.named("add_2", 2))
        three = h.avg_pool(3, 1, self.named("left3", 3), "same").plus(past, name=self.named("add_3", 3))
        left, right = (past.avg_pool(3, 1, self.named(f"{side}4", 4), "same") for side in ("left", "right"))
        four = left.plus(right, name=self.named("add_4", 4))
        five = self.separable(h, 5, "left5", 3).plus(h, name=self.named("add_5", 5))
        return past.beside(one, two, three, four, five, name=self.named("concat"))

    def reduction(self, x: Map, past: Map | None, *, halves: bool = False) -> Map:
        """Draw a cell that halves the sides (Zoph et al. 2018, figure 4, right)."""
        h, past = self.inputs(x, past, halves=halves)
        padded = h.pad_to_halve(3, self.named("pad_1"))
        one = self.separable(h, 1, "left1", 5, 2).plus(self.separable(past, 1, "right1", 7, 2), name=self.named("add_1", 1))
        two = padded.max_pool(3, 2, self.named("left2", 2)).plus(self.separable(past, 2, "right2", 7, 2), name=self.named("add_2", 2))
        three = padded.avg_pool(3, 2, self.named("left3", 3)).plus(self.separable(past, 3, "right3", 5, 2), name=self.named("add3", 3))
        four = two.plus(one.avg_pool(3, 1, self.named("left4", 4), "same"))
        five = self.separable(one, 5, "left4", 3).plus(padded.max_pool(3, 2, self.named("right5", 5)), name=self.named("add4", 5))
        return two.beside(three, four, five, name=self.named("concat"))


@named
class NASNet(Application):
    """Two cells that a search found, repeated: normal ones keep the sides, reduction cells halve them and double the width.

    Every cell reads the outputs of the last two. ``penultimate_filters`` is the width before the classifier, ``num_blocks`` the normal
    cells between two reductions, ``stem_block_filters`` the width of the first convolution; a reduction widens by ``filter_multiplier``.
    With ``skip_reduction`` the cell after a reduction reads the cell before the reduction's input.

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
        super().conditions()
        divides(24 * self.filter_multiplier**2, self.penultimate_filters, "24*filter_multiplier**2", "penultimate_filters")

    def drawn(self, x: Map) -> Map:
        m, filters = self.filter_multiplier, down(self.penultimate_filters, 24)
        x = x.conv(self.stem_block_filters, 3, "stem_conv1", 2, "valid").norm("stem_bn1")
        x, past = _Cell("reduction", "stem_1", down(filters, m**2)).reduction(x, None), x
        x, past = _Cell("reduction", "stem_2", down(filters, m)).reduction(x, past, halves=True), x
        for stage in range(3):
            width, first = canonical(filters * m**stage), stage * self.num_blocks
            if stage:
                cell = _Cell("reduction", f"reduce_{first}", width)
                x, past = cell.reduction(x, past), past if self.skip_reduction else x
            for block in range(self.num_blocks):
                cell = _Cell("normal", str(first + block + bool(stage)), width)
                x, past = cell.normal(x, past, halves=block == 0), x
        return self.ended(x.act(), mean="")
