"""A property test in one call: draw sizes, build, compare, shrink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, RefutedError
from paramsym.testing.random_sizes import SMALL, Bounds, hypothesis, sizes
from paramsym.verify.agreement import Rival
from paramsym.verify.rename import Renaming


def check_against(
    layer: Layer,
    build: Callable[..., Any],
    *,
    examples: int = 50,
    largest: Bounds = SMALL,
    rename: Renaming | None = None,
    by: Literal["name", "order"] = "name",
) -> None:
    """Draw valid sizes, call ``build`` with them by symbol name, and compare the result with the layer.

    ``build`` returns a count (an int), a dictionary of shapes, a module, or another layer; names, shapes and counts are compared if they
    are present. A failure is shrunk to the smallest sizes at which the two disagree. ``largest`` is that of ``sizes``, ``rename`` and
    ``by`` are those of ``paramsym.match``. Works in any test function, under pytest or not.

    Raises:
        RefutedError: an ``AssertionError``: its message has the sizes, the found and the wanted result, and the tensors that may be wrong.
        ArgumentError: Hypothesis is not installed; ``build`` does not take the layer's symbols by name, or returns nothing to compare.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> check_against(MultiHeadAttention(H, A), lambda A, H: 4 * H * H + 4 * H)
    >>> check_against(MultiHeadAttention(H, A), lambda A, H: 4 * H * H + 3 * A * H + H)
    Traceback (most recent call last):
        ...
    paramsym.errors.RefutedError: MultiHeadAttention(H, A): at A=2, H=2, build counts 30 parameters; the layer has 4*H**2 + 4*H = 24 \
(difference +6, as many as there are in in_proj_bias).
    """
    __tracebackhide__ = True
    rival = Rival(build, rename, by)
    rival.check_call(layer)
    if not layer.symbols:
        rival.check(layer, {})
        return
    package = hypothesis()

    def agrees(found: dict[str, int]) -> None:
        rival.check(layer, found)

    quiet = package.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(package.HealthCheck),
    )
    try:
        quiet(package.given(sizes(layer, largest=largest))(agrees))()
    except (RefutedError, ArgumentError) as error:
        raise type(error)(str(error)) from error.__cause__  # without Hypothesis' notes, because the message has the sizes already
