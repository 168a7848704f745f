"""A program: operations in order on numbered values, with programs inside programs for parts, repeats, scans and routed copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from paramsym.algebra.size import shown
from paramsym.program.types import ArrayType, flat

if TYPE_CHECKING:
    from paramsym.algebra.numbering import Numbers
    from paramsym.algebra.size import Count, Dim
    from paramsym.program.statement import Statement

MULTIPLY_ADD = "multiply-add"
"""The unit of products and convolutions; the unit of every other operation is its own name."""


@dataclass(frozen=True, slots=True)
class Work:
    """An amount of work: the product of the factors, in ``unit``.

    A factor is a size or a ``Pairs`` (the query-key pairs of attention), because conventions count pairs differently.
    """

    unit: str
    factors: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """What an operation keeps for the backward pass: an input or a result, by its number, or another array.

    Another array has factors and a kind: a float, a statistic of a norm, a mask of dropout, Booleans of one byte each, indices of eight
    bytes each, a buffer that only kernels for a CPU keep. An input of whole numbers is kept with eight bytes for each of them, or with four
    if they are the ``ends`` of groups of rows. ``merged`` are axes that the kernel needs as one axis: if the storage does not
    allow that, the array is copied, and the copy is kept. A ``wide`` array is kept in float32; for narrower numbers, that is a copy.
    The array is kept if one of the inputs ``wanted`` needs a gradient, or any input if ``wanted`` is empty.
    """

    source: Literal["taken", "given", "own"]
    number: int = 0
    factors: tuple[Dim, ...] = ()
    kind: Literal["float", "statistic", "mask", "truth", "index", "ends", "buffer"] = "float"
    merged: tuple[tuple[int, ...], ...] = ()
    wide: bool = False
    wanted: tuple[int, ...] = ()


class Operation:
    """One operation of the vocabulary. The defaults are those of a change of shape: no work, nothing kept, the type unchanged.

    ``view`` says whether the output shares the storage of the first input, ``unit`` is the work for every entry of the result, ``kept`` are
    the arrays that the backward pass always needs. ``held`` says whether the result is a parameter or a buffer, which the model has in
    memory anyway.
    """

    held: bool = False
    view: ClassVar[bool] = False
    unit: ClassVar[str] = ""
    kept: ClassVar[tuple[Kept, ...]] = ()

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the types of the results.

        Raises:
            ShapeError: shapes that the operation cannot take.
        """
        return taken

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - the default is always the same
        """Return the arrays that torch's eager kernels keep for the backward pass if at least one input ``needs`` a gradient."""
        return self.kept

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - the default depends on the result
        """Return the work of one forward evaluation."""
        return (Work(self.unit, flat(given[0].shape)),) if self.unit else ()

    def backward(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Work, ...]:
        """Return the work of the backward pass: once the forward work for every input that ``needs`` a gradient."""
        return self.work(taken, given) * sum(needs)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Compute the results from arrays of the namespace ``xp`` (NumPy); several results are a tuple."""
        raise NotImplementedError

    def __str__(self) -> str:
        return type(self).__name__.lower()


class Named(Operation):
    """An operation whose field ``name`` says what it does to every entry: this is its work for every entry of the result, too."""

    name: Any

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        return (Work(self.name, flat(given[0].shape)),)


class Unchanged(Operation):
    """An operation that changes what is known about an array, and none of its entries."""

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - nothing is computed
        return arrays[0]


def other_factors(needs: tuple[bool, ...]) -> tuple[Kept, ...]:
    """Return what a product keeps: the other factor of each factor that needs a gradient."""
    return tuple(Kept("taken", 1 - number) for number, need in enumerate(needs) if need)


class Step(NamedTuple):
    """One operation with the numbers of its inputs and results."""

    operation: Any
    takes: tuple[int, ...]
    gives: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """The forward pass of one layer for inputs of certain types.

    ``inputs`` and ``outputs`` are numbers of values, ``types`` the types of all values. ``several`` means that the forward pass returned a
    tuple. ``layer`` is None in the body of a scan or a region. Programs are equal if they consist of equal operations on equal types.
    """

    layer: Statement | None
    inputs: tuple[int, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    types: tuple[ArrayType, ...]
    several: bool = False
    _repr_html_: ClassVar[Callable[[Program], str]]  # its picture, which ``pictures.py`` draws
    output_types: tuple[ArrayType, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Every application needs the types of the outputs.
        object.__setattr__(self, "output_types", tuple([self.types[number] for number in self.outputs]))

    @property
    def input_types(self) -> tuple[ArrayType, ...]:
        """The types of the inputs."""
        return tuple(self.types[number] for number in self.inputs)

    def taken(self, step: Step) -> tuple[ArrayType, ...]:
        """Return the types of a step's inputs."""
        return tuple(self.types[number] for number in step.takes)

    def given(self, step: Step) -> tuple[ArrayType, ...]:
        """Return the types of a step's results."""
        return tuple(self.types[number] for number in step.gives)

    def __str__(self) -> str:
        # One line per operation with the shapes of its results, the programs of parts indented.
        kind = "" if self.layer is None else kind_of(self.layer)
        inputs = ", ".join(f"%{number} {self.types[number]}" for number in self.inputs)
        outputs = ", ".join(f"%{number} {self.types[number]}" for number in self.outputs)
        return "\n".join([f"{kind}({inputs}) -> {outputs}", *self.listing("  ")])

    def listing(self, indent: str = "") -> Iterator[str]:
        """Yield the lines of the listing."""
        for step in self.steps:
            results = ", ".join(f"%{number} {self.types[number]}" for number in step.gives)
            arguments = ", ".join(f"%{number}" for number in step.takes)
            yield f"{indent}{results} = {step.operation}({arguments})"
            for body in bodies(step.operation):
                yield from body.listing(f"{indent}  ")


# Operations that contain programs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """A part applied. ``name`` is its path from the layer that applies it; ``frozen`` means that no parameter inside is trained."""

    name: str | Numbers
    body: Program
    frozen: bool = False

    def gives(self, *_: ArrayType) -> tuple[ArrayType, ...]:
        return self.body.output_types

    def __str__(self) -> str:
        return f"{label(self.name)} [{kind_of(self.body.layer)}]".lstrip()


@dataclass(frozen=True, slots=True)
class Region:
    """A named section of a forward pass, such as "attention", which a convention can treat as one kernel.

    If torch always computes the section with one kernel, ``keeps`` lists the arrays that this kernel keeps, instead of those of the
    operations.
    """

    name: str
    body: Program
    keeps: tuple[Kept, ...] | None = None

    def gives(self, *_: ArrayType) -> tuple[ArrayType, ...]:
        return self.body.output_types

    def __str__(self) -> str:
        return f"region {self.name}"


@dataclass(frozen=True, slots=True)
class Loop:
    """Numbered copies applied one after another. The first ``carry`` values go through all copies; every copy also gets the others.

    The results of a copy after the carried values are stacked along a new first axis. Several ``bodies`` alternate. ``shared`` is the name
    of a single stored block that is applied many times. ``left`` are the types of the carried values after the last copy, if they grow.
    """

    bodies: tuple[tuple[Numbers, Program], ...]
    carry: int
    shared: str | None = None
    left: tuple[ArrayType, ...] | None = None

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (numbers, body), *_ = self.bodies
        stacked = (ArrayType((numbers.count, *one.shape), one.kind) for one in body.output_types[self.carry :])
        return (*(taken[: self.carry] if self.left is None else self.left), *stacked)

    def __str__(self) -> str:
        copies = " | ".join(f"{label(numbers)} [{kind_of(body.layer)}]" for numbers, body in self.bodies)
        return f"loop {copies}" if self.shared is None else f"loop {self.shared} x {shown(self.bodies[0][0].count)}"


@dataclass(frozen=True, slots=True)
class Scan:
    """A body applied at every position along ``axis`` of the scanned values, carrying a state; like ``jax.lax.scan``.

    It takes ``carry`` states, ``scanned`` arrays, then values that every position sees. It gives the last states and the stacked outputs.
    """

    body: Program
    length: Dim
    carry: int
    scanned: int
    axis: int
    reverse: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        stacked = self.body.output_types[self.carry :]
        along = (ArrayType((*one.shape[: self.axis], self.length, *one.shape[self.axis :]), one.kind) for one in stacked)
        return (*taken[: self.carry], *along)

    def __str__(self) -> str:
        return f"scan over {shown(self.length)}"


@dataclass(frozen=True, slots=True)
class Route:
    """Numbered copies of which every position uses ``used``, with weights: a mixture of experts.

    It takes the positions, the weights (..., used) and the numbers of the chosen copies (..., used).
    """

    numbers: Numbers
    body: Program
    used: Count

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape[:-1], self.body.output_types[0].shape[-1])),)

    def __str__(self) -> str:
        return f"route {shown(self.used)} of {self.numbers} [{kind_of(self.body.layer)}]"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A layer with an output shape and without a forward pass: shapes can be computed through it, costs refuse it by its path."""

    layer: Statement
    types: tuple[ArrayType, ...]

    def gives(self, *_: ArrayType) -> tuple[ArrayType, ...]:
        return self.types

    def __str__(self) -> str:
        return f"{kind_of(self.layer)}, opaque"


def bodies(operation: Any) -> tuple[Program, ...]:
    """Return the programs inside an operation."""
    if isinstance(operation, Loop):
        return tuple(body for _, body in operation.bodies)
    return (operation.body,) if isinstance(operation, Call | Region | Scan | Route) else ()


def named_bodies(operation: Any) -> Iterator[tuple[str, Program]]:
    """Yield the programs inside an operation under the paths of their parts; a section or a scan adds none."""
    match operation:
        case Call(name=name, body=body):
            yield label(name), body
        case Loop(bodies=copies, shared=shared):
            for numbers, body in copies:
                yield label(numbers) if shared is None else shared, body
        case Route(numbers=numbers, body=body):
            yield str(numbers), body
        case _:
            for body in bodies(operation):
                yield "", body


def kind_of(layer: object) -> str:
    """Return the name of a layer's class without the underscore of private classes."""
    return type(layer).__name__.lstrip("_")


def label(name: str | Numbers) -> str:
    """Return the path of a part; "l0" for copies whose number is inside the names of their tensors, as in weight_ih_l0."""
    return str(name if isinstance(name, str) or name.pattern else replace(name, pattern="l{}"))
