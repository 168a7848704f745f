"""``derive`` for tensors: the closed form of what a function of sizes builds, found from its results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import Dim, canonical, count, shown, substitute
from paramsym.derive.arguments import by_name, check_limits, read_call, stated_sizes
from paramsym.derive.certificate import Derivation
from paramsym.derive.deadline import Deadline, OutOfTime
from paramsym.derive.domain import said_domain
from paramsym.derive.modelled import Derived, Limit, check_demands, check_following, demanded, modelled, of_flags, switched_off
from paramsym.derive.observe import Builder
from paramsym.derive.search import Sample, Search
from paramsym.errors import ArgumentError, NoLawError, NotYetError, ParamsymError, SizeError, StructureError
from paramsym.render.printed import Printed
from paramsym.verify.certificate import versions

_MOST_STRATA = 16
_SHORTEST = 1.0  # seconds that any build may take
_EVERY = 25  # every 25th fresh point is also built as a layer and compared


@dataclass(frozen=True, repr=False)
class DerivedCount(Printed):
    """The closed form of a count: ``formula``, an expression in the function's sizes, and its ``certificate``.

    ``sizes_taken`` are the function's sizes, by name; ``demands`` the conditions under which the formula holds; ``follows`` the sizes that
    follow from others.
    """

    formula: Expr
    certificate: Derivation
    sizes_taken: tuple[tuple[str, Symbol], ...] = ()
    demands: tuple[tuple[Limit, ...], ...] = ()
    follows: tuple[tuple[str, Dim], ...] = ()

    def at(self, **sizes: int) -> Any:
        """Return the formula with sizes put in.

        Raises:
            ArgumentError: an unknown name.
            SizeError: a value that is no size.
            StructureError: sizes for which the formula does not hold.
            DivisibilityError: sizes that do not divide each other as they must.
        """
        who, taken, follows = self.certificate.subject, dict(self.sizes_taken), dict(self.follows)
        unknown = [name for name in sizes if name not in taken and name not in follows]
        if unknown:
            raise ArgumentError(f"the count has no size {unknown[0]!r}; it has {', '.join(taken) or 'none'}.")
        given = {name: count(value, f"{who}: {name}") for name, value in sizes.items()}
        off = [name for name, value in given.items() if value == 0]
        if off:
            form: DerivedCount = switched_off(who, self.strata, self.certificate.stratum, off)
            return form.at(**{name: value for name, value in sizes.items() if name not in off})
        put = ((taken[name], value) for name, value in given.items() if name in taken)
        mapping: dict[Symbol, Expr] = {symbol: Integer(value) if isinstance(value, int) else value for symbol, value in put}
        check_following(who, self.follows, substitute(self.follows, mapping), given)
        check_demands(substitute(self.demands, mapping))
        return self.formula.xreplace(mapping)

    @property
    def strata(self) -> tuple[DerivedCount, ...]:
        """The formulas found for the other choices of flags and words; this one is the first."""
        return (self, *self.certificate.others)

    def stratum(self, **flags: Any) -> DerivedCount:
        """Return the formula for other flags or words.

        Raises:
            StructureError: a choice without a formula.
        """
        found: DerivedCount = of_flags(self.strata, flags)
        return found

    def __str__(self) -> str:
        return shown(self.formula)


def derived(
    build: Callable[..., Any],
    sizes: Mapping[str, Any] | object | None,
    *,
    held: Mapping[str, Any] | None,
    seconds: float,
    tests: int,
    progress: Callable[[str], None] | None,
    named: Mapping[str, Any],
    further: Callable[[Search, Derived], Derived] | None = None,
) -> Any:
    """Return the closed form of a build, as ``derive`` states it; ``further`` adds to every form what else is known of the build.

    Raises:
        NoLawError, ArgumentError, NotYetError: as ``derive``.
    """
    check_limits(seconds, tests, progress)
    call = read_call(build, {**stated_sizes(build, sizes), **named}, by_name("held", held))
    until = time.monotonic() + seconds
    strata = list(islice(call.strata(), _MOST_STRATA))
    left_out = [f"{call.combinations - len(strata):,} more choices of flags"] if call.combinations > len(strata) else []
    forms: list[Any] = []
    first: Search | None = None
    with Deadline(max(_SHORTEST, seconds)) as deadline:
        builder = Builder(build, deadline)
        for number, stratum in enumerate(strata):
            share = (until - time.monotonic()) * (1 if number == len(strata) - 1 else 0.5 if number == 0 else 1 / (len(strata) - number))
            ends, said = time.monotonic() + share, _said(progress, stratum)
            search = Search(call, stratum, said_domain(call.sizes(stratum)), ends, tests, said, builder, like=first)
            try:
                form = _derived(search)
                if further is not None:
                    if not isinstance(form, Derived):
                        raise ArgumentError("build returned a whole number, which computes nothing; inputs= wants a module of torch.")
                    began = time.monotonic()
                    form = further(search, form)
                    until += time.monotonic() - began
                forms.append(form)
            except ParamsymError as error:
                if number == 0:
                    raise
                left_out.append(f"{_words(stratum)}: {error}")
            first = first or search
    form, *others = [_knowing(form, forms, call.off) for form in forms]
    return replace(form, certificate=replace(form.certificate, others=tuple(others), left_out=tuple(left_out)))


def _knowing(form: Any, forms: Sequence[Any], off: Sequence[str]) -> Any:
    """Return a form with those of the same flags in which sizes are off."""
    own = form.certificate.stratum
    same = (one for one in forms if {**own, **{name: 0 for name in off if name in one.certificate.stratum}} == one.certificate.stratum)
    return replace(form, certificate=replace(form.certificate, others=tuple(one for one in same if one is not form)))


def _said(progress: Callable[[str], None] | None, stratum: Mapping[str, Any]) -> Callable[[str], None]:
    prefix = f"{_words(stratum)}: " if stratum else ""
    return (lambda _: None) if progress is None else (lambda words: progress(prefix + words))


def _words(stratum: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in stratum.items())


def _derived(search: Search) -> Derived | DerivedCount:
    before = search.builder.built
    try:
        search.run()
    except (OutOfTime, KeyboardInterrupt) as error:
        raise _unfinished(search, error) from None
    certificate = _certificate(search, search.builder.built - before)
    taken = tuple((v.name, Symbol(v.name, integer=True, positive=True)) for v in search.domain.variables if not _follows(search, v.name))
    demands, symbols = demanded(search.domain), search.domain.symbols()
    follows = tuple((v.name, canonical(symbols[v.name])) for v in search.domain.variables if _follows(search, v.name))
    if search.count:
        law = search.laws.leaf
        assert law is not None  # noqa: S101 - a count is one tensor without a name
        return DerivedCount(search.domain.restated(law.axes[0], symbols), certificate, taken, demands, follows)
    try:
        form = Derived(modelled(search.laws, search.domain), taken, demands, certificate, follows)
        form.polynomial  # noqa: B018 - a sum over copies may have no closed form
    except SizeError as error:
        raise NoLawError(f"every size follows a law, but the count does not: {error}") from None
    except StructureError as error:
        raise NoLawError(f"every size follows a law, but a layer cannot state all names or ties: {error}") from None
    by_size = sorted(search.tested, key=lambda sample: len(sample.seen))
    checked = [_same_as_layer(form, sample) for sample in by_size[::_EVERY][:8]]
    return replace(form, certificate=replace(certificate, ordered=all(checked)))


def _follows(search: Search, name: str) -> bool:
    formula = search.domain.formulas.get(name)
    return formula is not None and not formula.fresh


def _unfinished(search: Search, error: BaseException) -> NotYetError:
    why = "was interrupted" if isinstance(error, KeyboardInterrupt) else "ran out of time"
    laws = sum(1 for _ in search.laws.laws())
    message = (
        f"{error}{': ' if str(error) else ''}the search {why} after {search.builder.built:,} builds; so far {laws} laws were found and"
        f" {len(search.tested)} fresh points agreed. Give it more time with seconds=..., hold arguments with"
        " held={...}, or start from smaller sizes."
    )
    stopped = NotYetError(message)
    stopped.laws = search.laws  # type: ignore[attr-defined]
    return stopped


def _same_as_layer(form: Derived, sample: Sample) -> bool:
    """Check that the layer has the built tensors; return whether in the same order.

    Raises:
        StructureError: the tensors differ.
    """
    sizes = {name: sample.numbers[name] for name, _ in form.sizes_taken}
    sized = form.at({name: value for name, value in sizes.items() if any(s.name == name for s in form.symbols)})
    wanted = {seen.name: seen.shape for seen in sample.seen if not seen.alias_of and seen.kind != "hidden"}
    found = sized.shapes(buffers=True)
    ties = {seen.name: seen.alias_of for seen in sample.seen if seen.alias_of}
    if found != wanted or sized.tied != ties:
        wrong = next((name for name in {**wanted, **found} if wanted.get(name) != found.get(name)), "a tie")
        message = f"the layer made of the laws differs from the build at {sizes}, in {wrong}; its structure cannot be written as a layer."
        raise StructureError(message)
    return list(found) == list(wanted)


def _certificate(search: Search, built: int) -> Derivation:
    stepping = dict.fromkeys(name for name, law in search.laws.laws() if law.degree({}) is None)
    names = [variable.name for variable in search.domain.variables]
    magnitudes = {name: _span([sample.numbers[name] for sample in search.tested]) for name in names}
    return Derivation(
        subject=getattr(search.call.build, "__name__", type(search.call.build).__name__),
        stratum=dict(search.stratum),
        held={name: value for name, (_, value) in search.call.held.items()},
        coordinates=search.domain.coordinates,
        formulas=tuple(f"{name} = {formula.law}" for name, formula in search.domain.formulas.items()),
        tensors=sum(1 for _ in search.laws.laws()),
        degree=search.degree,
        lattice=search.lattice,
        stepping=tuple(name or "the count" for name in stepping),
        fresh=len(search.tested),
        magnitudes=magnitudes,
        demands=tuple(map(str, search.domain.demands)),
        refused=len(search.refused),
        built=built,
        ordered=True,
        versions=versions(search.builder.last),
        start=search.domain.start_values(),
    )


def _span(values: list[int]) -> tuple[int, int]:
    return (min(values), max(values)) if values else (0, 0)
