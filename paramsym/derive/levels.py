"""The parts of models that were read or derived: single tensors, and named layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Symbol, ceiling, floor

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Axis, Count, at_most, canonical, text
from paramsym.core.layer import Layer, Part, Tensor


@dataclass(frozen=True)
class Held(Layer):
    """One tensor of a model that was read or derived: a parameter, a buffer, or a buffer that is not in the state dict (hidden).

    Without a ``role``, its name and kind say whether it is a bias, a statistic or a weight.

    >>> from paramsym import H
    >>> Held("running_mean", (H,), kind="buffer").shapes(buffers=True)
    {'running_mean': (H,)}
    """

    name: str
    shape: tuple[Count | Axis, ...]
    kind: str = "parameter"
    frozen: bool = False
    role: str = ""

    def tensors(self) -> Iterator[Tensor]:
        """The tensor."""
        buffer = self.kind != "parameter"
        named = "statistic" if buffer else "bias" if self.name.rpartition(".")[2].startswith("bias") else "weight"
        saved = self.kind != "hidden"
        yield Tensor(self.name, self.shape, role=self.role or named, trainable=not self.frozen, buffer=buffer, persistent=saved)


@dataclass(frozen=True)
class Level(Layer):
    """Named layers; with an empty name a layer has no prefix. Tensors before all other layers are its own.

    >>> from paramsym import Dense
    >>> list(Level((("up", Dense(2, 3)), ("", Held("gate", (1,))))).shapes())
    ['up.weight', 'up.bias', 'gate']
    """

    items: tuple[tuple[str, Layer], ...] = ()

    def _symbols(self) -> Iterable[Symbol]:
        return [symbol for _, layer in self.items for symbol in layer.symbols]

    @cached_property
    def _own(self) -> int:
        """The number of tensors before all other layers."""
        return next((number for number, (name, layer) in enumerate(self.items) if name or not isinstance(layer, Held)), len(self.items))

    def tensors(self) -> Iterator[Tensor]:
        """The tensors before all other layers."""
        for _, held in self.items[: self._own]:
            yield from held.own_tensors

    def parts(self) -> Iterator[Part]:
        """One part for each further layer."""
        for name, layer in self.items[self._own :]:
            yield Part(name, layer)


@dataclass(frozen=True)
class EveryKth(Layer):
    """Numbered copies of two kinds: every ``step``-th copy from the number ``turn`` on is ``own``, and all others are ``other``.

    If they are ``shared``, the others are the last copy of the first kind under another name.

    >>> from paramsym import Dense, H, L, dims
    >>> EveryKth(Dense(H, H, bias=False), Dense(H, 1, bias=False), L, 0, 0, dims("k")).params
    H**2*ceiling(L/k) + H*L - H*ceiling(L/k)
    >>> list(EveryKth(Dense(1, 2, bias=False), Dense(1, 1), 5, 0, 1, 3).shapes())
    ['0.weight', '0.bias', '1.weight', '2.weight', '2.bias', '3.weight', '3.bias', '4.weight']
    """

    own: Layer
    other: Layer
    copies: Count
    start: Count
    turn: Count
    step: Count
    name: str = "{}"
    shared: bool = False

    def conditions(self) -> None:
        """Refuse a step of zero."""
        at_most(1, self.step, "1", "step")

    def ties(self) -> Mapping[str, str]:
        """The names of shared copies, and the first name of each."""
        numbers = [part.numbers for part in self.own_parts if part.numbers is not None] if self.shared else []
        pairs = [(str(numbers[1]), str(numbers[0]))] if numbers and numbers[0].label else []
        for number in [one.start for one in numbers if not one.label and one.start >= self.turn]:
            before: Any = number - (number - self.turn) % self.step
            pairs += [(self.name.replace("{}", str(number)), self.name.replace("{}", str(before)))] if before != number else []
        return {f"{alias}.{name}": f"{first}.{name}" for alias, first in pairs for name in self.own.shapes(buffers=True)}

    def parts(self) -> Iterator[Part]:
        """The copies of both kinds; those between two of the first kind have several numberings, if all numbers are known."""
        end = self.start + self.copies
        if isinstance(self.step, int) and isinstance(self.turn, int) and isinstance(self.start, int) and isinstance(end, int):
            turns = range(min(self.turn, end), end, self.step)
            if self.shared:  # a tie names single copies
                for number in range(self.start, end):
                    yield Part("", self.own if number in turns else self.other, Numbers(1, number, 1, self.name))
                return
            yield Part("", self.own, Numbers(len(turns), self.turn, self.step, self.name))
            runs = [(self.start, min(self.turn, end)), *((turn + 1, min(turn + self.step, end)) for turn in turns)]
            for first, after in [run for run in runs if run[0] < run[1]] or [(end, end)]:
                yield Part("", self.other, Numbers(after - first, first, 1, self.name))
            return
        ahead: Any = canonical(self.turn - self.start)
        number = ceiling(self.copies / self.step) if ahead == 0 else floor(canonical(self.copies - ahead + self.step - 1) / self.step)
        label = f"{text(self.turn)},{text(canonical(self.turn + self.step))}..".replace(" ", "")
        yield Part("", self.own, Numbers(canonical(number), self.turn, 1, self.name, label=label))
        yield Part(
            "",
            self.other,
            Numbers(canonical(self.copies - number), canonical(self.start + int(ahead == 0)), 1, self.name, label=f"others than {label}"),
        )
