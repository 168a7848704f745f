"""The options of a question, named in the error about an unknown one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from paramsym.errors import UnknownInputError
from paramsym.naming import nearest

P = ParamSpec("P")
R = TypeVar("R")


def options_of(function: Callable[..., object]) -> list[str]:
    """Return the options of a question: the arguments that are given by name only."""
    return [name for name, one in signature(function).parameters.items() if one.kind is Parameter.KEYWORD_ONLY]


def telling_options(function: Callable[P, R]) -> Callable[P, R]:
    """Return a question about a layer whose error about an unknown input also names the options of the question.

    Inputs and options are both given by name, so a misspelt option looks like an input.
    """
    options = options_of(function)

    @wraps(function)
    def asked(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except UnknownInputError as error:
            near = nearest(error.name, options, most=1)
            meant = f": did you mean {near[0]}?" if near else "."
            said = f"The options of {function.__name__} are {', '.join(options)}{meant}"
            raise UnknownInputError(error.name, error.layer, error.takes, said) from None  # of questions that ask others, the outermost

    return asked
