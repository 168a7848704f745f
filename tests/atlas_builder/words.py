"""See whether an activation's word may be another one: ``PYTHONPATH=tests python -m atlas_builder.words glm4 TYPE``.

A class of the reference is recorded with another word for each key with one. If the FLOPs of all conventions, forward and both ways, and
the kept bytes are those of the record's computation with the operators of that word in place of its own, its form in the file says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from atlas_builder.inputs import STARTS, arrays
from atlas_builder.passes import WORK, configuration, layers_at, model_at, rewritten

import paramsym as ps
from paramsym.atlas.activations import WORDS, without_numbers
from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import formed
from paramsym.atlas.domain import verified
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import name_of
from paramsym.errors import ArgumentError

_RARE, _OTHERS, _STORING = "mish", ("gelu_fast", "relu2"), ("prelu", "xielu")
"""A word that no class has beside, which tells the modules that follow a key, words with several operators, and those with tensors."""
KEPT = [one.name for one in ps.conventions("activations")]


def differing(model_type: str, name: str, computation: Computation, point: Mapping[str, Any]) -> str:
    """Return how a computation differs from the reference's at a configuration; nothing if it does not."""
    model = model_at(model_type, name, point)
    given = arguments(model, computation, point)
    layer, other = layers_at(model_type, name, computation, point, model, given)
    shapes = [tuple(given[one].shape) for one in computation.inputs]
    for convention in WORK:
        for way in ("forward", "both"):
            mine, its = (_answer(partial(ps.flops, one, *shapes, way=way, convention=convention)) for one in (layer, other))
            if mine != its:
                return f"{convention} {way} {mine} and not {its}"
    for convention in KEPT:
        mine, its = (ps.activations(one, *shapes, convention=convention, dtype="float32").total for one in (layer, other))
        if mine != its:
            return f"{convention} keeps {mine} and not {its}"
    return ""


def _answer(ask: Callable[[], Any]) -> Any:
    """Return an answer; nothing of a convention that counts by tokens, for pictures."""
    with suppress(ArgumentError):
        return ask().total
    return None


def arguments(model: Any, computation: Computation, point: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays of zeros for the inputs, and no cache."""
    sizes = {name_of(key): value for key, value in point.items()}
    sizes |= {name: starts[0] for name, starts in STARTS.items()}
    return arrays(model, dict(computation.inputs), sizes)


def followers(model: Any) -> list[str]:
    """Return the paths, without numbers, of the modules of the rare word."""
    kind = WORDS[_RARE].kind
    return sorted({without_numbers(path) for path, module in model.named_modules() if type(module).__name__ == kind})


def found(
    model_type: str, name: str, form: Mapping[str, Any], inputs: Mapping[str, Any], words: Sequence[str]
) -> Iterator[tuple[str, list[str], str]]:
    """Yield the keys of a form with an activation's word: the paths of their modules, and why the word may not be another one of some."""
    keys = record_of(model_type)["classes"][name]["keys"]
    base = configuration(form, keys)
    for key, values in form["held"].items():
        if len(values) == 1 and isinstance(values[0], str) and values[0] in WORDS:
            paths: list[str] = []
            try:
                paths = followers(model_at(model_type, name, {**base, key: _RARE}))
                here = replace(formed(inputs, form), activations={key: tuple(paths)}, dropout=())  # a pass in evaluation
                storing = [word for word in _STORING if verified(keys[key], word)]
                tried = (differing(model_type, name, here, {**base, key: word}) for word in (*words, *storing))
                said = next((one for one in tried if one), "") if paths else "no module follows it"
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                said = f"{type(error).__name__}: {str(error)[:160]}"
            yield key, paths, said


def worded(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Say in the forms of a type's classes which keys may have another activation; yield what was found."""
    for name, entry in classes.items():
        for form in entry["forms"]:
            form.pop("activations", None)
            words = (_RARE, *_OTHERS) if form is entry["forms"][0] else (_RARE,)
            for key, paths, said in found(model_type, name, form, entry["inputs"], words):
                if not said:
                    form.setdefault("activations", {})[key] = paths
                yield f"{model_type} {name} {key} {paths}: {said or 'any word'}"


if __name__ == "__main__":
    rewritten(__doc__, worded)
