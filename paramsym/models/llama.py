"""Llama and the families with its block: Mistral, Qwen2, Qwen3, Granite.

References: ``transformers.models.llama``, ``mistral``, ``qwen2``, ``qwen3`` and ``granite`` 5.23, names and shapes of their state dicts.
Papers: Touvron et al. 2023 (arXiv:2302.13971), Jiang et al. 2023 (arXiv:2310.06825), Yang et al. 2024 and 2025 (arXiv:2407.10671,
arXiv:2505.09388).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.errors import ConfigError
from paramsym.layer import Layer
from paramsym.layers.attention import HeadNorm
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Ladder, PreNorm, RotatedAttention, scaled
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import (
    GroupedDecoder,
    OptionalSize,
    OptionalWhole,
    by_turns,
    decoder_family,
    gated,
    grouped_keys,
    grouped_size,
    of_kind,
    settled,
)
from paramsym.models.family import Flag, Key, Number as Real, Size, Sizes
from paramsym.program import ROPE, Rope, Value
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, D, F, G, H, L, V

Architecture = Literal[
    "LlamaModel",
    "LlamaForCausalLM",
    "LlamaForSequenceClassification",
    "LlamaForTokenClassification",
    "LlamaForQuestionAnswering",
    "MistralModel",
    "MistralForCausalLM",
    "MistralForSequenceClassification",
    "MistralForTokenClassification",
    "MistralForQuestionAnswering",
    "Qwen2Model",
    "Qwen2ForCausalLM",
    "Qwen2ForSequenceClassification",
    "Qwen2ForTokenClassification",
    "Qwen2ForQuestionAnswering",
    "Qwen3Model",
    "Qwen3ForCausalLM",
    "Qwen3ForSequenceClassification",
    "Qwen3ForTokenClassification",
    "Qwen3ForQuestionAnswering",
    "GraniteModel",
    "GraniteForCausalLM",
]


@dataclass(frozen=True)
class Llama(GroupedDecoder):
    """Llama, its relatives and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H for
    attention, 3*F*H for the gated feed-forward network and 2*H for two scales; and a last scale of H. A head's width D is H/A where
    ``head_dim`` is None, and there are as many key/value heads as heads where ``num_key_value_heads`` is None. ``architecture`` also says
    which family it is: Qwen2 has biases on queries, keys and values; Qwen3 a scale of D for the queries and one for the keys of each
    layer; ``attention_bias`` is for Llama, Qwen3 and Granite, ``mlp_bias`` for Llama and Granite.

    What is computed: a query sees ``sliding_window`` positions from layer ``full_layers`` on, or in the layers that ``layer_types`` name by
    turns; Granite multiplies the rows of the table, what each branch adds and the scores, and divides the logits.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: a bias that the family does not have; an activation or architecture that the reference does not know.

    >>> Llama().params
    3*F*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> Llama(architecture="LlamaForCausalLM").at("meta-llama/Meta-Llama-3-8B").params
    8030261248
    >>> qwen = Llama(architecture="Qwen3ForCausalLM", head_dim=D, tie_word_embeddings=True)
    >>> qwen.at("Qwen/Qwen3-0.6B").params
    596049920
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    hidden_act: str = "silu"
    attention_bias: bool = False
    mlp_bias: bool = False
    rotary_dim: Count | None = None
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "LlamaModel"
    _: KW_ONLY
    rms_norm_eps: float = 1e-6
    rope: Rope = ROPE
    sliding_window: Dim | None = None
    full_layers: Count = 0
    layer_types: tuple[str, ...] | None = None
    embedding_multiplier: float = 1.0
    residual_multiplier: float = 1.0
    attention_multiplier: float | None = None
    logits_scaling: float = 1.0

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "huggyllama/llama-7b": grouped_size(32000, 4096, 32, 32, 32, 11008),
        "huggyllama/llama-13b": grouped_size(32000, 5120, 40, 40, 40, 13824),
        "huggyllama/llama-65b": grouped_size(32000, 8192, 80, 64, 64, 22016),
        "meta-llama/Llama-2-7b-hf": grouped_size(32000, 4096, 32, 32, 32, 11008),
        "meta-llama/Llama-2-13b-hf": grouped_size(32000, 5120, 40, 40, 40, 13824),
        "meta-llama/Llama-2-70b-hf": grouped_size(32000, 8192, 80, 64, 8, 28672),
        "codellama/CodeLlama-7b-hf": grouped_size(32016, 4096, 32, 32, 32, 11008),
        "codellama/CodeLlama-34b-hf": grouped_size(32000, 8192, 48, 64, 8, 22016),
        "meta-llama/Meta-Llama-3-8B": grouped_size(128256, 4096, 32, 32, 8, 14336),
        "meta-llama/Meta-Llama-3-70B": grouped_size(128256, 8192, 80, 64, 8, 28672),
        "meta-llama/Llama-3.1-405B": grouped_size(128256, 16384, 126, 128, 8, 53248),
        "meta-llama/Llama-3.2-1B": grouped_size(128256, 2048, 16, 32, 8, 8192, tie_word_embeddings=True),
        "meta-llama/Llama-3.2-3B": grouped_size(128256, 3072, 28, 24, 8, 8192, tie_word_embeddings=True),
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0": grouped_size(32000, 2048, 22, 32, 4, 5632),
        "deepseek-ai/deepseek-coder-1.3b-base": grouped_size(32256, 2048, 24, 16, 16, 5504),
        "deepseek-ai/deepseek-coder-33b-base": grouped_size(32256, 7168, 62, 56, 8, 19200),
        "01-ai/Yi-6B": grouped_size(64000, 4096, 32, 32, 4, 11008),
        "01-ai/Yi-34B": grouped_size(64000, 7168, 60, 56, 8, 20480),
        "mistralai/Mistral-7B-v0.1": grouped_size(32000, 4096, 32, 32, 8, 14336),
        "mistralai/Mistral-7B-v0.3": grouped_size(32768, 4096, 32, 32, 8, 14336),
        "mistralai/Mistral-Nemo-Base-2407": grouped_size(131072, 5120, 40, 32, 8, 14336, head_dim=128),
        "mistralai/Mistral-Small-24B-Base-2501": grouped_size(131072, 5120, 40, 32, 8, 32768, head_dim=128),
        "mistralai/Codestral-22B-v0.1": grouped_size(32768, 6144, 56, 48, 8, 16384),
        "Qwen/Qwen1.5-0.5B": grouped_size(151936, 1024, 24, 16, 16, 2816, tie_word_embeddings=True),
        "Qwen/Qwen1.5-14B": grouped_size(152064, 5120, 40, 40, 40, 13696),
        "Qwen/Qwen1.5-72B": grouped_size(152064, 8192, 80, 64, 64, 24576),
        "Qwen/Qwen1.5-110B": grouped_size(152064, 8192, 80, 64, 8, 49152),
        "Qwen/Qwen2-0.5B": grouped_size(151936, 896, 24, 14, 2, 4864, tie_word_embeddings=True),
        "Qwen/Qwen2.5-1.5B": grouped_size(151936, 1536, 28, 12, 2, 8960, tie_word_embeddings=True),
        "Qwen/Qwen2.5-3B": grouped_size(151936, 2048, 36, 16, 2, 11008, tie_word_embeddings=True),
        "Qwen/Qwen2.5-7B": grouped_size(152064, 3584, 28, 28, 4, 18944),
        "Qwen/Qwen2.5-32B": grouped_size(152064, 5120, 64, 40, 8, 27648),
        "Qwen/Qwen2.5-72B": grouped_size(152064, 8192, 80, 64, 8, 29568),
        "Qwen/Qwen3-0.6B": grouped_size(151936, 1024, 28, 16, 8, 3072, head_dim=128, tie_word_embeddings=True),
        "Qwen/Qwen3-1.7B": grouped_size(151936, 2048, 28, 16, 8, 6144, head_dim=128, tie_word_embeddings=True),
        "Qwen/Qwen3-4B": grouped_size(151936, 2560, 36, 32, 8, 9728, head_dim=128, tie_word_embeddings=True),
        "Qwen/Qwen3-14B": grouped_size(151936, 5120, 40, 40, 8, 17408, head_dim=128),
        "ibm-granite/granite-3.0-2b-base": grouped_size(49155, 2048, 40, 32, 8, 8192, tie_word_embeddings=True),
        "ibm-granite/granite-3.0-8b-base": grouped_size(49155, 4096, 40, 32, 8, 12800, tie_word_embeddings=True),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("huggyllama/llama-7b", 6_738_415_616, "Touvron et al. 2023, table 2 (6.7B); model card", counts="LlamaForCausalLM"),
        Claim("huggyllama/llama-13b", 13_015_864_320, "Touvron et al. 2023, table 2 (13.0B); model card", counts="LlamaForCausalLM"),
        Claim("huggyllama/llama-65b", 65_285_660_672, "Touvron et al. 2023, table 2 (65.2B); model card", counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-2-7b-hf", 6_738_415_616, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-2-13b-hf", 13_015_864_320, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-2-70b-hf", 68_976_648_192, RECALLED, counts="LlamaForCausalLM"),
        Claim("codellama/CodeLlama-7b-hf", 6_738_546_688, RECALLED, counts="LlamaForCausalLM"),
        Claim("codellama/CodeLlama-34b-hf", 33_743_970_304, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Meta-Llama-3-8B", 8_030_261_248, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Meta-Llama-3-70B", 70_553_706_496, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-3.1-405B", 405_853_388_800, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-3.2-1B", 1_235_814_400, RECALLED, counts="LlamaForCausalLM"),
        Claim("meta-llama/Llama-3.2-3B", 3_212_749_824, RECALLED, counts="LlamaForCausalLM"),
        Claim("TinyLlama/TinyLlama-1.1B-Chat-v1.0", 1_100_048_384, RECALLED, counts="LlamaForCausalLM"),
        Claim("deepseek-ai/deepseek-coder-1.3b-base", 1_346_471_936, RECALLED, counts="LlamaForCausalLM"),
        Claim("deepseek-ai/deepseek-coder-33b-base", 33_342_991_360, RECALLED, counts="LlamaForCausalLM"),
        Claim("01-ai/Yi-6B", 6_061_035_520, RECALLED, counts="LlamaForCausalLM"),
        Claim("01-ai/Yi-34B", 34_388_917_248, RECALLED, counts="LlamaForCausalLM"),
        Claim("mistralai/Mistral-7B-v0.1", 7_241_732_096, RECALLED, counts="MistralForCausalLM"),
        Claim("mistralai/Mistral-7B-v0.3", 7_248_023_552, RECALLED, counts="MistralForCausalLM"),
        Claim("mistralai/Mistral-Nemo-Base-2407", 12_247_782_400, RECALLED, counts="MistralForCausalLM"),
        Claim("mistralai/Mistral-Small-24B-Base-2501", 23_572_403_200, RECALLED, counts="MistralForCausalLM"),
        Claim("mistralai/Codestral-22B-v0.1", 22_247_282_688, RECALLED, counts="MistralForCausalLM"),
        Claim("Qwen/Qwen1.5-0.5B", 463_987_712, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen1.5-14B", 14_167_290_880, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen1.5-72B", 72_287_920_128, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen1.5-110B", 111_209_914_368, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2-0.5B", 494_032_768, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2.5-1.5B", 1_543_714_304, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2.5-3B", 3_085_938_688, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2.5-7B", 7_615_616_512, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2.5-32B", 32_763_876_352, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen2.5-72B", 72_706_203_648, RECALLED, counts="Qwen2ForCausalLM"),
        Claim("Qwen/Qwen3-0.6B", 596_049_920, RECALLED, counts="Qwen3ForCausalLM"),
        Claim("Qwen/Qwen3-1.7B", 1_720_574_976, RECALLED, counts="Qwen3ForCausalLM"),
        Claim("Qwen/Qwen3-4B", 4_022_468_096, RECALLED, counts="Qwen3ForCausalLM"),
        Claim("Qwen/Qwen3-14B", 14_768_307_200, RECALLED, counts="Qwen3ForCausalLM"),
        Claim("ibm-granite/granite-3.0-2b-base", 2_533_531_648, BUILT, counts="GraniteForCausalLM"),
        Claim("ibm-granite/granite-3.0-8b-base", 8_170_848_256, RECALLED, counts="GraniteForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation and the biases."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")
        if self.kind == "Llama":  # checked by the reference even where head_dim makes the quotient idle
            divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        if self.kind in {"Mistral", "Qwen2"}:
            self.refuse(attention_bias=self.attention_bias)
        if self.kind not in {"Llama", "Granite"}:
            self.refuse(mlp_bias=self.mlp_bias)

    @property
    def answering_base_name(self) -> str:  # type: ignore[override]
        """The reference's question answering keeps its base model under another name in some families."""
        return "transformer" if self.kind in {"Llama", "Qwen2", "Qwen3"} else "model"

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size, self.rms_norm_eps)

    @property
    def embedding_scale(self) -> float:
        """Granite scales the rows of its table."""
        return self.embedding_multiplier

    def scores(self, x: Value) -> Value:
        """Granite divides the scores."""
        return scaled(x, 1 / self.logits_scaling)

    def blocks(self) -> Layer:
        """The first ``full_layers`` blocks see all earlier positions, the others a window where there is one."""
        if self.sliding_window is None or self.full_layers == 0:
            return super().blocks()
        return Ladder((self.block(), self.block("sliding_attention")), self.num_hidden_layers, self.full_layers)

    @property
    def kinds(self) -> tuple[str, ...]:
        """One kind, with a window or without, unless ``layer_types`` are given by turns."""
        if self.layer_types is not None and self.sliding_window is not None:
            return self.layer_types
        return ("full_attention",) if self.sliding_window is None else ("sliding_attention",)

    def block(self, kind: str = "full_attention") -> PreNorm:
        """Attention, the feed-forward network, and the scale before each."""
        layers = self.projections(bias=self.attention_bias or self.kind == "Qwen2", output_bias=self.attention_bias)
        if self.kind == "Qwen3":
            layers |= self.shared_norms("q_norm", "k_norm", HeadNorm((self.head_width(),), eps=self.rms_norm_eps))
        window = self.sliding_window if kind == "sliding_attention" else None
        return PreNorm(
            {
                "self_attn": RotatedAttention(layers, window=window, scale=self.attention_multiplier),
                "mlp": gated(self.hidden_size, self.intermediate_size, self.hidden_act, bias=self.mlp_bias),
                "input_layernorm": self.norm(),
                "post_attention_layernorm": self.norm(),
            },
            residual=self.residual_multiplier,
        )


_NAMES: tuple[str, ...] = get_args(Architecture)
_BIAS = Flag(default=False)
_EPS = Real(1e-6)


def _seeing(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Find out which layers see a window: none unless ``use_sliding_window``, else those from ``max_window_layers`` on."""
    used, first = arguments.pop("use_sliding_window"), arguments.pop("max_window_layers")
    listed = arguments.get("layer_types")
    settled()(arguments, sizes)
    if not used:
        arguments["sliding_window"] = None
        return
    if listed is not None:
        first = next((number for number, kind in enumerate(listed) if kind == "sliding_attention"), len(listed))
        if "full_attention" in listed[first:]:
            arguments["layer_types"] = by_turns(listed)
            return
    if first is None:
        message = "max_window_layers is null; wanted a whole number, zero or more, where use_sliding_window is true."
        raise ConfigError(message)
    arguments["full_layers"] = min(first, sizes[L])
    if first >= sizes[L]:
        arguments |= {"sliding_window": None, "full_layers": 0}


_WINDOW: dict[str, Key] = {
    "use_sliding_window": Flag(default=False),
    "sliding_window": OptionalWhole(4096),
    "max_window_layers": OptionalWhole(28, least=0),
}

FAMILIES = (
    decoder_family(
        "llama",
        Llama,
        of_kind(_NAMES, "Llama"),
        grouped_keys(*(32000, 4096, 32, 32, OptionalSize(G, None), 11008), attention_bias=_BIAS, mlp_bias=_BIAS, rms_norm_eps=_EPS),
        settled(floors=False, named=True),
        former={"LLaMAForCausalLM": "LlamaForCausalLM"},
    ),
    decoder_family(
        "mistral",
        Llama,
        of_kind(_NAMES, "Mistral"),
        grouped_keys(*(32000, 4096, 32, 32, Size(G, 8), 14336), positions=131072, rms_norm_eps=_EPS, sliding_window=OptionalWhole(4096)),
        settled(named=True),
    ),
    decoder_family(
        "qwen2",
        Llama,
        of_kind(_NAMES, "Qwen2"),
        {**grouped_keys(*(151936, 4096, 32, 32, OptionalSize(G, 32), 22016), positions=32768, rms_norm_eps=_EPS), **_WINDOW},
        _seeing,
    ),
    decoder_family(
        "qwen3",
        Llama,
        of_kind(_NAMES, "Qwen3"),
        {
            **grouped_keys(
                *(151936, 4096, 32, 32, OptionalSize(G, 32), 22016),
                positions=32768,
                head_dim=Size(D, 128),
                attention_bias=_BIAS,
                rms_norm_eps=_EPS,
            ),
            **_WINDOW,
        },
        _seeing,
    ),
    decoder_family(
        "granite",
        Llama,
        of_kind(_NAMES, "Granite"),
        grouped_keys(
            *(32000, 4096, 32, 32, OptionalSize(G, None), 11008),
            attention_bias=_BIAS,
            mlp_bias=_BIAS,
            rms_norm_eps=_EPS,
            embedding_multiplier=Real(1.0),
            residual_multiplier=Real(1.0),
            attention_multiplier=Real(1.0),
            logits_scaling=Real(1.0),
        ),
        settled(),
    ),
)
