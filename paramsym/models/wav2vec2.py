"""wav2vec 2.0 (Baevski et al. 2020, arXiv:2006.11477) and HuBERT (Hsu et al. 2021, arXiv:2106.07447).

Reference: ``transformers.models.wav2vec2`` and ``transformers.models.hubert`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import ClassVar, Literal

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Count, Dim, Shape
from paramsym.algebra.symbols import A, B, F, H, L, V, W, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.batch_norm import BatchNorm1d
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import GroupNorm, LayerNorm
from paramsym.layers.parameter import Parameter
from paramsym.models.activations import learned
from paramsym.models.blocks import Attention, FeedForward, PostNorm, PreNorm, inward_and_out
from paramsym.models.images import ChannelsFirst
from paramsym.models.key_kinds import Flag, Function, Real, Several, Word, left_out
from paramsym.models.model import Ignored, Model, classes, family, key
from paramsym.models.signals import (
    AdaptedBlock,
    Adapter,
    BlockAdapter,
    Collected,
    DilatedDense,
    FrameConvolution,
    Handing,
    Hearing,
    HearingEncoder,
    MaskedFrames,
    Narrowing,
    NormedConvolution,
    Positions,
    Quantizer,
    mean_and_deviation,
    weighted,
)
from paramsym.program import Own, Value, axes, drop, reduce, softmax
from paramsym.program.tracing import each

_FRAMES, _SPEAKERS, _SEQUENCE, _CTC, _PRETRAINING = "AudioFrameClassification", "XVector", "SequenceClassification", "CTC", "PreTraining"
SPAN, OUTPUT = dims("K_p H_o")


class Wav2Vec2(Model):
    """wav2vec 2.0, HuBERT and their heads, as the reference class ``architecture`` stores them.

    A vector replaces masked frames, unless both mask probabilities are 0. Convolutions over the signal, C_(i-1)*C_i*K_i each, have a
    normalisation after the first or after all. A convolution in g groups over K_p frames gives the positions; it is stored as directions
    and K_p lengths (Salimans and Kingma 2016). With ``adapter_attn_dim`` and ``do_stable_layer_norm`` each block has an adapter;
    ``add_adapter`` adds convolutions at the end of the base model. HuBERT may leave out the normalisation of the projection
    (``feat_proj_layer_norm``) and normalise the positions by batch (``conv_pos_batch_norm``).

    Raises:
        DivisibilityError: heads or groups that do not divide the width, or codebooks that do not divide the codes' width.
        ArgumentError: lists of different lengths, or an adapter for a class that has none, beside the errors of every model.

    >>> base = Wav2Vec2(architecture="Wav2Vec2ForCTC").at("facebook/wav2vec2-base-960h")
    >>> base.params
    94396320
    >>> Wav2Vec2().part("feature_projection").params
    C_7*H + 2*C_7 + H
    """

    vocab_size: Dim = key(V, 32, only=(_CTC,))
    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12, divides="hidden_size")
    intermediate_size: Dim = key(F, 3072)
    hidden_act: str = key(Function("gelu"))
    feat_extract_norm: Literal["group", "layer"] = key(Word("group"))
    feat_extract_activation: str = key(Function("gelu"))
    feat_proj_layer_norm: bool = key(Flag(default=True), of="Hubert")
    conv_dim: tuple[Dim, ...] = key(Several("C", (512,) * 7))
    conv_stride: tuple[Dim, ...] = key(Several("s", (5, 2, 2, 2, 2, 2, 2)))
    conv_kernel: tuple[Dim, ...] = key(Several("K", (10, 3, 3, 3, 3, 2, 2)))
    conv_bias: bool = key(Flag())
    num_conv_pos_embeddings: Dim = key(SPAN, 128)
    num_conv_pos_embedding_groups: Dim = key(dims("g"), 16)
    conv_pos_batch_norm: bool = key(Flag(), of="Hubert")
    do_stable_layer_norm: bool = key(Flag())
    mask_time_prob: float = key(Real(0.05))
    mask_feature_prob: float = key(Real(0.0))
    adapter_attn_dim: Dim | None = key(dims("H_a"), None, of="Wav2Vec2", argument=None)
    add_adapter: bool = key(Flag(), of="Wav2Vec2")
    adapter_kernel_size: Dim = key(dims("K_a"), 3, of="Wav2Vec2", argument=3)
    adapter_stride: Dim = key(dims("s_a"), 2, of="Wav2Vec2", argument=2)
    num_adapter_layers: Count = key(dims("L_a"), 3, least=0, of="Wav2Vec2", argument=3)
    output_hidden_size: Dim | None = key(OUTPUT, None, least=0, of="Wav2Vec2", argument=None)
    num_codevectors_per_group: Dim = key(dims("n_c"), 320, only=(_PRETRAINING,))
    num_codevector_groups: Dim = key(dims("n_g"), 2, only=(_PRETRAINING,))
    codevector_dim: Dim = key(dims("H_q"), 256, only=(_PRETRAINING,))
    proj_codevector_dim: Dim = key(dims("H_s"), 256, only=(_PRETRAINING,))
    use_weighted_layer_sum: bool = key(Flag())
    classifier_proj_size: Dim = key(dims("H_c"), 256, only=(_SEQUENCE,))
    tdnn_dim: tuple[Dim, ...] = key(Several("D", (512, 512, 512, 512, 1500), only=(_SPEAKERS,)))
    tdnn_kernel: tuple[Dim, ...] = key(Several("k", (5, 3, 3, 1, 1), only=(_SPEAKERS,)), argument=(5, 3, 3, 1, 1))
    tdnn_dilation: tuple[Dim, ...] = key(Several("d", (1, 2, 3, 1, 1), only=(_SPEAKERS,)), argument=(1, 2, 3, 1, 1))
    xvector_output_dim: Dim = key(dims("H_x"), 512, only=(_SPEAKERS,))
    architecture: str = classes(
        {
            "Wav2Vec2": "Model ForCTC ForPreTraining ForSequenceClassification ForAudioFrameClassification ForXVector",
            "Hubert": "Model ForCTC ForSequenceClassification",
        }
    )
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-5))
    hidden_dropout: float = key(Real(0.1))
    activation_dropout: float = key(Real(0.1))
    attention_dropout: float = key(Real(0.1))
    feat_proj_dropout: float = key(Real(0.0))
    final_dropout: float = key(Real(0.1))

    labelled: ClassVar[tuple[str, ...]] = ("Classification", _SPEAKERS)
    ignored: ClassVar[Ignored] = {
        "drops blocks, or values that are quantized, while training": "feat_quantizer_dropout layerdrop",
        "is read by no class": "hidden_dropout_prob feat_extract_dropout",
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

    def conditions(self) -> None:
        super().conditions()
        lengths = {"conv_dim": self.conv_dim, "conv_stride": self.conv_stride, "conv_kernel": self.conv_kernel}
        if len({len(entries) for entries in lengths.values()}) > 1 or not self.conv_dim:
            found = ", ".join(f"{name} has {len(entries)}" for name, entries in lengths.items())
            raise ArgumentError(f"{found} entries; wanted equal numbers, one per convolution.")
        if self.task == _SPEAKERS and (len(self.tdnn_kernel) < len(self.tdnn_dim) or not self.tdnn_dim):
            message = f"tdnn_dim has {len(self.tdnn_dim)} entries and tdnn_kernel {len(self.tdnn_kernel)}; wanted a kernel for each."
            raise ArgumentError(message)
        if self.add_adapter and self.task in {_SEQUENCE, _FRAMES}:
            raise ArgumentError(f"add_adapter=True is not allowed for {self.architecture}: the reference does not build it.")

    def tensors(self) -> Iterator[Tensor]:
        if self._weighs:
            yield Tensor("layer_weights", (self.num_hidden_layers + 1,))

    def parts(self) -> Iterator[Part]:
        base = self._base()
        if self.mask_time_prob > 0 or self.mask_feature_prob > 0:
            base = MaskedFrames(self.hidden_size, base)
        yield Part(self._base_name, base)
        yield from (Part(name, layer) for name, layer in self._head().items())

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"input_values": (B, W)}

    def forward(self, own: Own, input_values: Value) -> Value:
        """(batch, frames, width) of the base model, (batch, frames, words), or (batch, labels)."""
        x, _ = axes(input_values, "batch samples")
        x, *more = each(own[self._base_name](x))
        if self._weighs:
            x = weighted(softmax(own.layer_weights), *more)
        if self.task == _CTC:
            return own.lm_head(drop(x, self.final_dropout))
        if self.task == _PRETRAINING:
            own.project_q(own.quantizer(*more))
            return own.project_hid(x)
        if self.task == _FRAMES:
            return own.classifier(x)
        if self.task == _SPEAKERS:
            return own.classifier(own.feature_extractor(mean_and_deviation(own.tdnn(own.projector(x)))))
        return own.classifier(reduce("mean", own.projector(x), 1)) if "classifier" in own else x

    @property
    def _weighs(self) -> bool:
        return self.use_weighted_layer_sum and self.architecture.endswith(self.labelled)

    @property
    def _base_name(self) -> str:
        return self.kind.lower() if self.task else ""

    def _head(self) -> dict[str, Layer]:
        width, labels, heard = self.hidden_size, self.num_labels, self.conv_dim[-1]
        if self.task == _CTC:
            return {"lm_head": Dense(self._output if self.add_adapter else width, self.vocab_size)}
        if self.task == _PRETRAINING:
            return {
                "quantizer": Quantizer(heard, self.num_codevector_groups, self.num_codevectors_per_group, self.codevector_dim),
                "project_hid": Dense(width, self.proj_codevector_dim),
                "project_q": Dense(self.codevector_dim, self.proj_codevector_dim),
            }
        if not self.task or labels is None:
            return {}
        if self.task == _FRAMES:
            return {"classifier": Dense(width, labels)}
        if self.task == _SPEAKERS:
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
            layers["adapter"] = Adapter({**projects, "layers": Repeat(Narrowing({"conv": conv}), self.num_adapter_layers)})
        return Hearing(layers, heard=self.task == "PreTraining", dropped=self.feat_proj_dropout)

    def _encoder(self) -> Layer:
        """Positions, from a convolution that keeps the length, are added first; the normalisation comes before or after the blocks."""
        block, depth = self._block(), self.num_hidden_layers
        layers = {
            "pos_conv_embed": self._positions(),
            "layer_norm": LayerNorm(self.hidden_size, self.layer_norm_eps),
            "layers": Collected(Handing(block), depth) if self._weighs else Repeat(block, depth),
        }
        return HearingEncoder(layers, self.do_stable_layer_norm, self._weighs, self.hidden_dropout)

    def _convolutions(self) -> Sequential:
        function = self.feat_extract_activation
        layers: dict[str, Layer] = {}
        sizes = zip((1, *self.conv_dim), self.conv_dim, self.conv_kernel, self.conv_stride, strict=False)
        for position, (near, far, kernel, stride) in enumerate(sizes):
            held: dict[str, Layer] = {"conv": Conv1d(near, far, kernel, stride=stride, bias=self.conv_bias)}
            if self.feat_extract_norm == "layer":
                held |= {"layer_norm": ChannelsFirst(far), **learned("activation", function)}
            else:
                held |= learned("activation", function) | ({} if position else {"layer_norm": GroupNorm(far, far)})
            layers[str(position)] = FrameConvolution(held, function)
        return Sequential(layers)

    def _positions(self) -> Layer:
        width, span, groups = self.hidden_size, self.num_conv_pos_embeddings, self.num_conv_pos_embedding_groups
        layers: dict[str, Layer] = {"conv": NormedConvolution(width, span, groups)}
        if self.conv_pos_batch_norm:
            layers = {"conv": Conv1d(width, width, span, padding=over(span, 2), groups=groups), "batch_norm": BatchNorm1d(width)}
        return Positions({**layers, **learned("activation", self.feat_extract_activation)}, self.feat_extract_activation)

    def _block(self) -> Layer:
        width, inner, eps = self.hidden_size, self.intermediate_size, self.layer_norm_eps
        sliced = (self.num_attention_heads, self.head_width())
        names = ("intermediate_dense", "intermediate_act_fn", "output_dense")
        matrices = {names[0]: Dense(width, inner), **learned(names[1], self.hidden_act), names[2]: Dense(inner, width)}
        layers: dict[str, Layer] = {
            "attention": Attention(inward_and_out(width, sliced), output="out_proj", dropout=self.attention_dropout),
            "layer_norm": LayerNorm(width, eps),
            "feed_forward": FeedForward(matrices, self.hidden_act, names=names, dropped=(self.activation_dropout, self.hidden_dropout)),
            "final_layer_norm": LayerNorm(width, eps),
        }
        if self.adapter_attn_dim is not None and self.do_stable_layer_norm:
            narrow = self.adapter_attn_dim
            adapter = {"norm": LayerNorm(width), "linear_1": Dense(width, narrow), "linear_2": Dense(narrow, width)}
            layers["adapter_layer"] = BlockAdapter(adapter)
        kind = PostNorm if not self.do_stable_layer_norm else AdaptedBlock if "adapter_layer" in layers else PreNorm
        return kind(layers, names=("layer_norm", "attention", "final_layer_norm", "feed_forward"), dropped=(self.hidden_dropout, 0.0))


_UNREAD = """num_codevectors_per_group num_codevector_groups codevector_dim proj_codevector_dim
tdnn_dim tdnn_kernel tdnn_dilation xvector_output_dim"""
FAMILIES = (
    family("wav2vec2", Wav2Vec2, "Wav2Vec2", arrange=left_out(H, output_hidden_size=OUTPUT)),
    family("hubert", Wav2Vec2, "Hubert", without=_UNREAD),
)
