"""DeBERTa-v2 and v3 (He et al. 2021, arXiv:2006.03654 and arXiv:2111.09543).

Reference: ``transformers.models.deberta_v2`` 5.23, names and shapes of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

from sympy import Expr

from paramsym.algebra.convolution import over
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, Width, canonical
from paramsym.algebra.symbols import D, E, H, K, T, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.models.activations import activated
from paramsym.models.bert import ENCODER, BertLike
from paramsym.models.bert_blocks import BertEmbeddings, BertLayer, Pooler
from paramsym.models.blocks import Holder
from paramsym.models.key_kinds import Flag, Function, Limit, Real, Word, Words, left_out
from paramsym.models.model import classes, family, key
from paramsym.program import (
    Applied,
    Own,
    Value,
    attend,
    compact,
    constant,
    contract,
    copies,
    drop,
    heads,
    known,
    pick,
    rearrange,
    still,
    where,
)
from paramsym.program.attention import root_reciprocal
from paramsym.program.own import through

_POOLED = ("SequenceClassification", "MultipleChoice")
BUCKETS, RELATIVE, GROUPS, POOLED = dims("n_b P_r g H_p")


class DebertaV2(BertLike):
    """DeBERTa-v2, v3 and their heads, as the reference class ``architecture`` stores them.

    Positions are stored with ``position_biased_input``, token types if there are any, and a projection where ``embedding_size`` is another
    width than H. With ``relative_attention`` a table of relative positions has two times n_b rows (``position_buckets``), else two times
    ``max_relative_positions``, else 2*P, and every block has projections of it for c2p and p2c, unless they are those of the content
    (``share_att_key``). ``conv_kernel_size`` adds a convolution after the first block. Without ``legacy`` there is no output matrix: scores
    of words are products with the word table.

    Raises:
        DivisibilityError: groups that do not divide the convolution's channels, beside the errors of every model.

    >>> DebertaV2().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    >>> v3 = DebertaV2(relative_attention=True, position_buckets=256, position_biased_input=False, pos_att_type=("p2c", "c2p"),
    ...                share_att_key=True, norm_rel_ebd="layer_norm")
    >>> v3.at("microsoft/deberta-v3-large").params
    434012160
    """

    type_vocab_size: Dim | None = key(Limit(T, 0), argument=None)  # pyright: ignore[reportIncompatibleVariableOverride]
    relative_attention: bool = key(Flag())
    max_relative_positions: Dim | None = key(Limit(RELATIVE), argument=None)
    position_buckets: Dim | None = key(Limit(BUCKETS), argument=None)
    position_biased_input: bool = key(Flag(default=True))
    pos_att_type: tuple[str, ...] = key(Words(), argument=())
    share_att_key: bool = key(Flag())
    norm_rel_ebd: str = key(Word("none"))
    conv_kernel_size: Dim | None = key(Limit(K, 0), argument=None)
    conv_groups: Dim = key(GROUPS, 1, argument=1)
    embedding_size: Dim | None = key(E, None, argument=None)
    attention_head_size: Dim | None = key(D, None, argument=None)
    pooler_hidden_size: Dim | None = key(POOLED, None, only=tuple(f"DebertaV2For{task}" for task in _POOLED), argument=None)
    legacy: bool = key(Flag(default=True))
    architecture: str = classes({"DebertaV2": f"Model ForMaskedLM {ENCODER}"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-7))
    conv_act: str = key(Function("tanh"))
    pooler_hidden_act: str = key(Function("gelu"))
    pooler_dropout: float = key(Real(0.0))
    cls_dropout: float | None = key(Real())

    base_name, output = "deberta", "cls.predictions.decoder"
    ignored: ClassVar[Mapping[str, str]] = {"is read by no class": "stable_dropout"}
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.task in _POOLED:
            pooled = width if self.pooler_hidden_size is None else self.pooler_hidden_size
            yield Part("pooler", Pooler(pooled, function=self.pooler_hidden_act, dropped=self.pooler_dropout))
        if self.language:
            narrow = width if self.embedding_size is None else self.embedding_size
            yield Part("cls", Sequential(predictions=self.predictions(narrow)))
        elif self.task == "MaskedLM":
            yield Part("lm_predictions", Sequential(lm_head=self.predictions(width, decodes=False)))
        yield from super().head()

    @property
    def classifier_rate(self) -> float:
        rate = self.hidden_dropout_prob if self.cls_dropout is None or self.task == "TokenClassification" else self.cls_dropout
        return 0.0 if self.task == "QuestionAnswering" else rate

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:  # noqa: ARG002 - the pooler is not the base model's
        if self.task == "MaskedLM":
            return own.cls(x) if self.legacy else own.lm_predictions(x, own["deberta.embeddings.word_embeddings.weight"])
        x = own.pooler(x) if "pooler" in own else x
        return super().answer(own, x)

    @property
    def language(self) -> bool:
        """Whether the class has a matrix for scores of words; without ``legacy`` they are products with the word table."""
        return self.task == "MaskedLM" and self.legacy

    @property
    def _reach(self) -> Dim:
        return self.max_position_embeddings if self.max_relative_positions is None else self.max_relative_positions

    def embeddings(self) -> BertEmbeddings:
        own = {"embedding_size": self.embedding_size, "position_biased_input": self.position_biased_input}
        return self.tables(self.hidden_size, DebertaV2Embeddings, **own)

    def encoder(self) -> DebertaV2Encoder:
        width, norm, kernel = self.hidden_size, self.norm(), self.conv_kernel_size
        layers: dict[str, Layer] = {"layer": Repeat(self._layer(), self.num_hidden_layers)}
        if self.relative_attention:
            layers["rel_embeddings"] = Embedding(2 * (self._reach if self.position_buckets is None else self.position_buckets), width)
        if "layer_norm" in (word.strip() for word in self.norm_rel_ebd.lower().split("|")):
            layers["LayerNorm"] = norm
        if kernel is not None:
            convolution = Conv1d(width, width, kernel, padding=over(kernel - 1, 2), groups=self.conv_groups)
            layers["conv"] = ConvolvedInput({"conv": convolution, "LayerNorm": norm}, self.conv_act, self.hidden_dropout_prob)
        return DebertaV2Encoder(layers)

    def _layer(self) -> BertLayer:
        width, heads = self.hidden_size, self.num_attention_heads
        sliced = (heads, self.head_width())
        joined: Width = sliced if self.attention_head_size is None else width
        projection = Dense(width, sliced if self.attention_head_size is None else (heads, self.attention_head_size))
        names = ["query_proj", "key_proj", "value_proj"]
        if self.relative_attention and not self.share_att_key:
            names += [name for kind, name in (("c2p", "pos_key_proj"), ("p2c", "pos_query_proj")) if kind in self.pos_att_type]
        attention = Disentangled(
            dict.fromkeys(names, projection),
            self.pos_att_type,
            self.position_buckets or 0,
            self._reach,
            shared=self.share_att_key,
            rates=(self.attention_probs_dropout_prob, self.hidden_dropout_prob),
        )
        return self.block({"attention": attention}, joined)


class Disentangled(Holder):
    """Attention by content and by relative positions (He et al. 2021, section 3.1), which are projected for each of ``kinds``.

    "c2p" is from content to position, "p2c" from position to content. ``buckets`` is 0 if each distance up to ``reach`` has its row;
    With ``shared`` the projections of the content also project the positions, for both kinds. ``rates`` are those of dropout: of the
    weights, and of the positions.
    """

    kinds: tuple[str, ...]
    buckets: Count
    reach: Dim
    _: KW_ONLY
    shared: bool = False
    rates: tuple[float, float] = (0.0, 0.0)

    def forward(self, own: Own, x: Value, *table: Value) -> Value:
        projected = (rearrange(heads(own[name](x)), "b s a d -> b a s d") for name in ("query_proj", "key_proj", "value_proj"))
        query, key, value = map(compact, projected)
        batch, _, length, width = query.sizes
        scale = root_reciprocal(canonical(width * (1 + len({"c2p", "p2c"}.intersection(self.kinds)))))
        bias = self.bias(own, query, key, scale, *(drop(one, self.rates[1]) for one in table)) if table else None
        seen = constant("full", (batch, 1, length, length), 1, kind="truth")  # the reference uses a mask that hides nothing
        query, key, value = (rearrange(one, "b a s d -> b s a d") for one in (query, multiplied(key, scale), value))
        return attend(query, key, value, scale=1, bias=bias, seen=seen, dropout=self.rates[0])

    def bias(self, own: Own, query: Value, key: Value, scale: float | Expr, table: Value) -> Value | None:
        """Return the positions' part of the scores, (batch, heads, queries, keys), or None."""
        batch, _, length, _ = query.sizes
        prefix, found = "" if self.shared else "pos_", []
        for kind, content, name, sign in (("c2p", query, "key_proj", 1), ("p2c", key, "query_proj", -1)):
            if kind in self.kinds:
                projected = compact(rearrange(heads(own[prefix + name](table)), "b r a d -> b a r d"))
                each = compact(copies(projected, batch, axis=0))
                scores = contract("b a s d, b a r d -> b a s r", content, each)
                picked = pick(scores, constant("deberta buckets", (length, length), self.buckets, self.reach, sign, kind="index"))
                found.append(multiplied(picked if kind == "c2p" else rearrange(picked, "b a k q -> b a q k"), scale))
            elif self.shared:  # the reference also computes this product and does not use it, so it has no backward pass
                Applied(replace(own[name].part, frozen=True))(still(table))
        return found[0] + found[1] if len(found) == 2 else next(iter(found), None)


def multiplied(x: Value, scale: float | Expr) -> Value:
    """Return an array times a number that the reference has as an array without axes, and therefore keeps."""
    return x * constant("full", (), scale)


class ConvolvedInput(Holder):
    """The first block's output plus an activated convolution of its input, normalised."""

    function: str
    dropped: float = 0.0

    def forward(self, own: Own, x: Value, after: Value) -> Value:
        y = rearrange(own.conv(compact(rearrange(x, "b s h -> b h s"))), "b h s -> b s h")
        seen = constant("full", (*x.sizes[:2], 1), 1, kind="truth")
        y = where(seen, known(compact(y), *x.shape), 0.0)
        return own.LayerNorm(
            after + activated(self.function, drop(y, self.dropped))
        )  # times the mask of the embeddings, which hides nothing


class DebertaV2Encoder(Holder):
    """The blocks and their shared tensors: the table of relative positions, its normalisation, and a convolution after the first block.

    >>> from paramsym.algebra.symbols import H, L
    >>> DebertaV2Encoder({"layer": Repeat(Dense(H, H), L), "LayerNorm": LayerNorm(H)}).params
    H**2*L + H*L + 2*H
    """

    def forward(self, own: Own, x: Value) -> Value:
        """Block after block; the convolution reads the input of the first."""
        table: tuple[Value, ...] = ()
        if "rel_embeddings" in own:
            rows = rearrange(own["rel_embeddings.weight"], "r h -> () r h")
            table = (own.LayerNorm(rows) if "LayerNorm" in own else rows,)
        if "conv" not in own or own.layer.layer.copies == 0:
            return own.layer(x, *table)
        block, depth = own.layer.layer.block, own.layer.layer.copies
        y = own.conv(x, through([(Numbers(1, 0, 1, "layer.{}"), block)], (x,), table))
        rest = canonical(depth - 1)
        return y if rest == 0 else through([(Numbers(rest, 1, 1, "layer.{}"), block)], (y,), table)


class DebertaV2Embeddings(BertEmbeddings):
    """Words, and positions and token types if there are any; the projection to the hidden size; the normalisation.

    >>> from paramsym.algebra.symbols import E, H, P, T, V
    >>> DebertaV2Embeddings(V, P, None, H).params, DebertaV2Embeddings(V, P, T, H, embedding_size=E, position_biased_input=False).params
    (H*P + H*V + 2*H, E*H + E*T + E*V + 2*H)
    """

    _: KW_ONLY
    embedding_size: Dim | None = None
    position_biased_input: bool = True

    indices = ("position_ids",)

    def parts(self) -> Iterator[Part]:
        narrow = self.hidden_size if self.embedding_size is None else self.embedding_size
        yield Part("word_embeddings", Embedding(self.vocab_size, narrow))
        if self.position_biased_input:
            yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, narrow, counted="buffer"))
        if self.type_vocab_size is not None:
            yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, narrow, counted="each"))
        if self.embedding_size is not None:
            yield Part("embed_proj", Dense(narrow, self.hidden_size, bias=False))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))

    def forward(self, own: Own, input_ids: Value) -> Value:
        x = own.word_embeddings(input_ids)
        for name in ("position_embeddings", "token_type_embeddings", "embed_proj"):
            x = own[name](x) if name in own else x
        x = own.LayerNorm(x)
        return drop(x * constant("full", (*x.sizes[:2], 1), 1), self.dropped)  # times the mask of the positions, which hides nothing


_DEFAULTS = {"vocab_size": 128100, "hidden_size": 1536, "num_hidden_layers": 24, "num_attention_heads": 24, "intermediate_size": 6144}
FAMILIES = (family("deberta-v2", DebertaV2, "", _DEFAULTS, left_out(H, embedding_size=E, pooler_hidden_size=POOLED)),)
