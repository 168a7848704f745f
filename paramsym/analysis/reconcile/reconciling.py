"""The small edits that turn a count into a claimed one, in four stages.

Read the claim as a number or a formula in the unit of the count (``claim``, ``papers``, ``relative``, ``units``). Gather the edits that
people make (``edits``, ``habits``, ``whole``, ``resizing``, ``options``). Search for those that give the claim
(``ranking``). Say them in words, with their terms in letters (``worded``, ``arithmetic``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias, overload

from sympy import Expr, Integer, Symbol

from paramsym.algebra.letters import Lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.analysis import claim as claims
from paramsym.analysis.claim import Claim, Stated, exactly
from paramsym.analysis.counted import Counted, check_counted
from paramsym.analysis.named import named
from paramsym.analysis.reconcile.answers import Answer, Reading, Reconciliation
from paramsym.analysis.reconcile.arithmetic import left_between, probable_form, spelt_out, with_products
from paramsym.analysis.reconcile.comparison import against_layer, against_shapes
from paramsym.analysis.reconcile.evidence import told_apart
from paramsym.analysis.reconcile.lettered import against_formula, in_letters
from paramsym.analysis.reconcile.options import optional
from paramsym.analysis.reconcile.papers import Meaning, meanings, told
from paramsym.analysis.reconcile.ranking import EditSearch, Hit
from paramsym.analysis.reconcile.relative import implied_speed, neural, relative, used_speed
from paramsym.analysis.reconcile.resizing import impossible, other_sizes, symbols_of
from paramsym.analysis.reconcile.stated_bytes import of_file, of_rounded_size
from paramsym.analysis.reconcile.subject import Subject, cached
from paramsym.analysis.reconcile.together import Row, Together, rows_of, together
from paramsym.analysis.reconcile.units import in_unit_of
from paramsym.analysis.reconcile.worded import agreeing, in_units_of_1024, in_words, total_with

_MOST = 10  # the most answers; with more of them, none is a good explanation
_AS_SIMPLE = 0.15
_TELLING = 3  # the digits needed to distinguish units of 2**20 from 10**6, which differ by a twentieth
_OF_THOUSANDS = frozenset({"parameters", "FLOPs", "MACs"})  # with few digits, nobody counts these in units of 1024
_FILE = Fraction(3, 2)  # an exact number that is larger than this part of the parameters may be the bytes of a file
_RARELY = 0.1  # the most chance hits of one size for a rounded number
_OBVIOUS = 0.95  # if a number is nearly right, edits are shown that are as simple as another head
_Others: TypeAlias = tuple[tuple[Symbol, tuple[int, ...]], ...]
_Claimed: TypeAlias = int | str | Expr | Counted


@overload
def reconcile(
    layer: Counted,
    claim: _Claimed | Mapping[str, tuple[int, ...]],
    at: Mapping[Any, Any] | str | None = None,
    *,
    others: Mapping[str | Symbol, Iterable[int]] | None = None,
    letters: Lettering = None,
) -> Reconciliation: ...
@overload
def reconcile(
    layer: Counted | list[Any] | tuple[Any, ...],
    claim: list[Any] | tuple[Any, ...] | Mapping[str, _Claimed],
    at: list[Any] | tuple[Any, ...] | None = None,
    *,
    others: Mapping[str | Symbol, Iterable[int]] | None = None,
    letters: Lettering = None,
) -> Together: ...
def reconcile(
    layer: Any,
    claim: Any,
    at: Any = None,
    *,
    others: Mapping[str | Symbol, Iterable[int]] | None = None,
    letters: Lettering = None,
) -> Any:
    """Explain the difference between a claim and the count of a layer or a cost, or between several claims and their counts.

    The claim is a number (``109786368``, ``"110M"``), arithmetic (``"12*768*12 = 110M"``), an expression in the model's letters, as a
    string or a SymPy expression (``"12*L*H**2"``), another layer, or measured shapes ``{name: shape}``. ``at`` puts sizes in first.
    An expression may also be written as in a paper, in the long names of a configuration (``12*n_layer*d_model**2``), or in ``letters`` as
    ``to_latex`` takes them; N is the number of parameters where the model has no size of this name, D the number of tokens, and the answer
    says which N fits: ``"6*N*D"``, ``"6*N + 12*L*H*Q*T"``. A percentage is one of the count (``"1.19 %"``, ``"50 % fewer"``), the time of
    a training run is its FLOPs (``"21 days"``), and neurons and connections are those of a network (``"650,000 neurons"``). ``others`` are
    further sizes to try, alone and together, as ``{"F": [27392]}``; the other published sizes of the model are tried anyway.
    The answers are ranked by simplicity, one for each term; they are empty if no short explanation was found. A claim that is right gives
    one answer with the term 0. For a layer that was built with numbers, terms contain the names of its arguments.

    Several claims are the rows of a table: ``{name: claim}`` with the names of published sizes, or a list of claims with a list of sizes in
    ``at``, or with a list of layers or costs. The answers are the terms that fit all rows. If the claims are in letters, or the layers
    differ in more than sizes, the answers are the readings that all rows share.

    Raises:
        ArgumentError: a claim that is not a number above zero, an expression, a layer or a mapping of shapes.
        UnknownNameError: an expression with a letter that the model does not have.
        SizeError: missing sizes for a claimed number, or impossible sizes.

    >>> from paramsym import A, Block, Dense, H, per
    >>> heads = (A, per(H, A))
    >>> attention = Block(query=Dense(H, heads), key=Dense(H, heads), value=Dense(H, heads), output=Dense(heads, H))
    >>> reconcile(attention, 2_387_712, at={"H": 768, "A": 12})
    +25344 = 3*H*(A - 1): the biases of query, key and value counted once per head at full width H
    >>> reconcile(attention, "2.4M", at={"H": 768, "A": 12})
    2.4M is right: 2,362,368 to 2 significant digits
    >>> bool(reconcile(attention, 2_362_369, at={"H": 768, "A": 12}))
    False
    >>> print(reconcile(attention, [2_387_712, 4_244_480], at=[{"H": 768, "A": 12}, {"H": 1024, "A": 16}])[0])
    3*H*(A - 1): the biases of query, key and value counted once per head at full width H
    >>> from paramsym import flops, load
    >>> print(reconcile(flops(load("gpt2"), (1, 1024), way="both", convention="nanogpt", per="token"), "6*N + 12*L*H*Q*T"))
    in the letters of Chowdhery et al. 2022, appendix B, with N the non-embedding (nanoGPT) parameters: 855,166,464 is right
    """
    several = rows_of(layer, claim, at)
    if several is not None:
        # Answers that are not shown for one claim, because they are too many or too far-fetched, may fit all claims.
        return together(
            [_row(name, one, said, sizes, others, letters) for name, one, said, sizes in several],
            lambda row: row.alone.answers if row.stated is None else _of_number(Subject(row.counted, others), row.stated, every=True),
        )
    return _row("", layer, claim, at, others, letters).alone


def _row(name: str, layer: Counted, claim: Any, at: Any, others: Any, letters: Lettering) -> Row:
    check_counted(layer)
    sized = named(layer if at is None else layer.at(at))
    subject = Subject(sized, others)
    if isinstance(claim, Counted):
        return Row(name, sized, _with_search(subject, against_layer(sized, named(claim))))
    if isinstance(claim, Mapping):
        return Row(name, sized, against_shapes(subject, claim))
    for compared in (neural, used_speed):
        other = compared(sized, claim)
        if other is not None:
            return Row(name, sized, other)
    shares = [] if in_letters(sized, claim) else relative(sized, subject.count, claim)
    if shares:
        alone = _clearest([_answered(subject, one.words, _of_number(subject, one, share=True)) for one in shares])
        if not alone:
            alone = replace(alone, answers=implied_speed(sized, claim, shares[0]))
        return Row(name, sized, alone, shares[0])
    formula, choices = meanings(sized, claim, letters)
    if in_letters(sized, claim):
        return Row(name, sized, _clearest([_in_letters(sized, formula, one) for one in choices]))
    read = [(one, said) for one in choices for said in in_unit_of(subject, claims.read(formula, subject.sizes, one.names))]
    right = [pair for pair in read if pair[1].stated.allows(subject.count)]
    alone = _clearest([_in_numbers(subject, said, meaning) for meaning, said in right or read])
    return Row(name, sized, alone, read[0][1].stated)


def _in_letters(sized: Counted, formula: Any, meaning: Meaning) -> Reconciliation:
    found = against_formula(sized, formula, lambda subject, stated: _of_number(subject, stated, products=False), meaning.names)
    return replace(found, answers=told(found.answers, meaning))


def _in_numbers(subject: Subject, said: Claim, meaning: Meaning) -> Reconciliation:
    found = _answered(subject, said.words, _answers(subject, said))
    return replace(found, answers=told(found.answers, meaning))


def _answered(subject: Subject, words: str, found: list[Answer]) -> Reconciliation:
    answers, undecided = told_apart(found)
    return Reconciliation(subject.name, subject.count, words, tuple(answers[:_MOST]), tuple(undecided[:_MOST]))


def _clearest(found: list[Reconciliation]) -> Reconciliation:
    """Return the first reading of a claim that is right; else the first with a reason; else with a known edit; else the first."""
    right = [one for one in found if one.answers and one[0].term == 0]
    known = [one for one in found if one.answers and one[0].readings[0].edits and one[0].known]
    return next(iter([*right, *(one for one in known if one[0].sure), *known, *found]))


def _answers(subject: Subject, said: Claim) -> list[Answer]:
    arithmetic, count = said.arithmetic, subject.count
    if (said.unit, subject.unit) == ("bytes", "parameters"):
        return of_file(subject, said.stated) or of_rounded_size(subject, said.stated)
    if arithmetic is None:
        return _of_number(subject, said.stated)
    right = [agreeing(subject, said.stated)] if said.stated is not arithmetic and said.stated.allows(count) else []
    guess = probable_form(subject, arithmetic.factors)
    if arithmetic.allows(count):
        count_of = f"which is the count of {subject.name}" if arithmetic.exact else f"which is the count {count:,}, rounded"
        words = [*spelt_out(subject, said, arithmetic, guess), count_of]
        first = agreeing(subject, arithmetic) if said.formula is not None else Answer(Integer(0), arithmetic.value - count, _read(words))
        return [first, *right]
    found = _of_number(subject, arithmetic, products=False)
    # If the number has an explanation, the arithmetic is added to it: to the answer with the same term, or, for numbers, to the simplest.
    own = said.formula if said.formula is not None else guess
    term = ((own if own is not None else Polynomial.of(arithmetic.value)) - subject.formula).as_expr()
    same = next((answer for answer in found if answer.term == term), found[0] if found and said.formula is None else None)
    words = [*spelt_out(subject, said, arithmetic, guess if same is None or same.term == term else None), f"the count is {count:,}"]
    if same is None:
        words += left_between(said.formula, subject)
        return [Answer(term, arithmetic.value - count, _read(words)), *right, *found]
    told, *further = same.readings
    told = replace(told, words=f"{'; '.join(words)}; the difference: {told.words}")
    return [replace(same, readings=(told, *further)), *right, *(answer for answer in found if answer is not same)]


def _read(words: list[str]) -> tuple[Reading, ...]:
    return (Reading("; ".join(words)),)


def _of_number(subject: Subject, stated: Stated, *, products: bool = True, every: bool = False, share: bool = False) -> list[Answer]:
    if stated.allows(subject.count):
        return [agreeing(subject, stated)]
    in_units = stated.binary is not None and stated.binary.allows(subject.count)
    thousands = subject.unit in _OF_THOUSANDS
    if in_units and stated.digits >= _TELLING:
        return [in_units_of_1024(subject, stated)]
    per_parameter = of_rounded_size(subject, stated) if subject.unit == "bytes" else []
    if per_parameter or (in_units and not thousands):
        return per_parameter or [in_units_of_1024(subject, stated)]
    searched = _search_of(subject).in_one_unit if share else _search_of(subject)
    if stated.exact:
        loose = claims.rounded(stated.value)
        if loose is not None and loose.allows(subject.count):
            return [agreeing(subject, loose)]
        hits = searched.exact(stated.value - subject.count, list(searched.roots(stated.value, stated.value)))
        found = in_words(subject, hits, stated) or (
            of_file(subject, stated) if subject.unit == "parameters" and stated.value > _FILE * subject.count else []
        )
        found = with_products(subject, found, stated.value) if products else found
        if found or loose is None:
            return found
        stated = loose
    found = [_bent(searched, stated)] if stated.bent(subject.count) else []
    hits = [*searched.within(stated), *(Hit((edit,), _RARELY) for edit in searched.roots(stated.low, stated.high))]
    if stated.bent(subject.count):
        hits = [hit for hit in hits if hit.asked or (hit.cost < _OBVIOUS and stated.allows(total_with(subject, hit)))]
    # A size that the user named is answered even if another size contradicts it.
    hits = [hit for hit in hits if hit.asked or all(impossible(subject, dict(edit.sizes)) == "" for edit in hit.edits if edit.sizes)]
    hits.sort(key=lambda hit: (not hit.known, hit.cost))
    # A rounded number is weak evidence: only the simplest answer is shown, and at most one that nobody is known to mean.
    simple = [hit for hit in hits if every or hit.asked or (hit.known and hit.cost < hits[0].cost + _AS_SIMPLE)]
    # What fits as bytes of a number without a unit may be a share of the numbers, too.
    bytes_of = {total_with(subject, hit) for hit in simple if any(edit.unit for edit in hit.edits)}
    simple = [hit for hit in hits if hit in simple or (hit.known and total_with(subject, hit) in bytes_of)]
    found += in_words(subject, [*simple, *[hit for hit in hits if not (every or hit.known)][:1]], stated)
    if found or thousands or stated.binary is None:
        return found
    return [_in_units(answer) for answer in _of_number(subject, stated.binary, share=share) if answer.known]


def _bent(searched: EditSearch, stated: Stated) -> Answer:
    """Return the answer to a claim that was cut off; of one digit, also the convention whose count rounds to it, as 2B of Gemma does."""
    answer, count = agreeing(searched.subject, stated), searched.subject.count
    usual = (edit for edit in searched.edits if edit.words.startswith("another convention") and stated.allows(count + edit.value))
    other = next(usual, None) if stated.digits == 1 else None
    if other is None:
        return answer
    return replace(answer, readings=(Reading(f"{answer.readings[0].words}; or {count + other.value:,}, rounded: {other.words}"),))


def _in_units(answer: Answer) -> Answer:
    first, *others = answer.readings
    return replace(answer, readings=(replace(first, words=f"{first.words}, in units of 1024"), *others))


def _search_of(subject: Subject) -> EditSearch:
    """Return the search, cached for the next claim about the same layer; two layers of one size may have different letters."""
    return _search(subject.layer, subject.root, tuple(subject.sizes.items()), tuple(symbols_of(subject).items()))


@cached(16)
def _search(layer: Counted, root: Counted, sizes: tuple[tuple[Symbol, Dim], ...], others: _Others) -> EditSearch:
    del root, sizes  # part of the key: equal layers may come from different letters
    subject, known = Subject(layer), dict(others)
    return EditSearch(subject, [*other_sizes(subject, known), *optional(subject)])


def _with_search(subject: Subject, compared: Reconciliation) -> Reconciliation:
    difference = compared[0].difference
    if compared[0].term == 0 or compared.counted is None or not isinstance(difference, int):
        return compared
    known = {answer.term for answer in compared}
    more = [answer for answer in _of_number(subject, exactly(compared.counted + difference)) if answer.term not in known]
    return replace(compared, answers=(*compared.answers, *more)[:_MOST])
