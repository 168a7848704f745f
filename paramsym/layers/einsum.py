"""A dense layer that an Einstein sum describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, text
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError, ShapeError, SizeError

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_EQUATION = (
    r"(?P<lead>\.{3})?(?P<inputs>[A-Za-z]+)(?P<behind>\.{3})?,(?P<kernel>[A-Za-z]+)"
    r"->(?(lead)\.{3})(?P<outputs>[A-Za-z]+)(?(behind)\.{3})"
)


@dataclass(frozen=True)
class EinsumDense(Layer):
    """A dense layer given by an Einstein sum such as ``"abc,cde->abde"``: input, kernel, output.

    ``kernel`` has one axis per letter of the middle term; ``bias``, where ``bias_axes`` names output letters, has those axes and 1 for the
    output axes between and after them. ``partial_output_shape`` is Keras' ``output_shape``: without the batch axis, and without the axes of
    an ellipsis. ``input_shape`` is complete, batch first; an extent that no weight needs may be None. Parameters: the product of the
    kernel's axes plus that of the bias'.

    Raises:
        ArgumentError: an equation not of the form X,Y->Z, ...X,Y->...Z or X...,Y->Z...; a letter without an extent; shapes of the wrong
            length; a bias axis that is not in the output.
        SizeError: input and output that differ where they share a letter; an unknown extent that a weight needs.

    Reference: Keras ``EinsumDense``; Flax: ``linen.Einsum``.

    >>> from paramsym import A, D, H, S
    >>> EinsumDense("abc,cde->abde", (None, A, D), (None, S, H), bias_axes="de").shapes()
    {'kernel': (H, A, D), 'bias': (A, D)}
    >>> EinsumDense("...x,xy->...y", D, (None, S, H)).params
    D*H
    """

    equation: str
    partial_output_shape: Dim | tuple[Dim | None, ...]
    input_shape: tuple[Dim | None, ...]
    bias_axes: str | None = None

    def tensors(self) -> Iterator[Tensor]:
        inputs, kernel, outputs = self._terms()
        before, after = self._ellipsis(inputs)
        extents = dict(zip(inputs, self.input_shape[before:], strict=False))
        produced = dict(zip(outputs, self._output_shape(outputs, before, after)[before:], strict=False))
        for letter, one in extents.items():
            other = produced.get(letter)
            if isinstance(one, int) and isinstance(other, int) and one != other:
                raise SizeError(f"equation {self.equation!r}: {letter!r} is {one} in the input shape and {other} in the output shape.")
        for letter in outputs:
            if letter not in inputs and letter not in kernel:
                raise ArgumentError(f"equation {self.equation!r}: output letter {letter!r} is neither in the input nor in the kernel.")
        yield Tensor("kernel", tuple(self._extent(letter, {**extents, **produced}) for letter in kernel))
        if self.bias_axes is not None:
            yield Tensor("bias", self._bias_shape(outputs, produced, after), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        if x.rank != len(self.input_shape):
            raise ShapeError(f"wanted {len(self.input_shape)} axes, as in {self.input_shape}; found {x.rank}, {text(x.sizes)}.")
        if any(differ(found, built) for found, built in zip(x.sizes, self.input_shape, strict=True)):
            raise ShapeError(f"the layer was built for {self.input_shape}; found {text(x.sizes)}.")
        inputs, kernel, outputs = self._terms()
        before, after = self._ellipsis(inputs)
        lead, behind = "... " * bool(before), " ..." * bool(after)
        y = ops.contract(f"{lead}{' '.join(inputs)}{behind}, {' '.join(kernel)} -> {lead}{' '.join(outputs)}{behind}", x, own.kernel)
        return y if self.bias_axes is None else y + own.bias

    def _terms(self) -> tuple[str, str, str]:
        """Split the equation into the letters of input, kernel and output, without ellipses."""
        found = re.fullmatch(_EQUATION, self.equation)
        if not found or (found["lead"] and found["behind"]) or (found["behind"] and len(found["inputs"]) == 1):
            raise ArgumentError(f"equation is {self.equation!r}; write 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'.")
        for term in found.group("inputs", "kernel", "outputs"):
            if len(set(term)) != len(term):
                raise ArgumentError(f"equation {self.equation!r}: a letter occurs twice in {term!r}.")
        return found["inputs"], found["kernel"], found["outputs"]

    def _ellipsis(self, inputs: str) -> tuple[int, int]:
        """Return the numbers of axes of the ellipsis, before and after the letters; one of them is zero."""
        elided = len(self.input_shape) - len(inputs)
        dots = "..." in self.equation
        if elided < 0 or (elided > 0 and not dots):
            wanted = f"at least {len(inputs)}" if dots else str(len(inputs))
            message = f"input_shape {self.input_shape} has {len(self.input_shape)} axes; {self.equation!r} wants {wanted}, batch first."
            raise ArgumentError(message)
        return (elided, 0) if self.equation.startswith("...") else (0, elided)

    def _output_shape(self, outputs: str, before: int, after: int) -> tuple[Dim | None, ...]:
        """Complete the output shape with the batch axis and the axes of the ellipsis."""
        given = self.partial_output_shape if isinstance(self.partial_output_shape, tuple) else (self.partial_output_shape,)
        wanted = len(outputs) - (0 if before else 1)
        if len(given) != wanted:
            message = f"the output shape {given} has {len(given)} axes; {self.equation!r} wants {wanted}, without the batch axis."
            raise ArgumentError(message)
        return self.input_shape[: max(1, before)] + given + self.input_shape[len(self.input_shape) - after :]

    def _extent(self, letter: str, extents: dict[str, Dim | None]) -> Dim:
        if letter not in extents:
            raise ArgumentError(f"equation {self.equation!r}: kernel letter {letter!r} is neither in the input nor in the output.")
        found = extents[letter]
        if found is None:
            raise SizeError(f"equation {self.equation!r}: a weight needs the extent of {letter!r}, which is None; give a size or a symbol.")
        return found

    def _bias_shape(self, outputs: str, produced: dict[str, Dim | None], after: int) -> tuple[Dim, ...]:
        axes = self.bias_axes or ""
        if not axes or not set(axes) <= set(outputs):
            raise ArgumentError(f"bias_axes is {axes!r}; wanted letters of the output {outputs!r}, or None for no bias.")
        first = min(outputs.index(letter) for letter in axes)
        kept: tuple[Dim, ...] = tuple(self._extent(letter, produced) if letter in axes else 1 for letter in outputs[first:])
        return kept + (1,) * after
