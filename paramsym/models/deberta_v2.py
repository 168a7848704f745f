"""DeBERTa-v2 and v3 (He et al. 2021, arXiv:2006.03654 and arXiv:2111.09543).

Reference: ``transformers.models.deberta_v2`` 5.23, names and shapes of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, InTurn, Repeat, Sequential
from paramsym.extents import over
from paramsym.flow import Step, applied, together
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.features import over_features, positions
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import OneOfEach, Squeeze, TokenModel
from paramsym.models.claims import BUILT, Claim
from paramsym.models.family import Family, Flag, Limit, Size, Sizes, Word, Words
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, Shape, Width, divides, extent
from paramsym.symbols import A, D, E, F, H, K, L, P, T, V, dims

Architecture = Literal[
    "DebertaV2Model",
    "DebertaV2ForMaskedLM",
    "DebertaV2ForSequenceClassification",
    "DebertaV2ForMultipleChoice",
    "DebertaV2ForTokenClassification",
    "DebertaV2ForQuestionAnswering",
]
_POOLED = frozenset({"DebertaV2ForSequenceClassification", "DebertaV2ForMultipleChoice"})
_LABELLED = frozenset({"DebertaV2ForSequenceClassification", "DebertaV2ForTokenClassification", "DebertaV2ForQuestionAnswering"})
BUCKETS, RELATIVE, GROUPS, POOLED = dims("n_b P_r g H_p")


def _size(hidden_size: int, layers: int, heads: int, vocab_size: int = 128100) -> dict[str, Any]:
    """The third version: 256 buckets, shared keys, no absolute positions, a normalisation of the relative ones, no convolution."""
    return {
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden_size,
        "max_position_embeddings": 512,
        "relative_attention": True,
        "position_buckets": 256,
        "position_biased_input": False,
        "pos_att_type": ("p2c", "c2p"),
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
    }


@dataclass(frozen=True)
class DebertaV2(TokenModel):
    """DeBERTa-v2, v3 and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V words; P positions with
    ``position_biased_input``; T token types where there are any; a projection where ``embedding_size`` is another width than H; their
    normalisation; L blocks of 4*H**2 + 2*F*H + 9*H + F; with ``relative_attention`` a table of relative positions, two times n_b rows
    (``position_buckets``), else two times ``max_relative_positions``, else 2*P, and in every block projections of it for c2p and p2c,
    unless they are those of the content (``share_att_key``); its normalisation; and with ``conv_kernel_size`` a convolution. ``num_labels``
    is N where the architecture has labels and no number is given. With ``legacy`` and ``tie_word_embeddings`` the output matrix is the
    word table; without ``legacy`` there is none.

    Raises:
        DivisibilityError: heads that do not divide the hidden width, or groups of the convolution.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> DebertaV2().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    >>> v3 = DebertaV2(relative_attention=True, position_buckets=256, position_biased_input=False, pos_att_type=("p2c", "c2p"),
    ...                share_att_key=True, norm_rel_ebd="layer_norm")
    >>> v3.at("microsoft/deberta-v3-large").params
    434012160
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    max_position_embeddings: Dim = P
    type_vocab_size: Dim | None = None
    hidden_act: str = "gelu"
    relative_attention: bool = False
    max_relative_positions: Dim | None = None
    position_buckets: Dim | None = None
    position_biased_input: bool = True
    pos_att_type: tuple[str, ...] = ()
    share_att_key: bool = False
    norm_rel_ebd: str = "none"
    conv_kernel_size: Dim | None = None
    conv_groups: Dim = 1
    embedding_size: Dim | None = None
    attention_head_size: Dim | None = None
    pooler_hidden_size: Dim | None = None
    legacy: bool = True
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "DebertaV2Model"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "microsoft/deberta-v3-xsmall": _size(384, 12, 6),
        "microsoft/deberta-v3-small": _size(768, 6, 12),
        "microsoft/deberta-v3-base": _size(768, 12, 12),
        "microsoft/deberta-v3-large": _size(1024, 24, 16),
        "microsoft/mdeberta-v3-base": _size(768, 12, 12, 251000),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("microsoft/deberta-v3-small", 141_304_320, BUILT, counts="DebertaV2Model"),
        Claim("microsoft/deberta-v3-base", 183_831_552, BUILT, counts="DebertaV2Model"),
        Claim("microsoft/deberta-v3-large", 434_012_160, BUILT, counts="DebertaV2Model"),
        Claim("microsoft/deberta-v3-large", 435_191_908, BUILT, counts="DebertaV2ForMaskedLM"),
        Claim("microsoft/deberta-v3-base", 86_000_000, "Hugging Face model card", counts="the backbone, without V*H for the words"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The base model, under ``deberta`` where a head follows, then the head."""
        yield Part("" if self.architecture == "DebertaV2Model" else "deberta", self._base())
        width = self.hidden_size
        if self.architecture in _POOLED:
            pooled = width if self.pooler_hidden_size is None else self.pooler_hidden_size
            yield Part("pooler", Sequential(dense=Dense(pooled, pooled)))
        if self.architecture == "DebertaV2ForMaskedLM":
            head = DebertaV2Predictions(width, self._narrow, self.vocab_size, self.hidden_act, legacy=self.legacy)
            yield Part("cls" if self.legacy else "lm_predictions", Sequential({"predictions" if self.legacy else "lm_head": head}))
        elif self.architecture == "DebertaV2ForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            name = "qa_outputs" if self.architecture == "DebertaV2ForQuestionAnswering" else "classifier"
            yield Part(name, Dense(width, self.num_labels))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model and the head, which reads the first token of a text."""
        (name, base), *head = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self.architecture in _POOLED:
            yield "first", OneOfEach()
        yield from head
        if self.architecture == "DebertaV2ForMultipleChoice":
            yield "choices", Squeeze()

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if self.architecture != "DebertaV2ForMaskedLM" or not self.legacy or not self.tie_word_embeddings:
            return {}
        return {
            "cls.predictions.decoder.weight": "deberta.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        }

    @property
    def _narrow(self) -> Dim:
        return self.hidden_size if self.embedding_size is None else self.embedding_size

    def _base(self) -> Sequential:
        width = self.hidden_size
        embeddings = DebertaV2Embeddings(
            self.vocab_size,
            self.max_position_embeddings,
            width,
            self.type_vocab_size,
            self.embedding_size,
            self.position_biased_input,
        )
        layers: dict[str, Layer] = {"layer": Repeat(self._layer(), self.num_hidden_layers)}
        if self.relative_attention:
            reach = self.max_position_embeddings if self.max_relative_positions is None else self.max_relative_positions
            layers["rel_embeddings"] = Embedding(2 * (reach if self.position_buckets is None else self.position_buckets), width)
        if "layer_norm" in (word.strip() for word in self.norm_rel_ebd.lower().split("|")):
            layers["LayerNorm"] = LayerNorm(width)
        if self.conv_kernel_size is not None:
            convolution = Conv1d(width, width, self.conv_kernel_size, padding=over(self.conv_kernel_size - 1, 2), groups=self.conv_groups)
            layers["conv"] = Block(conv=convolution, LayerNorm=LayerNorm(width))
        # The reference projects the relative positions both ways, whichever of the two it then reads.
        again = ("attention.self.key_proj", "attention.self.query_proj") if self.share_att_key else ()
        return Sequential(embeddings=embeddings, encoder=DebertaV2Encoder(width, tuple(layers.items()), again))

    def _layer(self) -> Stream:
        width, heads, inner = self.hidden_size, self.num_attention_heads, self.intermediate_size
        sliced = (heads, divides(heads, width, "num_attention_heads", "hidden_size"))
        joined: Width = sliced if self.attention_head_size is None else width
        projection = Dense(width, sliced if self.attention_head_size is None else (heads, self.attention_head_size))
        attends: dict[str, Layer] = {"query_proj": projection, "key_proj": projection, "value_proj": projection}
        if self.relative_attention and not self.share_att_key:
            attends |= {
                name: projection for kind, name in (("c2p", "pos_key_proj"), ("p2c", "pos_query_proj")) if kind in self.pos_att_type
            }
        body = Block(
            attention=Block({"self": Block(attends), "output": Block(dense=Dense(joined, width), LayerNorm=LayerNorm(width))}),
            intermediate=Block(dense=Dense(width, inner), **learned("intermediate_act_fn", self.hidden_act)),
            output=Block(dense=Dense(inner, width), LayerNorm=LayerNorm(width)),
        )
        return Stream(width, body, tuple(f"attention.self.{name}" for name in ("pos_key_proj", "pos_query_proj") if name in attends))


@dataclass(frozen=True)
class DebertaV2Encoder(InTurn):
    """The blocks; beside them what they share: the table of relative positions, its normalisation, and a convolution after the first.

    The blocks read the whole table beside the stream; ``again`` are their projections of the content that project the table as well.

    >>> DebertaV2Encoder(H, (("layer", Dense(H, H)), ("LayerNorm", LayerNorm(H)))).params
    H**2 + 3*H
    """

    width: Dim
    layers: tuple[tuple[str, Layer], ...]
    again: tuple[str, ...] = ()

    def parts(self) -> Iterator[Part]:
        """As they are stored."""
        for name, layer in self.layers:
            yield Part(name, layer)

    @property
    def takes_several(self) -> bool:
        """What the blocks share is its own."""
        return False

    def output_shape(self, input_shape: Shape) -> Shape:
        """Positions are kept, and their width is, too."""
        return over_features(input_shape, (self.width,))

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """The table is read once for all blocks; the convolution reads the input."""
        parts = self.named()
        beside: Shape | None = None
        if isinstance(table := parts.get("rel_embeddings"), Embedding):
            rows = (input_shape[0], extent(table.num_embeddings))
            beside = (*rows, self.width)
            yield Step("rel_embeddings", table, rows, beside)
            if "LayerNorm" in parts:
                yield Step("LayerNorm", parts["LayerNorm"], beside, beside)
        blocks = parts["layer"]
        for step in blocks.applications(together(input_shape, beside) if beside is not None and blocks.takes_several else input_shape):
            yield replace(step, name=f"layer.{step.name}")
            if beside is not None:
                yield from (self._again(step, path, beside) for path in self.again)
        if "conv" in parts:
            yield Step("conv", Stream(self.width, parts["conv"]), input_shape, input_shape)

    @staticmethod
    def _again(step: Step, path: str, table: Shape) -> Step:
        projection = step.layer.part(path)
        return Step(f"layer.{step.name}.{path}", projection, table, applied(path, projection, table), step.used, stored=0)


@dataclass(frozen=True)
class DebertaV2Embeddings(InTurn):
    """Words, and positions and token types where there are any; the projection to the hidden width; the normalisation.

    The index buffer is in no state dict.

    >>> DebertaV2Embeddings(V, P, H).params, DebertaV2Embeddings(V, P, H, T, E, position_biased_input=False).params
    (H*P + H*V + 2*H, E*H + E*T + E*V + 2*H)
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    hidden_size: Dim
    type_vocab_size: Dim | None = None
    embedding_size: Dim | None = None
    position_biased_input: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions, which the reference computes and does not save."""
        yield Tensor("position_ids", (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The tables, the projection, the normalisation."""
        narrow = self.hidden_size if self.embedding_size is None else self.embedding_size
        yield Part("word_embeddings", Embedding(self.vocab_size, narrow))
        if self.position_biased_input:
            yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, narrow))
        if self.type_vocab_size is not None:
            yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, narrow))
        if self.embedding_size is not None:
            yield Part("embed_proj", Dense(narrow, self.hidden_size, bias=False))
        yield Part("LayerNorm", LayerNorm(self.hidden_size))


@dataclass(frozen=True)
class DebertaV2Predictions(InTurn):
    """The masked language model's head; with ``legacy`` BERT's, else a transform and a bias for the word table's own products.

    >>> DebertaV2Predictions(H, H, V).params, DebertaV2Predictions(H, H, V, legacy=False).params
    (H**2 + H*V + 3*H + 2*V, H**2 + 3*H + V)
    """

    hidden_size: Dim
    embedding_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu"
    legacy: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The transform, and the output matrix where there is one."""
        narrow = self.embedding_size if self.legacy else self.hidden_size
        act = learned("transform_act_fn", self.hidden_act)
        transform = Sequential({"dense": Dense(self.hidden_size, narrow), **act, "LayerNorm": LayerNorm(narrow)})
        yield Part("transform" if self.legacy else "", transform)
        if self.legacy:
            yield Part("decoder", Dense(narrow, self.vocab_size))

    def output_shape(self, input_shape: Shape) -> Shape:
        """A score for every word; without ``legacy`` by the products with the word table."""
        return (*super().output_shape(input_shape)[:-1], self.vocab_size)

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """The bias is the decoder's, which uses it; without a decoder it is used once per position."""
        return {} if self.legacy else {"bias": positions(input_shape)}


def _one_width(arguments: dict[str, Any], sizes: Sizes) -> None:
    """A width that is the hidden width is no other one."""
    for name, letter in (("embedding_size", E), ("pooler_hidden_size", POOLED)):
        if letter in sizes and sizes[letter] == sizes[H]:
            arguments[name] = None
            del sizes[letter]


FAMILIES = (
    Family(
        model_type="deberta-v2",
        model=DebertaV2,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 128100),
            "hidden_size": Size(H, 1536),
            "num_hidden_layers": Size(L, 24, least=0),
            "num_attention_heads": Size(A, 24),
            "intermediate_size": Size(F, 6144),
            "max_position_embeddings": Size(P, 512),
            "type_vocab_size": Limit(T, 0),
            "hidden_act": Word("gelu"),
            "relative_attention": Flag(default=False),
            "max_relative_positions": Limit(RELATIVE),
            "position_buckets": Limit(BUCKETS),
            "position_biased_input": Flag(default=True),
            "pos_att_type": Words(),
            "share_att_key": Flag(default=False),
            "norm_rel_ebd": Word("none"),
            "conv_kernel_size": Limit(K, 0),
            "conv_groups": Size(GROUPS, 1),
            "embedding_size": Size(E, None),
            "attention_head_size": Size(D, None),
            "pooler_hidden_size": Size(POOLED, None, only=tuple(_POOLED)),
            "legacy": Flag(default=True),
            "tie_word_embeddings": Flag(default=True),
        },
        ignored={
            "drops values while training": (
                "hidden_dropout_prob attention_probs_dropout_prob pooler_dropout cls_dropout classifier_dropout stable_dropout"
            ),
            "keeps a quotient finite": "layer_norm_eps",
            "names an activation that learns nothing": "pooler_hidden_act conv_act",
        },
        arrange=_one_width,
    ),
)
