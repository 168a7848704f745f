"""StableLM (Bellagente et al. 2024, arXiv:2402.17834). Reference: ``transformers.models.stablelm`` 5.23."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.layer import Layer, Part
from paramsym.layers.normalization import LayerNorm
from paramsym.ledger import Numbers
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Parallel, PreNorm, RotatedAttention
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import GroupedDecoder, decoder_family, gated, grouped_keys, grouped_size, settled
from paramsym.models.family import Flag, Number as Real, Size
from paramsym.program import ROPE, Own, Rope, Value, collected, rearrange, roll, take
from paramsym.size import Count, Dim
from paramsym.symbols import A, F, G, H, L, V

Architecture = Literal["StableLmModel", "StableLmForCausalLM", "StableLmForSequenceClassification", "StableLmForTokenClassification"]


@dataclass(frozen=True)
class StableLm(GroupedDecoder):
    """StableLM and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 2*H**2 + 2*G*H*H/A for
    attention, 3*F*H for the gated feed-forward network and 2*H for each of two normalisations, of one with ``use_parallel_residual``; and a
    last normalisation of 2*H. ``use_qkv_bias`` adds the biases of queries, keys and values; ``qk_layernorm`` a scale of H/A for each query
    head and each key head.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> StableLm().params
    3*F*H*L + 2*H**2*L + 4*H*L + H*V + 2*H + 2*G*H**2*L/A
    >>> StableLm(use_qkv_bias=True, architecture="StableLmForCausalLM").at("stabilityai/stablelm-2-1_6b").params
    1644515328
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    intermediate_size: Dim = F
    hidden_act: str = "silu"
    use_qkv_bias: bool = False
    qk_layernorm: bool = False
    use_parallel_residual: bool = False
    rotary_dim: Count | None = None
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "StableLmModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-5
    rope: Rope = ROPE

    head_dim: ClassVar[None] = None  # type: ignore[misc]  # fixed here
    """The reference's heads are always of the width H/A."""
    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "stabilityai/stablelm-3b-4e1t": grouped_size(50304, 2560, 32, 32, 32, 6912),
        "stabilityai/stablelm-2-1_6b": grouped_size(100352, 2048, 24, 32, 32, 5632, use_qkv_bias=True),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("stabilityai/stablelm-3b-4e1t", 2_795_443_200, BUILT, counts="StableLmForCausalLM"),
        Claim("stabilityai/stablelm-2-1_6b", 1_644_515_328, RECALLED, counts="StableLmForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")

    def norm(self) -> LayerNorm:
        """A scale and a shift for each entry."""
        return LayerNorm(self.hidden_size, self.layer_norm_eps)

    def block(self, kind: str = "full_attention") -> Layer:  # noqa: ARG002 - one kind
        """Attention, the feed-forward network, and the normalisation before each, or before both."""
        attention = self.projections(bias=self.use_qkv_bias, output_bias=False)
        if self.qk_layernorm:
            for name, (heads, width) in zip(("q_layernorm", "k_layernorm"), self.sliced(), strict=True):
                attention[name] = HeadNorms(heads, width, self.layer_norm_eps)
        layers: dict[str, Layer] = {
            "self_attn": RotatedAttention(attention, norms=("q_layernorm", "k_layernorm"), partly=True),
            "mlp": gated(self.hidden_size, self.intermediate_size, self.hidden_act),
            "input_layernorm": self.norm(),
        }
        if self.use_parallel_residual:
            return Parallel(layers)
        return PreNorm({**layers, "post_attention_layernorm": self.norm()})


@dataclass(frozen=True)
class HeadNorms(Layer):
    """A normalisation of its own for each head: ``norms.{0..A-1}.weight`` (D,).

    >>> HeadNorms(A, H / A).params
    H
    """

    heads: Dim
    width: Dim
    eps: float = 1e-5

    def parts(self) -> Iterator[Part]:
        """One normalisation per head."""
        yield Part("", FirstHead(LayerNorm(self.width, self.eps, bias=False)), Numbers(self.heads, pattern="norms.{}"))

    def forward(self, own: Own, x: Value) -> Value:
        """Heads, (batch, positions, heads, width), each by its own."""
        _, normalised = collected(own, 0, x)
        return rearrange(normalised, "a b s d -> b s a d")


@dataclass(frozen=True)
class FirstHead(Layer):
    """The normalisation of one head, which is the first when its turn comes."""

    norm: LayerNorm

    def parts(self) -> Iterator[Part]:
        """The normalisation, on this one's own level."""
        yield Part("", self.norm)

    def forward(self, own: Own, x: Value) -> tuple[Value, Value]:
        """The heads moved up by one, then the first of them, normalised."""
        return roll(x, (-1,), (2,)), own[""](take(x, 2))


_KEYS = grouped_keys(50304, 2560, 32, 32, Size(G, 32), 6912, positions=4096, layer_norm_eps=Real(1e-5))
_FLAGS = {name: Flag(default=False) for name in ("use_qkv_bias", "qk_layernorm", "use_parallel_residual")}
FAMILIES = (
    decoder_family(
        "stablelm",
        StableLm,
        get_args(Architecture),
        {name: key for name, key in _KEYS.items() if name != "head_dim"} | _FLAGS,
        settled(floors=False, share=0.25, partial=True),
    ),
)
