"""The common base of decoder-only language models: token embedding, L blocks, last norm, head; and the reading of their configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.convolution import up_over
from paramsym.algebra.size import Count, Dim, Shape, divides, same
from paramsym.algebra.symbols import A, B, D, F, G, H, L, S, V
from paramsym.core.compose import Repeat
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.heads import ByHead
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import learned
from paramsym.models.blocks import Gated, Ladder, PreNorm, Stem, last_word, tokens
from paramsym.models.key_kinds import Flag, Key, Names, Real, Whole
from paramsym.models.model import Model, key
from paramsym.models.rope import ROTATION
from paramsym.program import ROPE, Own, Rope, Value, contract, drop, join, rotation as turned

_LAYER_TYPES = (
    "full_attention sliding_attention chunked_attention window_attention indexed_attention compressed_sparse_attention"
    " heavily_compressed_attention minimax_m3_sparse conv moe hybrid hybrid_sliding reference_sliding_attention linear_attention mamba"
    " attention deepseek_sparse_attention qwen_sparse_attention"
)
"""The rotary kinds of the reference, and the four old names that it still reads."""
_IGNORED: Mapping[str, str] = {
    "drops values while training": (
        "attention_dropout resid_pdrop embd_pdrop attn_pdrop hidden_dropout embedding_dropout residual_dropout"
        " attention_probs_dropout_prob hidden_dropout_prob"
    ),
    "keeps a quotient finite": "rms_norm_eps layer_norm_eps norm_epsilon layer_norm_epsilon",
    "bounds the positions, which are computed and not stored": (
        "max_position_embeddings original_max_position_embeddings model_max_length max_sequence_length"
    ),
    "turns positions, in the same number of frequencies": "rope_theta rope_local_base_freq rope_interleave use_mrope",
    "limits which positions attend to which": "sliding_window use_sliding_window max_window_layers use_bidirectional_attention",
    "scales or clips values": (
        "logit_scale logits_scaling embedding_multiplier residual_multiplier attention_multiplier query_pre_attn_scalar clip_qkv"
        " final_logit_softcapping attn_logit_softcapping"
    ),
    "splits a computation, not a tensor": "pretraining_tp",
    "is true of these models in any case": "is_decoder",
    "says how numbers are packed in a file": "quantization_config",
    "weighs or reports the routing, or disturbs it while training": (
        "router_aux_loss_coef output_router_logits router_jitter_noise norm_topk_prob aux_loss_alpha seq_aux"
    ),
}
_USUAL: Mapping[str, tuple[Any, ...]] = {
    "token_classification_bias": (True,),
    "is_heterogeneous": (False,),
    "attention_bias": (False,),
    "mlp_bias": (False,),
}


class Decoder(Model):
    """A decoder-only language model, abstract: a family states its fields and its block, and may change names.

    ``architecture`` is the reference's class name. The part after ``For`` names the head: a matrix of V rows (``CausalLM``), of
    ``num_labels`` rows (``SequenceClassification``, without a bias, and ``TokenClassification``, with one), or of two for the
    scores of an answer's beginning and end (``QuestionAnswering``). With ``tie_word_embeddings`` the output matrix is the token table.
    """

    vocab_size: Dim = key(V, 32000)

    ignored: ClassVar[Mapping[str, str]] = _IGNORED
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = _USUAL
    base_name: ClassVar[str] = "model"
    renamed: ClassVar[tuple[str, ...]] = ()  # the kinds whose question answering calls the base model "transformer"
    stem: ClassVar[tuple[str, str, str]] = ("embed_tokens", "layers", "norm")  # the token table, the blocks, the last normalisation
    output_bias: ClassVar[bool] = False
    classifier_name: ClassVar[str] = "score"
    table_dropout: ClassVar[str] = ""  # the field of the rate of dropout after the token table, if there is one
    odd_share: ClassVar[bool] = True  # whether the share of a head that is rotated may be an odd number of entries
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag())
    pad_token_id: int | None = key(Whole(None, least=0))
    classifier_dropout: float | None = key(Real())

    @property
    def output(self) -> tuple[str, Dim, bool]:
        """The name of the head's matrix, the number of its rows, and whether it has a bias."""
        labels = 2 if self.num_labels is None else self.num_labels
        return {
            "CausalLM": ("lm_head", self.vocab_size, self.output_bias),
            "QuestionAnswering": ("qa_outputs", labels if "QuestionAnswering" in self.labelled else 2, True),
            "SequenceClassification": ("score", labels, False),
            "TokenClassification": (self.classifier_name, labels, True),
        }[self.task]

    def parts(self) -> Iterator[Part]:
        yield Part(self.base_path, self.base())
        if self.task:
            name, rows, bias = self.output
            yield Part(name, Dense(self.output_width(), rows, bias))

    def ties(self) -> Mapping[str, str]:
        tied = self.task == "CausalLM" and self.tie_word_embeddings
        return {"lm_head.weight": f"{self.base_name}.{self.stem[0]}.weight"} if tied else {}

    def output_width(self) -> Dim:
        """Return the width that the head reads."""
        return self.width

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"input_ids": (B, S)}

    @property
    def base_path(self) -> str:
        """The name of the base model; empty if it is the whole model."""
        if self.task == "QuestionAnswering" and self.kind in self.renamed:
            return "transformer"
        return self.base_name if self.task else ""

    def forward(self, own: Own, input_ids: Value) -> Any:
        """Last hidden states, scores of tokens or labels per position, or scores of each text, at its last token.

        That is the last position, or with ``pad_token_id`` the last one that is not padding.
        """
        return self.answered(own, own[self.base_path](tokens(input_ids)), input_ids)

    def answered(self, own: Own, x: Value, input_ids: Value) -> Any:
        """Return the head's output for the last hidden states; the base model has no head."""
        if not self.task:
            return x
        if self.task == "TokenClassification":  # the reference takes the first of these rates that is given
            rates = (self.classifier_dropout, getattr(self, "hidden_dropout", None), 0.1)
            x = drop(x, next(rate for rate in rates if rate is not None))
        x = own[self.output[0]](x)
        if self.task == "CausalLM":
            return self.scores(x)
        return last_word(x, input_ids, self.pad_token_id) if self.task == "SequenceClassification" else x

    def scores(self, x: Value) -> Value:
        """Return the scores of tokens from the logits; a family may scale or limit them."""
        return x

    def base(self) -> Layer:
        """Return the base model: the token table, the blocks, the last normalisation, the rotary frequencies."""
        table, blocks, norm = self.stem
        return self.stemmed({table: self.token_table(), blocks: self.blocks(), norm: self.norm(), **self.rotated()})

    def stemmed(self, layers: Mapping[str, Layer]) -> Stem:
        """Return the base model with these layers, in storage order."""
        dropped = getattr(self, self.table_dropout) if self.table_dropout else 0.0
        return Stem(layers, blocks=self.stem[1], scale=getattr(self, "embedding_multiplier", 1.0), dropped=dropped)

    def token_table(self) -> Layer:
        return Embedding(self.vocab_size, self.width)

    def blocks(self) -> Layer:
        return Repeat(self.block(), getattr(self, self.depth))

    def in_turn(self, block: Callable[[str], Layer], kinds: tuple[str, ...]) -> Layer:
        """Return L blocks that store the same tensors; the forward passes of these ``kinds`` alternate."""
        built = {kind: block(kind) for kind in kinds}
        first, *others = built.values()
        depth = getattr(self, self.depth)
        return Ladder(tuple(built[kind] for kind in kinds), depth) if any(one != first for one in others) else Repeat(first, depth)

    def block(self) -> Layer:
        raise NotImplementedError

    def rotated(self) -> dict[str, Layer]:
        """Return the frequencies of the rotated part of a head, under their name, if the family rotates heads."""
        rope, share = getattr(self, "rope", None), getattr(self, "rotary_dim", None)
        return {} if rope is None else {"rotary_emb": frequencies(self.head_width(), share, rope=rope, odd=self.odd_share)}


class GroupedDecoder(Decoder):
    """A decoder with A query heads and G key/value heads of one width, rotated; abstract.

    ``num_key_value_heads`` None is A; ``head_dim`` None is H/A; ``rotary_dim`` None rotates the whole head.
    """

    hidden_size: Dim = key(H, 4096)
    num_hidden_layers: Count = key(L, 32, least=0)
    num_attention_heads: Dim = key(A, 32)
    num_key_value_heads: Dim | None = key(G, None)
    head_dim: Dim | None = key(D, None, argument=None)
    intermediate_size: Dim = key(F, 11008)
    _: KW_ONLY
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    attention_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {"layer_types": Names(frozenset(_LAYER_TYPES.split())), **ROTATION}

    def conditions(self) -> None:
        super().conditions()
        self.head_width()  # heads divide the hidden size if no head size is given
        if self.num_key_value_heads is not None:
            divides(self.num_key_value_heads, self.num_attention_heads, "num_key_value_heads", "num_attention_heads")

    def sliced(self) -> tuple[tuple[Dim, Dim], tuple[Dim, Dim]]:
        """Return the axes of queries and of keys (and values): heads times width."""
        width, heads = self.head_width(), self.num_attention_heads
        return (heads, width), (heads if self.num_key_value_heads is None else self.num_key_value_heads, width)

    def projections(self, *, bias: bool = False, output_bias: bool | None = None, output: str = "o_proj") -> dict[str, Layer]:
        """Return the four matrices of attention; ``output_bias`` follows ``bias`` if it is None."""
        query, key = self.sliced()
        width = self.hidden_size
        inward = Dense(width, key, bias)
        outward = Dense(query, width, bias if output_bias is None else output_bias)
        return {"q_proj": Dense(width, query, bias), "k_proj": inward, "v_proj": inward, output: outward}

    def pre_norm(self, attention: Layer, feed_forward: Layer, name: str = "mlp", *, residual: float = 1.0, dropped: float = 0.0) -> PreNorm:
        """Return Llama's block: attention and a feed-forward network of this name, each with a normalisation before it."""
        first, second = "input_layernorm", "post_attention_layernorm"
        layers = {"self_attn": attention, name: feed_forward, first: self.norm(), second: self.norm()}
        return PreNorm(layers, names=(first, "self_attn", second, name), residual=residual, dropped=(dropped, dropped))

    def shared_norms(self, query: str, key: str, norm: Layer) -> dict[str, Layer]:
        """Return two named norms: one shared by all heads of the queries, one by those of the keys."""
        (heads, _), (groups, _) = self.sliced()
        return {query: ByHead(heads, norm), key: ByHead(groups, norm)}


class RmsDecoder(GroupedDecoder):
    """A grouped decoder with RMSNorm, abstract."""

    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-6))

    normalised = RMSNorm


def gated(width: Dim, inner: Dim, function: str, *, bias: bool = False) -> Gated:
    """Return a gated feed-forward network: ``gate_proj`` and ``up_proj`` (F, H), ``down_proj`` (H, F), and a learned activation.

    >>> gated(H, F, "silu").params, gated(H, 0, "silu", bias=True).shapes()["down_proj.weight"]
    (3*F*H, (H, 0))
    """
    if same(inner, 0):
        empty = EmptyDense(width, 0, bias)
        layers = {"gate_proj": empty, "up_proj": empty, "down_proj": EmptyDense(0, width, bias)}
        return Gated({**layers, **learned("act_fn", function)}, function)
    up = Dense(width, inner, bias)
    return Gated({"gate_proj": up, "up_proj": up, "down_proj": Dense(inner, width, bias), **learned("act_fn", function)}, function)


class EmptyDense(Declared):
    """A linear layer without inputs or without outputs, as torch builds it: its matrix is stored and empty.

    >>> EmptyDense(0, H, bias=True).shapes()
    {'weight': (H, 0), 'bias': (H,)}
    """

    in_features: Count
    out_features: Count
    bias: bool = False

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.out_features, self.in_features))
        if self.bias:
            yield Tensor("bias", (self.out_features,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        y = contract("... i, o i -> ... o", x, own.weight)
        return y + own.bias if self.bias else y


class RotaryFrequencies(Declared):
    """Two buffers of inverse rotary frequencies (Su et al. 2021), one number for each two entries; the reference does not save them.

    ``layer_types`` are the kinds of layers that have separate frequencies. ``rope`` has the settings of the frequencies; a tuple has one
    entry for each of these kinds. With ``halves`` an angle occurs once for both entries of a pair; ``complex`` means one array of complex
    numbers. With ``odd``, the number of rotated entries may be odd; the reference then rotates one more.

    >>> RotaryFrequencies(D).params, len(RotaryFrequencies(64).ledger(buffers=True))
    (0, 2)
    """

    rotary_dim: Count
    layer_types: tuple[str, ...] | None = None
    rope: Rope | tuple[Rope, ...] = ROPE
    halves: bool = False
    complex: bool = False
    odd: bool = False

    def tensors(self) -> Iterator[Tensor]:
        if self.rotary_dim == 0:
            return
        shape = (up_over(self.rotary_dim, 2),)
        for prefix in ("",) if self.layer_types is None else (f"{kind}_" for kind in self.layer_types):
            for name in ("inv_freq", "original_inv_freq"):
                yield Tensor(prefix + name, shape, role="statistic", buffer=True, persistent=False)

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:  # noqa: ARG002 - frequencies follow from the settings
        """Cosines and sines for the positions of (batch, positions, features), each (positions, rotated); nothing if nothing is rotated.

        With several kinds of layers, those of each kind follow one another. Complex numbers are one array (positions, rotated), real parts
        before the others.
        """
        ropes = self.rope if isinstance(self.rope, tuple) else (self.rope,)
        ropes = () if self.rotary_dim == 0 else ropes
        found = [turned(x.sizes[1], self.rotary_dim, rope, halves=self.halves or self.complex, odd=self.odd) for rope in ropes]
        return tuple(join(*both) for both in found) if self.complex else tuple(one for both in found for one in both)


def frequencies(whole: Dim, share: Count | None, *, odd: bool = True, **settings: Any) -> RotaryFrequencies:
    """Return the frequencies of a whole head, or of a share of its entries; the share may be an odd number unless ``odd`` is False."""
    return RotaryFrequencies(whole, **settings) if share is None else RotaryFrequencies(share, odd=odd, **settings)


def check_window(kinds: tuple[str, ...], window: Dim | None) -> None:
    """Raise ``ArgumentError`` for layers with a window if its width is not given, although it changes no tensor."""
    if "sliding_attention" in kinds and window is None:
        message = "layer_types has sliding_attention, and sliding_window is None; give the number of positions that these layers see."
        raise ArgumentError(message)


def by_turns(listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shortest beginning of a list whose repetition gives the list.

    >>> by_turns(("sliding", "full", "sliding"))
    ('sliding', 'full')
    """
    return next((listed[:n] for n in range(1, len(listed)) if listed[n:] == listed[:-n]), listed)
