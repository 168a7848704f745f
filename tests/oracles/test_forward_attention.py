"""Attention and transformers compute what the references compute, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch

import paramsym as ps


def flip(random: Random) -> bool:
    """Throw a coin."""
    return random.random() < 0.5


def test_attention_in_torch() -> None:
    """Thirty random settings each: queries alone, and keys and values of other widths; with and without a batch."""
    torch, random = imported("torch"), Random(1)  # noqa: S311 - test data
    for alone in (True, False):
        for _ in range(30):
            heads = random.randint(1, 3)
            width = heads * random.randint(1, 4)
            kwargs: dict[str, Any] = {name: flip(random) for name in ("bias", "add_bias_kv", "add_zero_attn", "batch_first")}
            if not alone and flip(random):
                kwargs |= {"kdim": random.randint(1, 5), "vdim": random.randint(1, 5)}
            batch = random.choice([None, 1, 3])
            keys = random.randint(1, 5)
            sizes = [(4, width)] if alone else [(4, width), (keys, kwargs.get("kdim", width)), (keys, kwargs.get("vdim", width))]
            arrays = [torch.randn(*([batch] if batch else []), *size).double() for size in sizes]
            arrays = arrays if kwargs["batch_first"] or batch is None else [one.transpose(0, 1) for one in arrays]
            module = torch.nn.MultiheadAttention(width, heads, **kwargs).double().eval()
            for parameter in module.parameters():
                torch.nn.init.normal_(parameter)
            with torch.no_grad():
                wanted = module(*(arrays * 3)[:3], need_weights=False)[0]
            tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
            found = ps.run(ps.MultiHeadAttention(width, heads, **kwargs), tensors, *(one.numpy() for one in arrays))
            assert found.shape == tuple(wanted.shape)
            assert abs(found - wanted.numpy()).max() < 1e-9
