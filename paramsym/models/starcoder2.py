"""StarCoder2 (Lozhkov et al. 2024, arXiv:2402.19173). Reference: ``transformers.models.starcoder2`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import FeedForward, PreNorm, RotatedAttention
from paramsym.models.decoder import GroupedDecoder, decoder_family, grouped_keys
from paramsym.models.keys import Flag, Real, Size, Whole
from paramsym.models.published import published_in
from paramsym.models.rope import settled
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim
from paramsym.symbols import A, F, G, H, L, V

Architecture = Literal[
    "Starcoder2Model", "Starcoder2ForCausalLM", "Starcoder2ForSequenceClassification", "Starcoder2ForTokenClassification"
]


@dataclass(frozen=True)
class Starcoder2(GroupedDecoder):
    """StarCoder2 and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of two matrices each way
    (attention 2*A*D*H + 2*G*D*H, feed-forward 2*F*H without a gate), their biases with ``use_bias``, and two normalisations of 2*H; and a
    last normalisation of 2*H. A head's width D is H/A where ``head_dim`` is None.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Starcoder2(use_bias=False).params
    2*F*H*L + 2*H**2*L + 4*H*L + H*V + 2*H + 2*G*H**2*L/A
    >>> Starcoder2(architecture="Starcoder2ForCausalLM").at("bigcode/starcoder2-3b").params
    3030371328
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    hidden_act: str = "gelu_pytorch_tanh"
    use_bias: bool = True
    rotary_dim: Count | None = None
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "Starcoder2Model"
    _: KW_ONLY
    norm_epsilon: float = 1e-5
    rope: Rope = ROPE
    sliding_window: Dim | None = None

    published, claims = published_in("starcoder2")

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")

    def norm(self) -> LayerNorm:
        """A scale and a shift for each entry."""
        return LayerNorm(self.hidden_size, self.norm_epsilon)

    def block(self, kind: str = "full_attention") -> PreNorm:  # noqa: ARG002 - one kind
        """Attention, the feed-forward network, and the normalisation before each."""
        width, inner, bias = self.hidden_size, self.intermediate_size, self.use_bias
        layers = {"c_fc": Dense(width, inner, bias), "c_proj": Dense(inner, width, bias), **learned("act", self.hidden_act)}
        return PreNorm(
            {
                "self_attn": RotatedAttention(self.projections(bias=bias), window=self.sliding_window),
                "mlp": FeedForward(layers, self.hidden_act, names=("c_fc", "act", "c_proj")),
                "input_layernorm": self.norm(),
                "post_attention_layernorm": self.norm(),
            }
        )


FAMILIES = (
    decoder_family(
        "starcoder2",
        Starcoder2,
        get_args(Architecture),
        grouped_keys(
            *(49152, 3072, 30, 24, Size(G, 2), 12288),
            act="gelu_pytorch_tanh",
            tied=True,
            positions=4096,
            use_bias=Flag(default=True),
            norm_epsilon=Real(1e-5),
            sliding_window=Whole(),
        ),
        settled(),
        ignored="activation_function attention_softmax_in_fp32 scale_attention_softmax_in_fp32 scale_attn_weights mlp_type norm_type",
    ),
)
