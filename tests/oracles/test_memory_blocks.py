"""One block of GPT-2 and of Llama, array by array: what torch's autograd keeps, against what the programs say.

The rows were measured on torch 2.15 and transformers 5.23 with b=2, s=48, h=96 and six heads (``facts/costs/memory_blocks``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from amount import cases
from recorded import rows

import paramsym as ps
from paramsym.algebra.size import cat
from paramsym.models.gpt import FusedAttention
from paramsym.program import Own, Value, rotation

NOT_STATED = {
    "autocast": "copies of weights in 16 bits, and the operations that autocast leaves in float32",
}
"""Rows that no convention accounts for, with the reason."""
ROWS = [row for row in rows("costs/memory_blocks") if not any(name in row["tag"] for name in NOT_STATED)]
ACTIVATIONS = {"gelu": ps.GELU(), "gelu_new": ps.Activation("gelu_new"), "gelu_pytorch_tanh": ps.GELU("tanh")}


@dataclass(frozen=True)
class Turned(ps.Layer):
    """A block with the cosines and sines that it is given."""

    block: ps.Layer

    def parts(self) -> Iterator[ps.Part]:
        """The block."""
        yield ps.Part("block", self.block)

    def forward(self, own: Own, x: Value) -> Value:
        """Rotate all 16 entries of a head."""
        return own.block(x, *rotation(x.sizes[1], 16))


def block_of(tag: str) -> ps.Layer:
    """Return the block of a row."""
    kind, *words = tag.split()
    if kind == "llama":
        sizes: dict[str, Any] = {"hidden_size": 96, "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 200}
        return Turned(ps.models.Llama(**sizes, vocab_size=10, num_hidden_layers=1).block())
    rate = 0.1 if "dropout .1" in tag or "dropout 0.1" in tag else 0.0
    projections = {"c_attn": ps.Dense(96, cat(query=(6, 16), key=(6, 16), value=(6, 16))), "c_proj": ps.Dense((6, 16), 96)}
    attends = FusedAttention(projections, names=("c_attn", "c_proj"), dropout=0.0 if "flash" in tag else rate)
    attention = ps.Sequential(ps.LayerNorm(96), attends, ps.Dropout(rate))
    network = ps.Sequential(ps.LayerNorm(96), ps.Dense(96, 384), ACTIVATIONS[words[0]], ps.Dense(384, 96), ps.Dropout(rate))
    return ps.Sequential(ps.Residual(attention), ps.Residual(network))


def convention_of(tag: str) -> str:
    """Return the convention of a row: the attention, and where dropout and norms ran."""
    attention = "sdpa" if "sdpa" in tag else "eager"
    device = "" if "cuda" in tag else "-native" if "native_dropout" in tag else "-cpu"
    return f"torch-{attention}{device}"


@cases(1000)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["tag"]))
def test_blocks(row: dict[str, Any]) -> None:
    """Every array that is kept has its counterpart of as many bytes; random states, of 16 bytes and less, are no arrays."""
    dtype = "bfloat16" if "bfloat16" in row["tag"] else "float32"
    found = ps.activations(block_of(row["tag"]), (2, 48, 96), convention=convention_of(row["tag"]), dtype=dtype, input_gradients=True)
    sizes = Counter(int(line.polynomial("used").as_expr()) for line in found.ledger)
    wanted = Counter(one["bytes"] for one in row["rows"] if one["role"] != "block input" and one["bytes"] > 16)
    assert sizes == wanted


@pytest.mark.parametrize("tag", [row["tag"] for row in rows("costs/memory_blocks") if "autocast" in row["tag"]])
def test_autocast(tag: str) -> None:
    """No convention counts that autocast keeps a copy in 16 bits of every matrix and bias that a product reads."""
    (row,) = [row for row in rows("costs/memory_blocks") if row["tag"] == tag]
    layer = block_of(tag)
    read = Counter(line.sizes for line in layer.ledger() if len(line.sizes) == 2)
    fused = Counter({(96, 288): 1, (96, 96): 1, (96, 384): 1, (384, 96): 1}) if tag.startswith("gpt2") else read
    new = [one for one in row["rows"] if one["dtype"] == "bfloat16" and one["role"] == "new"]
    halves = Counter(tuple(one["shape"]) for one in new if len(one["shape"]) == 2)
    transposed = Counter({shape[::-1]: count for shape, count in fused.items()})
    assert fused <= halves or transposed <= halves
