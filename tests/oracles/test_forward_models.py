"""Every model of transformers on random weights: the program run on NumPy gives the numbers that the reference gives."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from frameworks import imported, only_with, widened
from oracles.computing import configured
from oracles.runnable import TOKENS
from oracles.test_live_shapes import CLASSES, OUTPUTS, built, inputs, inputs_of

import paramsym as ps
from paramsym.models import Roberta, family_of
from paramsym.models.decoder import Decoder
from paramsym.models.seq2seq import Seq2Seq
from paramsym.program.graph import Opaque, Program, bodies
from paramsym.testing.running import largest_difference

only_with("numpy", "torch", "transformers")

TOLERANCE = 1e-9
"""Relative to the largest entry of an output. Both sides compute in float64 throughout."""
AS_IT_STANDS = 1e-5
"""The references work out rotations, norms, softmax and slopes in float32, whatever the precision of the rest is."""
ATTEMPTS = 5


def opaque(program: Program) -> Iterator[str]:
    """Yield the kinds of layers that do not say what they compute."""
    for step in program.steps:
        if isinstance(step.operation, Opaque):
            yield type(step.operation.layer).__name__
        for body in bodies(step.operation):
            yield from opaque(body)


def randomised(torch: Any, module: Any) -> Any:
    """Give every tensor random entries, because the zeros and ones of fresh models hide what uses them; variances are positive."""
    generator = torch.Generator().manual_seed(0)
    if getattr(module, "_can_set_experts_implementation", bool)():
        module.set_experts_implementation("eager")  # the default multiplies in at most float32
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.uniform_(-0.5, 0.5, generator=generator)
        for name, buffer in module.named_buffers():
            if name.rpartition(".")[2] in {"running_mean", "running_var", "e_score_correction_bias"}:
                buffer.uniform_(0.5, 1.5, generator=generator)
    return module


def padded(ids: Any) -> None:
    """Put padding into each text, at its end or between words."""
    for row, text in enumerate(ids):
        text[-1 - row % len(text) :: 2] = TOKENS["pad_token_id"]


def ended(ids: Any) -> None:
    """Put the token that ends a text at another position in each text."""
    ids[:, -1] = ids[:, 0]
    for row, text in enumerate(ids):
        text[row % len(text)] = TOKENS["eos_token_id"]


def outputs(answer: Any) -> Any:
    """Return the main output of the reference; of a backbone all maps."""
    if "feature_maps" in answer:
        return tuple(one.numpy() for one in answer.feature_maps)
    if "start_logits" in answer:
        torch = imported("torch")
        return torch.stack((answer.start_logits, answer.end_logits), -1).numpy()
    return next(answer[name] for name in OUTPUTS if name in answer and answer[name] is not None).numpy()


def compared(model_type: str, architecture: str, attempt: int, *, wide: bool = True) -> None:
    """Fail unless one random configuration computes what the reference computes, ``wide`` in float64 throughout."""
    torch, transformers, xp = imported("torch"), imported("transformers"), imported("numpy")
    draw = random.Random(f"{model_type} {architecture} {attempt}")
    family = family_of(model_type)
    config = configured(family, draw)
    model: Any = ps.from_config({"model_type": model_type, **TOKENS, **config}, architecture)
    shapes, _ = inputs_of(model, config, draw)
    unsaid = set(opaque(ps.trace(model, *shapes.values())))
    assert not unsaid, f"{architecture} has layers that do not say what they compute: {', '.join(sorted(unsaid))}"
    given = {name: one.double() if one.is_floating_point() else one for name, one in inputs(torch, config, shapes).items()}
    if isinstance(model, Decoder | Roberta):
        padded(given["input_ids"])
    elif isinstance(model, Seq2Seq):
        ended(given["input_ids"])
    with widened() if wide else nullcontext(), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        module = randomised(torch, built(transformers, model_type, architecture, config))
        wanted = outputs(module(**given))
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    found = ps.run(model, tensors, **{name: one.numpy() for name, one in given.items()})
    found = found[0] if isinstance(found, tuple) and not isinstance(wanted, tuple) else found
    largest_difference(xp, model, found, wanted, TOLERANCE if wide else AS_IT_STANDS)


@pytest.mark.parametrize(("model_type", "architecture"), CLASSES, ids=[f"{kind}-{architecture}" for kind, architecture in CLASSES])
def test_run(model_type: str, architecture: str) -> None:
    """Five random configurations of every class, with the keys that change what is computed."""
    for attempt in range(ATTEMPTS):
        compared(model_type, architecture, attempt)


@pytest.mark.parametrize("model_type", sorted({model_type for model_type, _ in CLASSES}))
def test_run_as_it_stands(model_type: str) -> None:
    """One class of every family against the reference with its own number types, narrow ones included."""
    classes = [architecture for kind, architecture in CLASSES if kind == model_type]
    compared(model_type, random.Random(model_type).choice(classes), 0, wide=False)
