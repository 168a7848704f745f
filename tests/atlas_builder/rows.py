"""From what samples store to rows of a record: templates of names, which copies there are, where, and how large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from atlas_builder.fitting import Fitter, NoFitError, decided
from atlas_builder.sets import divisions, set_law

from paramsym.atlas.expression import OutsideError, evaluated
from paramsym.atlas.indices import indices
from paramsym.atlas.predicting import NUMBER, Row

_MOST_LITERAL = 12
_MOST_KINDS = 15  # the first blocks and the others of EfficientNet's seven stages
_MOST_PARTITIONS = 4

Place = tuple[int, ...]
Fact = tuple[Any, ...]
"""Kind and shape, or "tie", template and numbers of the first name."""


def template_of(name: str) -> tuple[str, Place]:
    """Return a name with # for its numbers, and the numbers.

    >>> template_of("layers.3.mlp.0.weight")
    ('layers.#.mlp.#.weight', (3, 0))
    """
    steps = name.split(".")
    return ".".join(NUMBER if step.isdigit() else step for step in steps), tuple(int(step) for step in steps if step.isdigit())


class NoAxisError(NoFitError):
    """No law gives a size that all copies share, so a law for each single copy cannot exist either."""


@dataclass
class _Family:
    """Tensors of one template, in every sample: numbers to facts."""

    template: str
    per: list[dict[Place, Fact]]

    @property
    def places(self) -> list[int]:
        """Where the numbers stand in the template."""
        return [position for position, step in enumerate(self.template.split(".")) if step == NUMBER]

    def prefix(self, place: int) -> str:
        """Return the template up to one of its numbers."""
        return ".".join(self.template.split(".")[: self.places[place] + 1])

    def literal(self, place: int, number: int) -> _Family:
        """Return those whose number at a place is this one."""
        steps = self.template.split(".")
        steps[self.places[place]] = str(number)
        per = [{at[:place] + at[place + 1 :]: fact for at, fact in one.items() if at[place] == number} for one in self.per]
        return _Family(".".join(steps), per)

    def where(self, keep: Any) -> _Family:
        """Return those that pass, by the position of the sample and the numbers."""
        return _Family(self.template, [{at: fact for at, fact in one.items() if keep(i, at)} for i, one in enumerate(self.per)])


@dataclass
class Ledger:
    """Rows found, and templates that no law explains with the reason."""

    rows: list[Row] = field(default_factory=list)
    unexplained: list[tuple[str, str]] = field(default_factory=list)


class Rows:
    """Explains what samples store."""

    def __init__(self, fitter: Fitter, stored: Sequence[Mapping[str, Fact]]) -> None:
        """Sort tensors by template."""
        self.fitter, self.stored = fitter, stored
        self.bounds: dict[str, dict[int, int]] = defaultdict(dict)
        self.bound_laws: dict[str, Any] = {}
        self.families: list[_Family] = []

    def explain(self) -> Ledger:
        """Return the rows."""
        families: dict[tuple[str, str, int], _Family] = {}
        for i, tensors in enumerate(self.stored):
            for name, fact in tensors.items():
                template, at = template_of(name)
                key = (template, fact[0], 0 if fact[0] == "tie" else len(fact[1]))
                known = families.get(key)
                if known is None:
                    known = families[key] = _Family(template, [{} for _ in self.stored])
                known.per[i][at] = fact
        steady = self._steady()
        self.families = [one for family in families.values() for one in _made_literal(family, steady)]
        for family in self.families:
            self._note_bounds(family)
        ledger = Ledger()
        for family in self.families:
            try:
                ledger.rows.extend(self._explained(family))
            except NoAxisError as error:
                ledger.unexplained.append((family.template, str(error)))
            except NoFitError as error:
                ledger.rows.extend(self._one_by_one(family, error, ledger))
        ledger.rows = self._in_order(ledger.rows)
        return ledger

    def _steady(self) -> dict[str, frozenset[int]]:
        """Return the first numbers after a prefix, if all samples have the same few: stages, of which single ones lack some tensors."""
        found: dict[str, set[frozenset[int]]] = defaultdict(set)
        for tensors in self.stored:
            here: dict[str, set[int]] = defaultdict(set)
            for name in tensors:
                steps = name.split(".")
                place = next((i for i, step in enumerate(steps) if step.isdigit()), None)
                if place is not None:
                    here[".".join([*steps[:place], NUMBER])].add(int(steps[place]))
            for prefix, numbers in here.items():
                found[prefix].add(frozenset(numbers))
        sets = {prefix: next(iter(every)) for prefix, every in found.items() if len(every) == 1}
        return {prefix: numbers for prefix, numbers in sets.items() if 1 < len(numbers) <= _MOST_LITERAL}

    def _note_bounds(self, family: _Family) -> None:
        for place in range(len(family.places)):
            bounds = self.bounds[family.prefix(place)]
            for i, one in enumerate(family.per):
                if one:
                    bounds[i] = max(bounds.get(i, 0), 1 + max(at[place] for at in one))

    def _one_by_one(self, family: _Family, error: NoFitError, ledger: Ledger) -> Iterator[Row]:
        """Explain each number of the first place by itself, where they are few."""
        numbers = sorted({at[0] for one in family.per for at in one}) if family.places else []
        if not 1 < len(numbers) <= _MOST_LITERAL:
            ledger.unexplained.append((family.template, str(error)))
            return
        beside = [one for one in self.families if len(one.places) > 1 and one.prefix(0) == family.prefix(0)]
        for number in numbers:
            single = family.literal(0, number)
            for one in (single, *(one.literal(0, number) for one in beside)):  # all tensors of one copy have one number of copies inside
                self._note_bounds(one)
            try:
                yield from self._explained(single)
            except NoFitError as inner:
                yield from self._one_by_one(single, inner, ledger)

    def _bound(self, prefix: str) -> Any:
        if prefix not in self.bound_laws:
            try:
                self.bound_laws[prefix] = self.fitter.fit(self.bounds[prefix])
            except NoFitError as error:
                self.bound_laws[prefix] = error
        found = self.bound_laws[prefix]
        if isinstance(found, NoFitError):
            message = f"the number of {prefix}: {found}"
            raise NoFitError(message)
        return found

    def _explained(self, family: _Family) -> list[Row]:
        """Return the rows of a family: of the first partition whose parts all have laws."""
        refusals: list[NoFitError] = []
        for parts in islice(self._partitions(family), _MOST_PARTITIONS):
            try:
                return [self._row(part) for part in parts]
            except NoAxisError as error:
                refusals.append(NoFitError(*error.args) if len(parts) > 1 else error)
            except NoFitError as error:
                refusals.append(error)
        raise refusals[0] if refusals else NoFitError("copies differ, and no law says which are alike")

    def _partitions(self, family: _Family) -> Iterator[list[_Family]]:
        """Yield ways to divide tensors so that those of one sample and one part are all alike."""
        facts = [{_kind(fact, at) for at, fact in one.items()} for one in family.per]
        if all(len(one) <= 1 for one in facts):
            yield [family]
            return
        for place in range(len(family.places)):
            for division in divisions(self.fitter, self.bounds[family.prefix(place)]):
                found = self._divided(family, place, division)
                if found is not None:
                    yield found

    def _divided(self, family: _Family, place: int, division: Any) -> list[_Family] | None:
        kinds: dict[Any, None] = {}
        try:
            for i, one in enumerate(family.per):
                seen: dict[Any, Any] = {}
                for at, fact in one.items():
                    kind = division(i, at[place])
                    kinds[kind] = None
                    if seen.setdefault(kind, _kind(fact, at)) != _kind(fact, at):
                        return None
        except (OutsideError, TypeError):
            return None
        if not 1 < len(kinds) <= _MOST_KINDS:
            return None
        return [family.where(lambda i, at, kind=kind: division(i, at[place]) == kind) for kind in sorted(kinds, key=str)]

    def _row(self, family: _Family) -> Row:
        held = [i for i, one in enumerate(family.per) if one]
        sets, bounds = [], []
        present = {i: bool(one) for i, one in enumerate(family.per)}
        for place in range(len(family.places)):
            here = {i: frozenset(at[place] for at in family.per[i]) for i in held}
            below = {i: self.bounds[family.prefix(place)][i] for i in held}
            bound = self._bound(family.prefix(place))
            law, everywhere = self._set(here, below, family.prefix(place), len(family.places) == 1)
            sets.append(law)
            bounds.append(bound)
            if everywhere is not None:
                present = {i: there for i, there in present.items() if there or i not in everywhere}
        for i in held:
            count = 1
            for place in range(len(family.places)):
                count *= len({at[place] for at in family.per[i]})
            if count != len(family.per[i]):
                message = "the numbers are no product of sets"
                raise NoFitError(message)
        facts = {i: next(iter(family.per[i].items())) for i in held}
        kinds = {_kind(fact, at)[0] for at, fact in facts.values()}
        if len(kinds) > 1:
            message = f"it is {' and '.join(sorted(kinds))}"
            raise NoFitError(message)
        present = {i: there for i, there in present.items() if there or not self._empty(i, sets, bounds)}
        presence = decided(self.fitter, present)
        common = (tuple(family.template.split(".")), kinds.pop())
        if common[1] == "tie":
            firsts = {_kind(fact, at)[1] for at, fact in facts.values()}
            if len(firsts) > 1:
                message = f"it is tied to {' and '.join(sorted(firsts))}"
                raise NoFitError(message)
            return Row(*common, (), tuple(bounds), tuple(sets), presence, firsts.pop())
        ranks = {len(fact[1]) for _, fact in facts.values()}
        if len(ranks) > 1:
            message = f"it has {' and '.join(map(str, sorted(ranks)))} axes"
            raise NoFitError(message)
        try:
            axes = tuple(self.fitter.fit({i: fact[1][axis] for i, (_, fact) in facts.items()}) for axis in range(ranks.pop()))
        except NoFitError as error:
            raise NoAxisError(*error.args) from None
        return Row(*common, axes, tuple(bounds), tuple(sets), presence)

    def _empty(self, i: int, sets: list[Any], bounds: list[Any]) -> bool:
        """Whether the laws themselves say that a sample has no copies."""
        values = self.fitter.samples[i]
        try:
            return any(not indices(values, one, evaluated(values, bound)) for one, bound in zip(sets, bounds, strict=True))
        except OutsideError:
            return False

    def _set(self, here: dict[int, frozenset[int]], below: dict[int, int], prefix: str, alone: bool) -> tuple[Any, set[int] | None]:
        """Return the law of the indices, and the samples where it says by itself that there are none."""
        every = self.bounds[prefix]
        if alone and len(every) > len(here):
            try:
                law = set_law(self.fitter, {i: here.get(i, frozenset()) for i in every}, every)
            except NoFitError:
                pass
            else:
                return law, {i for i in every if i not in here}
        return set_law(self.fitter, here, below), None

    def _in_order(self, rows: list[Row]) -> list[Row]:
        """Put rows in the order in which the samples store them: what stands before what within one copy, else what was met first."""
        templates = {".".join(row.template) for row in rows}
        known: dict[str, str] = {}
        met: dict[str, int] = {}
        after: dict[str, set[str]] = defaultdict(set)
        for tensors in sorted(self.stored, key=lambda one: -len(one)):
            before = last = ""
            for name in tensors:
                if name not in known:
                    known[name] = next((one for one in _spellings(name) if one in templates), "")
                found = known[name]
                met.setdefault(found, len(met))
                if before and before != found and _of_one_copy(before, last, found, name):
                    after[before].add(found)
                before, last = found, name
        order: dict[str, int] = {}
        waiting = sorted(met, key=lambda one: met[one])
        while waiting:
            held = {one for first in waiting for one in after.get(first, ()) if one != first}
            ready = next((one for one in waiting if one not in held), waiting[0])
            order[ready] = len(order)
            waiting.remove(ready)
        return sorted(rows, key=lambda row: order.get(".".join(row.template), len(order)))


def _of_one_copy(template: str, name: str, other: str, following: str) -> bool:
    """Whether two names are apart before a number that their templates leave open differs: all copies then have this order.

    >>> _of_one_copy("a.#.x.0", "a.1.x.0", "a.#.x.1", "a.1.x.1"), _of_one_copy("a.#.y", "a.0.y", "a.#.x", "a.1.x")
    (True, False)
    """
    for one, step, its, its_step in zip(template.split("."), name.split("."), other.split("."), following.split("."), strict=False):
        if step != its_step:
            return NUMBER not in {one, its}
    return True


def _spellings(name: str) -> Iterator[str]:
    """Yield the templates that a name may stand under, the most general first."""
    template, _ = template_of(name)
    yield template
    steps = name.split(".")
    places = [i for i, step in enumerate(steps) if step.isdigit()]
    for chosen in range(1, 2 ** min(len(places), 6)):
        yield ".".join(step if not step.isdigit() or chosen >> places.index(i) & 1 else NUMBER for i, step in enumerate(steps) if True)


def _kind(fact: Fact, at: Place) -> tuple[str, Any]:
    """Return what a tensor is, apart from its own numbers."""
    if fact[0] != "tie":
        return fact[0], fact[1]
    steps = fact[1].split(".")
    places = [i for i, step in enumerate(steps) if step.isdigit()]
    if at and tuple(int(steps[i]) for i in places[-len(at) :]) == at:
        steps = [NUMBER if i in places[-len(at) :] else step for i, step in enumerate(steps)]
    return "tie", ".".join(steps)


def _made_literal(family: _Family, steady: Mapping[str, frozenset[int]]) -> Iterator[_Family]:
    """Yield the tensors with those numbers written out that are the same in every sample."""
    for place in range(len(family.places)):
        sets = {frozenset(at[place] for at in one) for one in family.per if one}
        if len(sets) == 1 or family.prefix(place) in steady:
            for number in sorted(frozenset().union(*sets)):
                yield from _made_literal(family.literal(place, number), steady)
            return
    yield family
