"""Falcon (Almazrouei et al. 2023, arXiv:2311.16867). Reference: ``transformers.models.falcon`` 5.23."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from paramsym.algebra.size import Axis, Count, Dim, cat, divides
from paramsym.algebra.symbols import A, F, G, H, L
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.models.activations import learned
from paramsym.models.blocks import FeedForward, Parallel, PreNorm
from paramsym.models.bloom import other_width
from paramsym.models.decoder import Decoder, frequencies
from paramsym.models.gpt import Alibi, Fused, FusedBiased, FusedRotated, Tower
from paramsym.models.keys import Flag, Function, Key, Real, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.published import published_in
from paramsym.models.rope import RopeSettings, RotaryShare, rope_arguments
from paramsym.program import ROPE, Rope
from paramsym.program.attention import root_reciprocal


@dataclass(frozen=True)
class Falcon(Decoder):
    """Falcon and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of attention, 2*F*H for the
    feed-forward network (F is 4*H where ``ffn_hidden_size`` is None) and normalisations of 2*H; and a last normalisation. Queries, keys and
    values are one matrix: with ``new_decoder_architecture`` of G groups of heads with one key and one value each, H**2 + 2*G*H*H/A; with
    ``multi_query`` of one key and one value for all heads, H**2 + 2*H*H/A; otherwise 3*H**2. A block has one normalisation, or two if
    attention and feed-forward are not parallel (``parallel_attn`` False) or ``num_ln_in_parallel_attn`` is 2, as it is in the new
    architecture unless it is given.

    Raises:
        DivisibilityError: heads that do not divide the hidden size, or key/value heads that do not divide the heads.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Falcon().params
    10*H**2*L + 2*H*L + H*V + 2*H + 2*H**2*L/A
    >>> Falcon(architecture="FalconForCausalLM").at("tiiuae/falcon-7b").params
    6921720704
    """

    hidden_size: Dim = key(H, 4544)
    num_hidden_layers: Count = key(L, 32, least=0)
    num_attention_heads: Dim = key(A, 71, divides="hidden_size")
    num_kv_heads: Dim | None = key(G, None, argument=None)
    ffn_hidden_size: Dim | None = key(F, None, argument=None)
    num_ln_in_parallel_attn: int | None = key(Whole())
    alibi: bool = key(Flag(null=True))
    new_decoder_architecture: bool = key(Flag(null=True))
    multi_query: bool = key(Flag(default=True, null=True))
    parallel_attn: bool = key(Flag(default=True, null=True))
    bias: bool = key(Flag(null=True))
    activation: str = key(Function("gelu"))
    rotary_dim: Count | None = None
    architecture: str = classes({"Falcon": LANGUAGE})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    rope: Rope = ROPE
    layer_norm_epsilon: float = key(Real(1e-5))
    attention_dropout: float = key(Real(0.0))
    hidden_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {
        "n_embed": Whole(),
        "rope_parameters": RopeSettings(),
        "rope_scaling": RopeSettings(),
        "partial_rotary_factor": RotaryShare(),
        "rope_theta": Real(10000.0),
        "max_position_embeddings": Whole(2048),
    }
    base_name = "transformer"
    table_name = "word_embeddings"
    classifier_name = "classifier"

    published, claims = published_in("falcon")

    def conditions(self) -> None:
        """Key/value heads divide the heads where they are read."""
        super().conditions()
        if self.num_kv_heads is not None and self.new_decoder_architecture:
            divides(self.num_kv_heads, self.num_attention_heads, "num_kv_heads", "num_attention_heads")

    def base(self) -> Layer:
        """The base model; the reference keeps rotary frequencies even if ``alibi`` replaces them."""
        return Tower(
            {
                "word_embeddings": Embedding(self.vocab_size, self.hidden_size),
                "h": self.blocks(),
                "ln_f": self.norm(),
                "rotary_emb": self.frequencies(),
            },
            # The biases are scaled like the scores.
            alibi=Alibi(self.num_attention_heads, root_reciprocal(self.head_width()), masked=True) if self.alibi else None,
        )

    def frequencies(self) -> Layer:
        """The frequencies of a head."""
        return frequencies(self.head_width(), self.rotary_dim, rope=self.rope)

    def block(self, kind: str = "full_attention") -> PreNorm:  # noqa: ARG002 - there is one kind
        """Attention, the feed-forward network, and the normalisations of this variant."""
        width, bias = self.hidden_size, self.bias
        inner = 4 * width if self.ffn_hidden_size is None else self.ffn_hidden_size
        up, down = Dense(width, inner, bias), Dense(inner, width, bias)
        mlp = {"dense_h_to_4h": up, **learned("act", self.activation), "dense_4h_to_h": down}
        norms = dict(self._norms())
        layers = {
            "self_attention": self._attention(),
            "mlp": FeedForward(mlp, self.activation, names=("dense_h_to_4h", "act", "dense_4h_to_h")),
            **norms,
        }
        rates = (
            0.0 if self.parallel_attn else self.attention_dropout,
            self.hidden_dropout,
        )  # in parallel, one mask for the sum
        if not self.parallel_attn:
            return PreNorm(layers, names=("input_layernorm", "self_attention", "post_attention_layernorm", "mlp"), dropped=rates)
        first, second = ("ln_attn", "ln_mlp") if "ln_mlp" in norms else ("input_layernorm", "input_layernorm")
        return Parallel(layers, names=(first, "self_attention", second, "mlp"), dropped=rates)

    def _attention(self) -> Fused:
        """In the new architecture, heads that share a key and a value get copies, which are kept."""
        width = self.hidden_size
        outward = Dense((self.num_attention_heads, self.head_width()), width, self.bias)
        projections = {"query_key_value": Dense(width, self._fused(), self.bias), "dense": outward}
        listed = self.multi_query or self.new_decoder_architecture
        kind = FusedBiased if self.alibi else FusedRotated
        return kind(
            projections,
            spread=self.new_decoder_architecture,
            listed=listed,
            written=True,
            dropout=self.attention_dropout if self.alibi else 0.0,
        )

    def _fused(self) -> Axis:
        heads, own = self.num_attention_heads, self.head_width()
        if self.new_decoder_architecture and self.num_kv_heads is not None:
            each = divides(self.num_kv_heads, heads, "num_kv_heads", "num_attention_heads")
            return (self.num_kv_heads, cat(query=(each, own), key=own, value=own))
        if self.multi_query and not self.new_decoder_architecture:
            return cat(query=(heads, own), key=own, value=own)
        return (heads, cat(query=own, key=own, value=own))

    def _norms(self) -> Iterator[tuple[str, Layer]]:
        given = self.num_ln_in_parallel_attn
        if not self.parallel_attn:
            yield from (("post_attention_layernorm", self.norm()), ("input_layernorm", self.norm()))
        elif given == 2 or (given is None and self.new_decoder_architecture):
            yield from (("ln_attn", self.norm()), ("ln_mlp", self.norm()))
        else:
            yield "input_layernorm", self.norm()


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Use the old name of the hidden size, which takes precedence; then read the rotation."""
    other_width(arguments, sizes)
    if not arguments["new_decoder_architecture"] and arguments["num_kv_heads"] is not None:
        arguments["num_kv_heads"] = None  # only the new architecture reads it
        del sizes[G]
    rope_arguments(floors=False, named=True)(arguments, sizes)


_FORMER = {f"RW{rest}": f"Falcon{rest}" for rest in ("Model", "ForCausalLM")}
_IGNORED = "apply_residual_connection_post_layernorm"
FAMILIES = (family("falcon", Falcon, "", {"vocab_size": 65024}, _settle, ignored=_IGNORED, former=_FORMER),)
