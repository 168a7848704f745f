"""MPT (MosaicML 2023). Reference: ``transformers.models.mpt`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Repeat, Sequential
from paramsym.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import Decoder, decoder_family
from paramsym.models.family import Flag, Size
from paramsym.size import Count, Dim, cat, divides
from paramsym.symbols import A, H, L, V

Architecture = Literal["MptModel", "MptForCausalLM", "MptForSequenceClassification", "MptForTokenClassification", "MptForQuestionAnswering"]


@dataclass(frozen=True)
class Mpt(Decoder):
    """MPT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. Nothing has a bias. The base model stores a table of V*H; L blocks of
    12*H**2 + 2*H, whose queries, keys and values are one matrix and whose feed-forward width is always 4*H; and a last scale of H.
    Positions are a bias that is computed and stored nowhere.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an architecture that the reference does not know.

    >>> Mpt().params
    12*H**2*L + 2*H*L + H*V + H
    >>> Mpt(architecture="MptForCausalLM").at("mosaicml/mpt-7b").params
    6649286656
    """

    vocab_size: Dim = V
    d_model: Dim = H
    n_layers: Count = L
    n_heads: Dim = A
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "MptModel"

    base_name: ClassVar[str] = "transformer"
    answering_base_name: ClassVar[str] = "transformer"
    table_name: ClassVar[str] = "wte"
    classifier_name: ClassVar[str] = "classifier"
    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "mosaicml/mpt-7b": {"vocab_size": 50432, "d_model": 4096, "n_layers": 32, "n_heads": 32},
        "mosaicml/mpt-30b": {"vocab_size": 50432, "d_model": 7168, "n_layers": 48, "n_heads": 64},
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("mosaicml/mpt-7b", 6_649_286_656, RECALLED, counts="MptForCausalLM"),
        Claim("mosaicml/mpt-30b", 29_957_200_896, BUILT, counts="MptForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads divide the width."""
        self._head_width()

    @property
    def hidden_size(self) -> Dim:  # type: ignore[override]
        """The width under the name that decoders share."""
        return self.d_model

    def base(self) -> Layer:
        """The base model."""
        return Sequential(
            wte=Embedding(self.vocab_size, self.d_model),
            blocks=Repeat(self.stream(self.block()), self.n_layers),
            norm_f=LayerNorm(self.d_model, bias=False),
        )

    def block(self) -> Block:
        """Attention and the feed-forward network, each behind a scale."""
        width = self.d_model
        sliced = (self.n_heads, self._head_width())
        scale = LayerNorm(width, bias=False)
        fused = Dense(width, cat(query=sliced, key=sliced, value=sliced), bias=False)
        return Block(
            norm_1=scale,
            attn=Block(Wqkv=fused, out_proj=Dense(sliced, width, bias=False)),
            norm_2=scale,
            ffn=Block(up_proj=Dense(width, 4 * width, bias=False), down_proj=Dense(4 * width, width, bias=False)),
        )

    def _head_width(self) -> Dim:
        return divides(self.n_heads, self.d_model, "n_heads", "d_model")


FAMILIES = (
    decoder_family(
        "mpt",
        Mpt,
        get_args(Architecture),
        {
            "vocab_size": Size(V, 50368),
            "d_model": Size(H, 2048),
            "n_layers": Size(L, 24, least=0),
            "n_heads": Size(A, 16),
            "tie_word_embeddings": Flag(default=True),
        },
        None,
        ignored=(
            "expansion_ratio max_seq_len emb_pdrop learned_pos_emb attn_config init_device init_config no_bias embedding_fraction norm_type"
            " verbose fc_type ffn_config tokenizer_name"
        ),
        former={"MPTForCausalLM": "MptForCausalLM", "MPTModel": "MptModel"},
        aliases={"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"},
    ),
)
