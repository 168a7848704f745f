"""wav2vec 2.0 (Baevski et al. 2020, arXiv:2006.11477) and HuBERT (Hsu et al. 2021, arXiv:2106.07447).

Reference: ``transformers.models.wav2vec2`` and ``transformers.models.hubert`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Aside, Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.extents import over, share, windows
from paramsym.flow import Step, applied
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.activation import GLU
from paramsym.layers.axes import Pointwise
from paramsym.layers.batch_norm import BatchNorm1d
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.features import over_features, positions
from paramsym.layers.normalization import GroupNorm, LayerNorm
from paramsym.layers.parameter import Parameter
from paramsym.layers.reshaping import Permute, Reshape
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.bart import attention
from paramsym.models.between import OneOfEach, check_axes
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.family import Family, Flag, Key, Number, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, Shape, canonical, divides, product
from paramsym.symbols import A, F, H, L, V, dims

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


def _size(hidden_size: int, layers: int, heads: int, *, stable: bool) -> dict[str, Any]:
    """All published sizes share the seven convolutions; the large ones normalise every one of them and have biases."""
    return {
        "vocab_size": 32,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden_size,
        "feat_extract_norm": "layer" if stable else "group",
        "conv_dim": (512,) * 7,
        "conv_stride": (5, 2, 2, 2, 2, 2, 2),
        "conv_kernel": (10, 3, 3, 3, 3, 2, 2),
        "conv_bias": stable,
        "num_conv_pos_embeddings": 128,
        "num_conv_pos_embedding_groups": 16,
        "do_stable_layer_norm": stable,
    }


@dataclass(frozen=True)
class Wav2Vec2(InTurn):
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

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "facebook/wav2vec2-base-960h": _size(768, 12, 12, stable=False),
        "facebook/wav2vec2-large-960h-lv60-self": _size(1024, 24, 16, stable=True),
        "facebook/hubert-base-ls960": _size(768, 12, 12, stable=False),
        "facebook/hubert-large-ll60k": _size(1024, 24, 16, stable=True),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("facebook/wav2vec2-base-960h", 94_396_320, RECALLED, counts="Wav2Vec2ForCTC"),
        Claim("facebook/wav2vec2-base-960h", 94_371_712, BUILT, counts="Wav2Vec2Model"),
        Claim("facebook/wav2vec2-large-960h-lv60-self", 315_471_520, BUILT, counts="Wav2Vec2ForCTC"),
        Claim("facebook/wav2vec2-large-960h-lv60-self", 315_438_720, BUILT, counts="Wav2Vec2Model"),
        Claim("facebook/hubert-base-ls960", 94_371_712, BUILT, counts="HubertModel"),
        Claim("facebook/hubert-large-ll60k", 315_438_720, BUILT, counts="HubertModel"),
        Claim("facebook/wav2vec2-base-960h", 95_000_000, "Baevski et al. 2020 (95M)", counts="rounded; 94,396,320"),
    )

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
        if self.architecture in _LABELLED and self.use_weighted_layer_sum:
            yield Tensor("layer_weights", (self.num_hidden_layers + 1,))

    def parts(self) -> Iterator[Part]:
        """The base model, under its name where a head follows, then the head."""
        name = "hubert" if self.architecture.startswith("Hubert") else "wav2vec2"
        base = self._base()
        if self.mask_time_prob > 0 or self.mask_feature_prob > 0:
            base = MaskedFrames(self.hidden_size, base)
        yield Part("" if self.architecture.endswith("Model") else name, base)
        yield from (Part(name, layer) for name, layer in self._head().items())

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model over a signal, (batch, samples), and the head, for every frame or for the whole."""
        (name, base), *head = ((part.name, part.layer) for part in self.own_parts)
        yield from (("channel", Reshape((1, -1))), (name, base))
        for name, layer in head:
            if name in {"quantizer", "project_q"}:
                yield name, Aside(layer, Heard(self.conv_dim[-1] if name == "quantizer" else self.codevector_dim))
            elif name == "objective":
                continue  # it belongs to a loss
            elif name == "classifier" and self.architecture in _SEQUENCE:
                yield from (("mean", OneOfEach()), (name, layer))
            elif name == "feature_extractor":
                yield from (("mean and deviation", OneOfEach(2)), (name, layer))
            else:
                yield name, layer

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, frames, width) of the base model, (batch, frames, words), (batch, labels); a signal (batch, samples) goes in."""
        check_axes(input_shape, ("batch", "samples"), "the signal")
        return super().output_shape(input_shape)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Every layer of the sequence."""
        check_axes(input_shape, ("batch", "samples"), "the signal")
        return super().applications(input_shape)

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """The weight of a layer scales every entry of it."""
        if not self.own_tensors:
            return {}
        hidden = self.own_parts[0].layer.output_shape((input_shape[0], 1, input_shape[1]))
        return {"layer_weights": product(hidden[1:])}

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
        norm: dict[str, Layer] = {"layer_norm": LayerNorm(heard)} if self.feat_proj_layer_norm else {}
        layers: dict[str, Layer] = {
            "feature_extractor": Sequential(conv_layers=self._convolutions()),
            "feature_projection": Sequential(**norm, projection=Dense(heard, width)),
            "encoder": self._encoder(),
        }
        order: list[str | tuple[str, Layer]] = ["feature_extractor", ("frames", Permute((2, 1))), "feature_projection", "encoder"]
        if self.add_adapter:
            out = self._output
            projects: dict[str, Layer] = {}
            if self.output_hidden_size is not None:
                projects = {"proj": Dense(width, out), "proj_layer_norm": LayerNorm(out)}
            conv = Conv1d(out, 2 * out, self.adapter_kernel_size, stride=self.adapter_stride, padding=1)
            narrowing = Repeat(Flow({"conv": conv}, "conv", ("glu", GLU(1))), self.num_adapter_layers)
            inside = {**projects, "layers": narrowing}
            layers["adapter"] = Flow(inside, *projects, ("channels", Permute((2, 1))), "layers", ("frames", Permute((2, 1))))
            order.append("adapter")
        return Flow(layers, *order)

    def _encoder(self) -> Flow:
        """Positions, from a convolution that keeps the length, are added first; the normalisation comes before or after the blocks."""
        width, located = self.hidden_size, self._positions()
        layers = {
            "pos_conv_embed": located,
            "layer_norm": LayerNorm(width),
            "layers": Repeat(Stream(width, self._layer()), self.num_hidden_layers),
        }
        ends = ("layers", "layer_norm") if self.do_stable_layer_norm else ("layer_norm", "layers")
        return Flow(layers, ("pos_conv_embed", Aside(located, Permute((2, 1)))), *ends)

    def _convolutions(self) -> Sequential:
        act = learned("activation", self.feat_extract_activation)
        layers: dict[str, Layer] = {}
        sizes = zip((1, *self.conv_dim), self.conv_dim, self.conv_kernel, self.conv_stride, strict=False)
        for position, (near, far, kernel, stride) in enumerate(sizes):
            conv = Conv1d(near, far, kernel, stride=stride, bias=self.conv_bias)
            if self.feat_extract_norm == "layer":
                turned = (("frames", Permute((2, 1))), "layer_norm", ("channels", Permute((2, 1))))
                layers[str(position)] = Flow({"conv": conv, "layer_norm": LayerNorm(far), **act}, "conv", *turned, *act)
            elif position == 0:
                layers[str(position)] = Flow({"conv": conv, **act, "layer_norm": GroupNorm(far, far)}, "conv", "layer_norm", *act)
            else:
                layers[str(position)] = Sequential(conv=conv, **act)
        return Sequential(layers)

    def _positions(self) -> Layer:
        width, span, groups = self.hidden_size, self.num_conv_pos_embeddings, self.num_conv_pos_embedding_groups
        act = learned("activation", self.feat_extract_activation)
        if self.conv_pos_batch_norm:
            conv = Conv1d(width, width, span, padding=over(span, 2), groups=groups)
            return Flow({"conv": conv, "batch_norm": BatchNorm1d(width), **act}, "batch_norm", "conv", *act)
        return Sequential(conv=NormedConvolution(width, span, groups), **act)

    def _layer(self) -> Block:
        width, inner = self.hidden_size, self.intermediate_size
        act = learned("intermediate_act_fn", self.hidden_act)
        adapter: dict[str, Layer] = {}
        if self.adapter_attn_dim is not None and self.do_stable_layer_norm:
            narrow = self.adapter_attn_dim
            adapter["adapter_layer"] = Block(norm=LayerNorm(width), linear_1=Dense(width, narrow), linear_2=Dense(narrow, width))
        return Block(
            attention=attention(width, self.num_attention_heads),
            layer_norm=LayerNorm(width),
            feed_forward=Block(intermediate_dense=Dense(width, inner), **act, output_dense=Dense(inner, width)),
            final_layer_norm=LayerNorm(width),
            **adapter,
        )


@dataclass(frozen=True)
class MaskedFrames(Layer):
    """A model that reads a learned vector in the place of masked frames.

    >>> MaskedFrames(H, Dense(H, F)).params
    F*H + F + H
    """

    in_order = True

    hidden_size: Dim
    body: Layer

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """The vector is used only where frames are masked."""
        del input_shape
        return {}

    def tensors(self) -> Iterator[Tensor]:
        """The vector."""
        yield Tensor("masked_spec_embed", (self.hidden_size,))

    def parts(self) -> Iterator[Part]:
        """The model."""
        yield Part("", self.body)


@dataclass(frozen=True)
class NormedConvolution(Pointwise):
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

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """Directions and bias are used once per frame; the lengths only scale the directions."""
        frames = product(input_shape[2:])
        return {"parametrizations.weight.original1": frames, "bias": frames}


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

    def output_shape(self, input_shape: Shape) -> Shape:
        """One code of each codebook, side by side, for every frame."""
        return over_features(input_shape, (self.features,), (self.width,))

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """The scores of every frame."""
        for part in self.own_parts:
            yield Step(part.name, part.layer, input_shape, applied(part.name, part.layer, input_shape))

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """Every frame takes one code of each codebook: on average as often as there are frames per code."""
        return {"codevectors": share(positions(input_shape), self.codes)}


@dataclass(frozen=True)
class Heard(Layer):
    """What was heard before the blocks, as wide as it was, in the place of what came out of them."""

    width: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """As many frames, of their own width."""
        return (*input_shape[:-1], self.width)


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

    def output_shape(self, input_shape: Shape) -> Shape:
        """Fewer frames, by what the kernel spans."""
        over_features(input_shape, (self.features,))
        frames = input_shape[-2]
        left = None if frames is None else windows(frames, self.span, dilation=self.dilation)
        return (*input_shape[:-2], left, self.outputs)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """The frames that the kernel sees stand side by side."""
        left = self.output_shape(input_shape)
        for part in self.own_parts:
            yield Step(part.name, part.layer, (*left[:-1], canonical(self.features * self.span)), left)


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
    "mask_time_prob": Number(0.05),
    "mask_feature_prob": Number(0.0),
    "use_weighted_layer_sum": Flag(default=False),
    "classifier_proj_size": Size(PROJECTED, 256, only=_SEQUENCE),
}
_IGNORED = {
    "drops values while training": (
        "hidden_dropout activation_dropout attention_dropout feat_proj_dropout feat_quantizer_dropout final_dropout layerdrop"
        " hidden_dropout_prob"
    ),
    "keeps a quotient finite": "layer_norm_eps feat_extract_dropout",
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
