"""The door for people who think in Keras' spelling: same arguments, same kind of value, what Keras stores.

``ps.keras.LSTM(units=32, input_shape=(None, 10, 16))`` is the layer that ``ps.LSTM(16, 32, dialect="keras")`` is. Arguments that change
neither what is stored nor what is computed outside of training (initialisers, regularisers, dropout, seeds) are taken and have no effect.
"""

from __future__ import annotations

from paramsym.keras import attention, convolution, dense, normalization, plain, recurrent, sequence, wrappers
from paramsym.keras._door import Door
from paramsym.keras.sequence import Input as Input
from paramsym.naming import nearest

_ROOMS = (attention, convolution, dense, normalization, plain, recurrent, sequence, wrappers)
DOORS: dict[str, Door] = {name: door for room in _ROOMS for name, door in room.DOORS.items()}
"""Every door, by Keras' name."""

globals().update(DOORS)
__test__ = {name: str(door.__doc__) for name, door in DOORS.items()}


def __getattr__(name: str) -> Door:
    """Say which doors have a name like this one."""
    near = nearest(name, __dir__())
    meant = f"; did you mean {' or '.join(near)}?" if near else "."
    message = (
        f"module 'paramsym.keras' has no attribute {name!r}{meant} dir(ps.keras) lists all layers, and ps.from_module reads a Keras model."
    )
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the doors."""
    return sorted([*DOORS, "Input"])
