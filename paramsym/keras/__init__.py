"""Layers with Keras' names and arguments, which store the same tensors as Keras.

``ps.keras.LSTM(units=32, input_shape=(None, 10, 16))`` is the same layer as ``ps.LSTM(16, 32, dialect="keras")``. Arguments that change
neither the stored tensors nor the computation in evaluation (initialisers, regularisers, dropout, seeds) are accepted and have no effect.
"""

from __future__ import annotations

from paramsym.keras import attention, convolution, dense, normalization, plain, recurrent, wrappers
from paramsym.keras._door import DOORS, Door
from paramsym.keras.sequence import Input as Input
from paramsym.naming import nearest

MODULES = (attention, convolution, dense, normalization, plain, recurrent, wrappers)
"""The modules that fill ``DOORS`` when they are imported."""
globals().update(DOORS)
__test__ = {name: str(door.__doc__) for name, door in DOORS.items()}


def __getattr__(name: str) -> Door:
    near = nearest(name, __dir__())
    meant = f"; did you mean {' or '.join(near)}?" if near else "."
    raise AttributeError(
        f"module 'paramsym.keras' has no attribute {name!r}{meant} dir(ps.keras) lists all layers, and ps.from_module reads a Keras model."
    )


def __dir__() -> list[str]:
    return sorted([*DOORS, "Input"])
