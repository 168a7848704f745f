"""StableLM (Bellagente et al. 2024, arXiv:2402.17834). Reference: ``transformers.models.stablelm`` 5.23."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Parallel, PreNorm, RotatedAttention
from paramsym.models.decoder import GroupedDecoder, gated
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Value, collected, rearrange, take, turn


class StableLm(GroupedDecoder):
    """StableLM and its heads, as the reference class ``architecture`` stores them.

    ``use_parallel_residual`` leaves out the second normalisation of a block. ``qk_layernorm`` adds a scale of H/A for each query head and
    each key head.

    >>> StableLm().params
    3*F*H*L + 2*H**2*L + 4*H*L + H*V + 2*H + 2*G*H**2*L/A
    >>> StableLm(use_qkv_bias=True, architecture="StableLmForCausalLM").at("stabilityai/stablelm-2-1_6b").params
    1644515328
    """

    hidden_act: str = key(Function("silu"))
    use_qkv_bias: bool = key(Flag())
    qk_layernorm: bool = key(Flag())
    use_parallel_residual: bool = key(Flag())
    architecture: str = classes({"StableLm": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-5))
    hidden_dropout: float = key(Real(0.0))

    odd_share = False

    def conditions(self) -> None:
        super().conditions()
        if self.head_dim is not None:
            message = f"head_dim={self.head_dim!r}: {self.architecture} has no head_dim; its heads have hidden_size / num_attention_heads."
            raise ArgumentError(message)

    def block(self) -> PreNorm:
        norms = ("q_layernorm", "k_layernorm")
        matrices = self.projections(bias=self.use_qkv_bias, output_bias=False)
        if self.qk_layernorm:
            matrices |= {name: HeadNorms(*sliced, self.layer_norm_eps) for name, sliced in zip(norms, self.sliced(), strict=True)}
        layers: dict[str, Layer] = {
            "self_attn": RotatedAttention(matrices, norms=norms, partly=True, dropout=self.attention_dropout),
            "mlp": gated(self.hidden_size, self.intermediate_size, self.hidden_act),
            "input_layernorm": self.norm(),
        }
        if self.use_parallel_residual:
            return Parallel(layers, dropped=(0.0, self.hidden_dropout))
        return PreNorm({**layers, "post_attention_layernorm": self.norm()}, dropped=(0.0, self.hidden_dropout))


class HeadNorms(Declared):
    """A separate normalisation for each head: ``norms.{0..A-1}.weight`` (D,).

    >>> from paramsym.algebra.symbols import A, H
    >>> HeadNorms(A, H / A).params
    H
    """

    heads: Dim
    width: Dim
    eps: float = 1e-5

    def parts(self) -> Iterator[Part]:
        yield Part("", FirstHead(LayerNorm(self.width, self.eps, bias=False)), Numbers(self.heads, pattern="norms.{}"))

    def forward(self, own: Own, x: Value) -> Value:
        """Heads, (batch, positions, heads, width), each normalised by its own norm."""
        _, normalised = collected(own, 0, x)
        return rearrange(normalised, "a b s d -> b s a d")


class FirstHead(Declared):
    """The normalisation of one head, which is the first one when it is applied."""

    norm: LayerNorm

    def parts(self) -> Iterator[Part]:
        yield Part("", self.norm)

    def forward(self, own: Own, x: Value) -> tuple[Value, Value]:
        """Return the heads, rotated by one place so that the next one is first, and the normalised first head."""
        return turn(x, 2), own[""](take(x, 2))


_DEFAULTS = {"V": 50304, "H": 2560, "G": 32, "F": 6912, "max_position_embeddings": 4096}
_SETTLE = rope_arguments(floors=False, share=0.25, partial=True)
FAMILIES = (family("stablelm", StableLm, "", _DEFAULTS, _SETTLE, without="head_dim"),)
