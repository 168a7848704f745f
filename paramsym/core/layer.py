"""The contract: a layer states the tensors it stores and the parts it contains; everything else follows.

A layer is a frozen dataclass of sizes and flags. It implements ``tensors()`` (what it stores itself) and ``parts()`` (what it contains, by
name); own tensors come first, then parts, which is storage order. Conditions between sizes are stated in ``conditions()``, which runs when
the layer is built. Fields annotated ``Dim`` hold sizes, fields annotated ``Count`` numbers that may be zero.

The file is long because the contract is one class; what its methods do is in the other files of this room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property, partial
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from sympy import Expr, Integer, Symbol

from paramsym import program as ops
from paramsym.algebra.line import Line
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, Shape, count, dim, recalled, substitute, symbols_in, text
from paramsym.arguments import check_flags
from paramsym.core.at import (
    changed_sizes,
    check_class,
    keeps_structure,
    mapping_from,
    pairs_of,
    published_sizes,
    restructured,
    skeleton,
    two_of_one_name,
    with_copies,
)
from paramsym.core.fields import check_fields, field_names
from paramsym.core.tensor import Tensor, check_name
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, SizeError, StructureError
from paramsym.naming import described

if TYPE_CHECKING:
    from paramsym.algebra.numbering import Numbers
    from paramsym.core.ledger import Ledger
    from paramsym.core.names import Entry
    from paramsym.program.statement import Statement
    from paramsym.render.table import Table

__all__ = ["Layer", "Part", "Tensor"]

_Stated = TypeVar("_Stated")


def _making(what: str) -> Callable[..., Layer]:
    """Return a function that makes another layer of one; loaded when it is called, because what it makes is built on ``Layer``."""
    found: Callable[..., Layer] = getattr(import_module("paramsym.core.making"), what)
    return found


@dataclass(frozen=True)
class Part:
    """A layer inside a layer, by name.

    With an empty ``name`` the names inside the part have no prefix. ``numbers`` makes numbered copies, whose pattern is the name. ``used``
    is the number of copies that one token uses (default: all): k of E experts, or L uses of one shared block.
    """

    name: str
    layer: Layer
    numbers: Numbers | None = None
    used: Count | None = None
    frozen: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.layer, Layer):
            raise StructureError(f"part {self.name!r} is {self.layer!r}, not a layer.")
        check_name(self.name, "part")
        if self.used is not None:
            object.__setattr__(self, "used", count(self.used, f"part {self.name!r}: used"))
        if self.numbers is not None:
            if self.numbers.index is not None and self.used is not None:
                message = f"part {self.name!r}: copies that depend on {self.numbers.index} are all used; 'used' cannot be given as well."
                raise StructureError(message)
            count(self.numbers.count, f"part {self.name!r}: number of copies")
            if not self.numbers.pattern and any("{}" not in str(name) for name in self.layer._level()):
                raise StructureError(f"part {self.name!r}: copies without a pattern need {{}} for their number in every name inside.")

    @property
    def step(self) -> str | Numbers:
        """The step that this part adds to a path."""
        return self.name if self.numbers is None else self.numbers

    def named(self, name: str) -> str:
        """Return the parent's name of ``name`` inside this part; numbered copies have their template."""
        if self.numbers is not None:
            return self.numbers.inside(name)
        return f"{self.name}.{name}" if self.name else name

    @property
    def polynomial(self) -> Polynomial:
        """The parameters of all copies, used and unused."""
        one = self.layer.polynomial
        return one if self.numbers is None else self.numbers.total(one)

    def level(self) -> Iterator[object]:
        """Yield the names that the part has on the parent's level; numbered ones with their first number."""
        if self.numbers is None:
            yield from [self.name] if self.name else self.layer._level()
        elif self.numbers.count != 0:
            names = [self.numbers.pattern] if self.numbers.pattern else self.layer._level()
            yield from ((name, self.numbers.start) for name in names)

    def lines(self, above: tuple[str, ...] = ()) -> Iterable[Line]:
        """Return the ledger lines with the parent's names; ``above`` are the names of further outer levels."""
        if self.numbers is not None or self.used is not None or self.frozen:
            return [line.within(self.step, self.used, frozen=self.frozen).under(above) for line in self.layer.lines]
        return self.layer._lines_under((*above, self.name) if self.name else above)


class Layer:
    """The base of every layer: a frozen dataclass that states ``tensors()`` and ``parts()``.

    >>> from dataclasses import dataclass
    >>> from paramsym import Dim, H, Tensor
    >>> @dataclass(frozen=True)
    ... class Scale(Layer):
    ...     width: Dim
    ...
    ...     def tensors(self):
    ...         yield Tensor("scale", (self.width,), role="scale")
    >>> Scale(H).params, Scale(H).at(H=768).params
    (H, 768)
    """

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named sizes: ``{"bert-base-uncased": {"hidden_size": 768, ...}}``, by constructor argument."""

    def __init_subclass__(cls) -> None:
        """Keep the base's ``repr``, which a dataclass would replace; refuse a field that hides a method of ``Layer``."""
        hidden = [name for name, hint in get_annotations(cls).items() if name in _CONTRACT and "ClassVar" not in str(hint)]
        if hidden:
            message = f"{cls.__name__}: a field cannot be named {hidden[0]!r}, which every layer already has; choose another name."
            raise StructureError(message)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = cls.__mro__[1].__repr__  # type: ignore[assignment, method-assign]

    def __new__(cls, /, *_args: object, **_kwargs: object) -> Self:
        """Refuse a class without the decorator: it would have no fields."""
        if "__dataclass_fields__" not in cls.__dict__:
            raise StructureError(f"{cls.__name__} is not a dataclass; put @dataclass(frozen=True) above it.")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check fields, conditions and structure, so that bad input fails when the layer is built."""
        try:
            check_fields(self)
            self._check_symbols()
            self.conditions()
            self._check_names()
        except ParamsymError as error:
            if hasattr(error, "where"):
                raise
            located = type(error)(f"{self._who}: {error}")
            located.where = self._who  # type: ignore[attr-defined]
            raise located from None

    @property
    def _who(self) -> str:
        """The name of the layer in errors."""
        return type(self).__name__

    _unstated: ClassVar[str] = "write forward(self, own, x)"
    """The second half of the error for a layer without a forward pass."""
    in_order: ClassVar[bool] = False
    """Whether the parts are applied one after another; shapes then follow from theirs."""

    per_token: ClassVar[bool] = False
    """Whether every weight of ``active``, parts included, is used once per token."""

    positions_lead: ClassVar[bool] = False
    """Whether the parts get the positions first, although the layer itself gets the batch first."""

    # What a layer states ------------------------------------------------------------------------------------------------------

    def _in_order(self, own: Any, *along: Any) -> Any:
        """State what the layer computes, over the operations of ``paramsym.program``; ``own`` holds its tensors and parts.

        A layer whose parts are applied one after another needs no ``forward`` of its own.

        Raises:
            NotYetError: a layer without a forward pass.
        """
        if self.in_order:
            return ops.in_turn(own, *along)
        raise unstated(self)

    forward: Callable[..., Any] = _in_order
    """The forward pass; a layer states it with its own inputs, which this annotation allows for type checkers."""

    @property
    def computed_as(self) -> Layer:
        """The layer that states the forward pass: this one, or the layer inside an edit."""
        return self

    @property
    def computes(self) -> bool:
        """Whether the layer states its forward pass."""
        return self.in_order or type(self).forward is not Layer.forward

    @property
    def computed_where(self) -> str:
        """The condition on letters under which the layer computes what its forward pass says, in words; empty without a condition."""
        return ""

    def tensors(self) -> Iterable[Tensor]:
        """State the tensors that the layer stores itself, in storage order."""
        return ()

    def parts(self) -> Iterable[Part]:
        """State the layers that it contains, in storage order."""
        return ()

    def conditions(self) -> None:
        """Raise if the sizes contradict each other; ``divides`` and ``at_most`` help."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape for an input shape, batch first; ``paramsym.output_shape`` checks the input before.

        It follows from the forward pass. A layer without one may state it, and is then opaque: shapes pass through it, and costs refuse it.

        Raises:
            ShapeError: an input shape that the layer cannot take.
            NotYetError: a layer with neither.
        """
        if self.computes:
            return ops.output_shape(self, input_shape)
        raise unstated(self)

    def ties(self) -> Mapping[str, str]:
        """Return the names that mean another tensor: ``{alias: first name}``; the usual way to state them is ``Tied``.

        All names that ties connect are one tensor; if it is frozen under one name, it is frozen.
        """
        return {}

    # What follows -------------------------------------------------------------------------------------------------------------

    @cached_property
    def own_tensors(self) -> tuple[Tensor, ...]:
        """The stated tensors, computed once."""
        return _all(Tensor, self, "tensors")

    @cached_property
    def own_parts(self) -> tuple[Part, ...]:
        """The stated parts, computed once."""
        stated = _all(Part, self, "parts")
        if any(part.layer is self for part in stated):
            raise StructureError(f"{type(self).__name__}.parts() gives the layer itself; a layer cannot contain itself.")
        apart = letters_apart([part.layer for part in stated], kept=self.symbols)
        return stated if apart is None else tuple(replace(part, layer=layer) for part, layer in zip(stated, apart, strict=True))

    @cached_property
    def open_letters(self) -> frozenset[Symbol]:
        """The letters of open input widths, one for each lazy layer inside."""
        return frozenset(letter for part in self.own_parts for letter in part.layer.open_letters)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All lines, with buffers and aliases; ``ledger()`` contains only the lines that count."""
        return self._lines_and_aliases[0]

    @cached_property
    def _lines_and_aliases(self) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
        """All lines, and those that are aliases by the ties of this level."""
        lines, ties = self._stated_lines(()), self.ties()
        if not ties:
            return tuple(lines), ()
        from paramsym.core.ties import tied_lines

        return tied_lines(lines, ties)

    @cached_property
    def has_tied_or_frozen(self) -> bool:
        """Whether it has tied or frozen tensors; an inner part does not know these alone."""
        return any(line.alias_of or not (line.trainable or line.buffer) for line in self.lines)

    def _stated_lines(self, above: tuple[str, ...]) -> list[Line]:
        lines = [line for tensor in self.own_tensors for line in tensor.lines(above)]
        for part in self.own_parts:
            lines.extend(part.lines(above))
        return lines

    def _lines_under(self, above: tuple[str, ...]) -> Iterable[Line]:
        # Plain names only make paths longer: a line is made once, with the whole path, and not copied from level to level. If there are
        # ties, the lines are known already, because the check of the ties needed them.
        if "lines" in self.__dict__:
            return [line.under(above) for line in self.lines]
        return self._stated_lines(above)

    def ledger(self, *, buffers: bool = False, aliases: bool = False) -> Ledger:
        """Return the lines behind ``params``; ``buffers`` and ``aliases`` add what ``params`` leaves out."""
        from paramsym.core.ledger import Ledger

        check_flags(buffers=buffers, aliases=aliases)
        return Ledger(
            tuple(line for line in self.lines if (buffers or not line.buffer) and (aliases or not line.alias_of) and not line.empty)
        )

    @cached_property
    def polynomial(self) -> Polynomial:
        """The count as a sparse polynomial: cheap to add, compare and differentiate."""
        # A line is made for each name, and a polynomial for each different layer: a model with many copies of a layer has more lines.
        own = (line.polynomial() for tensor in self.own_tensors if not tensor.buffer for line in tensor.lines())
        stored = Polynomial.total((*own, *(part.polynomial for part in self.own_parts)))
        if not self.ties():
            return stored
        return stored - Polynomial.total(line.polynomial() for line in self._lines_and_aliases[1] if not line.buffer)

    @cached_property
    def params(self) -> Expr:
        """The number of stored parameters in closed form: frozen ones included, buffers not, every tied tensor once."""
        return self.polynomial.as_expr()

    @property
    def trainable(self) -> Expr:
        """The number of parameters that are trained, in closed form."""
        return self.ledger().trainable

    @property
    def active(self) -> Expr:
        """The number of parameters used per token, in closed form: k of E experts; a block shared by L layers L times."""
        return self.ledger().used

    def entries(self) -> tuple[Entry, ...]:
        """Return every tensor under its full name in storage order, buffers and aliases included.

        Numbered copies are written out if their number is known, and have a template name if it is symbolic.
        """
        return self._entries

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        from paramsym.core.names import all_entries

        return all_entries(self)

    def shapes(self, *, buffers: bool = False) -> dict[str, tuple[Dim, ...]]:
        """Return ``{name: shape}``: every distinct tensor once, under its first name, in storage order.

        Copies are written out if their number is known; ``buffers=True`` adds the persistent buffers, in state-dict order.
        """
        check_flags(buffers=buffers)
        return {
            entry.name: entry.tensor.sizes
            for entry in self.entries()
            if not entry.alias_of and (not entry.tensor.buffer or (buffers and entry.tensor.persistent))
        }

    @property
    def tied(self) -> dict[str, str]:
        """``{alias: first name}`` of every tensor that is stored once and named twice."""
        return {entry.name: entry.alias_of for entry in self.entries() if entry.alias_of}

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols in the layer's fields, including those that cancel from the count."""
        return frozenset(self._symbols())

    def _symbols(self) -> Iterable[Symbol]:
        cls: type = type(self)
        return symbols_in(tuple([getattr(self, name) for name in field_names(cls)]))

    def part(self, path: str) -> Layer:
        """Return the layer at a dotted path such as ``"encoder.layer.3.attention"``; ``{}`` means any copy.

        Tensors that are frozen or tied in this layer stay so in the part.

        Raises:
            UnknownNameError: a path that does not exist; the message lists the known parts.
            ArgumentError: something that is not a path.
        """
        return _making("part")(self, path)

    # Putting sizes in ---------------------------------------------------------------------------------------------------------

    def at(self, sizes: Mapping[Any, Any] | str | None = None, /, **named: Dim) -> Self:
        """Return the same layer with sizes or expressions put in, all at once, by symbol, by name, or by a published size.

        A size that was put in before is changed, the others stay: ``model.at(G=32)`` gives the same model with another number of key/value
        heads. Values may contain letters. Such a letter means its size after this call, but in its own value the size before it:
        ``model.at(H=2*H)`` doubles H.

        Raises:
            UnknownNameError: a symbol that no field of the layer contains, or an unknown published size.
            SizeError, DivisibilityError: sizes that the layer cannot have.
            StructureError: sizes that would change which tensors exist; a published name of a model of another class.

        >>> from paramsym import A, H, MultiHeadAttention
        >>> MultiHeadAttention(H, A).at(H=768, A=12).params
        2362368
        >>> MultiHeadAttention(H, A).at(H=768, A=12).at(H=2*H).params
        9443328
        """
        given = [*self._given(sizes), *named.items()]
        root, before = self.origin
        names = {symbol.name for symbol in self.symbols}
        held = frozenset(symbol for symbol in before if symbol.name not in names)
        mapping = mapping_from(self._who, given, self.symbols | held, self._why_not)
        if held & mapping.keys():
            return cast("Self", root.at(changed_sizes(before, mapping)))
        for letter, value in mapping.items() if self.open_letters else ():
            if value != letter and self.open_letters.intersection(symbols_in(value)):
                raise SizeError(f"{letter} is put in as {value}, the letter of another open width; put a new letter into both.")
        rebuilt = self.substituted(mapping)
        if not keeps_structure(self._skeleton, rebuilt._skeleton) and not keeps_structure(
            skeleton(with_copies(self.lines, mapping)), skeleton(with_copies(rebuilt.lines, {}))
        ):
            raise restructured(self._who, self.lines, rebuilt.lines, repr(rebuilt))
        after = {symbol: substitute(value, mapping) for symbol, value in before.items()}
        after |= {symbol: dim(value) for symbol, value in mapping.items() if symbol in root.symbols and symbol not in after}
        rebuilt.__dict__["origin"] = (root, after)
        return rebuilt

    @cached_property
    def _skeleton(self) -> dict[tuple[object, ...], set[bool]]:
        return skeleton(self.lines)

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        """Return the layer built again with values in place of symbols. ``at`` also refuses symbols that the layer does not have."""
        arguments, named = self.arguments()
        given = {name: substitute(value, mapping) for name, value in named.items()}
        for field in fields(self):  # type: ignore[arg-type]
            if field.init and field.default is not MISSING and field.name not in given:
                value = substitute(field.default, mapping)  # a default may contain a letter, and arguments() leaves defaults out
                if value is not field.default and value != field.default:
                    given[field.name] = value
        return type(self)(*substitute(tuple(arguments), mapping), **given)

    def built_again(self) -> Self:
        """Return the layer rebuilt with the same arguments, so that its sizes are checked again.

        It is rebuilt once, while conditions are collected too: the rebuilt layer keeps the conditions of each answer that it caches.
        """
        return recalled(self.__dict__.setdefault("_again", {}), "layer", self._built_again)

    def _built_again(self) -> Self:
        again = self.substituted({})
        again.__dict__["_again"] = self.__dict__["_again"]
        again.lines  # noqa: B018 - sizes of tensors are checked when the tensors are listed
        return again

    @cached_property
    def origin(self) -> tuple[Layer, dict[Symbol, Dim]]:
        """The layer before sizes were put in, and the sizes."""
        return self, {}

    @property
    def formula(self) -> Expr:
        """The closed form before sizes were put in; without sizes, ``params``."""
        return self.origin[0].params

    @property
    def sizes(self) -> dict[Symbol, Dim]:
        """The sizes that ``at`` put in, by symbol."""
        return dict(self.origin[1])

    @property
    def count(self) -> int:
        """The number of stored parameters as an int.

        Raises:
            SizeError: while symbols are left.
        """
        if not isinstance(self.params, Integer):
            left = symbols_left(symbols_in(self.params))
            inferred = " ps.infer(layer, input_shape) finds the widths of lazy layers." if self.open_letters else ""
            raise SizeError(f"{self._who} has no count yet: {left}. Put sizes in with .at(...), or use .params.{inferred}")
        return int(self.params)

    def _given(self, sizes: Mapping[Any, Any] | str | None) -> list[tuple[Any, Any]]:
        if isinstance(sizes, str):
            check_class(self, sizes)
            ours = f", or write ps.load({sizes!r})" if hasattr(self, "claims") else ""
            return list(published_sizes(self._who, self.published, sizes, partial(getattr, self), ours).items())
        return pairs_of(self._who, sizes)

    def argument_of(self, symbol: Symbol) -> str:
        """Return the name of the argument that is a letter, or an empty string."""
        return next((name for name in field_names(type(self)) if getattr(self, name) == symbol), "")  # type: ignore[arg-type]

    def _why_not(self, name: str) -> str:
        """Return why a name is not a symbol of the layer, if the reason is known."""
        if name in field_names(type(self)):  # type: ignore[arg-type]
            held, letter = getattr(self, name), getattr(self.origin[0], name)
            instead = f"write at({letter}=...)" if isinstance(letter, Symbol) else "build it with another"
            return f"Its {name} is {text(held)}: {instead}."
        if any(symbol.name == name for symbol in symbols_in(self.params)):
            return f"{name} is in a tensor, but in no field; sizes are put into fields annotated Dim, Count or tuple[Dim, ...]."
        return ""

    # Editing ------------------------------------------------------------------------------------------------------------------

    def replace(self, path: str | Sequence[str], layer: Layer | Callable[[Layer], Layer]) -> Layer:
        """Return this layer with another one at ``path``, or with the result of a function of the layer at ``path``.

        In the path ``{}`` means every copy and ``*`` any characters, including dots. A list of names means every part whose path ends in
        one of them, as PEFT's ``target_modules`` does. The new layer has new tensors. A tied tensor that also has names elsewhere keeps
        these names, and stays frozen if it was.

        Raises:
            UnknownNameError: a path that does not exist.
            ArgumentError: a path that is not one, or something other than a layer, also as the result of the function.

        >>> from paramsym import LoRA, load
        >>> llama = load("meta-llama/Llama-2-7b-hf").freeze()
        >>> llama.replace(["q_proj", "v_proj"], lambda old: LoRA(old, 8)).trainable
        4194304
        """
        return _making("replace")(self, path, layer)

    def freeze(self, path: str | Sequence[str] = "") -> Layer:
        """Return this layer with everything at ``path`` frozen: a part, or one tensor. A frozen tensor is stored and not trained.

        ``path`` has the forms of ``replace``; with ``*`` or a list it means parts only. A tied tensor is frozen under all its names.
        """
        return _making("freeze")(self, path)

    # Showing ------------------------------------------------------------------------------------------------------------------

    def table(self, depth: int | None = None, *, buffers: bool = False, letters: Any = None) -> Table:
        """Return a table of every tensor, or, with ``depth``, of the parts to that depth; text, HTML, LaTeX, Markdown and CSV."""
        from paramsym.present.tabulate import tabulate

        return tabulate(self, depth, buffers=buffers, letters=letters)

    def to_latex(
        self,
        form: Any = "expanded",
        *,
        letters: Any = None,
        by: Symbol | Expr | str | None = None,
        depth: int | None = None,
        width: int | None = None,
        standalone: bool = False,
    ) -> str:
        """Return the closed form as LaTeX, without dollar signs; forms and options are those of ``paramsym.present.typeset.to_latex``.

        >>> from paramsym import Dense, H
        >>> Dense(H, 4 * H).to_latex(letters="megatron")
        '4 h^{2} + 4 h'
        """
        from paramsym.present.typeset import to_latex

        return to_latex(self, form, letters=letters, by=by, depth=depth, width=width, standalone=standalone)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    def _repr_html_(self) -> str:
        from paramsym.present.tabulate import card

        return card(self)

    # Being a value ------------------------------------------------------------------------------------------------------------

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the constructor arguments that rebuild this layer: required ones by position, others if they differ from the default."""
        required, optional = [], {}
        for field in fields(self):  # type: ignore[arg-type]
            if not field.init:
                continue
            value = getattr(self, field.name)
            default = field.default if field.default_factory is MISSING else field.default_factory()
            default = tuple(default) if isinstance(default, list) else default  # as the check of the fields stores it
            if default is MISSING:
                required.append(value)
            elif type(value) is not type(default) or value != default:
                optional[field.name] = value
        return tuple(required), optional

    def __repr__(self) -> str:
        """Write the constructor call: ``eval(repr(layer)) == layer`` with the names in scope."""
        arguments, named = self.arguments()
        inside = [text(value) for value in arguments] + [f"{name}={text(value)}" for name, value in named.items()]
        return f"{type(self).__name__}({', '.join(inside)})"

    def __reduce__(self) -> tuple[Any, ...]:
        origin = self.origin
        return _restored, (type(self), *self.arguments(), None if origin[0] is self else origin)

    def __add__(self, other: object) -> Layer:
        check_layer(other, "It is added to another layer.")
        return _making("chain")(self, other)

    def __radd__(self, other: object) -> Layer:
        return self if other == 0 else NotImplemented

    def __rmul__(self, other: object) -> Layer:
        return _making("repeat")(self, count(other, "a repeat's number of copies"))

    __mul__ = __rmul__

    def _check_symbols(self) -> None:
        if not self.symbols or len({symbol.name for symbol in self.symbols}) == len(self.symbols):
            return
        seen: dict[str, Symbol] = {}
        for symbol in self.symbols:
            known = seen.setdefault(symbol.name, symbol)
            if known != symbol:
                raise two_of_one_name(known, symbol)

    def _level(self) -> Iterator[object]:
        """Yield the names on the layer's own level."""
        for tensor in self.own_tensors:
            yield tensor.name
        for part in self.own_parts:
            yield from part.level()

    def _check_names(self) -> None:
        seen: set[object] = set()
        for name in self._level():
            if name in seen:
                raise StructureError(f"two parts or tensors are named {name!r}; give every one another name.")
            seen.add(name)
        if self.ties():
            self.lines  # noqa: B018 - resolving the ties raises where one ends in nothing


def check_layer(layer: object, more: str = "") -> None:
    """Raise ``ArgumentError`` for anything but a layer; ``more`` is added to the message.

    >>> check_layer("bert")
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: layer is 'bert' (str); wanted a layer of paramsym, such as ps.Dense(H, F), or a model. \
ps.load takes the name of a model.
    """
    if not isinstance(layer, Layer):
        message = f"layer is {described(layer)}; wanted a layer of paramsym, such as ps.Dense(H, F), or a model."
        message += " ps.load takes the name of a model." if isinstance(layer, str) else ""
        raise ArgumentError(f"{message} {more}".rstrip())


def letters_apart(layers: Sequence[Layer], kept: frozenset[Symbol] = frozenset()) -> list[Layer] | None:
    """Return the layers with a separate letter for each open width; None if they already have separate letters.

    Two lazy layers have two unknown widths: with one letter, the size of the first would be put into both. A letter that is taken gets a
    number. The letters in ``kept`` belong to the parent, and stay.
    """
    if not any(layer.open_letters for layer in layers):
        return None
    taken: set[str] = set()
    apart: list[Layer] = []
    for layer in layers:
        renamed: dict[Symbol, Expr] = {}
        for letter in sorted(layer.open_letters - kept, key=lambda letter: (len(letter.name), letter.name)):
            name, number = letter.name, 2
            while name in taken:
                name, number = f"{letter.name.rstrip('0123456789').rstrip('_')}_{number}", number + 1
            taken.add(name)
            if name != letter.name:
                renamed[letter] = Symbol(name, **letter.assumptions0)
        apart.append(layer.substituted(renamed) if renamed else layer)
    return apart if any(one is not other for one, other in zip(apart, layers, strict=True)) else None


def unstated(layer: Statement, path: str = "") -> NotYetError:
    """Return the error for a layer without a forward pass, at its path in a model."""
    from paramsym.program.statement import class_name

    stating: Any = layer.computed_as
    name = class_name(stating)
    who = f"{path}, {'an' if name[0] in 'AEIOU' else 'a'} {name}," if path else name
    return NotYetError(f"{who} has no forward pass; {stating._unstated}.")


def symbols_left(symbols: Iterable[Symbol]) -> str:
    """Return the beginning of an error about symbols without a size.

    >>> from paramsym import F, H
    >>> symbols_left([H, F]), symbols_left([H])
    ('F, H are symbols', 'H is a symbol')
    """
    names = sorted(symbol.name for symbol in symbols)
    return f"{', '.join(names)} {'are symbols' if len(names) > 1 else 'is a symbol'}"


_CONTRACT = frozenset(name for name in vars(Layer) if not name.startswith("_")) - {"published"}


def _all(kind: type[_Stated], layer: Layer, method: str) -> tuple[_Stated, ...]:
    """Return the result of ``tensors()`` or ``parts()`` after checking its types."""
    try:
        given: Any = getattr(layer, method)()
        stated = tuple(given) if hasattr(type(given), "__iter__") else None
    except RecursionError:
        raise StructureError(f"{type(layer).__name__}.{method}() nests layers without end; a layer cannot contain itself.") from None
    wrong = [given] if stated is None else [one for one in stated if not isinstance(one, kind)]
    if stated is None or wrong:
        word = kind.__name__
        found = f"{type(layer).__name__}.{method}() gives {text(wrong[0])} ({type(wrong[0]).__name__})"
        raise StructureError(f"{found}; wanted any number of {word}: yield {word}(...).")
    return stated


def _restored(cls: type[Layer], arguments: tuple[Any, ...], named: dict[str, Any], origin: object) -> Layer:
    layer = cls(*arguments, **named)
    if origin is not None:
        layer.__dict__["origin"] = origin
    return layer
