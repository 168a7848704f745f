"""The encoder-decoder Transformer (Vaswani et al. 2017), with the tensor names of a well-known PyTorch implementation.

Reference: ``jadore801120/attention-is-all-you-need-pytorch``, class ``Transformer``, in its states of August 2018 and January 2021.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from paramsym.algebra.size import Count, Dim, Shape, canonical, divides
from paramsym.algebra.symbols import A, B, F, H, L, P, S, V
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import StructureError
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, check_positions
from paramsym.models.bert_blocks import NormedAttention
from paramsym.models.blocks import Holder, scaled, tokens
from paramsym.models.seq2seq import TARGET
from paramsym.program import Own, Value, apply, constant, features, past, rearrange, take
from paramsym.program.attention import root_reciprocal
from paramsym.program.state import after

_PUBLISHED = published_in("encoder_decoder")
CLAIMS = _PUBLISHED[1]
"""Published counts; ``name`` is the published size, with positions computed for the paper's own."""


class EncoderDecoder(Declared):
    r"""The Transformer for translation: a stack of encoder layers, and a stack of decoder layers that also attend to the encoder's output.

    The arguments are the reference's: H = ``d_model``, F = ``d_inner``, A = ``n_head``, L = ``n_layers``, V = ``n_src_vocab``. Arguments
    with None follow others: ``n_tgt_vocab`` is ``n_src_vocab``, ``d_k`` and ``d_v`` are H/A (the paper's choice; if they are given, A need
    not divide H), ``n_decoder_layers`` is ``n_layers``, ``d_word_vec`` is ``d_model`` and can have no other value. ``dropout`` does not
    change the count.

    One table of V rows serves as source embedding, target embedding and output projection (section 3.4), unless
    ``emb_src_tgt_weight_sharing`` or ``tgt_emb_prj_weight_sharing`` says otherwise; untied, the model holds 2*H*V more.

    The paper's positions are sinusoids, which need no parameters. ``positions`` says how a model stores them: two *frozen* tables of
    P = ``n_position`` rows (the reference's ``len_max_seq + 1``), which ``params`` counts and ``trainable`` does not; two *buffer* tables;
    or nothing, *computed*. ``revision`` chooses the version of the reference, and with it the defaults of ``positions`` and
    ``attention_bias``:

    ========  =====================  ==============  ==================  =================  ===============
    revision  tensors are called     positions       attention's biases  feed-forward       norm of a stack
    ========  =====================  ==============  ==================  =================  ===============
    2018      tgt_word_emb, ..._prj  frozen (P, H)   yes                 Conv1d (F, H, 1)   no
    2021      trg_word_emb, ..._prj  buffer          no                  Linear (F, H)      yes
    ========  =====================  ==============  ==================  =================  ===============

    The norm of a stack is applied before its layers. A projection that is the target's embedding is divided by the root of H. Frozen
    tables count positions from 1, and their first row belongs to the padding; other tables count from 0.

    Published sizes are the paper's *base* and *big* with 37,000 rows in the shared vocabulary (section 5.1: "about 37000 tokens"), with
    biases and without norms after the stacks: 63,082,496 and 214,245,376 parameters. Table 3 of the paper prints 65 and 213 million. No
    single vocabulary gives both: its base needs some 40,700 rows and its big some 35,800 (``CLAIMS`` keeps the figures).

    Raises:
        DivisibilityError: ``n_head`` does not divide ``d_model``, if ``d_k`` or ``d_v`` is H/A.
        StructureError: one embedding for two vocabularies of different size, or a ``d_word_vec`` other than ``d_model``.

    Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3 and 5.1, table 3.

    >>> EncoderDecoder().params
    4*F*H*L + 2*F*L + 12*H**2*L + 24*H*L + 2*H*P + H*V
    >>> small = EncoderDecoder().at(V=5395, P=33, H=512, A=8, L=1, F=2048)
    >>> small.params, small.trainable
    (10152448, 10118656)
    >>> EncoderDecoder(positions="computed").at("base").params
    63082496
    """

    n_src_vocab: Dim = V
    n_tgt_vocab: Dim | None = None
    n_position: Dim = P
    d_word_vec: Dim | None = None
    d_model: Dim = H
    d_inner: Dim = F
    n_layers: Count = L
    n_head: Dim = A
    d_k: Dim | None = None
    d_v: Dim | None = None
    dropout: float = 0.1
    tgt_emb_prj_weight_sharing: bool = True
    emb_src_tgt_weight_sharing: bool = True
    n_decoder_layers: Count | None = None
    revision: Literal[2018, 2021] = 2018
    positions: Literal["frozen", "buffer", "computed"] | None = None
    attention_bias: bool | None = None

    published = _PUBLISHED[0]

    def parts(self) -> Iterator[Part]:
        yield Part("encoder", self._stack("src", self.n_src_vocab, self.n_layers, crosses=False))
        target = self.n_src_vocab if self.n_tgt_vocab is None else self.n_tgt_vocab
        depth = self.n_layers if self.n_decoder_layers is None else self.n_decoder_layers
        yield Part("decoder", self._stack(self._target, target, depth, crosses=True))
        yield Part(f"{self._target}_word_prj", Dense(self.d_model, target, bias=False))

    def ties(self) -> Mapping[str, str]:
        embedding = f"decoder.{self._target}_word_emb.weight"
        ties = {}
        if self.emb_src_tgt_weight_sharing:
            ties[embedding] = "encoder.src_word_emb.weight"
        if self.tgt_emb_prj_weight_sharing:
            ties[f"{self._target}_word_prj.weight"] = embedding
        return ties

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"input_ids": (B, S), "decoder_input_ids": (B, TARGET)}

    def forward(self, own: Own, input_ids: Value, decoder_input_ids: Value | None = None) -> Value:
        """Scores of words, (batch, target positions, words), for source and target, or one text for both.

        A projection that is the embedding is divided by the root of the width. The encoder has no cache: it reads the whole source.
        """
        source = tokens(input_ids)
        target = source if decoder_input_ids is None else tokens(decoder_input_ids)
        with after(0):
            memory = own.encoder(source)
        scores = own[f"{self._target}_word_prj"](own.decoder(target, memory))
        return scaled(scores, root_reciprocal(self.d_model)) if self.tgt_emb_prj_weight_sharing else scores

    def conditions(self) -> None:
        for given in (self.d_k, self.d_v):
            self._per_head(given)
        if self.d_word_vec is not None and canonical(self.d_word_vec) != canonical(self.d_model):
            message = f"d_word_vec is {self.d_word_vec} and d_model is {self.d_model}; residual connections need the two to be equal."
            raise StructureError(message)
        source, target = self.n_src_vocab, self.n_tgt_vocab
        if self.emb_src_tgt_weight_sharing and target is not None and canonical(source) != canonical(target):
            raise StructureError(
                f"n_src_vocab is {source} and n_tgt_vocab is {target}; a shared embedding needs one size:"
                " give them one size, or emb_src_tgt_weight_sharing=False."
            )

    @property
    def _target(self) -> str:
        return "tgt" if self.revision == 2018 else "trg"

    def _stack(self, side: str, vocabulary: Dim, depth: Count, *, crosses: bool) -> _Stack:
        early, width = self.revision == 2018, self.d_model
        norm = LayerNorm(width) if early else LayerNorm(width, 1e-6)
        block: dict[str, Layer] = {"slf_attn": self._attention(norm, causal=crosses)}
        if crosses:
            block["enc_attn"] = self._attention(norm)
        maps = (
            (Conv1d(width, self.d_inner, 1), Conv1d(self.d_inner, width, 1))
            if early
            else (Dense(width, self.d_inner), Dense(self.d_inner, width))
        )
        block["pos_ffn"] = _FeedForward({"w_1": maps[0], "w_2": maps[1], "layer_norm": norm})
        positions = self.positions or ("frozen" if early else "buffer")
        layers: dict[str, Layer] = {f"{side}_word_emb": Embedding(vocabulary, width)}
        if positions != "computed":
            layers["position_enc"] = (_FromOne if positions == "frozen" else _SinusoidBuffer)(self.n_position, width)
        layers["layer_stack"] = Repeat(_StackLayer(block), depth)
        return _Stack(layers if early else {**layers, "layer_norm": norm}, frozen=positions == "frozen")

    def _attention(self, norm: LayerNorm, *, causal: bool = False) -> NormedAttention:
        early, width = self.revision == 2018, self.d_model
        bias = early if self.attention_bias is None else self.attention_bias
        keys, values = ((self.n_head, self._per_head(given)) for given in (self.d_k, self.d_v))
        names = ("w_qs", "w_ks", "w_vs")
        layers: dict[str, Layer] = {name: Dense(width, sliced, bias) for name, sliced in zip(names, (keys, keys, values), strict=True)}
        ends: dict[str, Layer] = {"fc": Dense(values, width, bias), "layer_norm": norm}
        layers |= dict(reversed(ends.items())) if early else ends  # the early reference creates the norm first
        return NormedAttention(layers, names=names, output="fc", causal=causal, norm="layer_norm")

    def _per_head(self, given: Dim | None) -> Dim:
        return divides(self.n_head, self.d_model, "n_head", "d_model") if given is None else given


class _FeedForward(Holder):
    """Two position-wise maps, stored as convolutions of kernel one or as matrices, and the norm after the residual sum."""

    def forward(self, own: Own, x: Value) -> Value:
        convolves = isinstance(own.w_1.layer, Conv1d)
        y = rearrange(x, "b s h -> b h s") if convolves else x
        y = own.w_2(apply("relu", own.w_1(y)))
        return own.layer_norm((rearrange(y, "b h s -> b s h") if convolves else y) + x)


class _StackLayer(Holder):
    """One layer of the encoder, or of the decoder, which also attends to the encoder's output."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """The two or three sub-layers; without a memory, a decoder layer attends to its own positions twice."""
        x = own.slf_attn(x)
        return own.pos_ffn(own.enc_attn(x, *memory) if "enc_attn" in own else x)


class _Stack(Holder):
    """Words, positions (``frozen``, or computed if they are no part) and layers of the encoder or the decoder."""

    frozen: bool

    def parts(self) -> Iterator[Part]:
        for part in super().parts():
            yield replace(part, frozen=self.frozen and part.name == "position_enc")

    def forward(self, own: Own, words: Value, *memory: Value) -> Value:
        """The norm is stored last and applied first."""
        x = own[self.own_parts[0].name](words)
        x = own.position_enc(x) if "position_enc" in own else x + constant("sinusoids", x.sizes[1:], past())
        return own.layer_stack(own.layer_norm(x) if "layer_norm" in own else x, *memory)


@dataclass(frozen=True)
class _FromOne(LearnedPositions):
    """Positions counted from 1: the first row is the padding's."""

    def index(self, x: Value) -> Value:
        check_positions(self.checked(x).sizes[:-1], canonical(self.num_positions - 1))
        return constant("positions", (x.sizes[-2],), canonical(1 + past()), kind="index")


class _SinusoidBuffer(Declared):
    """Sinusoids in a buffer, with an axis for the batch."""

    rows: Dim
    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("pos_table", (1, self.rows, self.width), role="table", buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        check_positions(features(x, self.width).sizes[:-1], self.rows)
        return x + take(own.pos_table, 1, past(), x.sizes[1])
