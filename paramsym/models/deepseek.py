"""DeepSeek-V2 and DeepSeek-V3 (DeepSeek-AI 2024: arXiv:2405.04434, arXiv:2412.19437).

References: ``transformers.models.deepseek_v2`` and ``deepseek_v3`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from math import log
from typing import Any, Literal

from paramsym.algebra.size import Count, Dim, at_most, canonical, divides
from paramsym.algebra.symbols import A, E, F, H, K, L, R, dims
from paramsym.core.compose import Block, Repeat, Runs
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.experts import Router
from paramsym.layers.latent_attention import LatentAttention
from paramsym.layers.normalization import RMSNorm
from paramsym.models.blocks import Mixture, PreNorm
from paramsym.models.decoder import Decoder, GroupedDecoder, frequencies, gated
from paramsym.models.experts import experts
from paramsym.models.key_kinds import Flag, Function, Real, Size, Sizes, Whole, Word, as_numbers
from paramsym.models.model import classes, family, key
from paramsym.models.rope import check_even, check_length, rotate, rotation
from paramsym.program import ROPE, Rope
from paramsym.program.attention import root_reciprocal

EXPERT, ALWAYS, DENSE, QUERY_RANK, PLAIN, TURNED, VALUE = dims("F_e E_s k R_q D_n D_r D_v")
"""An expert's width, shared experts, dense layers, the queries' rank, and the sizes of a head: plain, rotated, value."""


class Deepseek(Decoder):
    """DeepSeek-V2, DeepSeek-V3 and their heads, as the reference class ``architecture`` stores them.

    Attention is latent: keys and values are computed from a vector of R = ``kv_lora_rank``, queries from one of R_q = ``q_lora_rank``, or
    from the input if it is None. The first k layers are dense. Each of the L - k others has a router, E experts, of which a token uses K
    (all, if ``num_experts_per_tok`` is None), and ``n_shared_experts`` that every token uses, stored as one network of width E_s*F_e. With
    no shared experts, empty matrices are stored. DeepSeek-V3's router also keeps a correction of E, which is saved and is not a parameter.
    ``attention_bias`` adds biases to the matrices into the latent vectors and out of attention, ``mlp_bias`` (V2) to dense and shared
    networks. ``expert_storage`` is *stacked*, two tensors as the reference holds them, or *separate*, as the published files do.

    The reference leaves out the modules for multi-token prediction that DeepSeek-V3's files hold after the L layers (paper, section 2.2;
    deepseek-ai/DeepSeek-V3, README_WEIGHTS.md); ``num_nextn_predict_layers`` is how many of them to count. A module is one more layer with
    experts, a matrix of 2*H*H and three normalisations of H; its token table and its output matrix are the model's; the reference does not
    compute with them, and neither does the forward pass.

    Only experts of the best ``topk_group`` of ``n_group`` groups are chosen, in V2 with the ``topk_method`` *group_limited_greedy*;
    ``norm_topk_prob`` is V3's. YaRN with ``mscale_all_dim`` in ``rope`` also scales the attention scores.

    Raises:
        SizeError: more dense layers than layers, beside the errors of every model.

    >>> Deepseek().part("layers").params.coeff(E).coeff(L)
    3*F_e*H + H
    >>> v3 = Deepseek(architecture="DeepseekV3ForCausalLM").at("deepseek-ai/DeepSeek-V3")
    >>> v3.params, v3.active
    (671026404352, 37552282624)
    >>> predicting = Deepseek(architecture="DeepseekV3ForCausalLM", num_nextn_predict_layers=1).at("deepseek-ai/DeepSeek-V3")
    >>> predicting.params - v3.params
    11610067968
    """

    hidden_size: Dim = key(H, 7168)
    num_hidden_layers: Count = key(L, 61, least=0)
    num_attention_heads: Dim = key(A, 128)
    intermediate_size: Dim = key(F, 18432)
    moe_intermediate_size: Dim = key(EXPERT, 2048)
    n_routed_experts: Dim = key(E, 256)
    n_shared_experts: Count = key(ALWAYS, 1, least=0)
    num_experts_per_tok: Dim | None = key(K, 8, null=True)
    first_k_dense_replace: Count = key(DENSE, 3, least=0, at_most="num_hidden_layers")
    kv_lora_rank: Dim = key(R, 512)
    q_lora_rank: Dim | None = key(QUERY_RANK, 1536, null=True)
    qk_nope_head_dim: Dim = key(PLAIN, 128)
    qk_rope_head_dim: Dim = key(TURNED, 64)
    v_head_dim: Dim = key(VALUE, 128)
    hidden_act: str = key(Function("silu"))
    attention_bias: bool = key(Flag())
    mlp_bias: bool = key(Flag(), of="DeepseekV2")
    rotary_dim: Count | None = None
    expert_storage: Literal["stacked", "separate"] = "stacked"
    num_nextn_predict_layers: Count = 0
    architecture: str = classes(
        {
            "DeepseekV3": "Model ForCausalLM ForSequenceClassification ForTokenClassification",
            "DeepseekV2": "Model ForCausalLM ForSequenceClassification",
        }
    )
    _: KW_ONLY
    rope: Rope = ROPE
    rms_norm_eps: float = key(Real(1e-6))
    attention_dropout: float = key(Real(0.0))
    n_group: Dim | None = key(Whole(), argument=None)
    topk_group: Dim | None = key(Whole(), argument=None)
    topk_method: str = key(Word("greedy"), of="DeepseekV2")
    norm_topk_prob: bool = key(Flag(default=True, null=True), of="DeepseekV3")
    routed_scaling_factor: float = key(Real(1.0))
    rope_interleave: bool = key(Flag(default=True, null=True), of="DeepseekV3")

    reads = GroupedDecoder.reads
    normalised = RMSNorm

    def conditions(self) -> None:
        super().conditions()
        if self.num_experts_per_tok is not None:
            at_most(self.num_experts_per_tok, self.n_routed_experts, "num_experts_per_tok", "n_routed_experts")
        if self.kind == "DeepseekV2":
            divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        if self.num_nextn_predict_layers != 0 and self.architecture != "DeepseekV3ForCausalLM":
            given = f"num_nextn_predict_layers={self.num_nextn_predict_layers}"
            raise ArgumentError(f"{given}: {self.architecture} has no num_nextn_predict_layers; DeepseekV3ForCausalLM has.")

    def parts(self) -> Iterator[Part]:
        yield from super().parts()
        if self.num_nextn_predict_layers != 0:
            modules = Repeat(self._prediction(), self.num_nextn_predict_layers, start=self.num_hidden_layers)
            yield Part("model.layers", modules)

    def ties(self) -> Mapping[str, str]:
        if self.num_nextn_predict_layers == 0:
            return super().ties()
        table, module = "model.embed_tokens.weight", "model.layers.{}"
        return {**super().ties(), f"{module}.embed_tokens.weight": table, f"{module}.shared_head.head.weight": "lm_head.weight"}

    def rotated(self) -> dict[str, Layer]:
        turning = frequencies(self.qk_rope_head_dim, self.rotary_dim, rope=self.rope, complex=self.kind == "DeepseekV2")
        return {"rotary_emb": turning}

    def blocks(self) -> Layer:
        dense = gated(self.hidden_size, self.intermediate_size, self.hidden_act, bias=self.mlp_bias)
        first = self.first_k_dense_replace
        before, after = (PreNorm(self._layer(mlp)) for mlp in (dense, self._sparse()))
        return Runs((before, first), (after, self.num_hidden_layers - first))

    def _layer(self, mlp: Layer) -> dict[str, Layer]:
        norm = self.norm()
        return {"self_attn": self._attention(), "mlp": mlp, "input_layernorm": norm, "post_attention_layernorm": norm}

    def _prediction(self) -> Block:
        """One module that predicts one more token, as in the published files: a layer with experts between an input and an output part."""
        width, norm = self.hidden_size, self.norm()
        table = Embedding(self.vocab_size, width)
        joined = {"enorm": norm, "hnorm": norm, "eh_proj": Dense(2 * width, width, bias=False)}
        head = Block(norm=norm, head=Dense(width, self.vocab_size, bias=False))
        return Block({"embed_tokens": table, **joined, **self._layer(self._sparse()), "shared_head": head})

    def _attention(self) -> LatentAttention:
        rope, width = self.rope, canonical(self.qk_nope_head_dim + self.qk_rope_head_dim)
        stretched = rope.kind != "default" and rope.mscale_all_dim and rope.stretch > 1
        scale = 0.1 * rope.mscale_all_dim * log(rope.stretch) + 1 if stretched and rope.mscale_all_dim else 1.0
        return LatentAttention(
            *(self.hidden_size, self.num_attention_heads, self.kv_lora_rank),
            *(self.qk_nope_head_dim, self.qk_rope_head_dim, self.v_head_dim),
            q_lora_rank=self.q_lora_rank,
            attention_bias=self.attention_bias,
            interleaved=self.kind == "DeepseekV2" or self.rope_interleave,
            scale=None if scale == 1 else root_reciprocal(width) * scale**2,
            dropout=self.attention_dropout,
        )

    def _sparse(self) -> Mixture:
        width, inner, act, stored = self.hidden_size, self.moe_intermediate_size, self.hidden_act, self.n_routed_experts
        layers = {
            "experts": experts(width, inner, stored, self.num_experts_per_tok, act, self.expert_storage),
            "gate": self._router(),
            "shared_experts": gated(width, inner * self.n_shared_experts, act, bias=self.mlp_bias),
        }
        return Mixture(layers, shared="shared_experts")

    def _router(self) -> Router:
        """V3 corrects the scores, whose sum may differ from 1; V2 uses the chosen scores unchanged."""
        third = self.kind == "DeepseekV3"
        limited = self.n_group is not None and (third or self.topk_method == "group_limited_greedy")
        return Router(
            *(self.hidden_size, self.n_routed_experts),
            correction_bias=third,
            experts_per_token=self.n_routed_experts if self.num_experts_per_tok is None else self.num_experts_per_tok,
            scores="sigmoid" if third else "softmax",
            normalised=third and self.norm_topk_prob,
            weights_scale=self.routed_scaling_factor,
            groups=self.n_group if limited and self.n_group is not None else 1,
            groups_per_token=self.topk_group if limited and self.topk_group is not None else 1,
        )


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Limit the dense layers to the number of layers, as in the reference; read the frequencies for the rotated part of a head."""
    check_length(arguments, sizes)
    if sizes[DENSE] > sizes[L]:
        arguments["first_k_dense_replace"] = L
        del sizes[DENSE]
    as_numbers(arguments, sizes, n_shared_experts=ALWAYS)
    kind, factor = rotation(arguments)
    check_even(sizes[TURNED], factor)
    rotate(arguments, sizes, sizes[TURNED], kind, factor)


_IGNORED = "num_key_value_heads head_dim qk_head_dim topk_method scoring_func ep_size moe_layer_freq"
_FILES = f"{_IGNORED} num_nextn_predict_layers num_mtp_layers"
_V2_DEFAULTS = {"V": 102400, "H": 4096, "L": 32, "A": 32, "F": 11008, "k": 0, "F_e": 1407, "E": 64, "E_s": 2, "K": Size(K, None)}
_V3_DEFAULTS = {"V": 129280, "max_position_embeddings": 4096, "n_group": 8, "topk_group": 4, "routed_scaling_factor": 2.5}
FAMILIES = (
    family("deepseek_v2", Deepseek, "DeepseekV2", _V2_DEFAULTS, _settle, ignored=_IGNORED, aliases={"num_experts": "n_routed_experts"}),
    family("deepseek_v3", Deepseek, "DeepseekV3", _V3_DEFAULTS, _settle, ignored=_FILES, aliases={"num_local_experts": "n_routed_experts"}),
)
