"""Multi-head latent attention: keys and values are computed from one small vector per token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sympy import Expr

from paramsym import program as ops
from paramsym.algebra.size import Dim, cat, per
from paramsym.core.layer import Layer, Part
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import RMSNorm
from paramsym.program.masks import Mask

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class LatentAttention(Layer):
    r"""Multi-head latent attention, MLA (DeepSeek-V2 2024, section 2.1; the argument names are those of its configuration).

    A query head has a part of width ``qk_nope_head_dim`` (the paper's :math:`d_h`) and a rotary part of width ``qk_rope_head_dim``
    (:math:`d_h^R`), a value head ``v_head_dim``. Queries come through a latent vector of ``q_lora_rank`` (:math:`d_c'`; None: straight from
    the input), keys and values through one of ``kv_lora_rank`` (:math:`d_c`); the rotary key is one for all heads. With A heads and H =
    ``hidden_size``:

    - ``q_proj.weight`` (A*(nope + rope), H); or ``q_a_proj.weight`` (q_lora_rank, H), ``q_a_layernorm.weight`` (q_lora_rank,),
      ``q_b_proj.weight`` (A*(nope + rope), q_lora_rank);
    - ``kv_a_proj_with_mqa.weight`` (kv_lora_rank + rope, H), ``kv_a_layernorm.weight`` (kv_lora_rank,),
      ``kv_b_proj.weight`` (A*(nope + v), kv_lora_rank);
    - ``o_proj.weight`` (H, A*v).

    ``attention_bias`` gives a bias to ``q_a_proj``, ``kv_a_proj_with_mqa`` and ``o_proj``. ``interleaved`` rotates neighbouring features
    together instead of the halves; ``scale`` replaces 1/sqrt(nope + rope). References in transformers: ``DeepseekV2Attention`` and
    ``DeepseekV3Attention``.

    >>> from paramsym import A, D, H, R, dims
    >>> r, v = dims("r v")
    >>> LatentAttention(H, A, R, D, r, v).params
    A*D*H + A*D*R + A*H*r + A*H*v + A*R*v + H*R + H*r + R
    >>> LatentAttention(5120, 128, 512, 128, 64, 128, q_lora_rank=1536).params
    149227520
    """

    hidden_size: Dim
    num_attention_heads: Dim
    kv_lora_rank: Dim
    qk_nope_head_dim: Dim
    qk_rope_head_dim: Dim
    v_head_dim: Dim
    q_lora_rank: Dim | None = None
    attention_bias: bool = False
    _: KW_ONLY
    interleaved: bool = True
    scale: float | Expr | None = None
    dropout: float = 0.0

    def parts(self) -> Iterator[Part]:
        heads = self.num_attention_heads
        query = (heads, cat(nope=self.qk_nope_head_dim, rope=self.qk_rope_head_dim))
        if self.q_lora_rank is None:
            yield Part("q_proj", Dense(self.hidden_size, query, bias=False))
        else:
            yield Part("q_a_proj", Dense(self.hidden_size, self.q_lora_rank, self.attention_bias))
            yield Part("q_a_layernorm", RMSNorm(self.q_lora_rank, 1e-6))
            yield Part("q_b_proj", Dense(self.q_lora_rank, query, bias=False))
        compressed = cat(latent=self.kv_lora_rank, rope=self.qk_rope_head_dim)
        yield Part("kv_a_proj_with_mqa", Dense(self.hidden_size, compressed, self.attention_bias))
        yield Part("kv_a_layernorm", RMSNorm(self.kv_lora_rank, 1e-6))
        yield Part("kv_b_proj", Dense(self.kv_lora_rank, (heads, cat(key=self.qk_nope_head_dim, value=self.v_head_dim)), bias=False))
        yield Part("o_proj", Dense((heads, self.v_head_dim), self.hidden_size, self.attention_bias))

    def forward(self, own: Own, x: Value, *turn: Value) -> Value:
        """Causal attention; the cache holds the latent vectors and the rotary key. ``turn`` are the model's shared cosines and sines.

        A single array contains complex numbers: every angle once, real parts before imaginary ones.
        """
        query = own.q_proj(x) if self.q_lora_rank is None else own.q_b_proj(own.q_a_layernorm(own.q_a_proj(x)))
        plain, rotary = ops.segments(ops.heads(query))
        latent, shared = ops.segments(own.kv_a_proj_with_mqa(x))
        turn = turn or ops.rotation(x.sizes[1], self.qk_rope_head_dim)
        halves = len(turn) == 1
        turn = ops.segments(turn[0], *(per(turn[0].sizes[-1], 2),) * 2) if halves else turn
        rotary, shared = (self._turned(one, *turn, halves=halves) for one in (rotary, ops.rearrange(shared, "b s d -> b s () d")))
        latent = ops.remember("latent", own.kv_a_layernorm(latent), axis=1)
        shared = ops.copies(ops.remember("rotary key", shared, axis=1), self.num_attention_heads, axis=2)
        key, value = ops.segments(ops.heads(own.kv_b_proj(latent)))
        query, key = beside(plain, rotary), beside(key, shared)
        return own.o_proj(ops.attend(query, key, value, mask=Mask(causal=True), scale=self.scale, dropout=self.dropout))

    def _turned(self, x: Value, cos: Value, sin: Value, *, halves: bool) -> Value:
        """Rotate pairs of neighbours, or the halves against each other; rotated neighbours are returned as halves."""
        return ops.rotate(ops.rearrange(x, "b s a (p two) -> b s a (two p)", two=2) if self.interleaved else x, cos, sin, halves=halves)


def beside(one: Value, other: Value) -> Value:
    """Join the features of (batch, positions, heads, width), with the heads before the positions in memory, as in the references."""
    joined = ops.join(*(ops.rearrange(x, "b s a d -> b a s d") for x in (one, other)))
    return ops.rearrange(joined, "b a s d -> b s a d")
