"""Claims with arithmetic of their own: 12*768*12 = 110M. What it gives, its probable form in letters, and products of sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from math import prod

from sympy import Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.analysis.claim import Claim, Stated
from paramsym.analysis.reconcile.answers import Answer, Reading
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import written

_FACTORS = 5  # the most sizes in a product that is claimed as a count


def spelt_out(subject: Subject, said: Claim, arithmetic: Stated, guess: Polynomial | None) -> list[str]:
    """Describe the claim's own arithmetic; ``guess`` is its probable form in letters."""
    parts = [f"{arithmetic.words} = {arithmetic.value:,}"]
    if said.stated is not arithmetic and said.stated.value != arithmetic.value and not said.stated.allows(arithmetic.value):
        parts.append(f"not {said.stated.words}{_times_off(said.stated.value, arithmetic.value)}")
    if guess is not None:
        parts.append(f"as a formula it is {written(guess.as_expr())}")
    for factor in arithmetic.factors:
        meant = _run_together(subject, factor)
        if meant:
            rest = [other for other in arithmetic.factors if other != factor]
            value = prod([*meant, *rest])
            parts.append(f"{factor} looks like {'*'.join(map(str, meant))} run together; {'*'.join(map(str, [*meant, *rest]))} = {value:,}")
    return parts


def left_between(formula: Polynomial | None, subject: Subject) -> list[str]:
    """Say what a formula leaves out, or has more, if it differs in one direction."""
    gap = Polynomial.of(0) if formula is None else formula - subject.formula
    signs = {number > 0 for number in gap.terms.values()}
    if len(signs) != 1:
        return []
    return [f"it leaves out {written((-gap).as_expr())}" if signs == {False} else f"it has {written(gap.as_expr())} more"]


def _times_off(claimed: int, value: int) -> str:
    ratio = claimed / value if value else 0.0
    return f", {ratio:,.0f} times less" if ratio >= 2 else f", {1 / ratio:,.0f} times more" if 0 < ratio <= 0.5 else ""


def probable_form(subject: Subject, factors: tuple[int, ...]) -> Polynomial | None:
    """Read the factors of a product as sizes: 12*768*12 is L*H*A. Equal sizes are used in turn."""
    meant: list[Dim] = []
    taken: Counter[int] = Counter()
    for factor in factors:
        letters = sorted((s for s, size in subject.sizes.items() if size == factor), key=lambda s: s.name, reverse=True)
        meant.append(letters[taken[factor] % len(letters)] if letters else factor)
        taken[factor] += 1
    return Polynomial.product(meant) if sum(isinstance(one, Symbol) for one in meant) > 1 else None


def _run_together(subject: Subject, number: int) -> tuple[int, ...]:
    """Split the digits of a number into sizes if a formatter removed the asterisks: 12768768 is 12, 768, 768."""
    sizes = sorted({str(size) for size in subject.whole.values() if size > 9}, key=len, reverse=True)

    def split(digits: str) -> tuple[int, ...]:
        if not digits:
            return ()
        for size in sizes:
            if digits.startswith(size):
                rest = split(digits[len(size) :])
                if rest or digits == size:
                    return (int(size), *rest)
        return ()

    found = split(str(number)) if len(str(number)) <= 40 else ()
    return found if len(found) > 1 else ()


def with_products(subject: Subject, found: list[Answer], value: int) -> list[Answer]:
    """Add the products of sizes that an exact claim is equal to: of those in the formula, and of others that are as large (A = L = 12).

    Beside another reason, a product is a coincidence, unless it has the same term.
    """
    used = {*subject.used.values()}
    sizes = {symbol: size for symbol, size in subject.whole.items() if size > 1 and size in used}
    products: dict[tuple[int, ...], tuple[Symbol, ...]] = {}
    for letters in _product_letters(sizes, value):
        numbers = tuple(sorted(sizes[letter] for letter in letters))
        if len(set(letters)) > len(set(products.get(numbers, ()))):
            products[numbers] = letters
    known = {answer.term: position for position, answer in enumerate(found)}
    for letters in list(products.values())[:2]:
        product = Polynomial.product(letters)
        term = (product - subject.formula).as_expr()
        reading = Reading(f"the claim is the product {written(product.as_expr())} of sizes")
        if term in known:
            answer = found[known[term]]
            found[known[term]] = replace(answer, readings=(*answer.readings, reading))
        elif not any(answer.known for answer in found):
            found.append(Answer(term, value - subject.count, (reading,)))
    return found


def _product_letters(sizes: dict[Symbol, int], value: int) -> Iterator[tuple[Symbol, ...]]:
    dividing = sorted((symbol for symbol, size in sizes.items() if value % size == 0), key=lambda s: s.name)
    for length in range(3, _FACTORS):
        for letters in combinations_with_replacement(dividing, length):
            if prod(sizes[letter] for letter in letters) == value and len({sizes[letter] for letter in letters}) > 1:
                yield letters
