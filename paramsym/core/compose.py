"""Composition: sequences, blocks, residuals, repeats with symbolic depth, sharing and tying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from sympy import Expr, Rational, Symbol, ceiling

from paramsym import program as ops
from paramsym.algebra.convolution import differ
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, at_most, canonical, count, substitute, symbols_in, text
from paramsym.algebra.symbols import dims, index as zero_based
from paramsym.core.layer import Layer, Part, letters_apart
from paramsym.errors import ArgumentError, ShapeError, StructureError
from paramsym.naming import described
from paramsym.program.signature import accepted

if TYPE_CHECKING:
    from paramsym.program import Own, Value


def _named(layers: tuple[Any, ...], where: str) -> tuple[tuple[str, Layer], ...]:
    """Return ``(name, layer)`` pairs from layers in order, or from one mapping."""
    if len(layers) == 1 and isinstance(layers[0], Mapping):
        pairs = tuple(layers[0].items())
    else:
        pairs = tuple((str(position), layer) for position, layer in enumerate(layers))
    for name, layer in pairs:
        if not isinstance(layer, Layer):
            hint = f" Write {where}(*layers) to pass a list." if len(layers) == 1 and isinstance(layer, list | tuple) else ""
            raise ArgumentError(f"{where}: {name!r} is {described(layer)}, not a layer.{hint}")
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"{where}: {name!r} is not a name; wanted a non-empty string.")
    apart = letters_apart([layer for _, layer in pairs])
    return pairs if apart is None else tuple((name, layer) for (name, _), layer in zip(pairs, apart, strict=True))


class _Container(Layer):
    """The common base of ``Sequential`` and ``Block``: named layers in order."""

    items: tuple[tuple[str, Layer], ...]

    def parts(self) -> Iterator[Part]:
        for name, layer in self.items:
            yield Part(name, layer)

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        return type(self)({name: substitute(layer, mapping) for name, layer in self.items})

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if all(name == str(position) for position, (name, _) in enumerate(self.items)):
            return tuple(layer for _, layer in self.items), {}
        return (dict(self.items),), {}


@dataclass(frozen=True, init=False)
class Sequential(_Container):
    """Layers applied one after another, named ``0``, ``1``, ... as in torch, or by the keys of one mapping, or by keywords.

    >>> from paramsym import Dense, F, H
    >>> Sequential(Dense(H, F), Dense(F, H)).params
    2*F*H + F + H
    >>> list(Sequential({"up": Dense(H, F), "down": Dense(F, H)}).shapes())
    ['up.weight', 'up.bias', 'down.weight', 'down.bias']
    >>> Sequential(up=Dense(H, F), down=Dense(F, H)) == Sequential({"up": Dense(H, F), "down": Dense(F, H)})
    True
    """

    in_order = True

    items: tuple[tuple[str, Layer], ...]

    def __init__(self, /, *layers: Layer | Mapping[str, Layer], **named: Layer) -> None:
        if layers and named:
            message = f"Sequential: layers by position and by keyword ({', '.join(named)}) have no common order; pass one mapping."
            raise ArgumentError(message)
        object.__setattr__(self, "items", _named((named,) if named else layers, "Sequential"))
        self.__post_init__()


@dataclass(frozen=True, init=False)
class Block(_Container):
    """Named layers, as the submodules of a module; the order in which they are applied is not stated.

    >>> from paramsym import A, Block, Dense, F, H, MultiHeadAttention
    >>> Block(attention=MultiHeadAttention(H, A), up=Dense(H, F), down=Dense(F, H)).params
    2*F*H + F + 4*H**2 + 5*H
    """

    _unstated = "a block only contains its parts; write a class with forward(self, own, x)"
    items: tuple[tuple[str, Layer], ...]

    def __init__(self, layers: Mapping[str, Layer] | None = None, /, **named: Layer) -> None:
        if not isinstance(layers, Mapping | None):
            message = f"Block: {text(layers)} ({type(layers).__name__}) has no name; write Block(name=layer), or Block({{'name': layer}})."  # type: ignore[unreachable]
            raise ArgumentError(message)
        twice = [name for name in layers or {} if name in named]
        if twice:
            raise StructureError(f"Block: two parts are named {twice[0]!r}; give every part another name.")
        object.__setattr__(self, "items", _named(({**(layers or {}), **named},), "Block"))
        self.__post_init__()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if all(name.isidentifier() for name, _ in self.items):
            return (), dict(self.items)
        return (dict(self.items),), {}


def chain(first: Layer, second: Layer) -> Sequential:
    """Return ``first + second``; plain sequences are joined, not nested."""
    layers: list[Layer] = []
    for layer in (first, second):
        plain = isinstance(layer, Sequential) and not layer.arguments()[1] and not isinstance(layer.arguments()[0][0], Mapping)
        layers.extend(layer.arguments()[0] if plain else (layer,))
    return Sequential(*layers)


@dataclass(frozen=True)
class Residual(Layer):
    """``x + body(x)``, or ``shortcut(x) + body(x)`` if the shapes differ.

    The body's names have no prefix unless ``name`` is given; the shortcut is named ``shortcut_name`` (torchvision: downsample).

    >>> from paramsym import Dense, H, Residual
    >>> Residual(Dense(H, H)).params
    H**2 + H
    """

    body: Layer
    shortcut: Layer | None = None
    name: str = ""
    shortcut_name: str = "shortcut"

    def parts(self) -> Iterator[Part]:
        yield Part(self.name, self.body)
        if self.shortcut is not None:
            yield Part(self.shortcut_name, self.shortcut)

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        added = x if self.shortcut is None else own[self.shortcut_name](x)
        result = own[self.name](*(x, *along)[: accepted(self.body)])
        if result.rank != added.rank or any(differ(one, other) for one, other in zip(result.sizes, added.sizes, strict=True)):
            given, wanted = text(result.sizes), text(added.sizes)
            message = f"the body gives {given}, but {wanted} is to be added; give a shortcut that changes the input's shape to the body's."
            raise ShapeError(message)
        return result + added


@dataclass(frozen=True)
class Repeat(Layer):
    """``copies`` copies of a block, numbered from ``start``. Their number may be a symbol; a large one takes no more time.

    ``block`` may be a tuple of blocks that alternate. ``index`` is a symbol for the copy's number: the block's sizes may contain it, and
    the sum over all copies has a closed form. Make it with ``index("i")`` if it is inside a ``Min``, ``Max`` or ``Mod``: SymPy simplifies
    these as soon as they are written, and would take a symbol from ``dims`` for positive, while the first copy's number is 0. ``first`` is
    a first copy that differs. ``used`` is the number of copies that one token uses, if not all. ``name`` is the pattern of the copies'
    names; with an empty pattern, the number replaces {} in the names inside.

    Raises:
        SizeError: a number of copies below zero, or below one with ``first``.
        StructureError: an index that its own range contains, or one from ``dims`` that the block does not contain.

    >>> from paramsym import Dense, H, L, dims
    >>> Repeat(Dense(H, H), L).params
    H**2*L + H*L
    >>> i, g, n = dims("i g n")
    >>> Repeat(Dense(H + i*g, g, bias=False), n, index=i).params
    H*g*n + g**2*n**2/2 - g**2*n/2
    >>> Repeat((Dense(H, 1), Dense(H, H)), L).params
    H**2*L - H**2*ceiling(L/2) + H*L + ceiling(L/2)
    """

    in_order = True

    block: Layer | tuple[Layer, ...]
    copies: Count
    index: Symbol | None = None
    first: Layer | None = None
    start: Count = 0
    used: Count | None = None
    name: str = "{}"

    def conditions(self) -> None:
        if self.name and self.name.count("{}") != 1:
            raise ArgumentError(f"the name {self.name!r} of the copies needs one {{}} for their number, as in 'layer{{}}'.")
        if not self.blocks:
            raise StructureError("there is no block to repeat; give one layer, or a tuple of layers.")
        if self.first is not None and self.copies == 0:
            raise StructureError("first= needs at least one copy, and copies is 0.")
        if self.used is not None:
            at_most(self.used, self.copies, "used", "copies")
        if self.index is not None:
            self._bind(self.index)

    def _bind(self, index: Symbol) -> None:
        """Replace the index inside the block by another kind of symbol, which may be zero if the copies are numbered from zero."""
        if index.name in {symbol.name for symbol in symbols_in((self.copies, self.start))}:
            raise StructureError(f"the index {index} is in its own range; wanted copies and start without it.")
        # The first copy of the block has the number 0, unless another one comes before it or the numbers start later.
        later = self.first is not None or (isinstance(self.start, int) and self.start > 0)
        bound = cast("Symbol", dims(index.name)) if later else zero_based(index.name)
        if bound == index:
            return
        if index.is_positive and bound.is_positive is None and not any(_mentions(block, index) for block in self.blocks):
            raise StructureError(
                f"the index {index} is not in the block. SymPy simplifies a Min, Max or Mod with {index} > 0, and the first copy"
                f" has the number {self.start}: make the index with index({index.name!r}), or leave it out."
            )
        object.__setattr__(self, "block", substitute(self.block, {index: bound}))
        object.__setattr__(self, "index", bound)

    @property
    def blocks(self) -> tuple[Layer, ...]:
        """The blocks that alternate; usually one."""
        return self.block if isinstance(self.block, tuple) else (self.block,)

    def parts(self) -> Iterator[Part]:
        period = len(self.blocks)
        if self.first is not None:
            yield Part("", self.first, Numbers(1, self.start, 1, self.name))
        rest: Dim = self.copies
        for position, block in enumerate(self.blocks):
            here = copies_of(self.copies, position, period) if position < period - 1 else canonical(rest)
            rest = rest - here
            start = self.start + position
            if self.first is not None and position == 0:
                here, start = canonical(here - 1), self.start + period
            yield Part("", block, Numbers(here, start, period, self.name, self.index), used=self.used)

    def forward(self, own: Own, x: Any, *along: Value) -> Any:
        return ops.in_turn(own, x, *along) if self.used is None else ops.routed(own, x, *along)

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        """Put sizes in; the bound index stays, and is renamed if an incoming expression uses its name."""
        index, inner = self.index, {symbol: value for symbol, value in mapping.items() if symbol in self.symbols and symbol != self.index}
        if index is not None and any(symbol.name == index.name for value in inner.values() for symbol in symbols_in(value)):
            fresh = _fresh(index, {s.name for value in inner.values() for s in symbols_in(value)} | {s.name for s in self.symbols})
            inner, index = {**inner, index: fresh}, fresh
        return type(self)(
            substitute(self.block, inner),
            substitute(self.copies, mapping),
            index=index,
            first=substitute(self.first, mapping),
            start=substitute(self.start, mapping),
            used=substitute(self.used, mapping),
            name=self.name,
        )

    def _symbols(self) -> set[Symbol]:
        return symbols_in(self.block) - {self.index} | symbols_in((self.copies, self.first, self.start, self.used))


def _mentions(layer: Layer, index: Symbol) -> bool:
    """Whether a layer contains an index, or a repeat inside has one of the same name."""
    numbers = [part.numbers for part in layer.own_parts if part.numbers is not None and part.numbers.index is not None]
    hidden = any(one.index is not None and one.index.name == index.name for one in numbers)
    return index in layer.symbols or hidden or any(_mentions(part.layer, index) for part in layer.own_parts)


def _fresh(index: Symbol, taken: set[str]) -> Symbol:
    number = 1
    while f"{index.name}_{number}" in taken:
        number += 1
    return Symbol(f"{index.name}_{number}", **index.assumptions0)


def copies_of(total: Count, position: int, period: int) -> Dim:
    """The number of ``0 .. total-1`` with the remainder ``position`` on division by ``period``."""
    if isinstance(total, int):
        return max(0, -(-(total - position) // period))
    return canonical(ceiling((total - position) * Rational(1, period), evaluate=False))


@dataclass(frozen=True, init=False)
class Runs(Layer):
    """Runs of copies one after another under one numbering: dense up to k, experts from k on.

    >>> from paramsym import Dense, H, L, Runs, dims
    >>> k = dims("k")
    >>> Runs((Dense(H, H, bias=False), k), (Dense(H, 1, bias=False), L - k)).params
    H**2*k + H*L - H*k
    """

    in_order = True

    runs: tuple[tuple[Layer, Count], ...]
    start: Count
    name: str

    def __init__(self, *runs: tuple[Layer, Count], start: Count = 0, name: str = "{}") -> None:
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "name", name)
        self.__post_init__()

    def parts(self) -> Iterator[Part]:
        start = self.start
        for block, copies in self.runs:
            yield Part("", block, Numbers(count(copies, "count"), canonical(start), 1, self.name))
            start = start + copies

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        named = {"start": self.start} if self.start != 0 else {}
        return self.runs, named | ({"name": self.name} if self.name != "{}" else {})


@dataclass(frozen=True)
class Shared(Layer):
    """One block stored once and used ``times`` times per token, as ALBERT does with its layers (Lan et al. 2020, section 3.1).

    >>> from paramsym import Dense, H, L, Shared
    >>> Shared(Dense(H, H), L).params, Shared(Dense(H, H), L).active
    (H**2 + H, H**2*L + H*L)
    """

    in_order = True

    block: Layer
    times: Dim

    def parts(self) -> Iterator[Part]:
        yield Part("", self.block, used=self.times)
