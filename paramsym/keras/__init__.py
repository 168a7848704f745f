"""The door for people who think in Keras' spelling: same arguments, same kind of value, what Keras stores.

``ps.keras.LSTM(units=32, input_shape=(None, 10, 16))`` is the layer that ``ps.LSTM(16, 32, dialect="keras")`` is. Arguments that change
neither what is stored nor what is computed outside of training (initialisers, regularisers, dropout, seeds) are taken and have no effect.
"""

from __future__ import annotations

from paramsym.keras import attention, convolution, dense, normalization, plain, recurrent, wrappers
from paramsym.keras._door import Door

_ROOMS = (attention, convolution, dense, normalization, plain, recurrent, wrappers)
DOORS: dict[str, Door] = {name: door for room in _ROOMS for name, door in room.DOORS.items()}
"""Every door, by Keras' name."""

globals().update(DOORS)
__test__ = {name: str(door.__doc__) for name, door in DOORS.items()}


def __getattr__(name: str) -> Door:
    """Say which doors there are."""
    message = f"module 'paramsym.keras' has no attribute {name!r}; it has {', '.join(sorted(DOORS))}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the doors."""
    return sorted(DOORS)
