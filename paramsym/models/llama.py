"""Llama and the families with its block: Mistral, Qwen2, Qwen3, Granite.

References: ``transformers.models.llama``, ``mistral``, ``qwen2``, ``qwen3`` and ``granite`` 5.23, names and shapes of their state dicts.
Papers: Touvron et al. 2023 (arXiv:2302.13971), Jiang et al. 2023 (arXiv:2310.06825), Yang et al. 2024 and 2025 (arXiv:2407.10671,
arXiv:2505.09388).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Count, Dim, divides
from paramsym.algebra.symbols import G, L
from paramsym.core.layer import Layer
from paramsym.errors import ConfigError
from paramsym.layers.heads import HeadNorm
from paramsym.models.blocks import Ladder, PreNorm, RotatedAttention, scaled
from paramsym.models.decoder import RmsDecoder, by_turns, gated
from paramsym.models.key_kinds import Flag, Function, Key, Real, Size, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Value


class Llama(RmsDecoder):
    """Llama, similar models and their heads, as the reference class ``architecture`` stores them.

    ``architecture`` also says which family it is: Qwen2 has biases on queries, keys and values; Qwen3 has in each layer an RMSNorm weight
    of D for the queries and one for the keys; ``attention_bias`` is for Llama, Qwen3 and Granite, ``mlp_bias`` for Llama and Granite. A
    query sees ``sliding_window`` positions from layer ``full_layers`` on, or in the layers that ``layer_types`` names. Granite multiplies
    the rows of the embedding, the sub-layers' results and the scores, and divides the logits.

    >>> Llama().params
    3*F*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> Llama(architecture="LlamaForCausalLM").at("meta-llama/Meta-Llama-3-8B").params
    8030261248
    >>> from paramsym.algebra.symbols import D
    >>> qwen = Llama(architecture="Qwen3ForCausalLM", head_dim=D, tie_word_embeddings=True)
    >>> qwen.at("Qwen/Qwen3-0.6B").params
    596049920
    """

    hidden_act: str = key(Function("silu"))
    attention_bias: bool = key(Flag(), of="Llama Qwen3 Granite")
    mlp_bias: bool = key(Flag(), of="Llama Granite")
    architecture: str = classes({"Llama Mistral Qwen2 Qwen3": LANGUAGE, "Granite": "Model ForCausalLM"})
    _: KW_ONLY
    sliding_window: Dim | None = key(Whole(4096), of="Mistral Qwen2 Qwen3", argument=None)
    full_layers: Count = 0
    layer_types: tuple[str, ...] | None = None
    embedding_multiplier: float = key(Real(1.0), of="Granite")
    residual_multiplier: float = key(Real(1.0), of="Granite")
    attention_multiplier: float | None = key(Real(1.0), of="Granite", argument=None)
    logits_scaling: float = key(Real(1.0), of="Granite")

    renamed = ("Llama", "Qwen2", "Qwen3")

    def conditions(self) -> None:
        super().conditions()
        if self.kind == "Llama":  # even if head_dim is given
            divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")

    def scores(self, x: Value) -> Value:
        return scaled(x, 1 / self.logits_scaling)

    def blocks(self) -> Layer:
        if self.sliding_window is None:
            return super().blocks()
        if self.full_layers != 0:
            return Ladder((self.block(), self.block("sliding_attention")), self.num_hidden_layers, self.full_layers)
        return self.in_turn(self.block, ("sliding_attention",) if self.layer_types is None else self.layer_types)

    def block(self, kind: str = "full_attention") -> PreNorm:
        matrices = self.projections(bias=self.attention_bias or self.kind == "Qwen2", output_bias=self.attention_bias)
        if self.kind == "Qwen3":
            matrices |= self.shared_norms("q_norm", "k_norm", HeadNorm((self.head_width(),), eps=self.rms_norm_eps))
        window = self.sliding_window if kind == "sliding_attention" else None
        attention = RotatedAttention(matrices, window=window, scale=self.attention_multiplier, dropout=self.attention_dropout)
        mlp = gated(self.hidden_size, self.intermediate_size, self.hidden_act, bias=self.mlp_bias)
        return self.pre_norm(attention, mlp, residual=self.residual_multiplier)


def _seeing(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Find the layers with a window: none unless ``use_sliding_window``, otherwise those from ``max_window_layers`` on."""
    used, first = arguments.pop("use_sliding_window"), arguments.pop("max_window_layers")
    listed = arguments.get("layer_types")
    rope_arguments()(arguments, sizes)
    if not used:
        arguments["sliding_window"] = None
        return
    if listed is not None:
        first = next((number for number, kind in enumerate(listed) if kind == "sliding_attention"), len(listed))
        if "full_attention" in listed[first:]:
            arguments["layer_types"] = by_turns(listed)
            return
    if first is None:
        raise ConfigError("max_window_layers is null; wanted a whole number, zero or more, where use_sliding_window is true.")
    arguments["full_layers"] = min(first, sizes[L])
    if first >= sizes[L]:
        arguments |= {"sliding_window": None, "full_layers": 0}


_WINDOW: Mapping[str, Key] = {"use_sliding_window": Flag(), "max_window_layers": Whole(28, least=0)}
_QWEN = {"V": 151936, "G": Size(G, 32, null=True), "F": 22016, "max_position_embeddings": 32768, **_WINDOW}
_MISTRAL = {"G": 8, "F": 14336, "max_position_embeddings": 131072}
_FORMER = {"LLaMAForCausalLM": "LlamaForCausalLM"}
FAMILIES = (
    family("llama", Llama, "Llama", {}, rope_arguments(floors=False, named=True), former=_FORMER),
    family("mistral", Llama, "Mistral", _MISTRAL, rope_arguments(named=True)),
    family("qwen2", Llama, "Qwen2", _QWEN, _seeing),
    family("qwen3", Llama, "Qwen3", {**_QWEN, "D": 128}, _seeing),
    family("granite", Llama, "Granite", {}, rope_arguments()),
)
