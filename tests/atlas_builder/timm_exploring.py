"""The points at which timm builds one architecture: classes, channels, sides of the image and poolings, drawn to tell laws apart."""

from __future__ import annotations

import random
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from atlas_builder.fitting import NoFitError
from atlas_builder.timm_building import Built, RefusedError, at, defaults
from atlas_builder.timm_laws import Laws

from paramsym.atlas.timm import SIDES

POOLINGS = ("", "avg")
POOLINGS_OF_SIDES = ("", "avg", "token", "map")
_STEPS = (1, 2, 4, 7, 8, 14, 16, 28, 32, 56, 64, 128)
_LEAST = (32, 64, 96, 128, 192)
LARGEST = 1024
_MOST_DOUBTS = 30
_LAWS, _LAWS_OF_SIDES = 3, 10
CLASSES, CHANNELS = 2**17, 2**12

Values = dict[str, Any]


@dataclass
class Sides:
    """Which sides of the image an architecture takes: multiples of ``step`` from ``least`` on; of a square only, if ``square``."""

    step: int
    least: int
    square: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a record."""
        return ("img_size",) if self.square else SIDES


@dataclass
class Explored:
    """One architecture during its exploration."""

    name: str
    sides: Sides | None = None
    points: list[Values] = field(default_factory=list)
    builds: list[Built] = field(default_factory=list)

    @cached_property
    def draw(self) -> random.Random:
        """The same numbers for the same architecture."""
        return random.Random(zlib.crc32(self.name.encode()))

    @cached_property
    def fixed(self) -> Values:
        """The sides of the registry if they are fixed and the only ones tried."""
        found = defaults(self.name)[2]
        return dict(zip(SIDES, found, strict=True)) if found and self.sides is None else {}

    @cached_property
    def start(self) -> tuple[int, int]:
        """The sides of the registry, or those usual."""
        found = defaults(self.name)[2]
        return tuple(found) if found else (224, 224)

    def build(self, **values: Any) -> Built:
        """Return the architecture for values of a record's keys.

        Raises:
            RefusedError: timm does not build it.
        """
        square = values.pop("img_size", None)
        if square is not None:
            values |= dict.fromkeys(SIDES, square)
        return at(self.name, {"num_classes": 10, "in_chans": 3, **self.fixed, **values})

    def takes(self, height: int, width: int) -> bool:
        """Whether timm builds it for these sides."""
        with suppress(RefusedError):
            self.build(img_height=height, img_width=width)
            return True
        return False

    def sized(self, square: bool, small: bool = False) -> Values:
        """Return random sides; small ones show where a window is larger than the grid."""
        if self.sides is None:
            return {}
        least, step = self.sides.least, self.sides.step
        most = least + 2 * max(32, step) if small else LARGEST
        drawn = [least + step * int((most - least) / step * self.draw.random() ** (1 if small else 2)) for _ in SIDES]
        return dict.fromkeys(self.sides.keys, drawn[0]) if square else dict(zip(self.sides.keys, drawn, strict=False))

    def add(self, **values: Any) -> Built:
        """Build a point and keep it."""
        built = self.build(**values)
        self.points.append({"num_classes": 10, "in_chans": 3, "global_pool": None, **values})
        self.builds.append(built)
        return built


def sides_of(one: Explored) -> Sides | None:
    """Return the sides that an architecture takes, from a few trials; None if it takes none, or no simple set of them."""
    height, width = one.start
    step = next((step for step in _STEPS if one.takes(height + step, width + step)), None)
    if step is None or height % step or width % step:
        return None
    square = not one.takes(height + step, width)
    least = next((-(-least // step) * step for least in _LEAST if one.takes(*[-(-least // step) * step] * 2)), None)
    return Sides(step, least, square) if least else None


def explored(name: str, sides: Sides | None) -> tuple[Explored, list[Any]]:
    """Return an architecture with the points from which its laws are found, and the poolings that it takes.

    Raises:
        RefusedError: timm refuses one of the points.
    """
    one = Explored(name, sides)
    one.add(num_classes=10, in_chans=3, **default_sides(one))
    for number in range(_LAWS_OF_SIDES if sides else _LAWS):
        classes = CLASSES if number == 1 else 1 if number == 0 else one.draw.randrange(2000 * number, 2000 * number + 2000)
        channels = CHANNELS if number == 1 else 1 if number == 0 else one.draw.randrange(9 * number, 9 * number + 9)
        sized = one.sized(square=number % 4 == 0, small=number % 2 == 1)
        if sides and number < 3:
            sized = dict.fromkeys(sides.keys, (sides.least, LARGEST // sides.step * sides.step, one.start[0] + sides.step)[number])
        one.add(num_classes=classes, in_chans=channels, **sized)
    _resolve(one)
    one.add(num_classes=0, in_chans=4, **one.sized(square=True))
    return one, [None, *(word for word in (POOLINGS_OF_SIDES if sides else POOLINGS) if _pooled(one, word))]


def _resolve(one: Explored) -> None:
    """Add points until no two laws explain all points and differ elsewhere."""
    if one.sides is None:
        return
    keys, step, least = one.sides.keys, one.sides.step, one.sides.least
    lengths = [*range(least, least + 160 * step, step), *range(least + 160 * step, 2 * LARGEST, 13 * step)]
    probes = [dict.fromkeys(keys, length) for length in lengths]
    if not one.sides.square:
        far = LARGEST // step * step
        probes += [dict(zip(keys, pair, strict=True)) for length in lengths for pair in ((length, far), (far, length))]
    for _ in range(_MOST_DOUBTS):
        laws = Laws(one.points, ("num_classes", "in_chans"), keys)
        where = range(len(one.points))
        axes = {
            sizes
            for name in one.builds[0].tensors
            if one.builds[0].tensors[name][0] != "tie" and all(name in built.tensors for built in one.builds)
            for sizes in zip(*(built.tensors[name][1] for built in one.builds), strict=True)
            if len(set(sizes)) > 1
        }
        doubts = (laws.doubt(where, sizes, probes) for sizes in sorted(axes) if laws.moved(where, sizes))
        doubt = next((found for found in doubts if found is not None), None)
        if doubt is None:
            return
        one.add(num_classes=11, in_chans=2, **doubt)
    message = "the laws of the sides cannot be told apart"
    raise NoFitError(message)


def default_sides(one: Explored) -> Values:
    """Return the sides of the registry, or those usual, under the keys of a record."""
    if one.sides is None:
        return {}
    return dict(zip(one.sides.keys, one.start, strict=False))


def _pooled(one: Explored, word: str) -> bool:
    """Add points of another pooling if it takes it and only adds or leaves out constant tensors."""
    plain = one.builds[0].tensors
    first, sized = one.points[0], one.sized(square=True)
    points = [{**first, "global_pool": word}, {**first, "num_classes": 0, "in_chans": 5, **sized, "global_pool": word}]
    try:
        pooled, without = builds = [one.build(**point) for point in points]
    except RefusedError:
        return False
    same = all(plain.get(name, fact) == fact for name, fact in pooled.tensors.items())
    constant = all(pooled.tensors.get(name) == fact for name, fact in without.tensors.items() if name not in plain)
    if not (same and constant and len({built.model_class for built in (*one.builds, *builds)}) == 1):
        return False
    one.points += points
    one.builds += builds
    return True
