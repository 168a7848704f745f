"""wav2vec 2.0 (Baevski et al. 2020, arXiv:2006.11477) and HuBERT (Hsu et al. 2021, arXiv:2106.07447).

Reference: ``transformers.models.wav2vec2`` and ``transformers.models.hubert`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.extents import over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.batch_norm import BatchNorm1d
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import GroupNorm, LayerNorm
from paramsym.layers.parameter import Parameter
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import Holder, Ladder, activation
from paramsym.models.family import Family
from paramsym.models.keys import Flag, Key, Real, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.program import (
    Own,
    Value,
    apply,
    attend,
    axes,
    best,
    collected,
    constant,
    convolve,
    features,
    heads,
    join,
    lookup,
    rearrange,
    reduce,
    segments,
    softmax,
    take,
    unfold,
)
from paramsym.program.tracing import each
from paramsym.size import Count, Dim, Shape, canonical, divides
from paramsym.symbols import A, B, F, H, L, V, W, dims

Wav2Vec2Class = Literal[
    "Wav2Vec2Model",
    "Wav2Vec2ForCTC",
    "Wav2Vec2ForPreTraining",
    "Wav2Vec2ForSequenceClassification",
    "Wav2Vec2ForAudioFrameClassification",
    "Wav2Vec2ForXVector",
]
HubertClass = Literal["HubertModel", "HubertForCTC", "HubertForSequenceClassification"]
_CTC = ("Wav2Vec2ForCTC", "HubertForCTC")
_SEQUENCE = ("Wav2Vec2ForSequenceClassification", "HubertForSequenceClassification")
_FRAMES, _SPEAKERS, _PRETRAINING = "Wav2Vec2ForAudioFrameClassification", "Wav2Vec2ForXVector", "Wav2Vec2ForPreTraining"
_LABELLED = frozenset({*_SEQUENCE, _FRAMES, _SPEAKERS})
SPAN, GROUPS, PROJECTED, ADAPTED, OUTPUT, ADAPTERS, ADAPTER_KERNEL, ADAPTER_STRIDE = dims("K_p g H_c H_a H_o L_a K_a s_a")
CODEBOOKS, CODES, CODE, SHARED, SPEAKER = dims("n_g n_c H_q H_s H_x")


@dataclass(frozen=True)
class Wav2Vec2(Layer):
    """wav2vec 2.0, HuBERT and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a vector for masked frames, unless both mask
    probabilities are 0; convolutions over the signal, C_(i-1)*C_i*K_i each, the first or all of them normalised; a projection to H; a
    convolution in g groups over K_p frames for the positions, stored as directions and K_p lengths (Salimans and Kingma 2016); a
    normalisation; and L blocks of 4*H**2 + 2*F*H + 9*H + F, with ``adapter_attn_dim`` and ``do_stable_layer_norm`` an adapter in each.
    ``add_adapter`` ends the base model in convolutions. HuBERT may leave out the normalisation of the projection
    (``feat_proj_layer_norm``) and normalise the positions by batch (``conv_pos_batch_norm``). ``num_labels`` is N where the architecture
    has labels and no number is given.

    Raises:
        DivisibilityError: heads or groups that do not divide the width, or codebooks that do not divide the codes' width.
        ArgumentError: lists of different lengths; an adapter for a class that has none; an option that the reference does not know.

    >>> base = Wav2Vec2(architecture="Wav2Vec2ForCTC").at("facebook/wav2vec2-base-960h")
    >>> base.params
    94396320
    >>> Wav2Vec2().part("feature_projection").params
    C_7*H + 2*C_7 + H
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    hidden_act: str = "gelu"
    feat_extract_norm: Literal["group", "layer"] = "group"
    feat_extract_activation: str = "gelu"
    feat_proj_layer_norm: bool = True
    conv_dim: tuple[Dim, ...] = numbered("C", 7)
    conv_stride: tuple[Dim, ...] = numbered("s", 7)
    conv_kernel: tuple[Dim, ...] = numbered("K", 7)
    conv_bias: bool = False
    num_conv_pos_embeddings: Dim = SPAN
    num_conv_pos_embedding_groups: Dim = GROUPS
    conv_pos_batch_norm: bool = False
    do_stable_layer_norm: bool = False
    mask_time_prob: float = 0.05
    mask_feature_prob: float = 0.0
    adapter_attn_dim: Dim | None = None
    add_adapter: bool = False
    adapter_kernel_size: Dim = 3
    adapter_stride: Dim = 2
    num_adapter_layers: Count = 3
    output_hidden_size: Dim | None = None
    num_codevectors_per_group: Dim = CODES
    num_codevector_groups: Dim = CODEBOOKS
    codevector_dim: Dim = CODE
    proj_codevector_dim: Dim = SHARED
    use_weighted_layer_sum: bool = False
    classifier_proj_size: Dim = PROJECTED
    tdnn_dim: tuple[Dim, ...] = numbered("D", 5)
    tdnn_kernel: tuple[Dim, ...] = (5, 3, 3, 1, 1)
    tdnn_dilation: tuple[Dim, ...] = (1, 2, 3, 1, 1)
    xvector_output_dim: Dim = SPEAKER
    num_labels: Dim | None = None
    architecture: Literal[Wav2Vec2Class, HubertClass] = "Wav2Vec2Model"
    _: KW_ONLY
    layer_norm_eps: float = 1e-5

    published, claims = published_in("wav2vec2")

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; lists are equally long; an adapter stands where the reference has one."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")
        check_activation(self.feat_extract_activation, "feat_extract_activation")
        lengths = {"conv_dim": self.conv_dim, "conv_stride": self.conv_stride, "conv_kernel": self.conv_kernel}
        if len({len(entries) for entries in lengths.values()}) > 1 or not self.conv_dim:
            found = ", ".join(f"{name} has {len(entries)}" for name, entries in lengths.items())
            message = f"{found} entries; wanted as many of each, one per convolution."
            raise ArgumentError(message)
        if self.architecture == _SPEAKERS and (len(self.tdnn_kernel) < len(self.tdnn_dim) or not self.tdnn_dim):
            message = f"tdnn_dim has {len(self.tdnn_dim)} entries and tdnn_kernel {len(self.tdnn_kernel)}; wanted a kernel for each."
            raise ArgumentError(message)
        if self.add_adapter and self.architecture in {*_SEQUENCE, _FRAMES}:
            message = f"add_adapter=True is not for {self.architecture}, which the reference does not build with it."
            raise ArgumentError(message)

    def tensors(self) -> Iterator[Tensor]:
        """The classifiers' weights of the layers, and of what enters the first."""
        if self._weighs:
            yield Tensor("layer_weights", (self.num_hidden_layers + 1,))

    def parts(self) -> Iterator[Part]:
        """The base model, under its name where a head follows, then the head."""
        base = self._base()
        if self.mask_time_prob > 0 or self.mask_feature_prob > 0:
            base = MaskedFrames(self.hidden_size, base)
        yield Part(self._base_name, base)
        yield from (Part(name, layer) for name, layer in self._head().items())

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """A signal (batch, samples)."""
        return {"input_values": (B, W)}

    def forward(self, own: Own, input_values: Value) -> Value:
        """(batch, frames, width) of the base model, (batch, frames, words), or (batch, labels)."""
        x, _ = axes(input_values, "batch samples")
        x, *more = each(own[self._base_name](x))
        if self._weighs:
            x = weighted(softmax(own.layer_weights), *more)
        if self.architecture in _CTC:
            return own.lm_head(x)
        if self.architecture == _PRETRAINING:
            own.project_q(own.quantizer(*more))
            return own.project_hid(x)
        if self.architecture == _FRAMES:
            return own.classifier(x)
        if self.architecture == _SPEAKERS:
            return own.classifier(own.feature_extractor(mean_and_deviation(own.tdnn(own.projector(x)))))
        return own.classifier(reduce("mean", own.projector(x), 1)) if "classifier" in own else x

    @property
    def _weighs(self) -> bool:
        return self.architecture in _LABELLED and self.use_weighted_layer_sum

    @property
    def _base_name(self) -> str:
        return "" if self.architecture.endswith("Model") else "hubert" if self.architecture.startswith("Hubert") else "wav2vec2"

    def _head(self) -> dict[str, Layer]:
        width, labels, heard = self.hidden_size, self.num_labels, self.conv_dim[-1]
        if self.architecture in _CTC:
            return {"lm_head": Dense(self._output if self.add_adapter else width, self.vocab_size)}
        if self.architecture == _PRETRAINING:
            return {
                "quantizer": Quantizer(heard, self.num_codevector_groups, self.num_codevectors_per_group, self.codevector_dim),
                "project_hid": Dense(width, self.proj_codevector_dim),
                "project_q": Dense(self.codevector_dim, self.proj_codevector_dim),
            }
        if labels is None or self.architecture not in _LABELLED:
            return {}
        if self.architecture == _FRAMES:
            return {"classifier": Dense(width, labels)}
        if self.architecture == _SPEAKERS:
            entering = (self.tdnn_dim[0], *self.tdnn_dim)
            steps = zip(entering, self.tdnn_kernel, self.tdnn_dim, self.tdnn_dilation, strict=False)
            speaker = self.xvector_output_dim
            return {
                "projector": Dense(width, self.tdnn_dim[0]),
                "tdnn": Sequential({str(i): DilatedDense(*step) for i, step in enumerate(steps)}),
                "feature_extractor": Dense(2 * self.tdnn_dim[-1], speaker),
                "classifier": Dense(speaker, speaker),
                "objective": Parameter((speaker, labels)),
            }
        return {"projector": Dense(width, self.classifier_proj_size), "classifier": Dense(self.classifier_proj_size, labels)}

    @property
    def _output(self) -> Dim:
        return self.hidden_size if self.output_hidden_size is None else self.output_hidden_size

    def _base(self) -> Layer:
        width, heard = self.hidden_size, self.conv_dim[-1]
        norm: dict[str, Layer] = {"layer_norm": LayerNorm(heard, self.layer_norm_eps)} if self.feat_proj_layer_norm else {}
        layers: dict[str, Layer] = {
            "feature_extractor": Sequential(conv_layers=self._convolutions()),
            "feature_projection": Sequential(**norm, projection=Dense(heard, width)),
            "encoder": self._encoder(),
        }
        if self.add_adapter:
            out = self._output
            projects: dict[str, Layer] = {}
            if self.output_hidden_size is not None:
                projects = {"proj": Dense(width, out), "proj_layer_norm": LayerNorm(out)}
            conv = Conv1d(out, 2 * out, self.adapter_kernel_size, stride=self.adapter_stride, padding=1)
            layers["adapter"] = _Adapter({**projects, "layers": Repeat(_Narrowing({"conv": conv}), self.num_adapter_layers)})
        return _Base(layers, heard=self.architecture == _PRETRAINING)

    def _encoder(self) -> Layer:
        """Positions, from a convolution that keeps the length, are added first; the normalisation comes before or after the blocks."""
        block = self._layer()
        layers = {
            "pos_conv_embed": self._positions(),
            "layer_norm": LayerNorm(self.hidden_size, self.layer_norm_eps),
            "layers": (_Watched if self._weighs else Ladder)((block,), self.num_hidden_layers),
        }
        return _Encoder(layers, stable=self.do_stable_layer_norm, shows=self._weighs)

    def _convolutions(self) -> Sequential:
        function = self.feat_extract_activation
        layers: dict[str, Layer] = {}
        sizes = zip((1, *self.conv_dim), self.conv_dim, self.conv_kernel, self.conv_stride, strict=False)
        for position, (near, far, kernel, stride) in enumerate(sizes):
            held: dict[str, Layer] = {"conv": Conv1d(near, far, kernel, stride=stride, bias=self.conv_bias)}
            if self.feat_extract_norm == "layer":
                held |= {"layer_norm": _FrameNorm(far), **learned("activation", function)}
            else:
                held |= learned("activation", function) | ({} if position else {"layer_norm": GroupNorm(far, far)})
            layers[str(position)] = _Convolved(held, function)
        return Sequential(layers)

    def _positions(self) -> Layer:
        width, span, groups = self.hidden_size, self.num_conv_pos_embeddings, self.num_conv_pos_embedding_groups
        layers: dict[str, Layer] = {"conv": NormedConvolution(width, span, groups)}
        if self.conv_pos_batch_norm:
            layers = {"conv": Conv1d(width, width, span, padding=over(span, 2), groups=groups), "batch_norm": BatchNorm1d(width)}
        return _Positions({**layers, **learned("activation", self.feat_extract_activation)}, self.feat_extract_activation)

    def _layer(self) -> Layer:
        width, inner, eps = self.hidden_size, self.intermediate_size, self.layer_norm_eps
        sliced = (self.num_attention_heads, divides(self.num_attention_heads, width, "num_attention_heads", "hidden_size"))
        inward = Dense(width, sliced)
        feed_forward = {"intermediate_dense": Dense(width, inner), **learned("intermediate_act_fn", self.hidden_act)}
        layers: dict[str, Layer] = {
            "attention": _Attention({"k_proj": inward, "v_proj": inward, "q_proj": inward, "out_proj": Dense(sliced, width)}),
            "layer_norm": LayerNorm(width, eps),
            "feed_forward": _FeedForward({**feed_forward, "output_dense": Dense(inner, width)}, self.hidden_act),
            "final_layer_norm": LayerNorm(width, eps),
        }
        if self.adapter_attn_dim is not None and self.do_stable_layer_norm:
            narrow = self.adapter_attn_dim
            adapter = {"norm": LayerNorm(width), "linear_1": Dense(width, narrow), "linear_2": Dense(narrow, width)}
            layers["adapter_layer"] = _BlockAdapter(adapter)
        return _Block(layers, stable=self.do_stable_layer_norm, shows=self._weighs)


def weighted(weights: Value, last: Value, *entering: Value) -> Value:
    """Return the weighted sum of what enters every block, (blocks, batch, frames, width), and what leaves the last one."""
    if not entering:
        return last * weights
    blocks = entering[0].sizes[0]
    each_block, end = segments(weights, blocks, 1)
    return reduce("sum", entering[0] * rearrange(each_block, "l -> l () () ()"), 0) + last * end


def mean_and_deviation(x: Value) -> Value:
    """Return the means over frames and the unbiased deviations side by side: (batch, frames, width) to (batch, 2*width)."""
    mean = reduce("mean", x, 1, keep=True)
    apart = x - mean
    variance = reduce("sum", apart * apart, 1) / canonical(x.sizes[1] - 1)
    return join(rearrange(mean, "b () d -> b d"), apply("sqrt", variance))


@dataclass(frozen=True)
class _Base(Holder):
    """The base model over signals (batch, samples); where it is ``heard`` it also gives the normalised features before their projection."""

    heard: bool

    def forward(self, own: Own, x: Value) -> Any:
        """The convolutions, the projection, the encoder, the adapter; what an encoder shows besides goes along."""
        x = rearrange(own.feature_extractor(rearrange(x, "b s -> b () s")), "b c s -> b s c")
        if "feature_projection.layer_norm" in own:
            x = own["feature_projection.layer_norm"](x)
        y, *shown = each(own.encoder(own["feature_projection.projection"](x)))
        y = own.adapter(y) if "adapter" in own else y
        more = (*shown, x) if self.heard else tuple(shown)
        return (y, *more) if more else y


@dataclass(frozen=True)
class _Convolved(Holder):
    """A convolution over the signal, normalised where there is a norm, and activated."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, channels, frames)."""
        x = own.conv(x)
        x = own.layer_norm(x) if "layer_norm" in own else x
        return activation(own, self.function, x, "activation")


@dataclass(frozen=True)
class _FrameNorm(LayerNorm):
    """A normalisation of the channels of every frame, which come first."""

    def forward(self, own: Own, x: Value) -> Value:
        """The channels last, and first again."""
        return rearrange(super().forward(own, rearrange(x, "b c s -> b s c")), "b s c -> b c s")


@dataclass(frozen=True)
class _Positions(Holder):
    """What a convolution over many frames says about the place of each, (batch, frames, width)."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """As many frames as came; an even span leaves one more at the end, which goes."""
        y = rearrange(x, "b s c -> b c s")
        y = own.conv(own.batch_norm(y) if "batch_norm" in own else y)
        y = activation(own, self.function, take(y, 2, 0, x.sizes[1]), "activation")
        return rearrange(y, "b c s -> b s c")


@dataclass(frozen=True)
class _Encoder(Holder):
    """Positions, then the blocks; ``stable`` ones are normalised behind the last of them, others before the first."""

    stable: bool
    shows: bool

    def forward(self, own: Own, x: Value) -> Any:
        """What comes out; with blocks that show what enters them, also what leaves the last one, and what they show."""
        x = x + own.pos_conv_embed(x)
        last, *shown = each(own.layers(x if self.stable else own.layer_norm(x)))
        x = own.layer_norm(last) if self.stable else last
        return (x, last, *shown) if self.shows else x


@dataclass(frozen=True)
class _Watched(Ladder):
    """Blocks that show what enters them, which is gathered."""

    def forward(self, own: Own, x: Value, *_: Value) -> Any:
        """What leaves the last one, and what enters each, (blocks, batch, frames, width)."""
        return collected(own, 0, x)


@dataclass(frozen=True)
class _Block(Holder):
    """Attention and a feed-forward network, each added to what passes by, with the norms before (``stable``) or behind them."""

    stable: bool
    shows: bool

    def forward(self, own: Own, x: Value) -> Any:
        """What leaves, and where it ``shows`` it what entered."""
        y = self._stable(own, x) if self.stable else self._plain(own, x)
        return (y, x) if self.shows else y

    @staticmethod
    def _plain(own: Own, x: Value) -> Value:
        x = own.layer_norm(x + own.attention(x))
        return own.final_layer_norm(x + own.feed_forward(x))

    @staticmethod
    def _stable(own: Own, x: Value) -> Value:
        x = x + own.attention(own.layer_norm(x))
        x = x + own.feed_forward(own.final_layer_norm(x))
        return x + own.adapter_layer(x) if "adapter_layer" in own else x


@dataclass(frozen=True)
class _Attention(Holder):
    """Every frame attends to all of them."""

    def forward(self, own: Own, x: Value) -> Value:
        """Queries, keys and values of every head, and the output."""
        query, key, value = (heads(own[name](x)) for name in ("q_proj", "k_proj", "v_proj"))
        return own.out_proj(attend(query, key, value))


@dataclass(frozen=True)
class _FeedForward(Holder):
    """Two matrices with an activation between them."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """Out and back."""
        x = activation(own, self.function, own.intermediate_dense(x), "intermediate_act_fn")
        return own.output_dense(x)


@dataclass(frozen=True)
class _BlockAdapter(Holder):
    """A narrow network inside a block, for one language of many."""

    def forward(self, own: Own, x: Value) -> Value:
        """Normalised, narrowed, rectified, and wide again."""
        return own.linear_2(apply("relu", own.linear_1(own.norm(x))))


@dataclass(frozen=True)
class _Adapter(Holder):
    """Convolutions behind the encoder, each with fewer frames, of another width where there is a projection."""

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, frames, width)."""
        x = own.proj_layer_norm(own.proj(x)) if "proj" in own else x
        return rearrange(own.layers(rearrange(x, "b s c -> b c s")), "b c s -> b s c")


@dataclass(frozen=True)
class _Narrowing(Holder):
    """A convolution to twice the channels, of which one half opens the other."""

    def forward(self, own: Own, x: Value) -> Value:
        """The gated linear unit of the convolution."""
        channels = x.sizes[1]
        x, gate = segments(own.conv(x), channels, channels, axis=1)
        return x * apply("sigmoid", gate)


@dataclass(frozen=True)
class MaskedFrames(Layer):
    """A model that reads a learned vector in the place of masked frames, and in evaluation, when none is masked, does not use it.

    >>> MaskedFrames(H, Dense(H, F)).params
    F*H + F + H
    """

    in_order = True

    hidden_size: Dim
    body: Layer

    def tensors(self) -> Iterator[Tensor]:
        """The vector."""
        yield Tensor("masked_spec_embed", (self.hidden_size,))

    def parts(self) -> Iterator[Part]:
        """The model."""
        yield Part("", self.body)


@dataclass(frozen=True)
class NormedConvolution(Layer):
    """A convolution in groups whose weight is stored as directions and, for every frame of its span, a length.

    >>> NormedConvolution(H, SPAN, 16).params
    H**2*K_p/16 + H + K_p
    """

    width: Dim
    span: Dim
    groups: Dim

    def conditions(self) -> None:
        """Groups divide the width."""
        divides(self.groups, self.width, "num_conv_pos_embedding_groups", "hidden_size")

    def tensors(self) -> Iterator[Tensor]:
        """The bias, the lengths, the directions."""
        inside = divides(self.groups, self.width, "num_conv_pos_embedding_groups", "hidden_size")
        yield Tensor("bias", (self.width,), role="bias")
        yield Tensor("parametrizations.weight.original0", (1, 1, self.span), role="scale")
        yield Tensor("parametrizations.weight.original1", (self.width, inside, self.span))

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, width, frames), with half of the span added on both sides; every direction is made as long as its frame's length."""
        directions = own["parametrizations.weight.original1"]
        length = apply("sqrt", reduce("sum", directions * directions, 0, 1, keep=True))
        half = over(self.span, 2)
        kernel = directions * (own["parametrizations.weight.original0"] / length)
        return convolve(x, kernel, (1,), ((half, half),), groups=self.groups) + rearrange(own.bias, "c -> c ()")


@dataclass(frozen=True)
class Quantizer(Layer):
    """Codebooks of vectors, and the scores that choose one of each (Baevski et al. 2020, section 2).

    >>> Quantizer(512, 2, 320, 256).params
    410240
    """

    features: Dim
    codebooks: Dim
    codes: Dim
    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The codes, each as wide as its share of the whole."""
        share = divides(self.codebooks, self.width, "num_codevector_groups", "codevector_dim")
        yield Tensor("codevectors", (1, (self.codebooks, self.codes), share), role="table")

    def parts(self) -> Iterator[Part]:
        """The scores."""
        yield Part("weight_proj", Dense(self.features, (self.codebooks, self.codes)))

    def forward(self, own: Own, x: Value) -> Value:
        """The code with the greatest score of each codebook, side by side, for every frame; in training the reference draws one."""
        _, chosen = best(heads(own.weight_proj(features(x, self.features))), 1)
        first = constant("positions", (self.codebooks,), kind="index") * self.codes
        codes = lookup(rearrange(own.codevectors, "() r d -> r d"), take(chosen, 3) + first)
        return rearrange(codes, "b s g d -> b s (g d)")


@dataclass(frozen=True)
class DilatedDense(Layer):
    """A convolution over frames with gaps, stored as a matrix ``kernel`` over the frames that it sees (Snyder et al. 2018, x-vectors).

    >>> DilatedDense(512, 5, 1500).params
    3841500
    """

    features: Dim
    span: Dim
    outputs: Dim
    dilation: Dim = 1

    def parts(self) -> Iterator[Part]:
        """The matrix."""
        yield Part("kernel", Dense((self.features, self.span), self.outputs))

    def forward(self, own: Own, x: Value) -> Value:
        """The matrix over the frames that stand side by side in every window, rectified."""
        channels = rearrange(features(x, self.features), "b s c -> b c s")
        windows = unfold(channels, (self.span,), (1,), ((0, 0),), (self.dilation,))
        return apply("relu", own.kernel(rearrange(windows, "b c s k -> b s (k c)")))


def _own_output(arguments: dict[str, Any], sizes: Sizes) -> None:
    """No output width, or the hidden width, is no other one."""
    if sizes.get(OUTPUT) in {0, sizes[H]}:
        arguments["output_hidden_size"] = None
        del sizes[OUTPUT]


_SHARED_KEYS: Mapping[str, Key] = {
    "vocab_size": Size(V, 32, only=_CTC),
    "hidden_size": Size(H, 768),
    "num_hidden_layers": Size(L, 12, least=0),
    "num_attention_heads": Size(A, 12),
    "intermediate_size": Size(F, 3072),
    "hidden_act": Word("gelu"),
    "feat_extract_norm": Word("group"),
    "feat_extract_activation": Word("gelu"),
    "conv_dim": Several("C", (512,) * 7),
    "conv_stride": Several("s", (5, 2, 2, 2, 2, 2, 2)),
    "conv_kernel": Several("K", (10, 3, 3, 3, 3, 2, 2)),
    "conv_bias": Flag(default=False),
    "num_conv_pos_embeddings": Size(SPAN, 128),
    "num_conv_pos_embedding_groups": Size(GROUPS, 16),
    "do_stable_layer_norm": Flag(default=False),
    "mask_time_prob": Real(0.05),
    "mask_feature_prob": Real(0.0),
    "use_weighted_layer_sum": Flag(default=False),
    "layer_norm_eps": Real(1e-5),
    "classifier_proj_size": Size(PROJECTED, 256, only=_SEQUENCE),
}
_IGNORED = {
    "drops values while training": (
        "hidden_dropout activation_dropout attention_dropout feat_proj_dropout feat_quantizer_dropout final_dropout layerdrop"
        " hidden_dropout_prob feat_extract_dropout"
    ),
    "masks the input while training": (
        "apply_spec_augment mask_time_length mask_time_min_masks mask_feature_length mask_feature_min_masks mask_time_selection"
        " mask_time_other mask_channel_length mask_channel_min_space mask_channel_other mask_channel_prob mask_channel_selection"
        " mask_time_min_space no_mask_channel_overlap no_mask_time_overlap"
    ),
    "weighs or counts terms of a loss": (
        "ctc_loss_reduction ctc_zero_infinity contrastive_logits_temperature num_negatives diversity_loss_weight"
    ),
    "repeats how many convolutions there are": "num_feat_extract_layers",
    "the output is no word that is read": "tie_word_embeddings",
}
FAMILIES = (
    Family(
        model_type="wav2vec2",
        model=Wav2Vec2,
        architectures=get_args(Wav2Vec2Class),
        labelled=_LABELLED.intersection(get_args(Wav2Vec2Class)),
        keys={
            **_SHARED_KEYS,
            "adapter_attn_dim": Size(ADAPTED, None),
            "add_adapter": Flag(default=False),
            "adapter_kernel_size": Size(ADAPTER_KERNEL, 3),
            "adapter_stride": Size(ADAPTER_STRIDE, 2),
            "num_adapter_layers": Size(ADAPTERS, 3, least=0),
            "output_hidden_size": Size(OUTPUT, None, least=0),
            "num_codevectors_per_group": Size(CODES, 320, only=(_PRETRAINING,)),
            "num_codevector_groups": Size(CODEBOOKS, 2, only=(_PRETRAINING,)),
            "codevector_dim": Size(CODE, 256, only=(_PRETRAINING,)),
            "proj_codevector_dim": Size(SHARED, 256, only=(_PRETRAINING,)),
            "tdnn_dim": Several("D", (512, 512, 512, 512, 1500), only=(_SPEAKERS,)),
            "tdnn_kernel": Several("k", (5, 3, 3, 1, 1), only=(_SPEAKERS,)),
            "tdnn_dilation": Several("d", (1, 2, 3, 1, 1), only=(_SPEAKERS,)),
            "xvector_output_dim": Size(SPEAKER, 512, only=(_SPEAKERS,)),
        },
        ignored=_IGNORED,
        arrange=_own_output,
    ),
    Family(
        model_type="hubert",
        model=Wav2Vec2,
        architectures=get_args(HubertClass),
        labelled=_LABELLED.intersection(get_args(HubertClass)),
        keys={**_SHARED_KEYS, "feat_proj_layer_norm": Flag(default=True), "conv_pos_batch_norm": Flag(default=False)},
        ignored=_IGNORED,
    ),
)
