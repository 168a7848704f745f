"""Sizes: their check, exact quotients, labelled concatenations, and stacks of which a token uses some slices.

A *size* is a positive int or a SymPy expression in whole-number symbols. An *axis* of a tensor is a size, or a tuple of factors whose
product it is, as parentheses in einops: ``((A, per(H, A)), H)`` has H**2 entries and still shows where A went.

The file is long because quotients, concatenations and stacks are sizes themselves, and are checked as such.
"""

from __future__ import annotations

import operator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, cast

from sympy import Expr, Function, Integer, Max, Rational, S, Symbol
from sympy.printing.str import StrPrinter

from paramsym.algebra.polynomial import ROUNDED, Polynomial, is_nonnegative
from paramsym.errors import DivisibilityError, ParamsymError, SizeError
from paramsym.naming import described, digits, short

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Iterable, Mapping

Dim: TypeAlias = Annotated[int | Expr, "size"]
"""The annotation of a field for a size: at least one."""
Count: TypeAlias = Annotated[int | Expr, "count"]
"""The annotation of a field for a number of copies, a padding or a cut-off: at least zero."""
_SIMPLE = (int, Symbol)
T = TypeVar("T")
Shape: TypeAlias = tuple[int | Expr | None, ...]
"""The shape of an input or an output; None is an unknown extent, as in Keras."""


@dataclass(frozen=True)
class Condition:
    """A condition between two sizes: ``small`` divides ``large``, is at most as large, is equal to it, or differs from it.

    ``names`` are the names of the two in errors; empty if they have none.
    """

    kind: Literal["divides", "at most", "equal", "differ"]
    small: Dim
    large: Dim
    names: tuple[str, str] = field(default=("", ""), compare=False, repr=False)


_asked: ContextVar[dict[Condition, Condition] | None] = ContextVar("_asked", default=None)


@contextmanager
def conditions_asked() -> Generator[dict[Condition, Condition], None, None]:
    """Collect the conditions on symbolic sizes inside the block: those of every check, of ``per`` and of ``at_most``, each once.

    >>> from paramsym import A, H
    >>> with conditions_asked() as asked:
    ...     _ = per(H, A)
    >>> [*asked][-1]
    Condition(kind='divides', small=A, large=H)
    """
    found: dict[Condition, Condition] = {}
    token = _asked.set(found)
    try:
        yield found
    finally:
        _asked.reset(token)


def conditions_are_asked() -> bool:
    """Whether conditions are being collected."""
    return _asked.get() is not None


def recalled(known: dict[Any, Any], question: Hashable, answer: Callable[[], T]) -> T:
    """Return the answer to a question from a cache, or find it and keep it.

    While conditions are collected, the conditions that the answer asked for are kept with it, and asked for again each time.
    """
    asked, place = _asked.get(), (question, "with conditions")
    if asked is None:
        if question not in known:
            known[question] = known[place][0] if place in known else answer()
        return cast("T", known[question])
    if place not in known:
        with conditions_asked() as inside:
            value = answer()
        known[place] = (value, inside)
    value, inside = known[place]
    for one in inside.values():
        add_condition(asked, one)
    return cast("T", value)


def add_condition(asked: dict[Condition, Condition], one: Condition) -> None:
    """Add a condition to those that are collected; of equal ones, the first with names stays."""
    if not any(asked.setdefault(one, one).names):
        asked[one] = one


def _ask(kind: Literal["divides", "at most", "equal", "differ"], small: Dim, large: Dim, names: tuple[str, str] = ("", "")) -> None:
    asked = _asked.get()
    if asked is not None and (kind == "differ" or small != large):  # a size divides itself
        add_condition(asked, Condition(kind, small, large, names))


MAX_BITS = 4096  # more than any architecture needs, and few enough to print every product of axes
_PLAIN = 1 << 63  # nearly every size is an int below this, and needs no further check
_INERT = (int, float, str, type(None))  # types without symbols; a tuple, because a union would be made again at every call


def size(value: object, where: str = "a size") -> Dim:
    """Return a size as a plain int or expression, or raise.

    Raises:
        SizeError: a float, a bool, a string, zero, a negative number, or an expression that cannot be a positive integer.

    >>> size(768), size(Integer(768))
    (768, 768)
    """
    return _gate(value, where, least=1)


def count(value: object, where: str = "a number of copies") -> Count:
    """Return a number of copies, which may be zero, as a plain int or expression, or raise ``SizeError``."""
    return _gate(value, where, least=0)


def _gate(value: object, where: str, least: int) -> Dim:
    if type(value) is int and least <= value < _PLAIN:
        return value
    if isinstance(value, Symbol):
        if value.is_integer is False or value.is_positive is False or value.is_commutative is False:
            raise SizeError(f"{where} is {value}, a symbol that cannot be a positive integer; take one from dims().")
        _ask("at most", least, value, ("", where))
        return value
    if isinstance(value, Expr) and not value.is_Number:
        _check_expression(value, where)
        _ask("at most", least, value, ("", where))
        return value
    if isinstance(value, Integer):
        value = int(value)
    number = None if isinstance(value, bool) else _as_int(value)
    if number is None:
        kind = "size" if least else "count"
        wanted = f"a {kind} is a {'positive' if least else 'non-negative'} int or an expression in symbols from dims()"
        hint = " For an exact quotient write per(a, b)." if isinstance(value, float | Rational) else ""
        hint = f" A letter is a symbol, dims({value!r})." if isinstance(value, str) and value.isidentifier() and len(value) < 20 else hint
        shown = described(value) if not isinstance(value, Rational) else f"{short(value)}, not a whole number"
        raise SizeError(f"{where} is {short(shown)}; {wanted}.{hint}")
    if number.bit_length() > MAX_BITS:
        raise SizeError(f"{where} has {number.bit_length()} bits; no size has more than {MAX_BITS}.")
    if number < least:
        raise SizeError(f"{where} is {number}; wanted {'a positive whole number' if least else 'zero or more'}.")
    return number


def _as_int(value: object) -> int | None:
    """Return a whole number of any type as an int, as Python does for an index; None for anything else."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


@lru_cache(maxsize=1 << 12)
def _expression_fault(value: Expr) -> str:
    """Return why an expression cannot be a size; empty if it can."""
    try:
        polynomial = Polynomial.of(value)
    except SizeError as error:
        return str(error)
    longest = max(side.bit_length() for c in polynomial.terms.values() for side in (c.numerator, c.denominator)) if polynomial else 0
    if longest > MAX_BITS:
        return f"it has a number of {longest} bits; no size has more than {MAX_BITS}."
    if is_nonnegative(-polynomial):
        return f"{short(value)} is never positive."
    for symbol in value.free_symbols:
        if symbol.is_integer is False or symbol.is_positive is False or symbol.is_commutative is False:
            return f"{symbol} cannot be a positive integer; take symbols from dims()."
    return ""


def _check_expression(value: Expr, where: str) -> None:
    try:
        fault = _expression_fault(value)
    except RecursionError:
        fault = "it is nested too deeply."
    if fault:
        raise SizeError(f"{where} cannot be a size: {fault}")


def _indivisible(dividend: int, divisor: int, dividend_name: str = "", divisor_name: str = "") -> DivisibilityError:
    above, below, quotient, remainder = map(digits, (dividend, divisor, *divmod(dividend, divisor)))
    words = f"{dividend_name}{above} is not divisible by {divisor_name}{below} ({above} = {quotient}*{below} + {remainder})."
    error = DivisibilityError(words)
    error.dividend, error.divisor = dividend, divisor
    return error


class per(Function):  # noqa: N801 - reads as a word in formulas, like SymPy's floor
    """An exact quotient a/b, which must be a positive integer when numbers are put in.

    It stays exact inside sums and products. Derivatives and counts treat it as the quotient.

    Raises:
        DivisibilityError: when both are numbers and b does not divide a.

    >>> from paramsym import A, H
    >>> per(768, 12), per(A*H, A), per(H, A) + 1
    (64, H, per(H, A) + 1)
    >>> per(H, A).xreplace({H: Integer(786), A: Integer(12)})
    Traceback (most recent call last):
        ...
    paramsym.errors.DivisibilityError: 786 is not divisible by 12 (786 = 65*12 + 6).
    """

    nargs = 2
    is_integer = True
    is_positive = True

    def __new__(cls, numerator: Dim, denominator: Dim, **options: Any) -> Expr:
        """Check both sides before SymPy gets them: SymPy would evaluate a string."""
        sides = (size(numerator, "per(): the numerator"), size(denominator, "per(): the denominator"))
        _ask("divides", sides[1], sides[0])
        return cast("Expr", super().__new__(cls, *(Integer(side) if isinstance(side, int) else side for side in sides), **options))

    @classmethod
    def eval(cls, numerator: Expr, denominator: Expr) -> Expr | None:  # pyright: ignore[reportIncompatibleMethodOverride] - per has two arguments
        """Simplify if the quotient is already a size."""
        if isinstance(numerator, Integer) and isinstance(denominator, Integer):
            quotient, remainder = divmod(int(numerator), int(denominator))
            if remainder:
                raise _indivisible(int(numerator), int(denominator))
            return Integer(quotient)
        ratio = Polynomial.of(numerator) * Polynomial.of(denominator).inverse()
        whole = all(isinstance(c, int) and all(e > 0 for _, e in monomial) for monomial, c in ratio.terms.items())
        return ratio.as_expr() if whole else None

    def as_quotient(self) -> tuple[Expr, Expr]:
        """Return numerator and denominator."""
        numerator, denominator = cast("tuple[Expr, Expr]", self.args)
        return numerator, denominator

    def doit(self, **hints: object) -> Expr:
        """Return the plain quotient."""
        del hints
        numerator, denominator = self.as_quotient()
        return numerator / denominator

    def fdiff(self, argindex: int = 1) -> Expr:
        """Differentiate as a quotient."""
        numerator, denominator = self.as_quotient()
        return 1 / denominator if argindex == 1 else -numerator / denominator**2

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        quotient = str(printer._print(self.doit()))
        return quotient if exp is None else rf"\left({quotient}\right)^{{{exp}}}"


def with_quotients(value: Expr) -> Expr:
    """Return an expression with every exact quotient as a fraction, and nothing else changed.

    SymPy's ``doit`` would also simplify floors, minima and maxima, and would treat a number of copies, which may be 0, as positive.

    >>> from sympy import Max
    >>> from paramsym import A, H, L
    >>> with_quotients(2 * per(H, A) * Max(1, L, evaluate=False))
    2*H*Max(1, L)/A
    """
    if isinstance(value, per):
        above, below = map(with_quotients, value.as_quotient())
        return above / below
    if not value.has(per):
        return value
    arguments = [with_quotients(cast("Expr", argument)) for argument in value.args]
    if isinstance(value, ROUNDED):
        return cast("Expr", value.func(*arguments, evaluate=False))
    return value.func(*arguments)


@dataclass(frozen=True, init=False, repr=False)
class cat:  # noqa: N801 - reads as a word in shapes
    """A labelled concatenation along one axis: one stored tensor, one ledger line per segment.

    A segment is a size or a tuple of factors.

    >>> from paramsym import A, G
    >>> cat(query=A, key=G, value=G).size
    A + 2*G
    """

    segments: tuple[tuple[str, tuple[Dim, ...]], ...]

    def __init__(self, /, **segments: Dim | tuple[Dim, ...]) -> None:
        if not segments:
            raise SizeError("cat() needs at least one labelled segment, as in cat(query=A, key=G, value=G).")
        checked = tuple(
            (label, tuple(size(factor, f"cat(): segment {label}") for factor in (value if isinstance(value, tuple) else (value,))))
            for label, value in segments.items()
        )
        object.__setattr__(self, "segments", checked)

    @property
    def size(self) -> Dim:
        """The sum of the segments."""
        return _plain(Polynomial.total(Polynomial.product(factors) for _, factors in self.segments))

    def __repr__(self) -> str:
        return f"cat({', '.join(f'{label}={text(factors[0] if len(factors) == 1 else factors)}' for label, factors in self.segments)})"


@dataclass(frozen=True)
class stack:  # noqa: N801 - reads as a word in shapes
    """An axis with ``stored`` slices, of which one token uses ``used``: experts in one tensor.

    >>> from paramsym import E, K
    >>> stack(E, used=K).size
    E
    """

    stored: Dim
    used: Dim

    def __post_init__(self) -> None:
        object.__setattr__(self, "stored", size(self.stored, "stack(): stored"))
        object.__setattr__(self, "used", size(self.used, "stack(): used"))
        at_most(self.used, self.stored, "stack(): used", "stored")

    @property
    def size(self) -> Dim:
        """The number of stored slices."""
        return self.stored

    def __repr__(self) -> str:
        return f"stack({text(self.stored)}, used={text(self.used)})"


_JOINED = (cat, stack)  # a tuple, because a union would be made again at every call
Factor: TypeAlias = int | Expr | cat | stack
Axis: TypeAlias = Factor | tuple[Factor, ...]
Width: TypeAlias = Annotated[int | Expr | cat | stack | tuple[int | Expr | cat | stack, ...], "axis"]
"""The annotation of a field for a size that may be given as factors: ``H``, or ``(A, per(H, A))``, or ``(cat(query=A, key=G), D)``."""


def axis(value: object, where: str = "an axis") -> Axis:
    """Return a size, or a tuple of factors whose product is one, checked; raise ``SizeError`` otherwise."""
    if (type(value) is int and 0 < value < _PLAIN) or isinstance(value, _JOINED):
        return value
    if isinstance(value, tuple | list):
        if not value:
            raise SizeError(f"{where} is an empty tuple; a composite axis has at least one factor.")
        checked = tuple([factor if isinstance(factor, _JOINED) else size(factor, where) for factor in value])
        unchanged = type(value) is tuple and all(map(operator.is_, value, checked))
        return cast("Axis", value) if unchanged else checked
    return size(value, where)


def within(small: Count, large: Count) -> bool:
    """Require a size to be at most as large as another, and return whether it can be; symbols are checked when numbers are put in.

    >>> from paramsym import E
    >>> within(2, E), within(2, 8), within(9, 8)
    (True, True, False)
    """
    _ask("at most", canonical(small), canonical(large))
    room = _difference(large, small)
    return not (isinstance(room, int) and room < 0)


@lru_cache(maxsize=1 << 10)
def _difference(one: Count, other: Count) -> Count:
    return canonical(one - other)


def at_most(small: Dim, large: Dim, small_name: str, large_name: str) -> None:
    """Raise ``SizeError`` if a number is above its limit; symbols are checked when numbers are put in."""
    small, large = count(small, small_name), count(large, large_name)
    _ask("at most", canonical(small), canonical(large), (small_name, large_name))
    if not within(small, large):
        raise SizeError(f"{small_name} {small} is more than {large_name} {large}.")


def equal(one: Dim, other: Dim) -> bool:
    """Require two sizes to be equal, and return whether they can be; symbols are checked when numbers are put in.

    >>> from paramsym import H
    >>> equal(H, 768), equal(512, 768)
    (True, False)
    """
    one, other = canonical(one), canonical(other)
    _ask("equal", one, other)
    return one == other or not (isinstance(one, int) and isinstance(other, int))


def same(one: Dim, other: Dim) -> bool:
    """Return whether two sizes are known to be equal. If not, the layer is built for different sizes, and requires them to differ.

    >>> from paramsym import E, H
    >>> same(H, H), same(E, H), same(512, 768)
    (True, False, False)
    """
    one, other = canonical(one), canonical(other)
    if one != other and not (isinstance(one, int) and isinstance(other, int)):
        _ask("differ", one, other)
    return one == other


def reaches(one: Count, other: Count) -> bool:
    """Return whether a size is at least as large as another. Symbols are taken for large enough, and required to be.

    >>> from paramsym import S
    >>> reaches(128, 64), reaches(32, 64), reaches(S, 64)
    (True, False, True)
    """
    room = _difference(one, other)
    if isinstance(room, int):
        return room >= 0
    least = canonical(other - 1)
    same(_larger(one, least), least)
    return True


@lru_cache(maxsize=1 << 8)
def _larger(one: Count, other: Count) -> Count:
    return canonical(Max(one, other))


def divides(divisor: Dim, dividend: Dim, divisor_name: str, dividend_name: str) -> Dim:
    """Return the exact quotient ``per(dividend, divisor)``, naming both sides in the error.

    Raises:
        DivisibilityError: two numbers whose quotient is not whole.
        SizeError: a divisor that is not a size, such as 0.
    """
    if isinstance(divisor, int) and isinstance(dividend, int):
        quotient, remainder = divmod(dividend, size(divisor, divisor_name))
        if remainder:
            raise _indivisible(dividend, divisor, f"{dividend_name} ", f"{divisor_name} ")
        return quotient
    _ask("divides", size(divisor, divisor_name), size(dividend, dividend_name), (divisor_name, dividend_name))
    quotient = per(dividend, divisor)
    return int(quotient) if isinstance(quotient, Integer) else quotient


def factors_of(axis: Axis) -> tuple[Factor, ...]:
    """Return the factors of an axis, composite or not."""
    return axis if isinstance(axis, tuple) else (axis,)


def extent(axis: Axis) -> Dim:
    """Return the size of an axis as an int or a canonical expression."""
    return axis if isinstance(axis, _SIMPLE) else _extent(axis)


@lru_cache(maxsize=1 << 12)
def _extent(axis: Axis) -> Dim:
    return _plain(Polynomial.product(factor.size if isinstance(factor, cat | stack) else factor for factor in factors_of(axis)))


def _plain(polynomial: Polynomial) -> Dim:
    constant = polynomial.constant
    return constant if isinstance(constant, int) else polynomial.as_expr()


def canonical(value: Dim) -> Dim:
    """Return a size in its canonical form: an int, or an expanded expression."""
    if isinstance(value, _SIMPLE):
        return value
    return _canonical(value) if isinstance(value, Expr) else _plain(Polynomial.of(value))


@lru_cache(maxsize=1 << 12)
def _canonical(value: Expr) -> Dim:
    return _plain(Polynomial.of(value))


def product(extents: Iterable[Count | None]) -> Count:
    """Multiply extents.

    Raises:
        SizeError: an unknown extent.

    >>> from paramsym import H, W
    >>> product((2, 3)), product((H, W, 2)), product(())
    (6, 2*H*W, 1)
    """
    listed = tuple(extents)
    known = [extent for extent in listed if extent is not None]
    if len(known) < len(listed):
        raise SizeError(f"the product of {listed} is not known; give a size or a symbol instead of None.")
    return _plain(Polynomial.product(known))


def expressions(sizes: Mapping[Symbol, Dim]) -> dict[Symbol, Expr]:
    """Return sizes as ``substitute`` takes them."""
    return {symbol: Integer(size) if isinstance(size, int) else size for symbol, size in sizes.items()}


def dim(value: Expr) -> Dim:
    """Return an expression as a size: a whole number is an int."""
    return int(value) if isinstance(value, Integer) else value


def substitute(value: Any, mapping: Mapping[Symbol, Expr]) -> Any:
    """Replace symbols by sizes, all at once, inside sizes, axes, tuples and values with a method ``substituted``."""
    if isinstance(value, _INERT):
        return value
    if isinstance(value, Expr):
        return _placed(value, mapping)
    if isinstance(value, tuple):
        return tuple(substitute(item, mapping) for item in value)
    if isinstance(value, cat):
        return cat(**dict(substitute(value.segments, mapping)))
    if isinstance(value, stack):
        return stack(substitute(value.stored, mapping), substitute(value.used, mapping))
    inner = getattr(value, "substituted", None)
    return value if inner is None else inner(mapping)


@lru_cache(maxsize=1 << 12)
def _compares(value: Expr) -> bool:
    return value.has(*ROUNDED)


def _unfolded(value: Expr, mapping: Mapping[Symbol, Expr]) -> Expr:
    """Put sizes in, and keep every Max, Min, Mod, floor and ceiling that still contains a symbol.

    SymPy relies on positive symbols: it simplifies Min(3, L + 2) to 3, but the value is 2 for zero copies, L = 0. It also treats some
    fractions, such as 2**L/6, as whole numbers.
    """
    if isinstance(value, Symbol):
        return mapping.get(value, value)
    if not value.args:
        return value
    arguments = [_unfolded(cast("Expr", argument), mapping) for argument in value.args]
    if isinstance(value, ROUNDED):
        if any(argument.has(S.NaN, S.ComplexInfinity) for argument in arguments):
            return S.NaN
        return cast("Expr", value.func(*arguments, evaluate=all(argument.is_Number for argument in arguments)))
    return value.func(*arguments)


def _placed(value: Expr, mapping: Mapping[Symbol, Expr]) -> Dim:
    try:
        result = _unfolded(value, mapping) if _compares(value) else cast("Expr", value.xreplace(dict(mapping)))
        if result is not S.ComplexInfinity and result is not S.NaN:
            return int(result) if isinstance(result, Integer) else result
    except ParamsymError:
        raise
    except (ArithmeticError, TypeError, ValueError, RecursionError):  # raised by SymPy, for example for Mod(H, 0) or Max(H, H/0)
        pass
    where = ", ".join(f"{symbol}={text(size)}" for symbol, size in mapping.items() if symbol in value.free_symbols)
    raise SizeError(f"{short(text(value))} has no value at {short(where)}: a quotient by zero is not a size.")


def symbols_in(value: object) -> set[Symbol]:
    """Return the free symbols anywhere inside a field's value."""
    found: set[Symbol] = set()
    _collect((value,), found)
    return found


def _collect(value: object, found: set[Symbol]) -> None:
    if isinstance(value, tuple):
        for item in value:
            if not isinstance(item, _INERT):  # most values; testing it here saves a call
                _collect(item, found)
    elif isinstance(value, Symbol):
        found.add(value)
    elif isinstance(value, Expr):
        found.update(cast("set[Symbol]", value.free_symbols))
    elif isinstance(value, cat):
        _collect(value.segments, found)
    elif isinstance(value, stack):
        _collect((value.stored, value.used), found)
    elif not isinstance(value, type):  # a class has the methods, but no symbols
        found.update(getattr(value, "symbols", ()))


class _Readable(StrPrinter):
    """Write expressions as Python source of the same value: no 1/2, which would be a float."""

    def _print_Rational(self, expr: Rational) -> str:  # noqa: N802 - SymPy dispatches on this name
        return f"Rational({expr.p}, {expr.q})"

    def _print_Half(self, expr: Rational) -> str:  # noqa: N802 - SymPy dispatches on this name
        return self._print_Rational(expr)

    def _print_Mul(self, expr: Expr) -> str:  # noqa: N802 - SymPy dispatches on this name
        coefficient, rest = expr.as_coeff_Mul()
        if isinstance(coefficient, Rational) and not isinstance(coefficient, Integer):
            return f"{self._print_Rational(coefficient)}*{self.parenthesize(rest, 50)}"
        return str(super()._print_Mul(expr))


def shown(value: object) -> str:
    """Return a size or a shape as text for readers, with the terms in the order of papers; ``text`` returns Python source.

    >>> from paramsym import A, H
    >>> shown((canonical(per(H, A) / 2), per(H, A), None))
    '(H/(2*A), H/A, None)'
    """
    if isinstance(value, tuple):
        return f"({', '.join(shown(item) for item in value)}{',' if len(value) == 1 else ''})"
    size = canonical(value) if isinstance(value, per) else value
    return _in_letters(size) if isinstance(size, Expr) else str(size)


def _in_letters(value: Expr) -> str:
    """Write an expression in the order of papers; what writes is imported by the first text, because a count needs none."""
    from paramsym.algebra.letters import USUAL
    from paramsym.render import plain

    return plain.expression(value, USUAL)


def text(value: object) -> str:
    """Return the source form of a field's value: ``eval(text(x)) == x`` with the letters in scope."""
    if isinstance(value, Expr):
        return str(_Readable().doprint(value))
    if isinstance(value, tuple):
        return f"({', '.join(text(item) for item in value)}{',' if len(value) == 1 else ''})"
    return repr(value)
