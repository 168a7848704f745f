"""The cost of a layer for an input, as a value: a ledger with a unit, a convention and the function that made it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import lcm
from typing import Any

from sympy import Add, Expr, Integer, Symbol, ceiling, floor

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, dim, expressions, shown, substitute, symbols_in
from paramsym.algebra.symbols import dims
from paramsym.arguments import check_depth, known_word
from paramsym.core.at import mapping_from, pairs_of
from paramsym.core.layer import Layer, symbols_left
from paramsym.core.ledger import Ledger, Line
from paramsym.errors import ArgumentError, ParamsymError, SizeError
from paramsym.measure.formats import SHORT, is_width
from paramsym.present.patterns import names_of_patterns
from paramsym.present.typeset import Form, to_latex
from paramsym.program.graph import Program
from paramsym.program.signature import stated
from paramsym.program.statement import class_name
from paramsym.render.printed import Printed
from paramsym.render.table import Table, percent


@dataclass(frozen=True, repr=False)
class Cost(Printed):
    """The cost of a layer for inputs of certain shapes: lines of products, in a unit, counted by a convention.

    ``function`` computed it with the options ``chosen``.

    >>> from paramsym import A, B, H, MultiHeadAttention, S, flops
    >>> cost = flops(MultiHeadAttention(H, A, batch_first=True), (B, S, H))
    >>> print(cost)
    MultiHeadAttention for (B, S, H): 8*H**2*B*S + 4*H*B*S**2 FLOPs (matmul)
    >>> cost.at(B=1, S=1024, H=768, A=12).total
    8053063680
    """

    layer: Layer
    inputs: tuple[tuple[Dim, ...], ...]
    unit: str
    convention: str
    ledger: Ledger
    function: Callable[..., Cost] = field(compare=False)
    chosen: Mapping[str, Any] = field(default_factory=dict, compare=False)
    of_arrays: Cost | None = field(default=None, compare=False)
    """The lines that the program adds to those of stored tensors, as a separate cost; None if all lines are of the program."""

    def __post_init__(self) -> None:
        # A cost counts uses: a stored copy that is not used costs nothing.
        if any(line.stored != line.used for line in self.ledger):
            object.__setattr__(self, "ledger", Ledger(tuple(line.but(stored=line.used) for line in self.ledger)))

    @cached_property
    def polynomial(self) -> Polynomial:
        """The total as a sparse polynomial."""
        return self.ledger.polynomial("used")

    @cached_property
    def total(self) -> Expr:
        """The sum of all lines, expanded; an ``Integer`` once every size is a number."""
        return self.polynomial.as_expr()

    @property
    def count(self) -> int:
        """The total as an int.

        Raises:
            SizeError: symbols are left, or the total is a fraction.
        """
        if not isinstance(self.total, Integer):
            left = symbols_in(self.total)
            why = f"{symbols_left(left)}. Put sizes in with .at(...)" if left else f"it is {shown(self.total)}"
            raise SizeError(f"{self.subject} has no whole number of {self.unit}: {why}, or use .total.")
        return int(self.total)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the ledger."""
        return self.ledger.lines

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols of the layer, of its inputs and of the options, such as the positions before a step."""
        return frozenset({*self.layer.symbols, *symbols_in((self.inputs, tuple(self.chosen.values())))})

    @property
    def formula(self) -> Expr:
        """The total before sizes were put in; without sizes, ``total``."""
        return self.origin[0].total

    @property
    def sizes(self) -> dict[Symbol, Dim]:
        """The sizes that were put in, by symbol: those of the layer and those of the inputs."""
        return dict(self.origin[1])

    @cached_property
    def origin(self) -> tuple[Cost, dict[Symbol, Dim]]:
        """The cost before sizes were put in, and the sizes.

        For a layer with sizes and inputs in numbers, it is the cost of the layer's formula: the inputs are written in the letters that the
        model states for them, other extents in the layer's letter of that size. If the result differs from this cost, this cost is
        returned, without sizes.
        """
        root, before = self.layer.origin
        try:
            written = _in_letters(root, before, self.inputs)
        except ArgumentError:
            return self, {}
        sizes = dict(before) | {
            letter: extent
            for shape, letters in zip(self.inputs, written, strict=True)
            for extent, letter in zip(shape, letters, strict=True)
            if isinstance(letter, Symbol) and letter != extent and letter not in before
        }
        if not sizes:
            return self, {}
        try:
            general = self.ask(root, *written)
            same = general.substituted(sizes).polynomial == self.polynomial
        except ParamsymError:
            return self, {}
        return (general, sizes) if same else (self, {})

    def at(self, sizes: Mapping[Any, Any] | str | None = None, /, **named: Dim) -> Cost:
        """Return the same cost with sizes or expressions put in, by symbol, by name, or by a published size of the model.

        They are put into the layer and the inputs. A size that was put in before is changed, the others stay; ``formula`` and ``sizes``
        show the sizes.

        Raises:
            UnknownNameError: a symbol that neither the layer nor the inputs have.
            SizeError, DivisibilityError: sizes that the layer cannot have.
            ArgumentError: what is no mapping and no name.

        >>> from paramsym import B, Dense, F, H, flops
        >>> cost = flops(Dense(H, F), (B, H)).at(H=768)
        >>> cost.total, cost.formula, cost.at(H=512).total
        (1536*B*F, 2*B*F*H, 1024*B*F)
        """
        root, before = self.origin
        where = type(self.layer).__name__
        given = [*pairs_of(where, self.layer.at(sizes).sizes if isinstance(sizes, str) else sizes), *named.items()]
        mapping = mapping_from(where, given, self.symbols | before.keys(), lambda _: "")
        after = {symbol: substitute(value, mapping) for symbol, value in before.items() if symbol not in mapping}
        after |= {symbol: dim(value) for symbol, value in mapping.items() if symbol in root.symbols}
        inside = {symbol: value for symbol, value in after.items() if symbol in root.layer.symbols}
        found = root.placed(root.layer.at(inside) if inside else root.layer, expressions(after))
        found.__dict__["origin"] = (root, after)
        return found

    def without_floors(self) -> Cost:
        """Return the cost for inputs that are multiples of what a network divides them by, so that its formula is a polynomial.

        A letter of the inputs that is divided in a floor or a ceiling is replaced by a multiple of a new letter, which the inputs show:
        ``32*h_32`` for a height h that is halved five times. Floors of other letters stay.

        >>> from paramsym import B, dims, load, macs
        >>> h, w = dims("h w")
        >>> print(macs(load("resnet50"), (B, 3, h, w)).without_floors())
        ResNet for (B, 3, 32*h_32, 32*w_32): 83410944*B*h_32*w_32 + 2048000*B MACs (multiply-adds)
        """
        return self.placed(self.layer, self._multiples) if self._steps else self

    @property
    def _multiples(self) -> dict[Symbol, Expr]:
        """The letters of the inputs that are divided, each as a multiple of a new letter."""
        return {letter: step * dims(f"{letter}_{step}") for letter, step in self._steps.items()}

    @cached_property
    def _steps(self) -> dict[Symbol, int]:
        """The letters of the inputs that are divided in a floor or a ceiling, each with the number by which."""
        steps: dict[Symbol, int] = {}
        for rounded in self.total.atoms(floor, ceiling):
            for term in Add.make_args(rounded.args[0]):
                below = term.as_numer_denom()[1]
                for letter in symbols_in((term,)) - self.layer.symbols if isinstance(below, Integer) else ():
                    steps[letter] = lcm(steps.get(letter, 1), int(below))
        return steps

    def substituted(self, mapping: Mapping[Symbol, Any]) -> Cost:
        """Return the cost of the layer built again with values for symbols, so that every size is checked again."""
        values = expressions(mapping)
        return self.placed(self.layer.substituted(values), values)

    def built_again(self) -> Cost:
        """Return the cost of the layer rebuilt with the same arguments; all costs of a layer share it, and what it caches."""
        return self.ask(self.layer.built_again(), *self.inputs)

    def placed(self, layer: Layer, values: Mapping[Symbol, Expr]) -> Cost:
        """Return the cost of a layer with values put into the inputs and the options."""
        changed = {name: substitute(value, values) for name, value in self.chosen.items() if symbols_in((value,))}
        return self.ask(layer, *substitute(self.inputs, values), **changed)

    def ask(self, layer: Layer, *shapes: Any, **changed: Any) -> Cost:
        """Return the same cost of another layer, for other inputs, or with other options."""
        return self.function(layer, *shapes, **{**self.chosen, **changed})

    def of(self, layer: Layer) -> Cost:
        """Return the cost of another layer, asked in the same way: the same inputs and options."""
        return self.ask(layer, *self.inputs)

    def table(self, depth: int | None = None, *, letters: Lettering = None) -> Table:
        """Return a table of the cost of every operation, or of every part down to a depth; a repeated pattern of layers has one row."""
        check_depth(depth)
        sums = self.sums(lambda path: path if depth is None else path[:-1][:depth], names_of_patterns(self.lines))
        rows = [(name, dim(amount)) for name, amount in sums.items()]
        total, symbols = dim(self.total), self.symbols
        form = (self._caption, lettering(letters, symbols), (f"{self.subject}:", total, self.unit))
        if not isinstance(total, int) or total == 0:
            return Table(("part", self.unit), tuple(rows), ("total", total), *form)
        shares = tuple((name, amount, percent(amount, total) if isinstance(amount, int) else "") for name, amount in rows)
        return Table(("part", self.unit, "share"), shares, ("total", total, None), *form)

    def sums(self, part: Callable[[tuple[Any, ...]], tuple[Any, ...]], paths: Iterable[tuple[Any, ...]] = ()) -> dict[str, Expr]:
        """Return the sum of the lines of each part; ``part`` shortens the path of a line, or the one given for it, to that of its part."""
        found: dict[str, list[Polynomial]] = {}
        for line, path in zip(self.lines, paths or (line.path for line in self.lines), strict=True):
            found.setdefault(".".join(map(str, part(path))) or "(itself)", []).append(line.polynomial("used"))
        return {name: Polynomial.total(amounts).as_expr() for name, amounts in found.items()}

    def to_latex(
        self,
        form: Form = "expanded",
        *,
        letters: Lettering = None,
        by: Symbol | Expr | str | None = None,
        depth: int | None = None,
        width: int | None = None,
        standalone: bool = False,
    ) -> str:
        r"""Return the total as LaTeX, without dollar signs; forms and options are those of ``Layer.to_latex``.

        >>> from paramsym import B, Dense, F, H, flops
        >>> flops(Dense(H, F), (B, H)).at(H=8, F=4, B=2).to_latex("steps").splitlines()[2]
        '&= 2 \\cdot 4 \\cdot 8 \\cdot 2 \\\\'
        """
        written: Any = self  # it has lines, letters and sizes, as a layer has
        return to_latex(written, form, letters=letters, by=by, depth=depth, width=width, standalone=standalone, unit=self.unit)

    @property
    def subject(self) -> str:
        """The subject of the cost: the class and the inputs."""
        shapes = ", ".join(map(shown, self.inputs))
        return f"{class_name(self.layer)} for {shapes}"

    @property
    def _caption(self) -> str:
        total = f"{int(self.total):,}" if isinstance(self.total, Integer) else shown(self.total)
        return f"{self.subject}: {total} {self.unit} ({self.convention})"

    def __str__(self) -> str:
        multiples = " and ".join(sorted(f"{letter} = {multiple}" for letter, multiple in self._multiples.items()))
        hint = f"\nThe network divides its inputs: with {multiples}, .without_floors() has a polynomial." if multiples else ""
        where = self.layer.computed_where if self.symbols else ""
        limits = f"\nFor {where}; with numbers for all letters, other sizes are answered, too." if where else ""
        return self._caption + hint + limits

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    def _repr_html_(self) -> str:
        return self.table(1).to_html()


def cost_of(
    function: Callable[..., Cost],
    layer: Layer,
    program: Program,
    unit: str,
    convention: str,
    lines: Iterable[Line],
    chosen: Mapping[str, Any],
) -> Cost:
    """Return the cost of a layer for the inputs of its program; the convention names what one input alone leaves out."""
    alone = getattr(layer.computed_as, "of_one_input", "") if len(program.input_types) == 1 else ""
    words = f"{convention}; {alone}" if alone else convention
    return Cost(layer, tuple(one.sizes for one in program.input_types), unit, words, Ledger(tuple(lines)), function, chosen)


def known_dtype(what: str, value: object, known: Iterable[str], more: str = "") -> Any:
    """Return the known format that is meant, by its name or a short one such as bf16, or the bytes of a number, such as a letter for them.

    Raises:
        ArgumentError: something else.
    """
    if is_width(value):
        return value
    meant = SHORT.get(value.lower(), value) if isinstance(value, str) else value
    return known_word(what, meant, known, f", or a letter for the bytes of a number{more}")


def _in_letters(root: Layer, sizes: Mapping[Symbol, Dim], inputs: tuple[tuple[Dim, ...], ...]) -> tuple[tuple[Dim, ...], ...]:
    """Replace the numbers of inputs by the letters that the model states for them, or by the layer's only letter of that size."""
    shapes = tuple(tuple(shape) for shape in stated(root).values())[: len(inputs)]
    if tuple(map(len, shapes)) == tuple(map(len, inputs)):
        pairs = zip(chain(*shapes), chain(*inputs), strict=True)
        found = {letter: extent for letter, extent in pairs if isinstance(letter, Symbol) and isinstance(extent, int)}
        if substitute(shapes, expressions({**sizes, **found})) == inputs:
            return shapes
    letters: defaultdict[Dim, list[Symbol]] = defaultdict(list)
    for symbol, size in sizes.items():
        letters[size].append(symbol)
    return tuple((*shape[:1], *(_only(letters[extent], extent) for extent in shape[1:])) for shape in inputs)


def _only(letters: list[Symbol], extent: Dim) -> Dim:
    """Return the letter of an extent.

    Raises:
        ArgumentError: several letters with this size.
    """
    if not letters or not isinstance(extent, int):
        return extent
    if len(letters) > 1:
        raise ArgumentError(f"{extent} is the size of {', '.join(letter.name for letter in letters)}.")
    return letters[0]
