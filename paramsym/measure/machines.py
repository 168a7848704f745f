"""Devices as data: operations and bytes per second as their makers state them, for dense arithmetic in 16 bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

from sympy import Integer, Rational

from paramsym.arguments import known_word
from paramsym.errors import ArgumentError
from paramsym.naming import described


def quotient(above: int, below: int) -> Rational:
    """Return an exact quotient of two whole numbers, the second above zero."""
    return cast("Rational", Rational(above, below))


@dataclass(frozen=True)
class Machine:
    """A device: FLOPs per second, bytes per second to and from its memory, bytes of memory.

    >>> mine = Machine("mine", flops=10**14, bandwidth=10**12)
    >>> mine.ridge  # above this number of FLOPs per byte, arithmetic is the limit
    100
    """

    name: str
    flops: int
    bandwidth: int
    memory: int = 0
    source: str = ""
    wrong: str = "makers state peak speeds; products and copies reach less"

    def __post_init__(self) -> None:
        for what, speed in (("flops", self.flops), ("bandwidth", self.bandwidth)):
            if type(speed) is not int or speed < 1:
                raise ArgumentError(f"{what} is {described(speed)}; wanted a whole number per second, such as 989 * 10**12.")

    @property
    def ridge(self) -> Rational:
        """The FLOPs per byte at which arithmetic and memory take the same time (Williams et al. 2009)."""
        return quotient(self.flops, self.bandwidth)


_T, _G = 10**12, 10**9
MACHINES: Mapping[str, Machine] = {
    one.name: one
    for one in (
        Machine("v100", 125 * _T, 900 * _G, 32 * _G, "NVIDIA V100 data sheet, SXM2; not checked against it"),
        Machine("a100", 312 * _T, 2039 * _G, 80 * _G, "NVIDIA A100 data sheet, SXM, 80 GB"),
        Machine("h100", 989 * _T, 3350 * _G, 80 * _G, "NVIDIA H100 data sheet, SXM, without sparsity"),
        Machine("h200", 989 * _T, 4800 * _G, 141 * _G, "NVIDIA H200 data sheet, SXM, without sparsity; not checked against it"),
        Machine("tpu-v4", 275 * _T, 1228 * _G, 32 * _G, "Google Cloud, TPU v4; not checked against it"),
        Machine("tpu-v5e", 197 * _T, 819 * _G, 16 * _G, "Google Cloud, TPU v5e; not checked against it"),
        Machine("tpu-v5p", 459 * _T, 2765 * _G, 95 * _G, "Google Cloud, TPU v5p; not checked against it"),
    )
}
"""Devices by name."""

Speed: TypeAlias = Machine | str


def machine_of(machine: Speed) -> Machine:
    """Return a device by its name, in upper or lower case, or the given one.

    Raises:
        ArgumentError: an unknown name.
    """
    if isinstance(machine, Machine):
        return machine
    return MACHINES[known_word("machine", machine, MACHINES, ", and Machine(name, flops, bandwidth) for others")]


def exact_share(value: Any, what: str) -> Rational:
    """Return a share between 0 and 1 as an exact fraction: ``Rational(2, 5)``, ``"40 %"``.

    Raises:
        ArgumentError: a float, or something that is not a share.

    >>> exact_share("46.2 %", "utilisation")
    231/500
    """
    words = value.strip() if isinstance(value, str) else ""
    digits = words.removesuffix("%").strip()
    if words.endswith("%") and len(digits) <= 9 and digits.replace(".", "", 1).isascii() and digits.replace(".", "", 1).isdigit():
        share = cast("Rational", Rational(str(Fraction(digits) / 100)))
    elif isinstance(value, Rational | Fraction | int | Integer) and not isinstance(value, bool):
        share = cast("Rational", Rational(str(value)))
    else:
        raise ArgumentError(f"{what} is {described(value)}; wanted an exact share, such as Rational(2, 5) or '40 %'.")
    if not 0 < share <= 1:
        raise ArgumentError(f"{what} is {share}; wanted more than 0 and at most 1.")
    return share
