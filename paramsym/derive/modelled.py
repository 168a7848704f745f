"""Laws as an ordinary layer: levels of names, numbered copies, tensors with symbolic shapes, and the conditions on the sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from sympy import Expr, Integer, Pow, Symbol, floor

from paramsym.algebra.size import Condition, Count, Dim, canonical, divides, same, shown, substitute, text, within
from paramsym.core.at import pairs_of
from paramsym.core.compose import Repeat, copies_of
from paramsym.core.layer import Layer, Part
from paramsym.core.tied import Tied
from paramsym.derive.certificate import Derivation
from paramsym.derive.domain import Domain
from paramsym.derive.law import Law
from paramsym.derive.levels import EveryKth, Held, Level
from paramsym.derive.names import filled
from paramsym.derive.points import BEFORE, IN_NAME
from paramsym.derive.structure import FROM_END, CopiesLaw, LevelLaw
from paramsym.errors import ParamsymError, SizeError, StructureError
from paramsym.naming import described

Limit: TypeAlias = tuple[str, Dim, Dim, str, str]
"""The kind of a condition, its two sizes, and the words for them."""


@dataclass(frozen=True)
class Derived(Layer):
    """The closed form that ``derive`` found: every tensor with its symbolic shape, and a ``certificate``.

    ``sizes_taken`` are the build's sizes, by name; ``demands`` the conditions under which the form holds: of each, the alternatives, with
    the words for their two sizes. ``follows`` are the sizes that follow from others, by name.
    """

    model: Layer
    sizes_taken: tuple[tuple[str, Dim], ...]
    demands: tuple[tuple[Limit, ...], ...] = ()
    certificate: Derivation | None = None
    follows: tuple[tuple[str, Dim], ...] = ()

    def __str__(self) -> str:
        """Write the form's count; ``repr`` has its fields."""
        return f"{self._who}: {shown(self.params)} parameters"

    @property
    def _who(self) -> str:
        name = getattr(self.certificate, "subject", "")
        return name if name.isidentifier() else type(self).__name__

    def at(self, sizes: Mapping[Any, Any] | str | None = None, /, **named: Dim) -> Self:
        """Return the form with sizes put in; with 0 for a size whose default is 0, the form that was found for this.

        A size that follows from others may be given beside them.

        Raises:
            UnknownNameError, SizeError, DivisibilityError, StructureError: as every layer, or sizes for which the form does not hold.
        """
        if isinstance(sizes, str):
            return super().at(sizes, **named)
        given = {getattr(key, "name", key): value for key, value in [*pairs_of(self._who, sizes), *named.items()]}
        said = {name: value for name, value in given.items() if name in dict(self.follows)}
        off = [name for name, value in given.items() if name in dict(self.sizes_taken) and value == 0 and not isinstance(value, bool)]
        if off:
            root, before = self.origin
            kept = {symbol.name: value for symbol, value in before.items() if symbol.name not in off}
            form: Self = switched_off(self._who, getattr(root, "strata", ()), self._choice, off)
            return form.at({**kept, **{name: value for name, value in given.items() if name not in off}})
        if not said:
            return super().at(sizes, **named)
        found = super().at({name: value for name, value in given.items() if name not in said})
        check_following(self._who, self.follows, found.follows, said)
        return found

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        """Return the form with values for symbols; its conditions are checked before its shapes, whose errors have no names."""
        try:
            check_demands(substitute(self.demands, mapping))
        except ParamsymError as error:
            located = type(error)(f"{self._who}: {error}")
            raise located from None
        try:
            return super().substituted(mapping)
        except SizeError as error:
            sizes = ", ".join(f"{symbol} = {text(size)}" for symbol, size in mapping.items())
            found = str(error).partition(": ")[2].partition(";")[0]
            unfit = type(error)(f"{self._who}: the form does not hold for {sizes}: {found}.")
            raise unfit from None

    def conditions(self) -> None:
        """Refuse sizes for which the form does not hold."""
        check_demands(self.demands)

    def parts(self) -> Iterator[Part]:
        """The model, without a prefix."""
        yield Part("", self.model)

    @property
    def strata(self) -> tuple[Derived, ...]:
        """The forms found for the other choices of flags and words; this one is the first."""
        return (self, *getattr(self.certificate, "others", ()))

    @property
    def _choice(self) -> Mapping[str, Any]:
        return {} if self.certificate is None else self.certificate.stratum

    def stratum(self, **flags: Any) -> Derived:
        """Return the form for other flags or words.

        Raises:
            StructureError: a choice without a derived form.
        """
        found: Derived = of_flags(self.strata, flags)
        return found


def of_flags(forms: Iterable[Any], flags: Mapping[str, Any]) -> Any:
    """Return the first of several forms that was found for some flags or words.

    Raises:
        StructureError: no such form.
    """
    choices = [({} if form.certificate is None else form.certificate.stratum, form) for form in forms]
    for choice, form in choices:
        if all(choice.get(name) == value for name, value in flags.items()):
            return form
    had = "; ".join(", ".join(f"{name}={value!r}" for name, value in choice.items()) or "no flags" for choice, _ in choices)
    wanted = ", ".join(f"{name}={value!r}" for name, value in flags.items())
    raise StructureError(f"no form was derived for {wanted}; forms exist for {had}.")


def modelled(laws: LevelLaw, domain: Domain) -> Layer:
    """Return laws as a layer in the symbols of the arguments."""
    symbols = domain.symbols()
    ties: dict[str, str] = {}
    model = _level(laws, domain, symbols, ties, "", {})
    return Tied(model, ties) if ties else model


def switched_off(who: str, forms: Sequence[Any], choice: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the one of several forms that has the same flags, and 0 for these sizes.

    Raises:
        StructureError: no such form.
    """
    wanted = {**choice, **dict.fromkeys(names, 0)}
    for form in forms:
        if form.certificate is not None and form.certificate.stratum == wanted:
            return form
    zeros, stratum = (", ".join(f"{name}={value!r}" for name, value in one.items()) for one in (dict.fromkeys(names, 0), wanted))
    left_out = [entry for form in forms if form.certificate is not None for entry in form.certificate.left_out]
    why = [entry.removeprefix(f"{stratum}: ") for entry in left_out if entry.startswith(f"{stratum}: ")]
    held = ", ".join(f"{name!r}: 0" for name in names)
    instead = f"It was left out: {why[0]}" if why else f"If the build takes 0, derive it so: derive(build, held={{{held}}})."
    message = f"{who}: the form holds for sizes from 1 on, not for {zeros}. {instead}"
    raise StructureError(message)


def check_following(who: str, laws: Iterable[tuple[str, Dim]], sizes: Iterable[tuple[str, Dim]], given: Mapping[str, Any]) -> None:
    """Raise ``StructureError`` for a given size that does not follow from the others by its law."""
    for (name, law), (_, size) in zip(laws, sizes, strict=True):
        if name in given and size != given[name]:
            found = "" if law == size else f", which is {text(size)}"
            raise StructureError(f"{who}: {name} is {described(given[name])}; the form holds for {name} = {text(law)}{found}.")


def check_demands(demands: Iterable[tuple[Limit, ...]]) -> None:
    """Raise ``StructureError`` or ``DivisibilityError`` for a condition that is not met."""
    for limits in demands:
        if len(limits) == 1:
            _check_one(*limits[0])
        elif all(same(small, large) for _, small, large, _, _ in limits):
            wanted = " or ".join(f"{one} != {other}" for *_, one, other in limits)
            found = " and ".join(f"{one} = {other}" for *_, one, other in limits)
            raise StructureError(f"the form holds if {wanted}; the build stores other tensors where {found}.")


def _check_one(kind: str, small: Dim, large: Dim, one: str, other: str) -> None:
    if kind == "divides":
        divides(small, large, one, other)
    elif kind == "at most" and not within(small, large):
        found = f"they are {text(small)} and {text(large)}"
        raise StructureError(f"the form holds if {one} is at most {other}; {found}. Derive the build again for such sizes.")
    elif kind == "differ" and same(small, large):
        message = f"the form holds if {one} and {other} differ; both are {text(small)}, for which the build stores other tensors."
        raise StructureError(message)


def demanded(domain: Domain) -> tuple[tuple[Limit, ...], ...]:
    """Return the conditions on the sizes, including formulas, in symbols and in words."""
    symbols = domain.symbols()
    found: list[tuple[Condition, ...]] = []
    for formula in domain.formulas.values():
        if formula.fresh:
            large, small = map(canonical, formula.quotient(domain, symbols))
            found.append((Condition("divides", small, large),))
    found.extend(demand.conditions(symbols) for demand in domain.demands)
    return tuple(
        tuple((one.kind, one.small, one.large, text(one.small), text(one.large)) for one in limits)
        for limits in dict.fromkeys(found)
        if (limits[0].kind, limits[0].small) != ("divides", 1)  # 1 divides everything
    )


def _level(
    laws: LevelLaw, domain: Domain, symbols: Mapping[str, Expr], ties: dict[str, str], path: str, places: Mapping[str, str]
) -> Layer:
    items: list[tuple[str, Layer]] = []
    if laws.leaf is not None:
        raise StructureError(f"a tensor and other tensors below it are both named {path!r}; no layer can hold them.")
    dot = "." if path else ""
    runs = Counter(name for name, member in laws.members if isinstance(member, CopiesLaw))
    for name, member in laws.members:
        if isinstance(member, LevelLaw):
            if member.leaf is not None:
                items.append(("", _tensor(name, member, domain, symbols, ties, path + dot + name, places)))
            if member.members:
                items.append((name, _level(LevelLaw(None, member.members), domain, symbols, ties, path + dot + name, places)))
            continue
        items.append(("", _copies(name, member, domain, symbols, ties, path + dot, places, alone=runs[name] == 1)))
    return Level(tuple(items))


def _copies(
    name: str,
    law: CopiesLaw,
    domain: Domain,
    symbols: Mapping[str, Expr],
    ties: dict[str, str],
    path: str,
    places: Mapping[str, str],
    *,
    alone: bool,
) -> Layer:
    """Return numbered copies; if tensors themselves are numbered, their names contain the number.

    ``alone`` means that no other copies have this name, so that a tie of all copies needs no range of numbers.
    """
    start, count = _size(law.start, domain, symbols), _size(law.count, domain, symbols)
    index = Symbol(law.index, integer=True, positive=True)
    period = len(law.blocks)
    leaves = any(block.leaf is not None for block in law.blocks)
    blocks: list[Layer] = []
    for turn, inside in enumerate(law.blocks):
        own = index if period == 1 else (index - start - turn) / Integer(period)
        last = start + count - 1 if period == 1 else copies_of(count, turn, period) - 1
        inner = {**symbols, law.index: own, FROM_END + law.index: last - own}
        numbers = "{}" if alone else _numbers(start, count, turn, period)
        here = {**places, (law.index if period == 1 else IN_NAME + law.index): numbers}
        if leaves or not name:
            members = ((name, LevelLaw(inside.leaf)),) if inside.leaf is not None else inside.members
            if inside.leaf is not None and inside.members:
                raise StructureError(f"a tensor and other tensors below it are both named {path + name!r}; no layer can hold them.")
            tensors = [
                ("", _tensor(leaf, member, domain, inner, ties, path + leaf.replace("{}", numbers), here))
                for leaf, member in members
                if isinstance(member, LevelLaw)
            ]
            blocks.append(Level(tuple(tensors)))
        else:
            blocks.append(_level(inside, domain, inner, ties, path + name.replace("{}", numbers), here))
    called = "" if leaves or not name else name
    if law.turn is not None and law.step is not None:
        shares = [leaf.alias is not None and BEFORE + law.index in leaf.alias[1] for leaf in law.blocks[1].leaves()]
        if any(shares) and not (all(shares) and called):
            raise StructureError(f"only some tensors of the copies {path + name!r} are shared; no layer can hold them.")
        turn, step = _size(law.turn, domain, symbols), _size(law.step, domain, symbols)
        return EveryKth(blocks[0], blocks[1], count, start, turn, step, called, any(shares))
    bound = index if any(index in block.symbols for block in blocks) else None
    return Repeat(blocks[0] if len(blocks) == 1 else tuple(blocks), count, index=bound, start=start, name=called)


def _numbers(start: Count, count: Count, turn: int, period: int) -> str:
    """Return the numbers of one kind of copies as a tie names them: ``0``, ``{2..L-1}`` or ``{1,3..L-1}``."""
    if not isinstance(start, int):
        return "{}"
    first = start + turn
    if count == 1:
        return str(first)
    step = "" if period == 1 else f",{first + period}"
    return f"{{{first}{step}..{text(canonical(start + count - 1))}}}"


def _tensor(
    name: str, law: LevelLaw, domain: Domain, symbols: Mapping[str, Expr], ties: dict[str, str], path: str, places: Mapping[str, str]
) -> Layer:
    leaf = law.leaf
    assert leaf is not None  # noqa: S101 - for the type checker; only tensors come here
    if leaf.alias is not None and not any(str(place).startswith(BEFORE) for place in leaf.alias[1]):
        pattern, stands = leaf.alias
        ties[path] = filled(pattern, [place if isinstance(place, int) else places[place] for place in stands])
    return Held(name, tuple(_size(axis, domain, symbols) for axis in leaf.axes), leaf.kind, not leaf.trainable and leaf.kind == "parameter")


def _is_power(value: Any) -> bool:
    """Whether a power has a fraction in its exponent, which is whole for the numbers of one kind of alternating copies."""
    return isinstance(value, Pow) and value.exp.is_integer is None


def _size(law: Law, domain: Domain, symbols: Mapping[str, Expr]) -> Count:
    found: Any = domain.restated(law, symbols).replace(_is_power, lambda power: power.base ** floor(power.exp))
    return int(found) if found.is_Integer else found
