"""Mark the arrays in recorded computations that models hold as buffers: ``PYTHONPATH=tests python -m atlas_builder.held glm4 TYPE``.

A class of the reference is recorded once more, and its pass is taken beside the record's, which shows the constants that are buffers.
Memory has these anyway, so that they are no kept arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atlas_builder.passes import configuration, model_at, recorded_like, rewritten
from atlas_builder.rates import Beside
from atlas_builder.words import arguments

from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import formed
from paramsym.atlas.files import record_of


def buffers_of(model_type: str, name: str, form: Mapping[str, Any], computation: Computation) -> list[int]:
    """Return the numbers of a computation's constants that the reference holds as buffers."""
    base = configuration(form, record_of(model_type)["classes"][name]["keys"])
    model = model_at(model_type, name, base)
    again = recorded_like(computation, model, arguments(model, computation, base))
    beside = Beside(computation.recording, again)
    beside.places()
    return sorted(number for number, other in beside.constants.items() if again.constants[other].held)


def marked(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Mark the buffers in the forms of a type's classes; yield their numbers."""
    for name, entry in classes.items():
        for form in entry["forms"]:
            try:
                said: Any = buffers_of(model_type, name, form, formed(entry["inputs"], form))
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                said = f"{type(error).__name__}: {str(error)[:160]}"
            else:
                form["recording"].pop("held", None)
                form["recording"] |= {"held": said} if said else {}
            yield f"{model_type} {name} {form['held']}: {said or 'no buffers'}"


if __name__ == "__main__":
    rewritten(__doc__, marked)
