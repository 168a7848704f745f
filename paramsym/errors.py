"""Every error this library raises on purpose; nothing else.

Each message says what was found, where, what was wanted and what to write instead; the facts are also attributes. A caller's mistake is
also a built-in error (``ValueError``, ``TypeError`` or ``LookupError``), so that ordinary handlers catch it.
"""

from __future__ import annotations

from collections.abc import Mapping

from paramsym.naming import harmless


class ParamsymError(Exception):
    """The base of every error raised on purpose. Control characters in quoted names are escaped."""

    def __str__(self) -> str:
        return harmless(super().__str__())


class SizeError(ParamsymError, ValueError):
    """A size that cannot be a positive integer, or a number of copies that cannot be zero or more.

    >>> import paramsym as ps
    >>> ps.Dense(768, 64.0)
    Traceback (most recent call last):
        ...
    paramsym.errors.SizeError: Dense: out_features is 64.0 (float); a size is a positive int or an expression in symbols from dims(). \
For an exact quotient write per(a, b).
    """


class DivisibilityError(SizeError):
    """An exact quotient that is not an integer; ``dividend`` and ``divisor`` are the numbers, or None.

    >>> import paramsym as ps
    >>> ps.MultiHeadAttention(786, 12)
    Traceback (most recent call last):
        ...
    paramsym.errors.DivisibilityError: MultiHeadAttention: embed_dim 786 is not divisible by num_heads 12 (786 = 65*12 + 6).
    """

    dividend: int | None = None
    divisor: int | None = None


class ArgumentError(ParamsymError, TypeError):
    """A flag or option of the wrong type or value.

    >>> import paramsym as ps
    >>> ps.Dense(4, 4, bias="no")
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: Dense: bias is 'no' (str); wanted True or False.
    """


class UnknownInputError(ArgumentError):
    """An input by a name that the layer does not take, which may be a misspelt option: ``options`` says which ones the question has.

    >>> import paramsym as ps
    >>> ps.kv_cache(ps.Dense(4, 4), (2, 4), dtpye="int8")
    Traceback (most recent call last):
        ...
    paramsym.errors.UnknownInputError: Dense has no input 'dtpye'; it takes x. \
The options of kv_cache are dtype, per, past: did you mean dtype?
    """

    def __init__(self, name: str, layer: str, takes: str, options: str = "") -> None:
        """Keep the name, the layer's class and the names that it takes."""
        self.name, self.layer, self.takes, self.options = name, layer, takes, options
        super().__init__(f"{layer} has no input {name!r}; it takes {takes}.{options and f' {options}'}")

    def __reduce__(self) -> tuple[type[UnknownInputError], tuple[str, ...]]:
        return UnknownInputError, (self.name, self.layer, self.takes, self.options)


class UnknownNameError(ParamsymError, LookupError):
    """A symbol, a path or a published size that the layer does not have.

    >>> import paramsym as ps
    >>> ps.Dense(ps.H, ps.F).at(L=12)
    Traceback (most recent call last):
        ...
    paramsym.errors.UnknownNameError: Dense has no symbol 'L'; it has F, H.
    """


class StructureError(ParamsymError, ValueError):
    """A composition that contradicts itself: two parts of one name, a tie to a missing tensor, sizes that change which tensors exist.

    >>> import paramsym as ps
    >>> ps.Tied(ps.Dense(ps.H, ps.H), {"head.weight": "weight"})
    Traceback (most recent call last):
        ...
    paramsym.errors.StructureError: Tied: there is no tensor 'head.weight' to tie; the layer has weight, bias.
    """


class ConfigError(ParamsymError, ValueError):
    """A configuration that cannot be read, or whose values contradict each other.

    >>> import paramsym as ps
    >>> ps.from_config({"model_type": "abacus"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    paramsym.errors.ConfigError: model_type 'abacus' is not known; `paramsym families` lists what is known; ...
    """


class CheckpointError(ParamsymError, ValueError):
    """A file of tensors that cannot be read, contradicts itself, or points outside its folder.

    >>> import paramsym as ps
    >>> ps.match(ps.Dense(4, 4), "model.bin")
    Traceback (most recent call last):
        ...
    paramsym.errors.CheckpointError: model.bin: .bin files contain pickles, which run code when they are read; \
save the model as safetensors.
    """


class RefutedError(ParamsymError, AssertionError):
    """An instance that contradicts a layer: a failed test, with the sizes and the tensors that differ.

    >>> import paramsym as ps
    >>> from paramsym.testing import assert_matches
    >>> assert_matches(ps.Dense(2, 3), {"weight": (3, 2)})
    Traceback (most recent call last):
        ...
    paramsym.errors.RefutedError: Dense: 1 of 2 tensors does not match.
    tensor  outcome  expected  found
    --------------------------------
    bias    missing  (3,)
    """


class NoLawError(ParamsymError, ValueError):
    """A number that a build gives and no law explains; a formula is never guessed.

    ``movers`` are the sizes that change the unexplained number; ``odd`` are the points at which the build has another structure.

    >>> import math
    >>> import paramsym as ps
    >>> ps.derive(lambda width: {"w": (math.isqrt(width), width)})
    Traceback (most recent call last):
        ...
    paramsym.errors.NoLawError: axis 0 of w: no law explains 2 at width=8; 3 at width=9; 4 at width=16; 1 at width=2; \
70 at width=4920. No formula is guessed.
    """

    movers: tuple[str, ...] = ()
    odd: tuple[Mapping[str, int], ...] = ()


class NotYetError(ParamsymError, NotImplementedError):
    """Something the library cannot do yet, as opposed to a caller's mistake."""


class ShapeError(ParamsymError, ValueError):
    """An input shape that a layer cannot take, or a length that is too short for a window.

    >>> from paramsym.algebra.convolution import window_count
    >>> window_count(4, 5)
    Traceback (most recent call last):
        ...
    paramsym.errors.ShapeError: the padded length 4 is shorter than the kernel, which spans 5 entries.
    """


class ParamsymWarning(UserWarning):
    """A warning about something that may change the result, such as an unknown configuration key.

    >>> import warnings
    >>> import paramsym as ps
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = ps.from_config({"model_type": "bert", "abacus_size": 3})
    >>> print(caught[0].message)
    config keys that bert does not know were not taken into account: abacus_size.
    """


class RankError(ShapeError):
    """An input with a wrong number of axes.

    >>> issubclass(RankError, ShapeError)
    True
    """
