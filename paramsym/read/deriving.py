"""``derive`` as a user calls it: the form of a build's tensors and, for inputs in letters, of what the built module computes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import Dim, substitute, symbols_in
from paramsym.algebra.symbols import dims
from paramsym.derive.arguments import Variable
from paramsym.derive.certificate import Computation
from paramsym.derive.deadline import OutOfTime
from paramsym.derive.deriving import derived
from paramsym.derive.domain import Demand, Either
from paramsym.derive.law import Law
from paramsym.derive.modelled import Derived
from paramsym.derive.observe import Seen, is_torch
from paramsym.derive.points import Numbers
from paramsym.derive.search import Sample, Search
from paramsym.errors import ArgumentError, NoLawError, NotYetError, ParamsymError
from paramsym.naming import described
from paramsym.program.inputs import checked_axes
from paramsym.read.computed import named as class_named
from paramsym.read.derived import DerivedModule, Inputs, Read
from paramsym.read.loops import folded
from paramsym.read.merging import alike, merged
from paramsym.read.predicted import Predicted
from paramsym.read.recording import Recording
from paramsym.read.sizes import Found, Laws, spread, starts

_FRESH, _FEWEST = 32, 12
"""Fresh points that are tested, and those without which nothing was."""
_ROUNDS = 4
_TRIES = 400
_ON_A_LINE = 3
_LARGE = 256
_BASES = 4
_LARGEST = 1 << 24
"""The most parameters of a module that is built with numbers in its buffers."""
_NOT_ONE = 5
_MANY = 6
"""Copies at the points that test a law."""


def derive(
    build: Callable[..., Any],
    sizes: Mapping[str, Any] | object | None = None,
    /,
    *,
    inputs: Any = None,
    held: Mapping[str, Any] | None = None,
    seconds: float = 30.0,
    tests: int = 200,
    progress: Callable[[str], None] | None = None,
    **named: Any,
) -> Any:
    """Return the exact closed form of a build, tensor by tensor, as an ordinary layer with a ``certificate``.

    ``build`` takes sizes and returns a torch, Keras or Flax module, a tree of arrays or a mapping from names to shapes; for a build that
    returns a whole number, the closed form of that number is found. Its arguments are read from the signature, or from a configuration:
    whole numbers are sizes and become symbols of their names; for True and False both forms are found (``.stratum(bias=False)``), and
    for a size with the default 0 also the form with 0; words, lists of words or flags, floats, None and ``held`` arguments are not
    changed. Keywords, or the mapping ``sizes``, state more about an argument: another start value, a formula (``H="A*d"`` if A divides
    H), a range of values, words to try (``act=("relu", "glu")``), or lists to try (``heads=[("a",), ("a", "b")]``).

    A configuration is a dataclass, a named tuple, a namespace, a dictionary of settings, or an object or class that only holds settings.
    Alone it is the argument that the build takes first: ``derive(GPT, Config)``; a dictionary is given by the argument's name:
    ``derive(GPT, config={"width": 8})``.

    With ``inputs``, the form of a torch module also computes: ``flops``, ``activations``, ``memory`` and the other questions answer in the
    build's letters and in the inputs'. ``inputs`` is the shape of the input in letters and numbers, such as ``("B", "S")``, a list of
    shapes, or a mapping from names to shapes; the name of a size of the build is this size: ``("B", "S", "width")``. The module is
    recorded at some fifty points. The number of equal blocks may be a letter; what else the arguments change is a condition of the form.

    A law is accepted if it explains all results and none of ``tests`` fresh points refutes it, including large and equal sizes and the
    constants in the code. ``certificate`` says what was proved and what was only tested. The search ends after ``seconds``, and the one
    for the computation after as many more.

    Raises:
        NoLawError: a tensor, or a number in the computation, that no law explains, with samples; no law is guessed.
        ArgumentError: a build that fails at the start values, unknown arguments, or inputs that the module does not take.
        NotYetError: the time ended before enough tests, or a computation that cannot be read.

    >>> def mlp(width, depth):
    ...     return {f"h.{i}.weight": (width, width) for i in range(depth)} | {"out": (10, width)}
    >>> form = derive(mlp)
    >>> form.params
    depth*width**2 + 10*width
    >>> form.at(width=64, depth=3).count, form.certificate.degree
    (12928, 2)
    """
    further = None if inputs is None else partial(_with_computation, inputs=_stated(inputs))
    return derived(build, sizes, held=held, seconds=seconds, tests=tests, progress=progress, named=named, further=further)


def _stated(inputs: Any) -> Inputs:
    """Return the shapes of inputs as a user states them."""
    names: tuple[str, ...] = ()
    if isinstance(inputs, Mapping):
        names, inputs = tuple(inputs), list(inputs.values())
    several = isinstance(inputs, list | tuple) and bool(inputs) and all(isinstance(one, list | tuple) for one in inputs)
    shapes = list(inputs) if several or names or inputs == [] else [inputs]
    if not shapes or not all(isinstance(one, list | tuple) for one in shapes) or not all(isinstance(name, str) for name in names):
        own = " Values of a size of the build with this name are stated in a mapping: derive(build, {'inputs': range(1, 9)})."
        wanted = "wanted a shape such as ('B', 'S'), a list of shapes, or shapes by name."
        raise ArgumentError(f"inputs is {described(inputs)}; {wanted}{own if isinstance(inputs, range) else ''}")
    return Inputs(tuple(tuple(_size(size) for size in checked_axes(one, "inputs")) for one in shapes), names)


def _size(size: Any) -> Dim:
    if isinstance(size, str):
        from paramsym.algebra.grammar import read

        try:
            found = read(size)
        except ParamsymError as error:
            raise ArgumentError(f"a size of inputs is {error}") from None
        return substitute(found, {symbol: dims(symbol.name) for symbol in symbols_in(found)})
    if isinstance(size, bool) or not isinstance(size, int | Expr) or (isinstance(size, int) and size < 1):
        raise ArgumentError(f"a size of inputs is {described(size)}; wanted a whole number from 1 on, a letter or a formula.")
    return size


def _with_computation(search: Search, form: Derived, inputs: Inputs) -> DerivedModule:
    """Return the form with what the built module computes.

    Raises:
        ArgumentError: a build without a torch module, or inputs that it does not take.
        NotYetError: a computation that cannot be read, or the time has ended.
    """
    if not is_torch(search.builder.last):
        raise ArgumentError(f"build returned {described(search.builder.last)}; inputs= reads what a module of torch computes.")
    try:
        return _Reader(search, inputs, form).read(form)
    except OutOfTime as error:
        why = str(error) or "the time ended before the computation was read"
        raise NotYetError(f"{why}; give more time with seconds=..., or hold arguments with held={{...}}.") from None


class _Reader(Search):
    """The search for the laws of a computation: its sizes are those of the build and the letters of the inputs."""

    def __init__(self, search: Search, inputs: Inputs, form: Derived) -> None:
        self.parameters = form.params
        own = {variable.name for variable in search.domain.variables}
        stated = sorted({symbol.name for symbol in symbols_in(inputs.shapes)} - own)
        batch = next((size.name for shape in inputs.shapes for size in shape[:1] if isinstance(size, Symbol)), "")
        self.starting = list(starts(stated, batch))
        self.letters = tuple(stated)
        self.source = Read(search, inputs)
        self.recordings: dict[tuple[int, ...], Recording] = {}
        domain = replace(search.domain, variables=(*search.domain.variables, *(Variable(name, ()) for name in stated)))
        super().__init__(search.call, search.stratum, domain, time.monotonic() + search.time, search.tests, search.say, search.builder)
        self.error: ParamsymError | None = None

    @property
    def thrifty(self) -> bool:
        """A pass is much slower than a build, so each decides something."""
        return True

    def see(self, numbers: Numbers | None) -> Sample | None:
        """Return the result at a point; None for an impossible or refused point, and for a module that fills the memory."""
        return None if numbers is None or self._large(numbers) else super().see(numbers)

    def _large(self, numbers: Numbers) -> bool:
        put = {symbol: Integer(numbers[symbol.name]) for symbol in symbols_in((self.parameters,))}
        return int(substitute(self.parameters, put)) > _LARGEST

    def _built(self, numbers: Numbers) -> tuple[Seen, ...]:
        """Record the module; every operator counts as one result."""
        began = time.monotonic()
        try:
            recording = self.source.at(numbers)
        except ArgumentError as error:
            self.error = error
            raise ValueError(str(error)) from None  # these sizes are refused
        except ParamsymError as error:
            self.error = error
            raise
        self.took.append(time.monotonic() - began)
        self.recordings[self._key_of_arguments(numbers)] = recording
        return tuple(Seen(str(number), ()) for number, _ in enumerate(recording.top.steps()))

    def recorded(self, numbers: Numbers) -> Recording:
        """Return the recording at a point.

        Raises:
            ArgumentError: sizes that the module does not take.
        """
        if self.see(numbers) is None:
            raise ArgumentError(str(self.error or "the module takes none of these sizes, or would fill the memory."))
        return self.recordings[self._key_of_arguments(numbers)]

    def folded(self, numbers: Numbers) -> Recording:
        """Return the recording at a point with equal blocks as one."""
        return folded(self.recorded(numbers))

    def read(self, form: Derived) -> DerivedModule:
        """Return the form that computes.

        Raises:
            ArgumentError: inputs that the module does not take.
            NotYetError: a computation that cannot be read.
            NoLawError: a number that no law explains.
        """
        self.say("computation")
        self._start()
        self._learn_domain()
        at, recordings = self._points()
        free, symbols = self.domain.coordinates, self.domain.symbols()
        for _ in range(_ROUNDS):
            laws = Laws(Found(symbols, free, tuple(at), merged(recordings)))
            kind = class_named(DerivedModule, self.source.kind)
            found = kind(form.model, form.sizes_taken, form.demands, form.certificate, form.follows, self.source.of(laws, form))
            found.check()
            wrong, tested = self._compared(Predicted(laws))
            if not wrong:
                return found.certified(self._computation(laws, tested), self._conditions())
            odd = [numbers for numbers, one in wrong if not alike(recordings[0], folded(one))]
            if odd and not self._left_out(odd, [*at, *tested], recordings[0]):
                raise NotYetError(f"the module has other operators at {_where(odd[0])}, and no condition explains where; hold an argument.")
            for numbers, one in wrong:
                if numbers not in odd:
                    at.append(numbers)
                    recordings.append(folded(one))
        raise NoLawError("fresh points refuted the laws of the computation too often; no formula is guessed.")

    def _start(self) -> None:
        """Begin at the build's start values, and the first sizes of the inputs that the module takes.

        Raises:
            ParamsymError: the module takes none.
        """
        errors: list[ParamsymError] = []
        for letters in self.starting:
            variables = tuple(replace(one, start=letters.get(one.name, one.start)) for one in self.domain.variables)
            self.domain = replace(self.domain, variables=variables)
            if self.see(self.domain.numbers(self.domain.start())) is not None:
                self.refused.clear()
                return
            errors += [self.error] if self.error is not None else []
        raise errors[0] if errors else ArgumentError("the build's start values are not among its sizes.")

    def _points(self) -> tuple[list[Numbers], list[Recording]]:
        """Return points that show the laws, and the folded recordings at these."""
        start = self.domain.numbers(self.domain.start())
        bases = [*islice(self._bases(), _BASES), *([] if start is None else [start])]
        refused: ParamsymError | None = None
        for first in range(len(bases)):
            try:
                at, recordings = spread(self.folded, self.domain.coordinates, bases[first:], self._moved, self.domain.counters, _ON_A_LINE)
            except ArgumentError as error:
                # What was refused before may be a condition now, so that it is not tried again.
                before = "" if self.error is None or str(self.error) in str(error) else f" At others: {self.error}"
                raise refused or ArgumentError(f"{error}{before}") from None
            except NotYetError as error:  # two sizes may be equal by chance
                refused = refused or error
            else:
                return list(at), recordings
        raise refused or self.error or ArgumentError("no sizes were found that the module takes.")

    def _moved(self, numbers: Numbers, name: str, value: int) -> Numbers | None:
        return self.domain.moved(numbers, **{name: value})

    # Testing ---------------------------------------------------------------------------------------------------------------------

    def _fresh(self) -> Iterator[Numbers]:
        """Yield fresh points: large and small sizes, equal ones, and ones."""
        names = self.domain.coordinates
        for number in range(_TRIES):
            point = self.domain.random(self.chance, (24, 8, 64, _LARGE)[number % 4], count=_MANY)
            if point is not None and number % 3 == 0:
                one, other = self.chance.choice(names), self.chance.choice(names)
                point = self.domain.moved(point, **{one: min(_MANY, point[other]) if one in self.domain.counters else point[other]})
            if point is not None:
                yield point

    def _compared(self, predicted: Predicted) -> tuple[list[tuple[Numbers, Recording]], list[Numbers]]:
        """Return the fresh points at which the module computes something else, and those at which it computes what the laws say."""
        wrong: list[tuple[Numbers, Recording]] = []
        tested: list[Numbers] = []
        half = (time.monotonic() + self.until) / 2
        for numbers in self._fresh():
            if len(tested) >= _FRESH or len(wrong) > 3 or (time.monotonic() > half and len(tested) >= _FEWEST):
                break
            new = self._key_of_arguments(numbers) not in self.recordings
            if not new or self.see(numbers) is None:
                continue
            one = self.recordings[self._key_of_arguments(numbers)]
            if predicted.agrees(numbers, one):
                tested.append(numbers)
            else:
                wrong.append((numbers, one))
        if len(tested) < _FEWEST and not wrong:
            raise NotYetError(f"the module took only {len(tested)} of the fresh sizes that were tried; state which sizes it takes.")
        return wrong, tested

    def _left_out(self, odd: Sequence[Numbers], others: Sequence[Numbers], usual: Recording) -> bool:
        """Add conditions that exclude the points with another computation, and keep all other points; False if none do."""
        left = list(odd)
        while left:
            ones = self._ones(left[0], usual)
            limits = self._limits() if ones is None else [ones]
            group = left if ones is None else left[:1]
            demand = next((one for one in limits if not any(map(one.holds, group)) and all(map(one.holds, others))), None)
            if demand is None:
                return False
            self.domain.demands.append(demand)
            left = [point for point in left if demand.holds(point)]
        return True

    def _ones(self, odd: Numbers, usual: Recording) -> Demand | Either | None:
        """Return the condition that certain sizes are not all 1, if the module computes as usual when any of these is larger."""
        needed: list[str] = []
        point = odd
        # Numbers of copies first: one copy alone is not a loop, so it looks odd beside the usual recording.
        for name in sorted((name for name in self.domain.coordinates if odd[name] == 1), key=lambda name: name not in self.domain.counters):
            larger = self.domain.moved(point, **{name: _NOT_ONE})
            if larger is not None and self.see(larger) is not None and not alike(usual, self.folded(larger)):
                point = larger  # the module is odd for another reason
            else:
                needed.append(name)
        not_one = tuple(Demand("at most", Law.constant(2), Law.of(name)) for name in needed)
        return Either(not_one) if len(not_one) > 1 else next(iter(not_one), None)

    def _conditions(self) -> tuple[Demand | Either, ...]:
        """Return the conditions under which the module computes what was read."""
        divide = []
        for name, formula in self.domain.formulas.items():
            times, added = formula.sides()
            if formula.fresh:
                divide.append(Demand("divides", times, Law.of(name).plus(added, -1)))
        return (*divide, *self.domain.demands)

    def _computation(self, laws: Laws, tested: Sequence[Numbers]) -> Computation:
        names = [variable.name for variable in self.domain.variables]
        return Computation(
            operators=sum(1 for _ in laws.found.merged.top.steps()),
            laws=tuple(dict.fromkeys(map(str, laws.searched))),
            traces=len(self.recordings),
            fresh=len(tested),
            magnitudes={name: (min(point[name] for point in tested), max(point[name] for point in tested)) for name in names},
            demands=tuple(map(str, self._conditions())),
            refused=len(self.refused),
        )


def _where(numbers: Numbers) -> str:
    return ", ".join(f"{name}={number}" for name, number in numbers.items())
